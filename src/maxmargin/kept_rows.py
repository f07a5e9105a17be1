"""Rows of a kernel matrix that are kept once computed, in a fixed amount of memory.

Worth it where an entry costs more to compute than to read: hundreds of columns, sparse rows, a
user's own kernel. When there is no room left, the rows used longest ago make place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import njit

from maxmargin.resources import run_split

GROUP = 4  # rows added at a time in the dtype of the rows, before float64 takes over


class KeptRows:
    """Up to `capacity` rows of length n; `compute(numbers, out)` computes those that are missing.

    Examples
    --------
    >>> kept = KeptRows(3, 2, np.float64, lambda numbers, out: np.eye(3).take(numbers, 0, out))
    >>> kept.rows[kept.fetch(np.array([2, 0]))]
    array([[0., 0., 1.],
           [1., 0., 0.]])
    >>> kept.dot(np.array([1, 2]), np.array([5.0, 7.0]), threads=1)
    array([0., 5., 7.])
    """

    def __init__(
        self, n: int, capacity: int, dtype: Any, compute: Callable[[np.ndarray, Any], np.ndarray]
    ) -> None:
        self.rows = np.empty((capacity, n), dtype)
        self.capacity, self.dtype = capacity, dtype
        self.compute = compute
        self.place = np.full(n, -1)  # of each row; −1 if it is not kept
        self.owner = np.full(capacity, -1)  # the row in each place; −1 if it is empty
        self.used = np.zeros(capacity, int)  # when each place was last asked for
        self.time = 0

    def fetch(self, numbers: np.ndarray) -> np.ndarray:
        """The places of the rows with these numbers, at most `capacity` different ones."""
        self.time += 1
        kept = numbers[self.place[numbers] >= 0]
        self.used[self.place[kept]] = self.time
        missing = np.unique(numbers[self.place[numbers] < 0])
        if len(missing):
            oldest = np.sort(np.argsort(self.used, kind="stable")[: len(missing)])
            evicted = self.owner[oldest]
            self.place[evicted[evicted >= 0]] = -1
            if oldest[-1] - oldest[0] < len(oldest):
                self.compute(missing, self.rows[oldest[0] : oldest[-1] + 1])
            else:
                self.rows[oldest] = self.compute(missing, None)
            self.owner[oldest], self.place[missing] = missing, oldest
            self.used[oldest] = self.time
        return self.place[numbers]

    def dot(self, numbers: np.ndarray, coef: np.ndarray, threads: int) -> np.ndarray:
        """Σ coef_j row_j in float64."""
        places, out = self.fetch(numbers), np.zeros(self.rows.shape[1])
        padded = np.zeros(-(-len(coef) // GROUP) * GROUP, self.rows.dtype)
        padded[: len(coef)] = coef
        places = np.resize(places, len(padded))
        add = partial(_add, self.rows, places, padded, out)
        run_split(add, len(out), len(out) * len(padded), threads)
        return out

    def take(
        self, numbers: np.ndarray, columns: np.ndarray, out: np.ndarray, threads: int
    ) -> np.ndarray:
        """Put the kept rows' entries in some columns into `out`; which numbers are not kept."""
        places = self.place[numbers]
        gather = partial(gather_entries, self.rows, places, columns, out)
        run_split(gather, len(places), out.size, threads)
        return np.flatnonzero(places < 0)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add(rows, places, coef, out, start, stop):
    for j in range(0, len(places), GROUP):
        a, b, c, d = coef[j], coef[j + 1], coef[j + 2], coef[j + 3]
        p, q, r, s = places[j], places[j + 1], places[j + 2], places[j + 3]
        for i in range(start, stop):
            out[i] += a * rows[p, i] + b * rows[q, i] + (c * rows[r, i] + d * rows[s, i])


@njit(cache=True, nogil=True)
def gather_entries(rows, places, columns, out, start, stop):
    """out[i, j] = rows[places[i], columns[j]] for start ≤ i < stop, where there is a place."""
    for i in range(start, stop):
        if places[i] >= 0:
            for j in range(len(columns)):
                out[i, j] = rows[places[i], columns[j]]


@njit(cache=True, nogil=True)
def complete(values, missing, entries, start, stop):
    """Fill the missing rows of a symmetric matrix: `entries` holds their block, the others mirror.

    Rows missing[start:stop]; all rows that are not missing are there.
    """
    for r in range(start, stop):
        m = missing[r]
        for k in range(len(values)):
            values[m, k] = values[k, m]
        for c in range(len(missing)):
            values[m, missing[c]] = entries[r, c]
