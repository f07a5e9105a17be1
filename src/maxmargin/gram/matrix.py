"""The Gram matrix K_ij = k(x_i, x_j), which is never formed unless it is small.

`Gram` gives what solvers need of K: blocks, whole rows, products K[:, j] @ c and the diagonal.
Values are computed by all cores (see `entries`). Rows that cost more to compute than to read are
cached within a budget of memory: a matrix that does not fit costs recomputation, never memory.

Entries come in float32 (half the memory traffic, enough to choose steps) or float64 (to prove
the result): the caller says which. Those of a block can be stored in 16 bits (see `square`).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property, partial
from math import inf, log
from weakref import proxy

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.gram.entries import LARGEST, ReflectedEntries, entries_of
from maxmargin.gram.on_demand import RowsOnDemand
from maxmargin.gram.row_cache import RowCache, add_rows, complete
from maxmargin.kernels import Kernel
from maxmargin.resources.arrays import Data, Entries, Floats, Numbers, RealType
from maxmargin.resources.memory import available_memory, kept_memory, large_array
from maxmargin.resources.threads import available_cores

# Rows up to which K is held in float64 (2 MB): steps are computed from it, and gradients from β
# alone are exact and cost little (docs/how-it-works/speed.md, "Constants").
HELD_ROWS = 512
# Error of exponents −γ‖x − z‖², and so the relative one of entries, up to which float32 is enough
# to choose steps by: what is claimed is proved with other entries.
ENOUGH = 1e-3


class Gram:
    """The matrix of k(x_i, x_j) over the rows of X.

    Parameters
    ----------
    kernel : Kernel
    X : dense or CSR array, (n, d), or (n, n) for `Precomputed`
    cache_size : float or None
        Budget for kernel rows in MB; None takes a quarter of the memory that is free.
    threads : int or None
        None uses every core this process may use.

    Examples
    --------
    >>> from maxmargin.kernels import Linear
    >>> gram = Gram(Linear(), np.array([[1.0, 0.0], [1.0, 2.0]]))
    >>> gram.block([0, 1], [1])
    array([[1.],
           [5.]])
    >>> gram.dot([0, 1], [1.0, -1.0])
    array([ 0., -4.])
    """

    _held: RowsOnDemand | None = None
    _cache: RowCache | None = None

    def __init__(
        self,
        kernel: Kernel,
        X: Data,
        *,
        cache_size: float | None = None,
        threads: int | None = None,
    ) -> None:
        self.kernel = kernel.bind(X)
        self.X = X
        self.n: int = X.shape[0]
        self.cache_size = cache_size
        self.threads = threads or available_cores()
        self.diagonal: Floats = self.kernel.diagonal(X)
        room = inf if cache_size is None else cache_size * 2**20 / 2
        self._entries = entries_of(self.kernel, X, self.threads, room)
        self._matrix: Entries | None = None
        self._whole: Callable[[], Floats] | None = None  # K from that of a larger Gram

    @property
    def evaluations(self) -> int:
        """Kernel entries computed so far."""
        return self._entries.evaluations

    @evaluations.setter
    def evaluations(self, count: int) -> None:
        self._entries.evaluations = count

    @property
    def entry_error(self) -> float:
        """Bound of the error of a float64 entry by rounding of its distance; 0 without distance."""
        return self._entries.error

    def use_differences(self) -> None:
        """From now on the kernel itself computes entries, distances from x − z: slow and exact."""
        count = self.evaluations
        self._entries = self._entries.by_differences()
        self.evaluations = count
        self._matrix = self._held = self._cache = self._whole = None

    @property
    def matrix(self) -> Entries | None:
        """K itself in float64 if it is small, made when first needed."""
        if self._matrix is None and self.n <= HELD_ROWS:
            every = np.arange(self.n)
            self._matrix = self._whole() if self._whole else self._entries.square(every, np.float64)
        return self._matrix

    def held(self, dtype: RealType) -> Entries:
        """K of all rows in this precision: from then on products are read from it."""
        return self.on_demand(dtype).complete()

    @property
    def is_held(self) -> bool:
        """Whether K of all rows has been needed in some precision."""
        return self._held is not None and self._held.is_whole

    def on_demand(self, dtype: RealType) -> RowsOnDemand:
        """The same, of which rows are computed when they are needed."""
        if self.matrix is not None:
            return RowsOnDemand(self.matrix.astype(dtype, copy=False), None)
        if self._held is None or self._held.K.dtype != dtype:
            self._held, me = None, proxy(self)  # its memory is reused; see `_row_cache`
            self._held = RowsOnDemand(
                large_array((self.n, self.n), dtype),
                self._entries.row_maker(dtype),
                lambda out: me.square(np.arange(me.n), dtype, out),
                self._entries.computed,
            )
        return self._held

    @property
    def is_cheap(self) -> bool:
        """Whether an entry costs less to compute than to read."""
        return not self._entries.costly

    @property
    def precision(self) -> RealType:
        """The cheapest dtype whose entries are good enough to choose steps by."""
        if self.n <= HELD_ROWS or np.max(np.abs(self.diagonal), initial=0) > LARGEST:
            return np.float64
        steepest = max((abs(form.square) for form in self.kernel.forms or ()), default=0.0)
        if steepest:
            error = np.finfo(np.float32).eps * log(2) * steepest * self._entries.largest_norm()
            return np.float64 if error > ENOUGH else np.float32
        return np.float32

    @property
    def entries_round(self) -> bool:
        """Whether entries are cheap and lie in [0, 1], so that 16 bits say much about them."""
        return self._entries.rounds

    @cached_property
    def budget(self) -> int:
        """Bytes that kernel values may take.

        A third is for cached rows, a third for a solver's block, a third for what it is made of.
        The rows as they are laid out for the tile are taken off `cache_size`, up to half of it.
        """
        if self.cache_size is None:
            return (available_memory() + kept_memory()) // 4
        given = int(self.cache_size * 2**20)
        return max(given - self._entries.packed, given // 2)

    @property
    def left(self) -> int:
        """Bytes of the budget that no rows take which are held or cached."""
        held = [] if self._held is None else [self._held.K]
        kept = [*held, *([] if self._cache is None else self._cache.pieces)]
        return max(self.budget - sum(each.nbytes for each in kept), 0)

    def has_room_for(self, size: int) -> bool:
        """Whether a matrix of so many variables takes two thirds of a given budget, or less.

        Two variables may share a row: then K is held, the rows of all variables, and their matrix.
        """
        if self.cache_size is None or self.n <= HELD_ROWS:
            return True
        entries = size**2 if size <= self.n else size**2 + size * self.n + self.n**2
        return 3 * np.dtype(self.precision).itemsize * entries <= 2 * self.budget

    def take(self, rows: Numbers | slice) -> Gram:
        """The Gram matrix of some rows, to be used beside others: one thread and its budget."""
        if isinstance(rows, slice):
            return self
        part = copy(self)
        part._entries = self._entries.take(rows)
        part.X, part.n, part.threads = part._entries.X, len(rows), 1
        part.diagonal = self.diagonal[rows]
        part._cache = part._matrix = part._held = None
        if part.n > HELD_ROWS:
            part.cache_size = self.budget / self.threads / 2**20
            part.__dict__.pop("budget", None)
        elif self.n <= HELD_ROWS:
            part._whole = partial(self.square, rows)
        return part

    def reflected(self, rows: Numbers | None, signs: Floats) -> Gram:
        """s_i s_j K_ij, for signs of all rows, or of those with the given numbers."""
        part = copy(self) if rows is None else self.take(rows)
        part._entries = ReflectedEntries(part._entries, signs)
        part._cache = part._matrix = part._held = part._whole = None
        return part

    def block(self, i: ArrayLike, j: ArrayLike, dtype: RealType = np.float64) -> Entries:
        """K[i, j] for two arrays of row numbers."""
        i, j = np.asarray(i), np.asarray(j)
        if self.matrix is None:
            return self._entries.block(i, j, dtype)
        return self.matrix.take(i, 0).take(j, 1).astype(dtype, copy=False)

    def square(
        self, i: ArrayLike, dtype: RealType = np.float64, out: Entries | None = None
    ) -> Entries:
        """K[i, i] for an array of row numbers: of an entry and its mirror image, one is computed.

        Writes to `out` if it is given and the small matrix does not hold the values already. Where
        `entries_round`, `out` may be uint16, which holds value · UNIT.
        """
        i = np.asarray(i)
        if self.matrix is not None:
            if len(i) == self.n and np.array_equal(i, np.arange(self.n)):
                return self.matrix.astype(dtype, copy=False)
            return self.block(i, i, dtype)
        if self._cache is None or self._cache.dtype != (dtype if out is None else out.dtype):
            return self._entries.square(i, dtype, out)
        values: Entries = np.empty((len(i), len(i)), dtype) if out is None else out
        missing = self._cache.take(i, i, values)
        entries = self._entries.square(i[missing], dtype)
        place = np.arange(len(i))
        complete(values, place, np.delete(place, missing), missing, entries, self.threads)
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
        """K[rows, j] @ coef in float64, over all rows if none are given.

        `again` says that the same j are likely to be needed again, so that their rows are cached
        where they are costly.
        """
        j, coef = np.asarray(j), np.asarray(coef, np.float64)
        values: Floats
        if self.matrix is not None:
            with np.errstate(invalid="ignore"):  # of a dual without bound, β is infinite
                values = np.bincount(j, coef, self.n).astype(float, copy=False) @ self.matrix
        elif self._held is not None and self._held.K.dtype == dtype and self._held.has(j):
            values = np.zeros(self.n)
            add_rows(self._held.K, j, coef.astype(dtype), values, self.threads)
        elif again and self._entries.costly and len(j) <= self._row_cache(dtype).capacity:
            values = self._row_cache(dtype).dot(j, coef)
        else:
            return self._entries.dot(j, coef, dtype, rows)
        return values if rows is None else values[rows]

    def row(self, i: int, dtype: RealType = np.float64) -> Entries:
        """K[i, :], cached if the budget allows."""
        if self.matrix is not None:
            values: Floats = self.matrix[i]
            return values
        return self._row_cache(dtype).row(i)

    def _row_cache(self, dtype: RealType) -> RowCache:
        """The cache of rows in this precision; that of another precision is dropped."""
        if self._cache is None or self._cache.dtype != dtype:
            capacity = self.budget // 3 // (self.n * np.dtype(dtype).itemsize)
            matrix = proxy(self)  # no cycle of references: memory is freed with the last user of K
            self._cache = RowCache(
                self.n,
                min(max(capacity, 3), self.n),
                dtype,
                lambda numbers, out: matrix._entries.block(numbers, None, dtype, out),
                lambda numbers: matrix._entries.square(numbers, dtype),
                self.threads,
            )
        return self._cache
