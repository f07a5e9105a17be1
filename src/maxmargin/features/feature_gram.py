"""K̂ = ZZᵀ, the Gram matrix of explicit features Z = φ(X), of which only products are needed.

With φ(x) = Mᵀv(x) (see `KernelFeatures`) the n × D matrix Z need not exist either:

    Zw = V(Mw),        Zᵀβ = Mᵀ(Vᵀβ),

and only the few rows of Z in the Hessian of a Newton step are multiplied by M; but if many problems
share the rows, each is multiplied once, and V is Z. As many rows of V are kept in memory as the
budget allows, chosen at random; the others are recomputed tile by tile at each use. Nothing is
written to disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from maxmargin.core import native
from maxmargin.features.kernel_features import SMALL, TILE_ENTRIES, KernelFeatures
from maxmargin.resources.arrays import Data, Floats, Numbers, Reals, RealType
from maxmargin.resources.memory import available_memory
from maxmargin.resources.threads import available_cores, one_blas_thread, run_all

BLOCK_BYTES = 1 << 25  # of features per block: bounds the memory of a Newton step beside the budget


class Transformer(Protocol):
    """φ as scikit-learn has it, fitted."""

    def transform(self, X: Data) -> Any:
        """φ of the rows of X."""


def mixing_of(features: Transformer) -> Floats | None:
    """M; None if φ is v itself."""
    return features.mixing if isinstance(features, KernelFeatures) else None


def basis_of(features: Transformer, X: Data, dtype: RealType) -> Reals:
    """v of some rows; φ itself of a user's transformer."""
    if isinstance(features, KernelFeatures):
        return features.basis(X, dtype)
    Z = features.transform(X)
    return np.asarray(Z.toarray() if sp.issparse(Z) else Z, dtype)


class FeatureGram:
    """K̂ over the rows of X.

    Parameters
    ----------
    X : array, memmap or CSR of shape (n, d)
    features : KernelFeatures or another Transformer
    cache_size : float or None
        Budget for the features in MB; None takes a quarter of the memory that is free.
    threads : int or None
    shared : bool
        Whether several problems share these rows.

    Examples
    --------
    >>> from maxmargin.features import Nystroem
    >>> X = np.array([[1.0, 0.0], [1.0, 2.0]])
    >>> gram = FeatureGram(X, Nystroem(kernel="linear").fit(X))
    >>> w = gram.combine(np.array([1]), np.array([1.0]))  # the features of the second row
    >>> gram.scores(w).round(4)
    array([1., 5.])
    """

    def __init__(
        self,
        X: Data,
        features: Transformer,
        *,
        cache_size: float | None = None,
        threads: int | None = None,
        shared: bool = False,
    ) -> None:
        self.X, self.features = X, features
        self.n = X.shape[0]
        self.threads = threads or available_cores()
        self.evaluations = 0
        self.dtype: type = np.float32
        mixing = mixing_of(features)
        self._mixing = None if shared else mixing  # M applied on output
        self._mixed = mixing if shared else None  # M applied before rows are kept
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
        """Compute and keep v of `count` rows, chosen at random."""
        self.resident = count
        self._kept: Floats = np.empty((count, width), self.dtype)
        self._line = np.full(self.n, -1, np.int32)  # where the values of a row are kept
        kept = np.sort(np.random.default_rng(0).permutation(self.n)[:count])
        self._line[kept] = np.arange(count)

        def fill(some: slice) -> None:
            self._kept[some] = self._values(kept[some])

        self._each(fill, count)

    def _values(self, numbers: Numbers) -> Floats:
        """v of some rows of X."""
        first, last = numbers[0], numbers[-1]
        together = last - first == len(numbers) - 1
        X = self.X[first : last + 1] if together else self.X[numbers]
        values = basis_of(self.features, X, self.dtype)
        self.evaluations += values.size
        if self._mixed is not None:
            values = values @ self._mixed
        return values.astype(self.dtype, copy=False)

    def _each(self, fill: Any, count: int) -> None:
        """Call `fill` for tiles that cover range(count); a user's transformer on one thread."""
        tiles = [(slice(s, min(s + self.step, count)),) for s in range(0, count, self.step)]
        with one_blas_thread():
            run_all(fill, tiles, self.threads if isinstance(self.features, KernelFeatures) else 1)

    def take(self, rows: Numbers | slice, threads: int = 1) -> FeatureGram:
        """K̂ of some rows, in the same memory; on one thread, since others may run at once."""
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

    def sample(self, count: int) -> Numbers:
        """`count` rows at random, sorted; those kept in memory first."""
        drawn = np.random.default_rng(1).permutation(self.n)
        missing = self._line[self.numbers[drawn]] < 0
        return np.sort(np.concatenate([drawn[~missing], drawn[missing]])[:count])

    def scores(self, w: Floats) -> Floats:
        """Zw, in float64."""
        out = np.zeros(self.n)
        if not w.any():
            return out
        w = w if self._mixing is None else self._mixing @ w
        lines = self._line[self.numbers]
        tasks = [(self._kept, lines[s], w, out[s]) for s in self._shares(self.n)]
        run_all(native.feature_scores, tasks, self.threads)
        missing = np.flatnonzero(lines < 0)

        def fill(some: slice) -> None:
            values = self._values(self.numbers[missing[some]])
            part = np.empty(len(values))
            native.feature_scores(values, np.arange(len(values), dtype=np.int32), w, part)
            out[missing[some]] = part

        self._each(fill, len(missing))
        return out

    def combine(self, rows: Numbers, coef: Floats) -> Floats:
        """Σ coef_i φ(x_i) over some rows, in float64."""
        numbers = self.numbers[rows]
        lines = self._line[numbers]
        shares = self._shares(len(rows))
        sums = np.zeros((len(shares), self._kept.shape[1]))
        tasks = [(self._kept, lines[s], coef[s], sums[k]) for k, s in enumerate(shares)]
        run_all(native.combine_features, tasks, self.threads)
        missing = np.flatnonzero(lines < 0)
        extra: list[Floats] = [np.zeros(0)] * -(-len(missing) // self.step)

        def fill(some: slice) -> None:
            values, part = self._values(numbers[missing[some]]), np.zeros(sums.shape[1])
            native.combine_features(
                values, np.arange(len(values), dtype=np.int32), coef[missing[some]], part
            )
            extra[some.start // self.step] = part

        self._each(fill, len(missing))
        total = sum(extra, sums.sum(axis=0))
        return total if self._mixing is None else total @ self._mixing

    def blocks(self, rows: Numbers) -> Iterator[Floats]:
        """φ of some rows, in blocks."""
        step = max(self.step, BLOCK_BYTES // (self._kept.shape[1] * self._kept.itemsize))
        mixing: Floats | None = self._mixing
        mixing = None if mixing is None else mixing.astype(self.dtype)
        for start in range(0, len(rows), step):
            values = self._gather(self.numbers[rows[start : start + step]])
            yield values if mixing is None else self._times(values, mixing)

    def _times(self, values: Floats, mixing: Floats) -> Floats:
        """values @ mixing, on threads of our own."""
        out = np.empty((len(values), mixing.shape[1]), values.dtype)

        def fill(some: slice) -> None:
            np.matmul(values[some], mixing, out=out[some])

        with one_blas_thread():
            run_all(fill, [(s,) for s in self._shares(len(out))], self.threads)
        return out

    def _gather(self, numbers: Numbers) -> Floats:
        """v of some rows of X, from memory if kept."""
        lines = self._line[numbers]
        missing = np.flatnonzero(lines < 0)
        values: Floats = np.empty((len(numbers), self._kept.shape[1]), self.dtype)
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
