"""Cholesky's factorisation, for several threads at once.

`scipy.linalg.lapack` keeps Python's lock while LAPACK computes, so that all other threads wait.
Here LAPACK and BLAS are called by the addresses that SciPy publishes for compiled code, and ctypes
lets go of the lock meanwhile.

BLAS's own threads wait for each other in a loop: beside another process a factorisation of 2,000
rows took 2.3 s instead of 0.06. So BLAS has one thread here, and the columns are split by
ourselves, which takes a tenth longer than its two threads on an idle machine.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.core import native
from maxmargin.resources.arrays import Entries, Floats
from maxmargin.resources.threads import one_blas_thread, run_all

WIDTH, STRIP = 192, 384  # columns of a block, and rows below it for a thread: 2,000 rows take 38 ms
# on two threads, 60 on one (docs/how-it-works/speed.md)
JITTER = 1e-15  # of the largest diagonal entry, per row: what rounding may take from a pivot
SMALL = 700  # rows up to which one thread is as fast


def factorise(A: Entries, threads: int = 1) -> bool:
    """A = L Lᵀ in place: L in the lower triangle. Whether A is positive definite.

    A is symmetric, in Fortran's order; what is above its diagonal is neither read nor changed.

    Examples
    --------
    >>> A = np.array([[4.0, 2.0], [2.0, 5.0]], order="F")
    >>> factorise(A), A[1].tolist()
    (True, [1.0, 2.0])
    """
    if threads > 1 and len(A) > SMALL:
        with one_blas_thread():
            return _factorise_by_columns(A, threads)
    return _on_square("potrf", A) == 0


def cholesky(
    make: Callable[[], Floats], jitter: float, threads: int = 1, most: float = np.inf
) -> tuple[Floats, float]:
    """L of K + εI in the lower triangle of K's transpose, and ε: `jitter`, or as much as it takes.

    K may be singular: duplicate rows, or rounding. L takes the place of K, which is made again for
    ten times the ε: so there is one matrix at a time. ε is ∞ if less than `most` was not enough.

    Examples
    --------
    >>> L, jitter = cholesky(lambda: np.ones((2, 2)), 1e-10)
    >>> bool(np.allclose(np.tril(L) @ np.tril(L).T, 1.0)), jitter
    (True, 1e-10)
    """
    while True:
        K = make()
        np.einsum("ii->i", K)[:] += jitter
        if factorise(K.T, threads):
            return K.T, jitter
        jitter *= 10
        if not jitter < most:
            return K.T, np.inf
        del K


def _factorise_by_columns(A: Entries, threads: int) -> bool:
    """Block column by block column: what is left of it is known.

        L_jj L_jjᵀ = A_jj − Σ_k L_jk L_jkᵀ,    L_ij = (A_ij − Σ_k L_ik L_jkᵀ) L_jj⁻ᵀ

    The rows i are split among the threads. Whoever has those right below the diagonal goes on to
    the next L_jj, while others are still at their L_ij.
    """
    n, fault = len(A), ctypes.c_int()
    letter, real = _kind(A)
    less, same = real(-1.0), real(1.0)

    def at(i: int, j: int) -> ctypes.c_void_p:
        return ctypes.c_void_p(A.ctypes.data + A.itemsize * (i + j * n))

    def diagonal(j: int, end: int) -> None:
        if j:
            _call(letter + "syrk", "LN", end - j, j, less, at(j, 0), n, same, at(j, j), n)
        _call(letter + "potrf", "L", end - j, at(j, j), n, fault)

    def strip(i: int, stop: int, j: int, end: int) -> None:
        m, width = stop - i, end - j
        if j:
            known = at(i, 0), n, at(j, 0), n
            _call(letter + "gemm", "NT", m, width, j, less, *known, same, at(i, j), n)
        _call(letter + "trsm", "RLTN", m, width, same, at(j, j), n, at(i, j), n)
        if i == end:
            diagonal(i, stop)

    diagonal(0, min(WIDTH, n))
    for j in range(0, n - WIDTH, WIDTH):
        if fault.value:
            break
        end = j + WIDTH
        rows = [end, *range(min(end + WIDTH, n), n, STRIP), n]
        run_all(strip, [(*some, j, end) for some in pairwise(rows)], threads)
    return fault.value == 0


def invert(L: Entries) -> None:
    """(L Lᵀ)⁻¹ in place of L, both triangles.

    Examples
    --------
    >>> A = np.array([[4.0, 0.0], [2.0, 5.0]], order="F")
    >>> if factorise(A):
    ...     invert(A)
    >>> A.tolist()
    [[0.3125, -0.125], [-0.125, 0.25]]
    """
    _on_square("potri", L)
    native.mirror(L)


def solve_factored(L: Floats, rows: Floats) -> Floats:
    """(L Lᵀ)⁻¹ r for each row r.

    Examples
    --------
    >>> A = np.array([[4.0, 2.0], [2.0, 5.0]], order="F")
    >>> if factorise(A):
    ...     print(solve_factored(A, np.array([[8.0, 4.0], [8.0, 12.0]])))
    [[2. 0.]
     [1. 2.]]
    """
    solved: Floats = np.array(rows, np.float64, order="C")  # LAPACK's columns
    _on_square("potrs", L, solved)
    return solved


def _on_square(name: str, A: Entries, rows: Entries | None = None) -> int:
    """LAPACK's routine (uplo, n, [count,] A, [rows,] info) on the lower triangle; returns info."""
    letter, n, info = _kind(A)[0], len(A), ctypes.c_int()
    count = [] if rows is None else [len(rows)]
    right = [] if rows is None else [ctypes.c_void_p(rows.ctypes.data), n]
    matrix = ctypes.c_void_p(A.ctypes.data)
    if n:
        with one_blas_thread():
            _call(letter + name, "L", n, *count, matrix, n, *right, info)
    return info.value


def _kind(A: Entries) -> tuple[str, type]:
    """The letter of routines for such entries, and C's type of them."""
    if not (A.flags.f_contiguous and A.flags.writeable):
        raise ValueError("LAPACK needs an array in Fortran's order that can be written")
    return ("d", ctypes.c_double) if A.dtype == np.float64 else ("s", ctypes.c_float)


def _call(name: str, letters: str, *arguments: Any) -> None:
    """A routine of LAPACK or BLAS, which takes letters, then pointers to numbers and arrays."""
    pointers = [
        each if isinstance(each, ctypes.c_void_p) else ctypes.byref(each)
        for each in (ctypes.c_int(one) if isinstance(one, int) else one for one in arguments)
    ]
    routine = _routine(name, len(letters), len(pointers))
    routine(*(letter.encode() for letter in letters), *pointers)


@lru_cache
def _routine(name: str, letters: int, pointers: int) -> Callable[..., None]:
    """The function of that name, which takes so many letters and pointers."""
    from scipy.linalg import cython_blas, cython_lapack  # slow to import

    library: Any = cython_lapack if "potr" in name else cython_blas
    capsule: Any = library.__pyx_capi__[name]
    python, of = ctypes.pythonapi, ctypes.py_object(capsule)
    python.PyCapsule_GetName.restype = ctypes.c_char_p
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = python.PyCapsule_GetPointer(of, python.PyCapsule_GetName(of))
    kinds = [ctypes.c_char_p] * letters + [ctypes.c_void_p] * pointers
    routine: Callable[..., None] = ctypes.CFUNCTYPE(None, *kinds)(address)
    return routine
