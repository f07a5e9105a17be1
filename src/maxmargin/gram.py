"""The Gram matrix K_ij = k(x_i, x_j), which is never formed unless it is small.

`Gram` gives what solvers need of K: blocks, whole rows, products K[:, j] @ c and the diagonal.
Values are computed in tiles (one GEMM and one elementwise pass each) by all cores. Rows asked
for one at a time are kept, least recently used first out, within a budget of memory: a matrix
that does not fit costs recomputation, never memory.

Entries come in float32 (half the memory traffic, enough to choose steps) or float64 (to prove
the result): the caller says which.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from maxmargin.kernels import RBF, DotKernel, Kernel, Precomputed

TILE_ENTRIES = 1 << 20
WHOLE_MATRIX_ROWS = 1024  # below this many rows K is held whole, in float64


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
        self.evaluations = 0
        precomputed = isinstance(kernel, Precomputed)
        self.diagonal = np.asarray(X.diagonal(), float) if precomputed else self.kernel.diagonal(X)
        # Distances do not change when the mean is removed, but their rounding errors shrink.
        shift_invariant = isinstance(self.kernel, RBF) and not sp.issparse(X)
        self._mean = X.mean(axis=0, dtype=np.float64) if shift_invariant else None
        self._single: Any = None
        self._whole_matrix: np.ndarray | None = None
        self._rows: OrderedDict[int, np.ndarray] = OrderedDict()

    @property
    def _whole(self) -> np.ndarray | None:
        """K itself if it is small, made when first needed."""
        if self._whole_matrix is None and self.n <= WHOLE_MATRIX_ROWS:
            everything = np.arange(self.n)
            self._whole_matrix = self._tile(everything, everything, np.float64)
        return self._whole_matrix

    @property
    def precision(self) -> type:
        """The cheapest dtype whose entries are good enough to choose steps by."""
        if self.n <= WHOLE_MATRIX_ROWS or np.max(np.abs(self.diagonal), initial=0) > 1e30:
            return np.float64
        if isinstance(self.kernel, RBF):
            spread = row_norms(self._data(np.float32), squared=True).max(initial=0)
            if float(self.kernel.gamma) * spread * np.finfo(np.float32).eps > 1e-3:
                return np.float64
        return np.float32

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
        X = self.X[np.ix_(rows, rows)] if isinstance(self.kernel, Precomputed) else self.X[rows]
        share = self.budget / self.threads / 2**20
        return Gram(self.kernel, X, cache_size=share, threads=1)

    def block(self, i: Any, j: Any, dtype: type = np.float64) -> np.ndarray:
        """K[i, j] for two arrays of row numbers."""
        i, j = np.asarray(i), np.asarray(j)
        if self._whole is not None:
            return self._whole[np.ix_(i, j)].astype(dtype, copy=False)
        values: np.ndarray = np.empty((len(i), len(j)), dtype)

        def fill(start: int, stop: int) -> None:
            values[start:stop] = self._tile(i[start:stop], j, dtype)

        self._each(fill, len(i), len(j))
        return values

    def dot(self, j: Any, coef: Any, dtype: type = np.float64) -> np.ndarray:
        """K[:, j] @ coef as a float64 vector over all rows."""
        j, coef = np.asarray(j), np.asarray(coef, np.float64)
        if self._whole is not None:
            return self._whole[:, j] @ coef
        values = np.empty(self.n)

        def fill(start: int, stop: int) -> None:
            tile = self._tile(np.arange(start, stop), j, dtype)
            values[start:stop] = tile @ coef.astype(dtype, copy=False)

        self._each(fill, self.n, len(j))
        return values

    def row(self, i: int, dtype: type = np.float64) -> np.ndarray:
        """K[i, :], kept for the next time if the budget allows."""
        if self._whole is not None:
            return self._whole[i]
        row = self._rows.get(i)
        if row is not None and row.dtype == dtype:
            self._rows.move_to_end(i)
            return row
        row = self.block(np.arange(self.n), [i], dtype)[:, 0]
        self._rows[i] = row
        while len(self._rows) > max(2, self.budget // row.nbytes):
            self._rows.popitem(last=False)
        return row

    def _each(self, fill: Callable[[int, int], None], n: int, columns: int) -> None:
        """Call `fill(start, stop)` for tiles that cover range(n), on all threads."""
        step = max(1, TILE_ENTRIES // max(columns, 1))
        tiles = [(start, min(start + step, n)) for start in range(0, n, step)]
        run_all(fill, tiles, self.threads)

    def _tile(self, i: np.ndarray, j: np.ndarray, dtype: type) -> np.ndarray:
        self.evaluations += len(i) * len(j)
        if isinstance(self.kernel, Precomputed):
            return self.X[np.ix_(i, j)].astype(dtype, copy=False)
        A, B = self._data(dtype, i), self._data(dtype, j)
        if isinstance(self.kernel, DotKernel):
            dot = safe_sparse_dot(A, B.T, dense_output=True)
            return self.kernel.of(dot, row_norms(A, squared=True), row_norms(B, squared=True))
        return self.kernel(A, B).astype(dtype, copy=False)

    def _data(self, dtype: type, rows: np.ndarray | slice = slice(None)) -> Any:
        """Rows of X in the precision asked for, centred where that is allowed."""
        if dtype == np.float64:
            X = self.X[rows].astype(np.float64, copy=False)
            return X if self._mean is None else X - self._mean
        if self._single is None:
            X = self.X if self._mean is None else self.X - self._mean
            self._single = X.astype(np.float32, copy=False)
        return self._single[rows]


def cross_dot(
    kernel: Kernel, X: Any, Z: Any, coef: np.ndarray, threads: int | None = None
) -> np.ndarray:
    """K(X, Z) @ coefᵀ in tiles: what prediction needs. In float32 if X and Z are.

    Parameters
    ----------
    coef : ndarray of shape (r, rows of Z)

    Returns
    -------
    ndarray of shape (rows of X, r)
    """
    products = np.zeros((X.shape[0], len(coef)))
    step = max(1, TILE_ENTRIES // max(Z.shape[0], 1))

    def fill(start: int) -> None:
        products[start : start + step] = kernel(X[start : start + step], Z) @ coef.T

    if Z.shape[0]:
        run_all(fill, [(s,) for s in range(0, X.shape[0], step)], threads or available_cores())
    return products


def run_all(function: Callable[..., None], tasks: Iterable[tuple], threads: int) -> None:
    """Call `function(*task)` for every task, on several threads if there are several tasks."""
    tasks = list(tasks)
    if threads == 1 or len(tasks) == 1:
        for task in tasks:
            function(*task)
        return
    for future in [_pool(threads, os.getpid()).submit(function, *task) for task in tasks]:
        future.result()


@lru_cache(maxsize=8)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """One pool per process: threads do not survive a fork."""
    return ThreadPoolExecutor(threads, thread_name_prefix="maxmargin")


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory() -> int:
    """Bytes that can be had without swapping, within the container's limit if there is one."""
    meminfo, limit = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")
    if not meminfo.exists():
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    lines = (line.split() for line in meminfo.read_text().splitlines())
    available = next(int(words[1]) * 1024 for words in lines if words[0] == "MemAvailable:")
    if limit.exists() and (text := limit.read_text().strip()).isdigit():
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        available = min(available, max(int(text) - used, 0))
    return available
