"""The active-set method: from nearly optimal to optimal, to the last digits.

A converged solver has found which variables are free. Their values then solve a linear system,

    K_FF δ + b = −G_F,   Σ δ = 0 in each group,

whose solution is exact where SMO would need ever smaller steps. A free variable that would leave
its box stops at the bound and is fixed there; a bound variable that violates KKT becomes free.
"""

from __future__ import annotations

import numpy as np

from maxmargin.gram import Gram
from maxmargin.gram.matrix import HELD_ROWS
from maxmargin.hardware.arrays import Floats, Mask, Numbers
from maxmargin.hardware.jit import compiled, inner, small
from maxmargin.problem.dual import SIDES, DualProblem, survey

# Time grows with the rows times the support vectors, and with the cube of the free variables:
# within these limits it is a small part of a fit (docs/speed.md, "Small fits in one piece").
MOST_FREE = 200
ROUNDS = 10  # most changes of the active set: each solves the system again
SETTLED = 1e-12  # violation relative to the largest |G|: rounding leaves as much
DEPENDENT = 1e-12  # pivot relative to its diagonal entry: rounding leaves as much of a zero one


def polished(
    problem: DualProblem, gram: Gram, beta: Floats, gradient: Floats
) -> tuple[Floats, Floats]:
    """β of a small problem and its gradient, improved; unchanged if the problem is large."""
    p = problem
    if gram.n > HELD_ROWS or gram.matrix is None or gram.matrix.dtype != np.float64:
        return beta, gradient
    room, groups = min(MOST_FREE, p.size), max(p.n_groups, 1)
    best, free = np.empty((2, p.size)), np.empty(p.size, bool)
    space = np.empty((room + p.n_groups + 2, room))
    active_set(
        gram.matrix,
        np.arange(gram.n) if p.rows is None else p.rows,
        *(p.linear, p.lower, p.upper),
        p.group,
        p.n_groups,
        *(beta.copy(), gradient.copy(), best, np.empty(gram.n)),
        free,
        np.empty(room, np.int64),
        *(space, np.empty((SIDES, groups))),
        np.empty((groups, 2), np.int64),
    )
    return best[0], best[1]


# Plain loops over given arrays: array expressions take numba seconds to compile.


@compiled()
def active_set(
    K: Floats,
    rows: Numbers,
    linear: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    n_groups: int,
    beta: Floats,
    gradient: Floats,
    best: Floats,
    product: Floats,
    free: Mask,
    F: Numbers,
    space: Floats,
    sides: Floats,
    worst: Numbers,
) -> None:
    """best = the β of least violation among the iterates, and its gradient."""
    room = len(F)
    A, inverse, right = space[:room], space[room], space[room + 1 :]
    for i in range(len(beta)):
        free[i] = lower[i] < beta[i] < upper[i]
    least = worst_of(beta, gradient, lower, upper, group, n_groups, sides, worst)
    keep(beta, gradient, best)
    for _ in range(ROUNDS):
        m = list_free(free, F)
        if least <= SETTLED * largest(gradient) or m == 0 or m > len(F):
            break
        newton_step(K, rows, group, n_groups, gradient, F, m, A, inverse, right)
        share = 1.0
        for k in range(m):
            share = min(share, way_to_go(F[k], right[0, k], beta, lower, upper))
        for k in range(m):
            i, delta = F[k], right[0, k]
            if way_to_go(i, delta, beta, lower, upper) <= share:
                beta[i], free[i] = upper[i] if delta > 0 else lower[i], False
            else:
                beta[i] += share * delta
        bring_gradient(K, rows, linear, beta, product, gradient)
        violation = worst_of(beta, gradient, lower, upper, group, n_groups, sides, worst)
        rounding = share == 1 and violation > 0.1 * least
        for g in range(len(worst)):
            rounding = rounding and free[worst[g, 0]] and free[worst[g, 1]]
        if violation < least:
            least = violation
            keep(beta, gradient, best)
        if rounding:
            break
        if share == 1:
            for g in range(len(worst)):
                free[worst[g, 0]] = free[worst[g, 1]] = True


@small()
def list_free(free: Mask, F: Numbers) -> int:
    """F = the free variables, up to its length; returns how many there are."""
    m = 0
    for i in range(len(free)):
        if free[i]:
            if m < len(F):
                F[m] = i
            m += 1
    return m


@small()
def largest(gradient: Floats) -> float:
    """max |G|."""
    value = 0.0
    for i in range(len(gradient)):
        value = max(value, abs(gradient[i]))
    return value


@small()
def keep(beta: Floats, gradient: Floats, best: Floats) -> None:
    """Copy both into `best`."""
    for i in range(len(beta)):
        best[0, i], best[1, i] = beta[i], gradient[i]


@inner()
def way_to_go(i: int, delta: float, beta: Floats, lower: Floats, upper: Floats) -> float:
    """The share of a step at which β_i is at its bound."""
    if delta == 0:
        return np.inf
    return float(((upper[i] if delta > 0 else lower[i]) - beta[i]) / delta)


@inner()
def following(i: int, n: int) -> tuple[int, int, int]:
    """The next three numbers after i, below n; the last one again where there are fewer."""
    return min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)


@inner()
def bring_gradient(
    K: Floats,
    rows: Numbers,
    linear: Floats,
    beta: Floats,
    product: Floats,
    gradient: Floats,
) -> None:
    """G = Kβ + p, four rows of K at a time: a quarter of the time of one."""
    for k in range(len(product)):
        product[k] = 0.0
    for i in range(0, len(beta), 4):
        o, p, q = following(i, len(beta))
        a, b = beta[i], beta[o] if o > i else 0.0
        c, d = beta[p] if p > o else 0.0, beta[q] if q > p else 0.0
        if a != 0 or b != 0 or c != 0 or d != 0:
            x, y, z, w = K[rows[i]], K[rows[o]], K[rows[p]], K[rows[q]]
            for k in range(len(product)):
                product[k] += a * x[k] + b * y[k] + (c * z[k] + d * w[k])
    for i in range(len(beta)):
        gradient[i] = product[rows[i]] + linear[i]


@small()
def worst_of(
    beta: Floats,
    gradient: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    n_groups: int,
    sides: Floats,
    worst: Numbers,
) -> float:
    """The worst violation; and of each group the variable to raise and the one to lower."""
    for g in range(len(worst)):
        worst[g, 0] = worst[g, 1] = 0
    violation = survey(beta, gradient, lower, upper, group, n_groups, sides)
    for i in range(len(beta)):
        g = group[i]
        if beta[i] < upper[i] and -gradient[i] == sides[0, g]:
            worst[g, 0] = i
        if beta[i] > lower[i] and -gradient[i] == sides[1, g]:
            worst[g, 1] = i
    return violation


@inner()
def newton_step(
    K: Floats,
    rows: Numbers,
    group: Numbers,
    n_groups: int,
    gradient: Floats,
    F: Numbers,
    m: int,
    A: Floats,
    inverse: Floats,
    right: Floats,
) -> None:
    """right[0] = δ that makes G + b vanish on the m free variables F and keeps the sums.

    With E the membership of the variables in the groups, δ = −K⁻¹(G + Eb), and Eᵀδ = 0 gives b.
    Where Eᵀδ = 0, adding a multiple of EEᵀ to K changes nothing; but then a pivot vanishes only
    if the variable can be replaced by those before it (duplicate rows, both copies of a
    regressor's row, more rows than the kernel has dimensions). Such a variable does not move.
    """
    shift = 0.0
    for k in range(m if n_groups else 0):
        shift += K[rows[F[k]], rows[F[k]]] / m
    for k in range(m):
        i = F[k]
        for l in range(k + 1):
            A[k, l] = K[rows[i], rows[F[l]]] + (shift if group[i] == group[F[l]] else 0.0)
        right[0, k] = -gradient[i]
        for g in range(n_groups):  # the columns of E
            right[1 + g, k] = 1.0 if group[i] == g else 0.0
    for g in range(n_groups):  # any b will do: with this one, and K small, δ does not cancel
        total = sum_of(right[1 + g], group, g, F, m)
        mean = sum_of(right[0], group, g, F, m) / max(total, 1.0)
        for k in range(m):
            right[0, k] -= mean * right[1 + g, k]
    factorize(A, m, inverse)
    for h in range(n_groups + 1):
        substitute(A, inverse, right[h], m)
    for g in range(n_groups):
        total = sum_of(right[1 + g], group, g, F, m)
        for h in range(n_groups + 1):
            if total > 0 and (h == 0 or h > g + 1):
                part = sum_of(right[h], group, g, F, m) / total
                for k in range(m):
                    right[h, k] -= part * right[1 + g, k]


@small()
def sum_of(x: Floats, group: Numbers, g: int, F: Numbers, m: int) -> float:
    """Of the entries that belong to group g."""
    total = 0.0
    for k in range(m):
        if group[F[k]] == g:
            total += x[k]
    return total


@inner(fastmath={"contract", "reassoc"})
def factorize(A: Floats, m: int, inverse: Floats) -> None:
    """Cholesky's L in place of the lower triangle; inverse_i = 1/L_ii, or 0 where L_ii vanishes.

    Four rows at a time, up to the square on the diagonal: each L_jk is read for all of them.
    """
    for first in range(0, m, 4):
        o, p, q = following(first, m)
        for j in range(first):
            a, b, c, d = A[first, j], A[o, j], A[p, j], A[q, j]
            for k in range(j):
                a -= A[first, k] * A[j, k]
                b -= A[o, k] * A[j, k]
                c -= A[p, k] * A[j, k]
                d -= A[q, k] * A[j, k]
            A[first, j], A[o, j] = a * inverse[j], b * inverse[j]
            A[p, j], A[q, j] = c * inverse[j], d * inverse[j]
        for i in range(first, q + 1):
            largest = A[i, i]
            inverse[i] = 0.0
            for j in range(first, i + 1):
                value = A[i, j]
                for k in range(j):
                    value -= A[i, k] * A[j, k]
                if j < i:
                    A[i, j] = value * inverse[j]
                elif value > DEPENDENT * largest:
                    inverse[i] = 1 / np.sqrt(value)


@inner(fastmath={"contract", "reassoc"})
def substitute(L: Floats, inverse: Floats, x: Floats, m: int) -> None:
    """x = (LLᵀ)⁻¹x in place, without the variables whose L_ii vanishes."""
    for i in range(m):
        value = x[i]
        for k in range(i):
            value -= L[i, k] * x[k]
        x[i] = value * inverse[i]
    for i in range(m - 1, -1, -1):
        x[i] *= inverse[i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]
