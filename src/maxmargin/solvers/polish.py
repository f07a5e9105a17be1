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
from scipy.linalg import pinvh
from scipy.linalg.lapack import dpotrf as potrf
from scipy.linalg.lapack import dpotrs as potrs

from maxmargin.gram import WHOLE_MATRIX_ROWS, Gram
from maxmargin.problem import DualProblem, Solution
from maxmargin.solvers.state import exact_gradient

MOST_FREE = 200
ROUNDS = 10
SETTLED = 1e-12  # of the largest gradient entry: what rounding leaves of a violation


def polish(problem: DualProblem, gram: Gram, solution: Solution) -> Solution:
    """A better solution of a small problem; the same one if it is large or none is found."""
    beta, gradient = solution.beta.copy(), solution.gradient
    free = (beta > problem.lower) & (beta < problem.upper)
    best = problem.violation(beta, gradient)
    for _ in range(ROUNDS if gram.n <= WHOLE_MATRIX_ROWS else 0):
        F = np.flatnonzero(free)
        settled = best <= SETTLED * np.abs(gradient).max()
        if settled or not 0 < len(F) <= MOST_FREE:
            break
        delta = newton_step(problem, gram, F, gradient)
        bound = np.where(delta > 0, problem.upper[F], problem.lower[F])
        room = np.divide(bound - beta[F], delta, where=delta != 0, out=np.full(len(F), np.inf))
        share = min(1.0, room.min())
        beta[F] = np.where(room <= share, bound, beta[F] + share * delta)
        free[F] = room > share
        gradient = exact_gradient(problem, gram, beta)
        violation, worst = problem.violation(beta, gradient), problem.worst(beta, gradient)
        rounding = share == 1 and free[worst].all() and violation > 0.1 * best
        if violation < best:
            offsets = problem.offsets(beta, gradient)
            best = violation
            solution = replace(solution, beta=beta.copy(), gradient=gradient, offsets=offsets)
        if rounding:
            break
        if share == 1:
            free[worst] = True
    return solution


def newton_step(
    problem: DualProblem, gram: Gram, F: np.ndarray, gradient: np.ndarray
) -> np.ndarray:
    """δ that makes G + b vanish on F and keeps the sums; the shortest such δ.

    With E the membership of F in the groups, δ = −K⁻¹(G + Eb), and Eᵀδ = 0 gives b. Where rows
    are duplicates, or both copies of a regressor's row are free, K is singular: then the whole
    system is solved by its pseudo-inverse, which is slower.
    """
    rows = problem.row_of(F)
    K = gram.block(rows, rows)
    E = problem.group[F][:, None] == np.unique(problem.group[F])[: problem.n_groups]
    right = np.column_stack([-gradient[F], E])
    factor, failed = potrf(K)
    pivots = np.abs(factor.diagonal())
    if failed or pivots.min() < 1e-6 * pivots.max():
        system = np.block([[K, E], [E.T, np.zeros((E.shape[1], E.shape[1]))]])
        return pinvh(system)[: len(F), : len(F)] @ right[:, 0]
    solved, _ = potrs(factor, right)
    delta, response = solved[:, 0], solved[:, 1:]
    return delta - response @ np.linalg.solve(E.T @ response, E.T @ delta)
