"""Rows of a kernel matrix that are kept once computed, in a bounded amount of memory.

Worth it where an entry costs more to compute than to read: hundreds of columns, sparse rows, a
user's own kernel. When there is no room left, the rows used longest ago make place. Memory is
taken a piece at a time, as rows come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from maxmargin.compiled import compiled
from maxmargin.resources import PIECE, large_array, run_split

GROUP = 4  # rows added at a time in the dtype of the rows, before float64 takes over


class KeptRows:
    """Up to `capacity` rows of length n.

    `compute(numbers, out)` computes those that are missing, `square(numbers)` the entries of some
    rows in their own columns.

    Examples
    --------
    >>> def compute(numbers, out):
    ...     return np.eye(3).take(numbers, 0, out)
    >>> kept = KeptRows(3, 2, np.float64, compute, lambda numbers: np.eye(len(numbers)))
    >>> kept.row(2)
    array([0., 0., 1.])
    >>> kept.dot(np.array([1, 2]), np.array([5.0, 7.0]))
    array([0., 5., 7.])
    """

    def __init__(
        self,
        n: int,
        capacity: int,
        dtype: type,
        compute: Callable[[np.ndarray, np.ndarray | None], np.ndarray],
        square: Callable[[np.ndarray], np.ndarray],
        threads: int = 1,
    ) -> None:
        self.n, self.capacity, self.dtype, self.threads = n, capacity, dtype, threads
        self.compute, self.square = compute, square
        self.pieces: list[np.ndarray] = []
        self.in_a_piece = max(1, PIECE // (n * np.dtype(dtype).itemsize))
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
            n_kept = int(np.count_nonzero(self.owner >= 0))
            most = 3 * (n_kept + len(missing)) > self.n  # then nearly all will be asked for
            if most and self.n <= min(self.capacity, self.in_a_piece):
                self._fetch_the_rest()
            else:
                self._fetch(missing)
        return self.place[numbers]

    def _fetch(self, missing: np.ndarray) -> None:
        oldest = np.sort(np.argsort(self.used, kind="stable")[: len(missing)])
        evicted = self.owner[oldest]
        self.place[evicted[evicted >= 0]] = -1
        self._own(missing, oldest)
        for piece, some, lines in self._by_piece(oldest):
            if lines[-1] - lines[0] < len(lines):
                self.compute(missing[some], piece[lines[0] : lines[-1] + 1])
            else:
                piece[lines] = self.compute(missing[some], None)

    def _fetch_the_rest(self) -> None:
        """Of an entry and its mirror image, one is computed."""
        there, missing = np.flatnonzero(self.place >= 0), np.flatnonzero(self.place < 0)
        self._own(missing, np.flatnonzero(self.owner < 0))
        ((piece, *_),) = self._by_piece(self.place)
        fill = partial(complete, piece, self.place, there, missing, self.square(missing))
        run_split(fill, len(missing), 4 * len(missing) * self.n, self.threads)

    def _own(self, numbers: np.ndarray, places: np.ndarray) -> None:
        self.owner[places], self.place[numbers], self.used[places] = numbers, places, self.time

    def _by_piece(self, places: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Each piece that has some of the places, which of them, and their lines in it."""
        while len(self.pieces) * self.in_a_piece <= places.max(initial=-1):
            lines = min(self.in_a_piece, self.capacity)
            self.pieces.append(large_array((lines, self.n), self.dtype))
        for number, piece in enumerate(self.pieces):
            some = np.flatnonzero((places >= 0) & (places // self.in_a_piece == number))
            if len(some):
                yield piece, some, places[some] - number * self.in_a_piece

    def row(self, number: int) -> np.ndarray:
        """One of the rows."""
        place = self.fetch(np.array([number]))[0]
        return self.pieces[place // self.in_a_piece][place % self.in_a_piece]

    def dot(self, numbers: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Σ coef_j row_j in float64."""
        places, out = self.fetch(numbers), np.zeros(self.n)
        for piece, some, lines in self._by_piece(places):
            padded: np.ndarray = np.zeros(-(-len(some) // GROUP) * GROUP, self.dtype)
            padded[: len(some)] = coef[some]
            add = partial(_add, piece, np.resize(lines, len(padded)), padded, out)
            run_split(add, self.n, self.n * len(padded), self.threads)
        return out

    def take(self, numbers: np.ndarray, columns: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Put the kept rows' entries in some columns into `out`; which numbers are not kept."""
        places = self.place[numbers]
        for piece, some, lines in self._by_piece(places):
            gather = partial(gather_entries, piece, lines, columns, some, out)
            run_split(gather, len(some), len(some) * len(columns), self.threads)
        return np.flatnonzero(places < 0)


@compiled(fastmath={"contract"})
def _add(rows, places, coef, out, start, stop):
    for j in range(0, len(places), GROUP):
        a, b, c, d = coef[j], coef[j + 1], coef[j + 2], coef[j + 3]
        p, q, r, s = places[j], places[j + 1], places[j + 2], places[j + 3]
        for i in range(start, stop):
            out[i] += a * rows[p, i] + b * rows[q, i] + (c * rows[r, i] + d * rows[s, i])


@compiled()
def gather_entries(rows, lines, columns, into, out, start, stop):
    """out[into[i], j] = rows[lines[i], columns[j]] for start ≤ i < stop."""
    for i in range(start, stop):
        row, line = rows[lines[i]], out[into[i]]
        for j in range(len(columns)):
            line[j] = row[columns[j]]


@compiled()
def complete(values, place, there, missing, entries, start, stop):
    """Fill rows missing[start:stop] of a symmetric matrix whose row i is at place[i].

    Their entries in the missing columns are given, those in the columns of the rows that are
    there mirror those rows: so many at a time as there are numbers in a cache line.
    """
    for first in range(start, stop, 16):
        some = range(first, min(first + 16, stop))
        for k in there:
            row = values[place[k]]
            for r in some:
                values[place[missing[r]], k] = row[missing[r]]
        for r in some:
            row, line = entries[r], values[place[missing[r]]]
            for c in range(len(missing)):
                line[missing[c]] = row[c]
