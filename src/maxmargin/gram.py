"""The Gram matrix K_ij = k(x_i, x_j), which is never formed unless it is small.

`Gram` gives what solvers need of K: blocks, whole rows, products K[:, j] @ c and the diagonal.
Values are computed by all cores, by the fused tile where kernel and data allow it (dense rows, a
function of the inner product), else by one GEMM and one elementwise pass per block. Rows that
cost more to compute than to read are kept within a budget of memory: a matrix that does not fit
costs recomputation, never memory.

Entries come in float32 (half the memory traffic, enough to choose steps) or float64 (to prove
the result): the caller says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property, partial
from typing import Any
from weakref import proxy

import numpy as np
from sklearn.utils.extmath import row_norms

from maxmargin.kept_rows import KeptRows, complete, gather_entries
from maxmargin.kernels import RBF, Kernel, Pairwise, Precomputed, Vectorized
from maxmargin.resources import available_cores, available_memory, large_array, run_all, run_split
from maxmargin.small_matrix import Parts, SmallMatrix, entire, on_demand
from maxmargin.tiling import Dense, Sparse, tiling

TILE_ENTRIES = 1 << 20
WHOLE_MATRIX_ROWS = 1024  # up to this many rows K is held whole, in float64
FEW_ROWS = 256  # up to this many it is cheaper to compute all of them than to ask
ON_DEMAND_ROWS = 2048  # the same where rows are computed when they are first asked for
WIDE = 256  # columns from which an entry costs more to compute than to read


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

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        *,
        cache_size: float | None = None,
        threads: int | None = None,
    ) -> None:
        self.kernel = kernel.bind(X)
        self.X = X
        self.n = X.shape[0]
        self.cache_size = cache_size
        self.threads = threads or available_cores()
        self._computed = 0
        precomputed = isinstance(kernel, Precomputed)
        self.diagonal = np.array(X.diagonal(), float) if precomputed else self.kernel.diagonal(X)
        self._tiled = tiling(self.kernel, X, self.threads)
        self._panels: dict[type, Any] = {}
        self._single: Any = None
        self._costly = X.shape[1] >= WIDE if self._tiled else not precomputed
        self._rows: KeptRows | None = None
        self._on_demand = isinstance(self._tiled, Dense) and not self._costly and self.n > FEW_ROWS
        self._small = ON_DEMAND_ROWS if self._on_demand else WHOLE_MATRIX_ROWS
        self._matrix: SmallMatrix | None = None
        self._whole_of: Callable[[], np.ndarray] | None = None  # another matrix, if it is a part

    @property
    def evaluations(self) -> int:
        """Kernel entries computed so far."""
        return self._computed + (self._matrix.evaluations if self._matrix else 0)

    @evaluations.setter
    def evaluations(self, count: int) -> None:
        self._computed += count - self.evaluations

    @property
    def matrix(self) -> SmallMatrix | None:
        """K itself if it is small, made when first needed: all of it, or row by row."""
        if self._matrix is None and self.n <= self._small:
            before = self._computed
            self._matrix, self._computed = SmallMatrix(self._parts_of_matrix()), before
        return self._matrix

    def forget_matrix(self) -> None:
        """Do without it from now on: so many of its rows are asked for that blocks are better."""
        self._computed, self._matrix, self._small = self.evaluations, None, 0

    def _parts_of_matrix(self) -> Parts:
        if isinstance(self.kernel, Precomputed):
            return entire(np.require(self.X, np.float64, ["C", "W"]))
        if self._whole_of:
            return entire(self._whole_of())
        if self._on_demand and isinstance(self._tiled, Dense):
            left, right = self._packed(np.float64), self._tiled.expand(np.float64, None, 1)
            return on_demand(self.n, left, right, self._tiled.form.power)
        return entire(self._new_square(np.arange(self.n), np.float64))

    @property
    def precision(self) -> type:
        """The cheapest dtype whose entries are good enough to choose steps by."""
        if self.n <= self._small or np.max(np.abs(self.diagonal), initial=0) > 1e30:
            return np.float64
        if isinstance(self.kernel, RBF):
            if self._tiled:
                norms = self._tiled.squared_norms(self._packed(np.float32))
            else:
                norms = row_norms(self.X, squared=True)
            spread = float(norms.max(initial=0))
            if float(self.kernel.gamma) * spread * np.finfo(np.float32).eps > 1e-3:
                return np.float64
        return np.float32

    @property
    def entries_round(self) -> bool:
        """Whether they are cheap and lie between 0 and 1, so that 16 bits say much about them."""
        cheap = isinstance(self._tiled, Dense | Sparse) and not self._costly
        return cheap and isinstance(self.kernel, RBF)

    @cached_property
    def budget(self) -> int:
        """Bytes that cached rows may take."""
        if self.cache_size is None:
            return available_memory() // 4
        return int(self.cache_size * 2**20)

    def take(self, rows: np.ndarray | slice) -> Gram:
        """The Gram matrix of some rows, to be used beside others: one thread and its budget."""
        if isinstance(rows, slice):
            return self
        part = copy(self)
        part.n, part.threads, part.diagonal = len(rows), 1, self.diagonal[rows]
        if self._tiled:
            part.X = self._tiled.X[rows]
            part._tiled = self._tiled.like(part.X)
        else:
            precomputed = isinstance(self.kernel, Precomputed)
            part.X = self.X[np.ix_(rows, rows)] if precomputed else self.X[rows]
        part._panels, part._single, part._rows = {}, None, None
        part._computed, part._matrix = 0, None
        if part.n > self._small:
            part.cache_size = self.budget / self.threads / 2**20
            part.__dict__.pop("budget", None)
        elif self.n <= self._small and not self._on_demand:
            part._whole_of = partial(self.square, rows)
        return part

    def block(self, i: Any, j: Any, dtype: type = np.float64) -> np.ndarray:
        """K[i, j] for two arrays of row numbers."""
        i, j = np.asarray(i), np.asarray(j)
        if self.matrix is None:
            return self._compute(i, j, dtype)
        values = np.empty((len(i), len(j)))
        gather_entries(self.matrix.rows(i), i, j, np.arange(len(i)), values, 0, len(i))
        return values.astype(dtype, copy=False)

    def square(self, i: Any, dtype: type = np.float64, out: np.ndarray | None = None) -> np.ndarray:
        """K[i, i] for an array of row numbers: of an entry and its mirror image, one is computed.

        In `out` if it is given and nothing better is at hand. Where `entries_round` that may have
        16 bits for an entry, in UNITths, and rows that are filled up to whole vectors.
        """
        i = np.asarray(i)
        if self.matrix is not None:
            if len(i) == self.n and np.array_equal(i, np.arange(self.n)):
                return self.matrix.rows(i).astype(dtype, copy=False)
            return self.matrix.square(i).astype(dtype, copy=False)
        values = np.empty((len(i), len(i)), dtype) if out is None else out
        if self._rows is None or self._rows.dtype != values.dtype:
            return self._compute_square(i, dtype, values)
        missing = self._rows.take(i, i, values)
        entries = self._new_square(i[missing], dtype)
        place = np.arange(len(i))
        fill = partial(complete, values, place, np.delete(place, missing), missing, entries)
        run_split(fill, len(missing), 4 * len(missing) * len(i), self.threads)
        return values

    def dot(
        self,
        j: Any,
        coef: Any,
        dtype: type = np.float64,
        *,
        rows: np.ndarray | None = None,
        again: bool = False,
    ) -> np.ndarray:
        """K[rows, j] @ coef in float64, over all rows if none are given.

        `again` says that the same j are likely to be asked for again.
        """
        j, coef = np.asarray(j), np.asarray(coef, np.float64)
        if self.matrix is not None:
            values = self.matrix.dot(j, coef)
            return values if rows is None else values[rows]
        if again and self._costly and len(j) <= (kept := self._kept(dtype)).capacity:
            values = kept.dot(j, coef)
            return values if rows is None else values[rows]
        n = self.n if rows is None else len(rows)
        values = np.zeros(n)
        if self._tiled:
            self.evaluations += n * len(j)
            for some in self._parts(len(j)):
                right = self._tiled.expand(dtype, j[some], self.threads)
                for left, panels in self._lefts(dtype, rows):
                    product = self._tiled.dot(panels, right, coef[some], self.threads)
                    values[left] += product[: left.stop - left.start]
            return values
        i = np.arange(self.n) if rows is None else rows

        def fill(start: int, stop: int) -> None:
            tile = self._evaluate(i[start:stop], j, dtype)
            values[start:stop] = tile @ coef.astype(dtype, copy=False)

        self._each(fill, n, len(j))
        return values

    def row(self, i: int, dtype: type = np.float64) -> np.ndarray:
        """K[i, :], kept for the next time if the budget allows."""
        if self.matrix is not None:
            return self.matrix.rows(np.array([i]))[i]
        return self._kept(dtype).row(i)

    def _kept(self, dtype: type) -> KeptRows:
        """The rows kept in this precision."""
        if self._rows is None or self._rows.dtype != dtype:
            capacity = self.budget // (self.n * np.dtype(dtype).itemsize)
            matrix = proxy(self)  # not a cycle: memory is free as soon as nobody uses the matrix
            self._rows = KeptRows(
                self.n,
                min(max(capacity, 3), self.n),
                dtype,
                lambda numbers, out: matrix._compute(numbers, None, dtype, out),
                lambda numbers: matrix._new_square(numbers, dtype),
                self.threads,
            )
        return self._rows

    def _each(self, fill: Callable[[int, int], None], n: int, columns: int) -> None:
        """Call `fill(start, stop)` for tiles that cover range(n), on all threads."""
        step = max(1, TILE_ENTRIES // max(columns, 1))
        tiles = [(start, min(start + step, n)) for start in range(0, n, step)]
        run_all(fill, tiles, self.threads)

    def _compute(
        self, i: np.ndarray, j: np.ndarray | None, dtype: type, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[i, j] from the data, on all threads; every j if none are given."""
        columns = self.n if j is None else len(j)
        values = np.empty((len(i), columns), dtype) if out is None else out
        if self._tiled and (len(i) > 1 or dtype in self._panels):  # worth packing for many rows
            self.evaluations += len(i) * columns
            for some in self._parts(len(i)):
                right = self._tiled.expand(dtype, i[some], self.threads)
                for left, panels in self._lefts(dtype, j):
                    all_of_them = left.stop - left.start == columns
                    part = values[some] if all_of_them else values[some, left]
                    if part.flags.c_contiguous:
                        self._tiled.block(panels, right, part, self.threads)
                    else:
                        entries: np.ndarray = np.empty(part.shape, dtype)
                        part[:] = self._tiled.block(panels, right, entries, self.threads)
            return values
        j = np.arange(self.n) if j is None else j

        def fill(start: int, stop: int) -> None:
            values[start:stop] = self._evaluate(i[start:stop], j, dtype)

        self._each(fill, len(i), columns)
        return values

    def _compute_square(self, i: np.ndarray, dtype: type, out: np.ndarray) -> np.ndarray:
        """K[i, i] from the data; half of it where an entry costs more to compute than to copy.

        And where a tile does it and makes no wide copy of X.
        """
        wide = np.dtype(dtype).itemsize > self.X.dtype.itemsize and len(i) > WHOLE_MATRIX_ROWS
        if not self._costly or not self._tiled or wide or len(i) < 2:
            return self._compute(i, i, dtype, out)
        self.evaluations += len(i) * (len(i) + 1) // 2
        left, right = self._packed(dtype, i), self._tiled.expand(dtype, i, self.threads)
        return self._tiled.square(left, right, out, self.threads)

    def _new_square(self, i: np.ndarray, dtype: type) -> np.ndarray:
        return self._compute_square(i, dtype, large_array((len(i), len(i)), dtype))

    def _packed(self, dtype: type, rows: np.ndarray | None = None) -> Any:
        """Rows as the tile wants them; all of them are packed once."""
        assert self._tiled
        if rows is not None:
            return self._tiled.pack(dtype, rows, self.threads)
        if dtype not in self._panels:
            self._panels[dtype] = self._tiled.pack(dtype, None, self.threads)
        return self._panels[dtype]

    def _lefts(self, dtype: type, rows: np.ndarray | None) -> Iterator[tuple[slice, Any]]:
        """Rows as the tile wants them: at once, or in parts if that were a wider copy of X."""
        n = self.n if rows is None else len(rows)
        if np.dtype(dtype).itemsize <= self.X.dtype.itemsize:
            yield slice(0, n), self._packed(dtype, rows)
            return
        rows = np.arange(n) if rows is None else rows
        for part in self._parts(n):
            yield part, self._packed(dtype, rows[part])

    def _parts(self, n: int) -> list[slice]:
        """So many of n rows at a time that they have about TILE_ENTRIES entries."""
        assert self._tiled
        step = max(64, int(TILE_ENTRIES / self._tiled.width))
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def _evaluate(self, i: np.ndarray, j: np.ndarray, dtype: type) -> np.ndarray:
        """K[i, j] by the kernel itself."""
        self.evaluations += len(i) * len(j)
        if isinstance(self.kernel, Precomputed):
            return self.X[np.ix_(i, j)].astype(dtype, copy=False)
        if isinstance(self.kernel, Vectorized | Pairwise):  # their rows as they were given
            return self.kernel(self.X[i], self.X[j]).astype(dtype, copy=False)
        A, B = self._data(dtype, i), self._data(dtype, j)
        return self.kernel(A, B).astype(dtype, copy=False)

    def _data(self, dtype: type, rows: np.ndarray | slice = slice(None)) -> Any:
        """Rows of X in the precision asked for."""
        if dtype == np.float64:
            return self.X[rows].astype(np.float64, copy=False)
        if self._single is None:
            self._single = self.X.astype(np.float32, copy=False)
        return self._single[rows]
