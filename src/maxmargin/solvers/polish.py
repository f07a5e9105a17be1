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
from numba import njit

from maxmargin.gram import Gram
from maxmargin.problem import START, DualProblem, Solution, add_sides, worst_violation
from maxmargin.rows import add_rows
from maxmargin.small_matrix import row

MOST_ROWS, MOST_FREE = 1024, 200
ROUNDS = 10
SETTLED = 1e-12  # of the largest gradient entry: what rounding leaves of a violation
DEPENDENT = 1e-12  # of its diagonal entry: what rounding leaves of a pivot that is zero


def polish(problem: DualProblem, gram: Gram, solution: Solution) -> Solution:
    """A better solution of a small problem; the same one if it is large or none is found."""
    p, everything = problem, np.arange(gram.n)
    n_free = np.count_nonzero((solution.beta > p.lower) & (solution.beta < p.upper))
    if gram.n > MOST_ROWS or gram.matrix is None or not 0 < n_free <= MOST_FREE:
        return solution
    beta, gradient = sharpened(
        gram.matrix.parts,
        everything if p.rows is None else p.rows,
        *(p.linear, p.lower, p.upper, p.group, p.n_groups),
        *(solution.beta, solution.gradient),
    )
    offsets = p.offsets(beta, gradient)
    return replace(solution, beta=beta, gradient=gradient, offsets=offsets)


@njit(cache=True, nogil=True)
def sharpened(matrix, rows, linear, lower, upper, group, n_groups, beta, gradient):
    """The β of least violation that the active-set method comes to, and its gradient."""
    best_beta, best_gradient, beta = beta, gradient, beta.copy()
    free = (lower < beta) & (beta < upper)
    best, _ = worst_of(beta, gradient, lower, upper, group, n_groups)
    for _ in range(ROUNDS):
        F = np.flatnonzero(free)
        if best <= SETTLED * np.abs(gradient).max() or not 0 < len(F) <= MOST_FREE:
            break
        for i in F:
            row(matrix, rows[i])
        delta = newton_step(matrix[0], rows[F], group[F], n_groups, gradient[F])
        bound = np.where(delta > 0, upper[F], lower[F])
        share = 1.0
        for k, i in enumerate(F):
            if delta[k] != 0:
                share = min(share, (bound[k] - beta[i]) / delta[k])
        for k, i in enumerate(F):
            free[i] = delta[k] == 0 or (bound[k] - beta[i]) / delta[k] > share
            beta[i] = beta[i] + share * delta[k] if free[i] else bound[k]
        on_rows = np.zeros(len(matrix[0]))
        support = np.flatnonzero(beta)
        add_rows(matrix[0], rows[support], beta[support], on_rows)
        gradient = on_rows[rows] + linear
        violation, worst = worst_of(beta, gradient, lower, upper, group, n_groups)
        rounding = share == 1 and free[worst].all() and violation > 0.1 * best
        if violation < best:
            best, best_beta, best_gradient = violation, beta.copy(), gradient
        if rounding:
            break
        if share == 1:
            free[worst] = True
    return best_beta, best_gradient


@njit(cache=True, nogil=True)
def worst_of(beta, gradient, lower, upper, group, n_groups):
    """The worst violation; and of each group the variable to raise and the one to lower."""
    sides = np.empty((max(n_groups, 1), len(START)))
    for k in range(len(START)):
        sides[:, k] = START[k]
    add_sides(beta, gradient, lower, upper, group, sides)
    worst = np.zeros(2 * len(sides), np.int64)
    for i in range(len(beta)):
        g = group[i]
        if beta[i] < upper[i] and -gradient[i] == sides[g, 0]:
            worst[2 * g] = i
        if beta[i] > lower[i] and -gradient[i] == sides[g, 1]:
            worst[2 * g + 1] = i
    return worst_violation(sides, n_groups), worst


@njit(cache=True, nogil=True)
def newton_step(K, rows, group, n_groups, gradient):
    """δ that makes G + b vanish on the free variables and keeps the sums.

    With E the membership of the variables in the groups, δ = −K⁻¹(G + Eb), and Eᵀδ = 0 gives b.
    Where Eᵀδ = 0, adding a multiple of EEᵀ to K changes nothing; but then a pivot vanishes only
    if the variable can be replaced by those before it (duplicate rows, both copies of a
    regressor's row, more rows than the kernel has dimensions). Such a variable does not move.
    """
    m, shift = len(rows), 0.0
    for i in range(m):
        shift += K[rows[i], rows[i]] / m
    A = np.empty((m, m))
    right = np.zeros((n_groups + 1, m))  # −G, and the columns of E
    for i in range(m):
        for j in range(i + 1):
            A[i, j] = K[rows[i], rows[j]]
            if n_groups and group[i] == group[j]:
                A[i, j] += shift
        right[0, i] = -gradient[i]
        if n_groups:
            right[1 + group[i], i] = 1.0
    inverse = factorize(A)
    for x in right:
        substitute(A, inverse, x)
    for g in range(n_groups):
        response, inside = right[1 + g], group == g
        total = response[inside].sum()
        for h in range(n_groups + 1):
            if total > 0 and (h == 0 or h > g + 1):
                right[h] -= right[h][inside].sum() / total * response
    return right[0]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def factorize(A):
    """Cholesky's L in place of the lower triangle; returns 1/L_ii, or 0 where L_ii vanishes."""
    inverse = np.zeros(len(A))
    for i in range(len(A)):
        largest = A[i, i]
        for j in range(i + 1):
            value = A[i, j]
            for k in range(j):
                value -= A[i, k] * A[j, k]
            if j < i:
                A[i, j] = value * inverse[j]
            elif value > DEPENDENT * largest:
                inverse[i] = 1 / np.sqrt(value)
    return inverse


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def substitute(L, inverse, x):
    """x = (LLᵀ)⁻¹x in place, without the variables whose L_ii vanishes."""
    for i in range(len(x)):
        value = x[i]
        for k in range(i):
            value -= L[i, k] * x[k]
        x[i] = value * inverse[i]
    for i in range(len(x) - 1, -1, -1):
        x[i] *= inverse[i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]
