"""A user's own kernel: a function of two blocks of rows, or of two rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels.kernel import Kernel
from maxmargin.resources.arrays import Data, Entries, Reals

# Of two blocks of rows, or of two rows.
KernelFunction: TypeAlias = Callable[[Data, Data], Data]
Filler: TypeAlias = Callable[[Entries, Entries, Entries], None]


@dataclass(frozen=True)
class Vectorized(Kernel):
    """A user's function of two blocks: `function(X, Z)` returns the (rows of X, rows of Z) block.

    It is called on blocks of up to 2²⁰ pairs: the whole matrix is asked for only if it is small.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> kernel = 0.5 * Vectorized(lambda X, Z: X @ Z.T)
    >>> SVC(kernel=kernel).fit([[-1.0], [1.0]], [0, 1]).predict([[2.0]])
    array([1])
    """

    function: KernelFunction

    def __call__(self, X: Data, Z: Data) -> Reals:
        try:
            values = self.function(X, Z)
        except Exception as error:
            error.add_note(
                f"kernel {name_of(self.function)} was called with blocks of {X.shape[0]} and "
                f"{Z.shape[0]} rows; for a function of two single rows use "
                "maxmargin.kernels.Pairwise"
            )
            raise
        values = values.toarray() if sp.issparse(values) else np.asarray(values)
        return checked(values, (X.shape[0], Z.shape[0]), self.function)


@dataclass(frozen=True)
class Pairwise(Kernel):
    """A user's function of two rows, evaluated block by block.

    Rows of numbers are given as arrays of float64, whatever X is; rows that are anything else
    (strings, sets, graphs) are given as they are. A function that numba compiled (`numba.njit`) is
    called from a compiled loop: ten times as fast for rows of numbers, and without Python's lock.

    Examples
    --------
    >>> kernel = Pairwise(lambda x, z: np.minimum(x, z).sum())
    >>> kernel(np.array([[1.0, 5.0]]), np.array([[2.0, 3.0]]))
    array([[4.]])

    >>> from maxmargin import SVC
    >>> shared = Pairwise(lambda a, b: len(set(a) & set(b)))  # letters that two words share
    >>> SVC(kernel=shared).fit(["sun", "nuns", "tree", "reed"], [0, 0, 1, 1]).predict(["unset"])
    array([0])
    """

    function: KernelFunction

    def __call__(self, X: Data, Z: Data) -> Reals:
        X, Z = (A.toarray() if sp.issparse(A) else A for A in (X, Z))
        shape = len(X), len(Z)
        if X.dtype != object:
            X, Z = (np.ascontiguousarray(A, np.float64) for A in (X, Z))  # compiled for this only
            if is_compiled(self.function):
                values = np.empty(shape)
                _filler(self.function)(X, Z, values)
                return checked(values, shape, self.function)
        with np.errstate(all="ignore"):  # what is not finite is an error below
            each = np.array([self.function(x, z) for x in X for z in Z], np.float64)
        return checked(each.reshape(*shape, *each.shape[1:]), shape, self.function)


def checked(values: Reals, shape: tuple[int, int], function: KernelFunction) -> Reals:
    """What a user's function returned, or an error that says what is wrong with it."""
    name = name_of(function)
    values = values.astype(np.float64) if values.dtype == object else values
    if values.shape != shape:
        raise ValueError(
            f"kernel {name} was called with blocks of {shape[0]} and {shape[1]} rows and must "
            f"return shape {shape}, got {values.shape}; for a function of two single rows use "
            "maxmargin.kernels.Pairwise"
        )
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"kernel {name} returned {values[i, j]} for rows {i} and {j} of the blocks it was "
            "given; a kernel must be finite everywhere"
        )
    return values


def name_of(function: KernelFunction) -> str:
    """The name of a user's function, for messages."""
    return repr(getattr(function, "__name__", function))


def is_compiled(function: KernelFunction) -> bool:
    """Whether numba compiled the function; numba itself need not be installed to ask."""
    return hasattr(function, "py_func")


@lru_cache(maxsize=64)
def _filler(function: KernelFunction) -> Filler:
    """The loop over all pairs of two blocks, compiled with the function in it."""
    from numba import njit  # whoever has such a function has numba

    def fill(X: Entries, Z: Entries, values: Entries) -> None:
        for i in range(X.shape[0]):
            for j in range(Z.shape[0]):
                values[i, j] = function(X[i], Z[j])

    filler: Filler = njit(nogil=True)(fill)
    return filler
