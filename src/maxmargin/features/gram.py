"""K̂ = ZZᵀ, the Gram matrix of explicit features, with Z computed in blocks within a budget.

Of the n rows the first `resident` keep their features in memory, as many as the budget allows;
the features of the others are computed anew, block by block, each time they are asked for. If
all fit, they are computed once, and there is one block. Nothing is written to disk.

Which rows share a block changes with every pass: coordinate descent over the same blocks again
and again needs several times as many passes. Rows are drawn in runs, so that a memmap is read in
pieces and not row by row.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from maxmargin.gram import Gram
from maxmargin.kernels import Kernel
from maxmargin.resources import available_cores, available_memory, run_all
from maxmargin.rows import add_rows, dot_rows

BLOCK_BYTES = 1 << 26  # of features computed at a time
LEAST_ROWS = 64  # in a block
RUN = 64  # neighbouring rows that stay together


class Transformer(Protocol):
    """What is needed of φ: scikit-learn's interface, once fitted."""

    def transform(self, X: Any) -> Any:
        """φ of the rows of X."""


class Block(NamedTuple):
    """Some rows of a `FeatureGram`: `Z[lines]` are the features of its rows `rows`."""

    rows: np.ndarray
    Z: np.ndarray
    lines: np.ndarray


class FeatureGram:
    """K̂ over the rows of X, by blocks of Z.

    Parameters
    ----------
    kernel : Kernel, that K̂ approximates
    X : array, memmap or CSR of shape (n, d)
    features : Transformer
    cache_size : float or None
        Budget for the features in MB; None takes a quarter of the memory that is free.
    threads : int or None

    Examples
    --------
    >>> from maxmargin.features import Nystroem
    >>> from maxmargin.kernels import Linear
    >>> X = np.array([[1.0, 0.0], [1.0, 2.0]])
    >>> gram = FeatureGram(Linear(), X, Nystroem(kernel="linear").fit(X))
    >>> w = gram.weights(np.array([0.0, 1.0]))  # the features of the second row
    >>> [gram.scores(block, w).round(4) for block in gram.blocks()]
    [array([1., 5.])]
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        features: Transformer,
        *,
        cache_size: float | None = None,
        threads: int | None = None,
    ) -> None:
        self.kernel, self.X, self.features = kernel, X, features
        self.n = X.shape[0]
        self.cache_size = cache_size
        self.threads = threads or available_cores()
        self.evaluations = 0
        self.columns = self._compute(slice(0, 1)).shape[1]
        self.numbers = np.arange(self.n)  # of the rows, in X
        line = 4 * self.columns
        budget = available_memory() // 4 if cache_size is None else int(cache_size * 2**20)
        # Every thread may hold a block, and the next one while it is made.
        parts = 2 * self.threads
        self.step = min(BLOCK_BYTES, budget // (parts + 1)) // line
        if self.step < min(LEAST_ROWS, self.n):
            least = (parts + 1) * min(LEAST_ROWS, self.n) * line / 2**20
            raise ValueError(
                f"cache_size={budget / 2**20:.3g} MB is too little for features of "
                f"{self.columns:,} columns: blocks of {min(LEAST_ROWS, self.n)} rows take "
                f"{least:.4g} MB; raise cache_size or lower n_components"
            )
        self.step = min(self.step, self.n)
        spare = budget - parts * self.step * line
        resident = self.n if self.n * line + self.step * line <= budget else spare // line
        self._random = _shuffler()
        self._resident = np.empty((resident, self.columns), np.float32)
        for start in range(0, resident, self.step):
            rows = slice(start, min(start + self.step, resident))
            self._resident[rows] = self._compute(rows)

    def _compute(self, rows: Any) -> np.ndarray:
        values = self.features.transform(self.X[rows])
        values = values.toarray() if sp.issparse(values) else np.asarray(values)
        self.evaluations += values.size
        return np.ascontiguousarray(values, np.float32)

    @property
    def resident(self) -> int:
        """Rows whose features are kept."""
        return len(self._resident)

    def take(self, rows: np.ndarray | slice) -> FeatureGram:
        """K̂ of some rows (their numbers in order), beside others: one thread, the same memory."""
        if isinstance(rows, slice):
            return self
        part = object.__new__(FeatureGram)
        changes = {"n": len(rows), "numbers": rows, "threads": 1, "_random": _shuffler()}
        part.__dict__ |= self.__dict__ | changes
        return part

    def exact(self) -> Gram:
        """The Gram matrix of the kernel itself, on the same rows."""
        X = self.X if self.n == self.X.shape[0] else self.X[self.numbers]
        return Gram(self.kernel, X, cache_size=self.cache_size, threads=self.threads)

    def blocks(self) -> Iterator[Block]:
        """All rows, each once: in one block if they fit, else in blocks made of random runs."""
        everything = np.arange(self.n)
        if self.resident == self.X.shape[0]:
            yield Block(everything, self._resident, self.numbers)
            return
        runs = np.array_split(everything, max(self.n // RUN, 1))
        self._random.shuffle(runs)
        mixed = np.concatenate(runs)
        for start in range(0, self.n, self.step):
            rows = np.sort(mixed[start : start + self.step])
            yield Block(rows, self._gather(self.numbers[rows]), np.arange(len(rows)))

    def _gather(self, numbers: np.ndarray) -> np.ndarray:
        """Features of some rows, from memory where they are."""
        kept = int(np.searchsorted(numbers, self.resident))
        if kept == 0:
            return self._compute(numbers)
        Z = np.empty((len(numbers), self.columns), np.float32)
        np.take(self._resident, numbers[:kept], axis=0, out=Z[:kept], mode="clip")
        if kept < len(numbers):
            Z[kept:] = self._compute(numbers[kept:])
        return Z

    def sample(self, count: int) -> np.ndarray:
        """Features of some rows, evenly spread."""
        return self._gather(self.numbers[:: max(1, self.n // count)])

    def scores(self, block: Block, w: np.ndarray) -> np.ndarray:
        """Zw on a block."""
        out = np.empty(len(block.lines))
        tasks = [(block.Z, block.lines[s], w, out[s]) for s in self._shares(len(out))]
        run_all(dot_rows, tasks, self.threads)
        return out

    def combine(self, block: Block, beta: np.ndarray) -> np.ndarray:
        """Zᵀβ on a block, β over its lines."""
        shares = self._shares(len(beta))
        sums = np.zeros((len(shares), self.columns))
        tasks = [(block.Z, block.lines[s], beta[s], sums[k]) for k, s in enumerate(shares)]
        run_all(add_rows, tasks, self.threads)
        return sums.sum(axis=0)

    def weights(self, beta: np.ndarray) -> np.ndarray:
        """w = Zᵀβ over all rows."""
        return sum(
            (self.combine(block, beta[block.rows]) for block in self.blocks()),
            np.zeros(self.columns),
        )

    def _shares(self, count: int) -> list[slice]:
        """range(count) in as many parts as there are threads."""
        ends = np.linspace(0, count, self.threads + 1).astype(int)
        return [slice(a, b) for a, b in pairwise(ends)]


def _shuffler() -> np.random.Generator:
    return np.random.default_rng(0)
