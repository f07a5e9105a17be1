"""K̂ = ZZᵀ, the Gram matrix of explicit features Z = φ(X), of which only products are needed.

With φ(x) = Mᵀv(x) (see `KernelFeatures`) the n × D matrix Z need not exist either:

    Zw = V(Mw),        Zᵀβ = Mᵀ(Vᵀβ),

and only the few rows of Z that a Newton step is about are ever multiplied by M; but if many
problems share the rows, each is multiplied once, and V is Z. As many rows of V are kept in memory
as the budget allows, drawn by lot; the others are computed anew, tile by tile, each time they are
asked for. Nothing is written to disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from maxmargin.features.base import SMALL, TILE_ENTRIES, KernelFeatures
from maxmargin.gram import Gram
from maxmargin.kernels import Kernel
from maxmargin.resources import available_cores, available_memory, one_blas_thread, run_all
from maxmargin.rows import add_rows, dot_rows

BLOCK_BYTES = 1 << 25  # of features handed out at a time


class Transformer(Protocol):
    """What is needed of φ: scikit-learn's interface, once fitted."""

    def transform(self, X: Any) -> Any:
        """φ of the rows of X."""


class FeatureGram:
    """K̂ over the rows of X.

    Parameters
    ----------
    kernel : Kernel, that K̂ approximates
    X : array, memmap or CSR of shape (n, d)
    features : KernelFeatures or another Transformer
    cache_size : float or None
        Budget for the features in MB; None takes a quarter of the memory that is free.
    threads : int or None
    shared : bool
        Whether many problems will be about these rows.

    Examples
    --------
    >>> from maxmargin.features import Nystroem
    >>> from maxmargin.kernels import Linear
    >>> X = np.array([[1.0, 0.0], [1.0, 2.0]])
    >>> gram = FeatureGram(Linear(), X, Nystroem(kernel="linear").fit(X))
    >>> w = gram.combine(np.array([1]), np.array([1.0]))  # the features of the second row
    >>> gram.scores(w).round(4)
    array([1., 5.])
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        features: Transformer,
        *,
        cache_size: float | None = None,
        threads: int | None = None,
        shared: bool = False,
    ) -> None:
        self.kernel, self.X, self.features = kernel, X, features
        self.n = X.shape[0]
        self.cache_size = cache_size
        self.threads = threads or available_cores()
        self.evaluations = 0
        self.dtype: type = np.float32
        mixing = features.mixing if isinstance(features, KernelFeatures) else None
        self._mixing = None if shared else mixing  # M, of those who ask
        self._mixed = mixing if shared else None  # M, of what is kept
        width = self._values(np.arange(1)).shape[1]
        self.columns = width if self._mixing is None else self._mixing.shape[1]
        budget = available_memory() // 4 if cache_size is None else int(cache_size * 2**20)
        if self.n * width <= SMALL and 8 * self.n * width <= budget:
            self.dtype = np.float64
        self._mixed = None if self._mixed is None else self._mixed.astype(self.dtype)
        self.step = max(1, TILE_ENTRIES // width)  # rows of a tile
        line = width * np.dtype(self.dtype).itemsize
        if budget < min(self.step, self.n) * line:
            raise ValueError(
                f"cache_size={budget / 2**20:.3g} MB is too little for features of "
                f"{width:,} columns: {min(self.step, self.n)} rows take "
                f"{min(self.step, self.n) * line / 2**20:.4g} MB; raise cache_size or lower "
                "n_components"
            )
        self.numbers = np.arange(self.n)  # of the rows, in X
        self._keep(min(self.n, budget // line), width)

    def _keep(self, count: int, width: int) -> None:
        """Compute and keep the values of `count` rows, by lot."""
        self.resident = count
        self._kept: np.ndarray = np.empty((count, width), self.dtype)
        self._line = np.full(self.n, -1, np.int32)  # where the values of a row are kept
        kept = np.sort(np.random.default_rng(0).permutation(self.n)[:count])
        self._line[kept] = np.arange(count)

        def fill(some: slice) -> None:
            self._kept[some] = self._values(kept[some])

        self._each(fill, count)

    def _values(self, numbers: np.ndarray) -> np.ndarray:
        """v of some rows of X."""
        first, last = numbers[0], numbers[-1]
        together = last - first == len(numbers) - 1
        X = self.X[first : last + 1] if together else self.X[numbers]
        if isinstance(self.features, KernelFeatures):
            values = self.features.basis(X, self.dtype)
        else:
            values = self.features.transform(X)
            values = values.toarray() if sp.issparse(values) else np.asarray(values)
        self.evaluations += values.size
        if self._mixed is not None:
            values = values @ self._mixed
        return values.astype(self.dtype, copy=False)

    def _each(self, fill: Any, count: int) -> None:
        """Call `fill` for tiles that cover range(count); features of others on one thread."""
        tiles = [(slice(s, min(s + self.step, count)),) for s in range(0, count, self.step)]
        with one_blas_thread():
            run_all(fill, tiles, self.threads if isinstance(self.features, KernelFeatures) else 1)

    def take(self, rows: np.ndarray | slice, threads: int = 1) -> FeatureGram:
        """K̂ of some rows, in the same memory; to be used beside others, on one thread."""
        if isinstance(rows, slice):
            return self
        part = object.__new__(FeatureGram)
        part.__dict__ |= self.__dict__ | {
            "n": len(rows),
            "numbers": self.numbers[rows],
            "threads": threads,
            "evaluations": 0,
        }
        return part

    def lot(self, count: int) -> np.ndarray:
        """`count` of the rows by lot, sorted: those that are kept, as long as there are any."""
        drawn = np.random.default_rng(1).permutation(self.n)
        missing = self._line[self.numbers[drawn]] < 0
        return np.sort(np.concatenate([drawn[~missing], drawn[missing]])[:count])

    def exact(self) -> Gram:
        """The Gram matrix of the kernel itself, on the same rows."""
        X = self.X if self.n == self.X.shape[0] else self.X[self.numbers]
        return Gram(self.kernel, X, cache_size=self.cache_size, threads=self.threads)

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Zw, in float64."""
        out = np.zeros(self.n)
        if not w.any():
            return out
        w = w if self._mixing is None else self._mixing @ w
        lines = self._line[self.numbers]
        tasks = [(self._kept, lines[s], w, out[s]) for s in self._shares(self.n)]
        run_all(dot_rows, tasks, self.threads)
        missing = np.flatnonzero(lines < 0)

        def fill(some: slice) -> None:
            values = self._values(self.numbers[missing[some]])
            part = np.empty(len(values))
            dot_rows(values, np.arange(len(values), dtype=np.int32), w, part)
            out[missing[some]] = part

        self._each(fill, len(missing))
        return out

    def combine(self, rows: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Σ coef_i φ(x_i) over some rows, in float64."""
        numbers = self.numbers[rows]
        lines = self._line[numbers]
        shares = self._shares(len(rows))
        sums = np.zeros((len(shares), self._kept.shape[1]))
        tasks = [(self._kept, lines[s], coef[s], sums[k]) for k, s in enumerate(shares)]
        run_all(add_rows, tasks, self.threads)
        missing = np.flatnonzero(lines < 0)
        extra: list[np.ndarray] = [np.zeros(0)] * -(-len(missing) // self.step)

        def fill(some: slice) -> None:
            values, part = self._values(numbers[missing[some]]), np.zeros(sums.shape[1])
            add_rows(values, np.arange(len(values), dtype=np.int32), coef[missing[some]], part)
            extra[some.start // self.step] = part

        self._each(fill, len(missing))
        total = sum(extra, sums.sum(axis=0))
        return total if self._mixing is None else total @ self._mixing

    def blocks(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        """φ of some rows, in blocks."""
        step = max(self.step, BLOCK_BYTES // (self._kept.shape[1] * self._kept.itemsize))
        mixing: np.ndarray | None = self._mixing
        mixing = None if mixing is None else mixing.astype(self.dtype)
        for start in range(0, len(rows), step):
            values = self._gather(self.numbers[rows[start : start + step]])
            yield values if mixing is None else values @ mixing

    def _gather(self, numbers: np.ndarray) -> np.ndarray:
        """v of some rows of X, from memory where it is."""
        lines = self._line[numbers]
        missing = np.flatnonzero(lines < 0)
        values: np.ndarray = np.empty((len(numbers), self._kept.shape[1]), self.dtype)
        if len(missing) < len(numbers):
            np.take(self._kept, np.maximum(lines, 0), axis=0, out=values, mode="clip")

        def fill(some: slice) -> None:
            values[missing[some]] = self._values(numbers[missing[some]])

        self._each(fill, len(missing))
        return values

    def _shares(self, count: int) -> list[slice]:
        """range(count) in as many parts as there are threads."""
        ends = np.linspace(0, count, self.threads + 1).astype(int)
        return [slice(a, b) for a, b in pairwise(ends)]
