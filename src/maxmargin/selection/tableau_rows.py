"""The matrix T of `tableau`: its rows, made when first needed, and systems over a few of them.

S is T but for the sign of −MC, which makes it symmetric: a column of T is a row of S. The first
`count` places are the free units and the groups, whose rows M and MC are there from the beginning.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dgemm

from maxmargin.hardware.arrays import Floats, Numbers
from maxmargin.hardware.jit import inner
from maxmargin.hardware.lapack import cholesky, invert

ROUNDING = 1e-10  # of the largest diagonal entry: added to K_FF, which may be singular
SOME = 64  # rows of the tableau that are made at a time, of memory that is used again for the next
SINGULAR = 1e-11  # what rounding leaves of an element that is zero


def inverse(K: Floats, F: Numbers, A: Floats, M: Floats) -> None:
    """M of the units F, by Cholesky's factor of K + c AᵀA: it has the same but for −c in a block.

    A little is added to the diagonal, which duplicate rows make singular. Beside M there is one
    matrix of its size.
    """
    m = len(F)
    there = np.flatnonzero(A.any(axis=1))  # the groups that have a free unit
    c = float(np.diagonal(K)[F].mean()) if m else 0.0
    M[:] = 0.0

    def made() -> Floats:
        P: Floats = K[np.ix_(F, F)]
        return dgemm(c, A, A, 1.0, P.T, trans_a=1, overwrite_c=1).T if len(A) else P

    if m:
        L, _ = cholesky(made, ROUNDING * (c or 1.0))
        invert(L)
        P = L.T
        PA = P @ A[there].T
        schur = np.linalg.pinv(A[there] @ PA)
        both = PA @ schur
        for start in range(0, m, SOME):
            some = slice(start, start + SOME)
            M[:m, :m][some] = P[some] - both[some] @ PA.T
        M[:m, m + there] = both
        M[m + there, :m] = both.T
        M[np.ix_(m + there, m + there)] = c * np.eye(len(there)) - schur


@inner(fastmath={"contract"})
def make(S: Floats, count: int, K: Floats, C: Floats, order: Numbers, k: int) -> None:
    """Row k of S, of a unit at a knot."""
    row, entries = S[k], K[order[k]]
    for l in range(count, len(row)):
        row[l] = entries[order[l]]
    for j in range(count):
        other, factor = S[j], C[j, k - count]
        row[j] = other[k]
        for l in range(count, len(row)):
            row[l] -= factor * other[l]


@inner(fastmath={"contract"})
def add(S: Floats, count: int, k: int, x: float, z: Floats) -> None:
    """z += x times column k of T."""
    row, sign = S[k], x if k < count else -x
    for l in range(count):
        z[l] += sign * row[l]
    for l in range(count, len(z)):
        z[l] += x * row[l]


@inner(fastmath={"contract"})
def solve(
    S: Floats,
    count: int,
    J: Numbers,
    m: int,
    state: Numbers,
    knots: Floats,
    targets: Floats,
    base: Floats,
    system: Floats,
) -> bool:
    """The last column of `system` = what is given of the units that have changed sides.

    By elimination; False if T_JJ is singular.
    """
    for i in range(m):
        k = J[i]
        for l in range(m):
            system[i, l] = -S[k, J[l]] if k < count <= J[l] else S[k, J[l]]
        goal = knots[k, state[k] // 2] if k < count else targets[k, state[k] // 2]
        system[i, m] = goal - base[k]
    for i in range(m):
        largest = i
        for l in range(i + 1, m):
            largest = l if abs(system[l, i]) > abs(system[largest, i]) else largest
        for c in range(i, m + 1):
            system[i, c], system[largest, c] = system[largest, c], system[i, c]
        top = system[i]
        if not abs(top[i]) > SINGULAR:
            return False
        for l in range(i + 1, m):
            line = system[l]
            factor = line[i] / top[i]
            for c in range(i + 1, m + 1):
                line[c] -= factor * top[c]
    for i in range(m - 1, -1, -1):
        line, value = system[i], system[i, m]
        for c in range(i + 1, m):
            value -= line[c] * system[c, m]
        line[m] = value / line[i]
    return True
