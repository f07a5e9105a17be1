"""Cholesky's factorisation, for several threads at once.

`scipy.linalg.lapack` keeps Python's lock while LAPACK computes, so that all other threads wait.
Here LAPACK is called by the addresses that SciPy publishes for compiled code, and ctypes lets go of
the lock meanwhile.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from maxmargin.hardware.arrays import Entries, Floats
from maxmargin.hardware.symmetric import mirror


def factorise(A: Entries) -> bool:
    """A = L Lᵀ in place: L in the lower triangle. Whether A is positive definite.

    A is symmetric, in Fortran's order; what is above its diagonal is neither read nor changed.

    Examples
    --------
    >>> A = np.array([[4.0, 2.0], [2.0, 5.0]], order="F")
    >>> factorise(A), A[1].tolist()
    (True, [1.0, 2.0])
    """
    return _call("potrf", A) == 0


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
    _call("potri", L)
    mirror(L)


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
    _call("potrs", L, solved)
    return solved


def _call(name: str, A: Entries, rows: Entries | None = None) -> int:
    """A routine with the arguments (uplo, n, [count,] a, lda, [rows, ldb,] info); returns info."""
    if not (A.flags.f_contiguous and A.flags.writeable):
        raise ValueError(f"LAPACK's {name} needs an array in Fortran's order that can be written")
    letter = {np.dtype(np.float64): "d", np.dtype(np.float32): "s"}[A.dtype]
    n, info = ctypes.c_int(len(A)), ctypes.c_int()
    of_n, matrix = ctypes.byref(n), A.ctypes.data
    arguments = [of_n, matrix, of_n]
    if rows is not None:
        count = ctypes.c_int(len(rows))
        arguments = [of_n, ctypes.byref(count), matrix, of_n, rows.ctypes.data, of_n]
    if len(A):
        _routine(letter + name, len(arguments))(b"L", *arguments, ctypes.byref(info))
    return info.value


@lru_cache
def _routine(name: str, pointers: int) -> Callable[..., None]:
    """LAPACK's function of that name, which takes a letter and so many pointers."""
    from scipy.linalg import cython_lapack  # slow to import

    capsule: Any = cython_lapack.__pyx_capi__[name]
    python, of = ctypes.pythonapi, ctypes.py_object(capsule)
    python.PyCapsule_GetName.restype = ctypes.c_char_p
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = python.PyCapsule_GetPointer(of, python.PyCapsule_GetName(of))
    kind = ctypes.CFUNCTYPE(None, ctypes.c_char_p, *[ctypes.c_void_p] * (pointers + 1))
    routine: Callable[..., None] = kind(address)
    return routine
