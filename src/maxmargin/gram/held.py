"""A Gram matrix that is held in memory whole, for many problems that share it.

A search over C, a cross-validation and leave-one-out solve many problems on the same rows: there
the matrix is computed once. It is read, never changed, so that threads may share it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.gram.matrix import Gram
from maxmargin.gram.row_cache import add_rows, gather_entries
from maxmargin.hardware.arrays import Entries, Floats, Numbers, RealType
from maxmargin.kernels import Precomputed


class HeldGram(Gram):
    """K itself, in float32 or float64.

    Parameters
    ----------
    K : ndarray of shape (n, n), symmetric

    Examples
    --------
    >>> gram = HeldGram(np.array([[2.0, 1.0], [1.0, 3.0]]))
    >>> gram.dot([0, 1], [1.0, -1.0])
    array([ 1., -2.])
    """

    def __init__(self, K: Entries) -> None:
        self.K, self.n, self.threads = K, len(K), 1
        self.kernel, self.X = Precomputed(), K
        self.diagonal: Floats = K.diagonal().astype(np.float64)
        self.cache_size = None
        self._evaluations = 0

    @property
    def matrix(self) -> Entries | None:
        return self.K

    @property
    def is_cheap(self) -> bool:
        return True

    @property
    def evaluations(self) -> int:
        return 0

    @evaluations.setter
    def evaluations(self, count: int) -> None:
        pass

    @property
    def precision(self) -> RealType:
        return self.K.dtype.type

    @property
    def entries_round(self) -> bool:
        return False

    def held(self, dtype: RealType) -> Entries:
        return self.K.astype(dtype, copy=False)

    def take(self, rows: Numbers | slice) -> HeldGram:
        return self if isinstance(rows, slice) else HeldGram(self.square(rows, self.precision))

    def block(self, i: ArrayLike, j: ArrayLike, dtype: RealType = np.float64) -> Entries:
        i, j = np.asarray(i), np.asarray(j)
        values: Entries = np.empty((len(i), len(j)), dtype)
        gather_entries(self.K, i, j, np.arange(len(i)), values, 0, len(i))
        return values

    def square(
        self, i: ArrayLike, dtype: RealType = np.float64, out: Entries | None = None
    ) -> Entries:
        i = np.asarray(i)
        values: Entries = np.empty((len(i), len(i)), dtype) if out is None else out
        gather_entries(self.K, i, i, np.arange(len(i)), values, 0, len(i))
        return values

    def dot(
        self,
        j: ArrayLike,
        coef: ArrayLike,
        dtype: RealType = np.float64,
        *,
        rows: Numbers | None = None,
        again: bool = False,
    ) -> Floats:
        j, coef = np.asarray(j), np.asarray(coef, np.float64)
        out = np.zeros(self.n)
        add_rows(self.K, j, coef, out, self.threads)
        return out if rows is None else out[rows]

    def row(self, i: int, dtype: RealType = np.float64) -> Entries:
        row: Entries = self.K[i].astype(dtype, copy=False)
        return row
