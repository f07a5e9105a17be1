"""Polish: from nearly optimal to optimal, to the last digits.

A converged solver has found which variables are free. Their values then solve a linear system,

    K_FF δ + b = −G_F,   Σ δ = 0 in each group,

whose solution is exact where SMO would need ever smaller steps. A free variable that would leave
its box stops at the bound and is free no longer; a bound variable that turns out to want to move
becomes free. This is the active-set method for quadratic programs, begun near its end.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from maxmargin.compiled import compiled, inner
from maxmargin.gram import Gram
from maxmargin.problem import SIDES, DualProblem, Solution, survey
from maxmargin.small_matrix import need

MOST_ROWS, MOST_FREE = 1024, 200
ROUNDS = 10
SETTLED = 1e-12  # of the largest gradient entry: what rounding leaves of a violation
DEPENDENT = 1e-12  # of its diagonal entry: what rounding leaves of a pivot that is zero


def polish(problem: DualProblem, gram: Gram, solution: Solution) -> Solution:
    """A better solution of a small problem; the same one if it is large or none is found."""
    p = problem
    if gram.n > MOST_ROWS or gram.matrix is None:
        return solution
    room, groups = min(MOST_FREE, p.size), max(p.n_groups, 1)
    beta, gradient, best = solution.beta.copy(), solution.gradient.copy(), np.empty((2, p.size))
    free, sides = np.empty(p.size, bool), np.empty((SIDES, groups))
    sharpen(
        gram.matrix.parts,
        np.arange(gram.n) if p.rows is None else p.rows,
        *(p.linear, p.lower, p.upper, p.group, p.n_groups),
        *(beta, gradient, best, np.empty(gram.n), free, np.empty(room, np.int64)),
        *(np.empty((room + p.n_groups + 2, room)), sides, np.empty((groups, 2), np.int64)),
    )
    return replace(solution, beta=best[0], gradient=best[1], offsets=sides[-1, : p.n_groups])


# Plain loops over given arrays: what numpy would say in a line takes numba seconds to compile.


@compiled()
def sharpen(
    matrix, rows, linear, lower, upper, group, n_groups,
    beta, gradient, best, product, free, F, space, sides, worst,
):  # fmt: skip
    """best = the β of least violation that the active-set method comes to, and its gradient.

    `sides` is what the groups want of them.
    """
    (K, maker), room = matrix, len(F)
    A, inverse, right = space[:room], space[room], space[room + 1 :]
    for i in range(len(beta)):
        free[i] = lower[i] < beta[i] < upper[i]
    least = worst_of(beta, gradient, lower, upper, group, n_groups, sides, worst)
    keep(beta, gradient, best)
    for _ in range(ROUNDS):
        m = list_free(free, F)
        if least <= SETTLED * largest(gradient) or m == 0 or m > len(F):
            break
        for k in range(m):
            need(K, maker, rows[F[k]])
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
        bring_gradient(K, maker, rows, linear, beta, product, gradient)
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
    survey(best[0], best[1], lower, upper, group, n_groups, sides)


@inner()
def list_free(free, F):
    """F = the free variables, as many as there is room for; returns how many there are."""
    m = 0
    for i in range(len(free)):
        if free[i]:
            if m < len(F):
                F[m] = i
            m += 1
    return m


@inner()
def largest(gradient):
    """Of the absolute values."""
    value = 0.0
    for i in range(len(gradient)):
        value = max(value, abs(gradient[i]))
    return value


@inner()
def keep(beta, gradient, best):
    """Copy both into `best`."""
    for i in range(len(beta)):
        best[0, i], best[1, i] = beta[i], gradient[i]


@inner()
def way_to_go(i, delta, beta, lower, upper):
    """The share of a step at which β_i is at its bound."""
    if delta == 0:
        return np.inf
    return ((upper[i] if delta > 0 else lower[i]) - beta[i]) / delta


@inner()
def bring_gradient(K, maker, rows, linear, beta, product, gradient):
    """G = Kβ + p."""
    for c in range(len(product)):
        product[c] = 0.0
    for i in range(len(beta)):
        if beta[i] != 0:
            need(K, maker, rows[i])
            for c in range(len(product)):
                product[c] += beta[i] * K[rows[i], c]
    for i in range(len(beta)):
        gradient[i] = product[rows[i]] + linear[i]


@inner()
def worst_of(beta, gradient, lower, upper, group, n_groups, sides, worst):
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
def newton_step(K, rows, group, n_groups, gradient, F, m, A, inverse, right):
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


@inner()
def sum_of(x, group, g, F, m):
    """Of the entries that belong to group g."""
    total = 0.0
    for k in range(m):
        if group[F[k]] == g:
            total += x[k]
    return total


@inner(fastmath={"contract", "reassoc"})
def factorize(A, m, inverse):
    """Cholesky's L in place of the lower triangle; inverse_i = 1/L_ii, or 0 where L_ii vanishes."""
    for i in range(m):
        largest = A[i, i]
        inverse[i] = 0.0
        for j in range(i + 1):
            value = A[i, j]
            for k in range(j):
                value -= A[i, k] * A[j, k]
            if j < i:
                A[i, j] = value * inverse[j]
            elif value > DEPENDENT * largest:
                inverse[i] = 1 / np.sqrt(value)


@inner(fastmath={"contract", "reassoc"})
def substitute(L, inverse, x, m):
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
