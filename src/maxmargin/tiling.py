"""Which fused tile computes a kernel on given rows, if one does: for dense, sparse or long rows.

All offer the same: `pack` left rows and `expand` right rows (all, or those with the given numbers),
then a `block` of k(x, z), the `square` of rows with themselves, or the product of a block with
coefficients, `dot`. Rows of another array are laid out `like` these. Left rows take the room of
`width` numbers each, and know their `squared_norms`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from maxmargin import list_tiles, sparse_tiles, tiles
from maxmargin.kernels import Kernel
from maxmargin.tiles import Form

SPARSE = 0.3  # share of entries that are not zero, up to which sparse rows are the faster ones
LONGEST = 4096  # columns of sparse left rows that are laid out in full, and stay in the cache
SPARSE_IF_LONG = 0.1
HARMLESS = 100.0  # −t up to which rows may stay where they are, off their centre
WHOLE = 64  # entries: whole vectors of every tile


def whole(n: int) -> int:
    """As many entries as n, or somewhat more, so that they are whole vectors."""
    return -(-n // WHOLE) * WHOLE


@dataclass(frozen=True)
class Tiling(ABC):
    """What they have in common: the rows, the kernel's form, the module of the tile."""

    X: Any
    form: Form

    tile: ClassVar[ModuleType]

    @property
    def width(self) -> float:
        return self.X.shape[1] + 2

    def squared_norms(self, left: Any) -> np.ndarray:
        return left[:, -2].ravel()

    @abstractmethod
    def like(self, X: Any) -> Tiling:
        """Other rows, laid out in the same way."""

    @abstractmethod
    def pack(self, dtype: type, numbers: np.ndarray | None, threads: int) -> Any:
        """Left rows."""

    @abstractmethod
    def expand(self, dtype: type, numbers: np.ndarray | None, threads: int) -> Any:
        """Right rows."""

    def block(self, left: Any, right: Any, out: np.ndarray, threads: int) -> np.ndarray:
        return self.tile.block(left, right, self.form, out, threads)

    def square(self, left: Any, right: Any, out: np.ndarray, threads: int) -> np.ndarray:
        return self.tile.square(left, right, self.form, out, threads)

    def dot(self, left: Any, right: Any, coef: np.ndarray, threads: int) -> np.ndarray:
        return self.tile.dot(left, right, self.form, coef, threads)


@dataclass(frozen=True)
class Dense(Tiling):
    """Rows of an array, moved so that their mean is at the origin where distances allow it."""

    centre: np.ndarray | None
    tile: ClassVar[ModuleType] = tiles

    def like(self, X: Any) -> Dense:
        return Dense(X, self.form, self.centre)

    def pack(self, dtype: type, numbers: np.ndarray | None, threads: int) -> np.ndarray:
        return tiles.pack(self.X, dtype, self.centre, numbers, threads)

    def expand(self, dtype: type, numbers: np.ndarray | None, threads: int) -> np.ndarray:
        return tiles.expand(self.X, self.form, dtype, self.centre, numbers, threads)


@dataclass(frozen=True)
class Sparse(Tiling):
    """Rows of which most entries are zero."""

    tile: ClassVar[ModuleType] = sparse_tiles

    def like(self, X: Any) -> Sparse:
        return Sparse(compressed(X), self.form)

    def pack(self, dtype: type, numbers: np.ndarray | None, threads: int) -> np.ndarray:
        return sparse_tiles.pack(self.X, dtype, numbers, threads)

    def expand(self, dtype: type, numbers: np.ndarray | None, threads: int) -> sparse_tiles.Rows:
        return sparse_tiles.expand(self.X, self.form, dtype, numbers, threads)


@dataclass(frozen=True)
class Long(Tiling):
    """Sparse rows of so many columns that most of these are not worth a place in every row."""

    common: np.ndarray
    tile: ClassVar[ModuleType] = list_tiles

    @property
    def width(self) -> float:
        return self.common.max() + 3 + self.X.nnz / self.X.shape[0]

    def squared_norms(self, left: Any) -> np.ndarray:
        return left.full[:, -2].ravel()

    def like(self, X: Any) -> Long:
        return Long(compressed(X), self.form, self.common)

    def pack(self, dtype: type, numbers: np.ndarray | None, threads: int) -> list_tiles.Left:
        return list_tiles.pack(self.X, self.common, dtype, numbers, threads)

    def expand(self, dtype: type, numbers: np.ndarray | None, threads: int) -> list_tiles.Rows:
        return list_tiles.expand(self.X, self.common, self.form, dtype, numbers, threads)


def tiling(kernel: Kernel, X: Any, threads: int = 1) -> Tiling | None:
    """The rows of X as a tile takes them; None if no tile computes this kernel on them."""
    form = tiles.form(kernel)
    if form is None or X.dtype not in (np.float32, np.float64) or 0 in X.shape:
        return None
    is_long = X.shape[1] > LONGEST
    if sp.issparse(X):
        rows = compressed(X)
    else:
        rows = sparse_tiles.compress(X, SPARSE_IF_LONG if is_long else SPARSE, threads)
        far = rows is not None and -form.square * row_norms(rows, squared=True).max() > HARMLESS
        if rows is None or far:
            return Dense(X, form, X.mean(axis=0, dtype=np.float64) if form.square else None)
    return Long(rows, form, list_tiles.common_columns(rows)) if is_long else Sparse(rows, form)


def compressed(X: Any) -> sp.csr_array:
    """X as CSR in which no entry is listed twice."""
    X = sp.csr_array(X) if sp.issparse(X) else sparse_tiles.compress(X, 1.0)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
