"""Which fused tile computes a kernel on given rows, if one does: the dense or the sparse one.

Both offer the same: `pack` left rows and `expand` right rows (all, or those with the given
numbers), then a `block` of k(x, z), the `square` of rows with themselves, or the product of a block
with coefficients, `dot`. Left rows may also be of another array: `pack_other`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from maxmargin import sparse_tiles, tiles
from maxmargin.kernels import Kernel
from maxmargin.tiles import Form
from maxmargin.vectors import WIDE

SPARSE = 0.3  # share of entries that are not zero, up to which sparse rows are the faster ones
LONGEST = 4096  # columns; sparse left rows are laid out in full
HARMLESS = 100.0  # −t up to which rows may stay where they are, off their centre


@dataclass(frozen=True)
class Dense:
    """Rows of an array, moved so that their mean is at the origin where distances allow it."""

    X: np.ndarray
    form: Form
    centre: np.ndarray | None

    def like(self, X: Any) -> Dense:
        """Other rows, laid out in the same way."""
        return Dense(X, self.form, self.centre)

    def pack(self, dtype: type, numbers: np.ndarray | None, threads: int) -> np.ndarray:
        return self.pack_other(self.X, dtype, numbers, threads)

    def pack_other(
        self, X: np.ndarray, dtype: type, numbers: np.ndarray | None, threads: int
    ) -> np.ndarray:
        return tiles.pack(X, dtype, self.centre, numbers, threads)

    def expand(self, dtype: type, numbers: np.ndarray | None, threads: int) -> np.ndarray:
        return tiles.expand(self.X, self.form, dtype, self.centre, numbers, threads)

    def block(self, left: Any, right: Any, out: np.ndarray, threads: int) -> np.ndarray:
        return tiles.block(left, right, self.form, out, threads)

    def square(self, left: Any, right: Any, out: np.ndarray, threads: int) -> np.ndarray:
        return tiles.square(left, right, self.form, out, threads)

    def dot(self, left: Any, right: Any, coef: np.ndarray, threads: int) -> np.ndarray:
        return tiles.dot(left, right, self.form, coef, threads)


@dataclass(frozen=True)
class Sparse:
    """Rows of which most entries are zero."""

    X: sp.csr_array
    form: Form

    def like(self, X: Any) -> Sparse:
        """Other rows, laid out in the same way."""
        compressed = X if sp.issparse(X) else sparse_tiles.compress(X, 1.0)
        return Sparse(canonical(compressed), self.form)

    def pack(self, dtype: type, numbers: np.ndarray | None, threads: int) -> np.ndarray:
        return self.pack_other(self.X, dtype, numbers, threads)

    def pack_other(
        self, X: Any, dtype: type, numbers: np.ndarray | None, threads: int
    ) -> np.ndarray:
        if sp.issparse(X):
            return sparse_tiles.pack(canonical(X), dtype, numbers, threads)
        return tiles.pack(X, dtype, None, numbers, threads, WIDE)

    def expand(self, dtype: type, numbers: np.ndarray | None, threads: int) -> sparse_tiles.Rows:
        return sparse_tiles.expand(self.X, self.form, dtype, numbers, threads)

    def block(self, left: Any, right: Any, out: np.ndarray, threads: int) -> np.ndarray:
        return sparse_tiles.block(left, right, self.form, out, threads)

    def square(self, left: Any, right: Any, out: np.ndarray, threads: int) -> np.ndarray:
        return sparse_tiles.square(left, right, self.form, out, threads)

    def dot(self, left: Any, right: Any, coef: np.ndarray, threads: int) -> np.ndarray:
        return sparse_tiles.dot(left, right, self.form, coef, threads)


def tiling(kernel: Kernel, X: Any, threads: int = 1) -> Dense | Sparse | None:
    """The rows of X as a tile takes them; None if no tile computes this kernel on them."""
    form = tiles.form(kernel)
    if form is None or X.dtype not in (np.float32, np.float64) or 0 in X.shape:
        return None
    short = X.shape[1] <= LONGEST
    if sp.issparse(X):
        return Sparse(canonical(X), form) if short else None
    compressed = sparse_tiles.compress(X, SPARSE, threads) if short else None
    if compressed is not None and (
        not form.square or -form.square * row_norms(compressed, squared=True).max() <= HARMLESS
    ):
        return Sparse(compressed, form)
    return Dense(X, form, X.mean(axis=0, dtype=np.float64) if form.square else None)


def canonical(X: Any) -> sp.csr_array:
    """X as CSR in which no entry is listed twice."""
    X = sp.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
