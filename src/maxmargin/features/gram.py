"""K̂ = ZZᵀ, the Gram matrix of explicit features, with Z computed in blocks within a budget.

Of the n rows the first `resident` keep their features in memory, as many as the budget allows;
the features of the others are computed anew, block by block, each time they are asked for. If
all fit, they are computed once. Nothing is written to disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from maxmargin.gram import Gram, available_cores, available_memory, run_all
from maxmargin.kernels import Kernel
from maxmargin.rows import add_rows, dot_rows

BLOCK_BYTES = 1 << 26  # of features computed at a time
LEAST_ROWS = 64  # in a block


class Transformer(Protocol):
    """What is needed of φ: scikit-learn's interface, once fitted."""

    def transform(self, X: Any) -> Any:
        """φ of the rows of X."""


class Block(NamedTuple):
    """Some rows of a `FeatureGram`: `Z[lines]` are the features of its rows `rows`."""

    rows: slice
    Z: np.ndarray
    lines: np.ndarray


class FeatureGram:
    """K̂ over the rows of X; what a solver asks of a `Gram`, and blocks of Z besides.

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
    >>> gram.block([0, 1], [1]).round(4)
    array([[1.],
           [5.]])
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
                f"cache_size={budget / 2**20:.4g} MB is too little for features of "
                f"{self.columns:,} columns: blocks of {min(LEAST_ROWS, self.n)} rows take "
                f"{least:.4g} MB; raise cache_size or lower n_components"
            )
        self.step = min(self.step, self.n)
        spare = budget - parts * self.step * line
        resident = self.n if self.n * line + self.step * line <= budget else spare // line
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
        part.__dict__ |= self.__dict__ | {"n": len(rows), "numbers": rows, "threads": 1}
        return part

    def exact(self) -> Gram:
        """The Gram matrix of the kernel itself, on the same rows."""
        X = self.X if self.n == self.X.shape[0] else self.X[self.numbers]
        return Gram(self.kernel, X, cache_size=self.cache_size, threads=self.threads)

    def blocks(self) -> Iterator[Block]:
        """All rows: first those whose features are made for the occasion, then the resident."""
        split = int(np.searchsorted(self.numbers, self.resident))
        for start in range(split, self.n, self.step):
            numbers = self.numbers[start : start + self.step]
            contiguous = numbers[-1] - numbers[0] == len(numbers) - 1
            which = slice(numbers[0], numbers[-1] + 1) if contiguous else numbers
            rows = slice(start, start + len(numbers))
            yield Block(rows, self._compute(which), np.arange(len(numbers)))
        if split:
            yield Block(slice(0, split), self._resident, self.numbers[:split])

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
        return [slice(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]

    def block(self, i: Any, j: Any) -> np.ndarray:
        """K̂[i, j] for two arrays of row numbers, in float64."""
        Zi, Zj = (self._compute(self.numbers[k]).astype(np.float64) for k in (i, j))
        return Zi @ Zj.T

    def dot(self, j: Any, coef: Any) -> np.ndarray:
        """K̂[:, j] @ coef over all rows."""
        w = self.weights(np.bincount(j, coef, self.n))
        out = np.empty(self.n)
        for block in self.blocks():
            out[block.rows] = self.scores(block, w)
        return out
