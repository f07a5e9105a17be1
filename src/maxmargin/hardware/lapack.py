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

from maxmargin.hardware.arrays import Entries
from maxmargin.hardware.symmetric import mirrored


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
    mirrored(L)


def _call(name: str, A: Entries) -> int:
    """A routine with the arguments (uplo, n, a, lda, info); returns info."""
    if not (A.flags.f_contiguous and A.flags.writeable):
        raise ValueError(f"LAPACK's {name} needs an array in Fortran's order that can be written")
    letter = {np.dtype(np.float64): "d", np.dtype(np.float32): "s"}[A.dtype]
    n, info = ctypes.c_int(len(A)), ctypes.c_int()
    if len(A):
        of_n = ctypes.byref(n)
        _routine(letter + name)(b"L", of_n, A.ctypes.data, of_n, ctypes.byref(info))
    return info.value


@lru_cache
def _routine(name: str) -> Callable[..., None]:
    """LAPACK's function of that name."""
    from scipy.linalg import cython_lapack  # slow to import

    capsule: Any = cython_lapack.__pyx_capi__[name]
    python, of = ctypes.pythonapi, ctypes.py_object(capsule)
    python.PyCapsule_GetName.restype = ctypes.c_char_p
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = python.PyCapsule_GetPointer(of, python.PyCapsule_GetName(of))
    pointer = ctypes.c_void_p
    kind = ctypes.CFUNCTYPE(None, ctypes.c_char_p, pointer, pointer, pointer, pointer)
    routine: Callable[..., None] = kind(address)
    return routine
