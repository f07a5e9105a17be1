"""A Gram matrix that is held in memory whole.

A search over C, a cross-validation and leave-one-out solve many problems on the same rows: there
the matrix is computed once. A precomputed kernel is given as one, and is read where it is. It is
never changed, so that threads may share it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.gram.matrix import HELD_ROWS, Gram
from maxmargin.gram.row_cache import add_rows, gather_entries
from maxmargin.kernels import Precomputed
from maxmargin.resources.arrays import Entries, Floats, Numbers, Reals, RealType


class HeldGram(Gram):
    """K itself, in float32 or float64.

    Parameters
    ----------
    K : ndarray of shape (n, n), symmetric
    cache_size, threads : as of `Gram`: what solvers may take for blocks of it, and of cores

    Examples
    --------
    >>> gram = HeldGram(np.array([[2.0, 1.0], [1.0, 3.0]]))
    >>> gram.dot([0, 1], [1.0, -1.0])
    array([ 1., -2.])
    """

    is_cheap = True
    entries_round = False
    evaluations = 0  # the entries were computed before
    entry_error = 0.0  # the matrix is what it is

    def __init__(self, K: Entries, *, cache_size: float | None = None, threads: int = 1) -> None:
        self.K, self.n, self.threads = K, len(K), threads
        self.kernel, self.X = Precomputed(), K
        self.diagonal: Floats = K.diagonal().astype(np.float64)
        self.cache_size = cache_size

    @classmethod
    def in_place(cls, K: Reals, cache_size: float | None, threads: int) -> HeldGram | None:
        """K as it lies in memory; None if compiled code would have to be made anew for that."""
        rows = K if K.flags.c_contiguous else K.T
        rows = rows.astype(np.float64, copy=False) if len(K) <= HELD_ROWS else rows
        if not (rows.flags.carray and rows.dtype.isnative):
            return None
        return cls(np.asarray(rows), cache_size=cache_size, threads=threads)

    @property
    def matrix(self) -> Entries | None:
        return self.K

    @property
    def precision(self) -> RealType:
        return self.K.dtype.type

    @cached_property
    def budget(self) -> int:
        if self.cache_size is None:
            return super().budget
        return int(self.cache_size * 2**20)

    def take(self, rows: Numbers | slice) -> HeldGram:
        if isinstance(rows, slice):
            return self
        part = self.square(rows, self.precision)
        return HeldGram(part, cache_size=self.budget / self.threads / 2**20)

    def reflected(self, rows: Numbers | None, signs: Floats) -> HeldGram:
        part, signs = self if rows is None else self.take(rows), signs.astype(self.precision)
        K = signs[:, None] * part.K * signs
        return HeldGram(K, cache_size=self.cache_size, threads=self.threads)

    def block(self, i: ArrayLike, j: ArrayLike, dtype: RealType = np.float64) -> Entries:
        i, j = np.asarray(i), np.asarray(j)
        return self._gathered(i, j, np.empty((len(i), len(j)), dtype))

    def square(
        self, i: ArrayLike, dtype: RealType = np.float64, out: Entries | None = None
    ) -> Entries:
        i = np.asarray(i)
        return self._gathered(i, i, np.empty((len(i), len(i)), dtype) if out is None else out)

    def _gathered(self, i: Numbers, j: Numbers, out: Entries) -> Entries:
        gather_entries(self.K, i, j, np.arange(len(i)), out, self.threads)
        return out

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
