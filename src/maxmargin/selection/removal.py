"""Rows removed from a solution: where the others go, exactly, and the proof that it is the optimum.

All rows are removed from one tableau (`tableau`), which is computed once from the full solution: a
removal is a few pivots. The result is judged by its own violation and gap, from its coefficients
alone; what does not pass is solved again by the machine's solver.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import lapack

from maxmargin.certificate import Certificate
from maxmargin.gram.held import HeldGram
from maxmargin.hardware.arrays import Entries, Floats, Numbers
from maxmargin.hardware.threads import one_blas_thread
from maxmargin.problem import DualProblem, Solution, Status
from maxmargin.selection.tableau import MOST, follow
from maxmargin.solvers import Solver

SLACK = 0.2  # of tol: how far a decision value may be outside of its interval
SNAP = 1e-12  # of the width of the box: what rounding leaves of a variable at a bound
ROUNDING = 1e-10  # of the largest diagonal entry: added to K_FF, which may be singular


@dataclass(frozen=True)
class Removed:
    """The machine without one row.

    Attributes
    ----------
    decision : of the row that was removed, with the offset
    coef, offset : of the decision function, the former over the rows of the problem
    certificate : of the problem without the row
    """

    decision: float
    coef: Floats
    offset: float
    certificate: Certificate


class Removal:
    """The full solution of a problem, from which rows are removed.

    Parameters
    ----------
    machine : whose problem it is
    problem, gram : the problem of all rows
    solver : for all rows, and for a row whose removal changes too much
    """

    def __init__(self, machine: Any, problem: DualProblem, gram: HeldGram, solver: Solver) -> None:
        self.machine, self.problem, self.gram = machine, problem, gram
        self.solution, self.solver = solved(machine, problem, gram, solver)
        self.certificate = Certificate.of(self.solution)
        self.of_row = problem.on_rows(self.solution.beta)
        self.model: tuple[Floats, float] = machine._decode(self.of_row, self.solution.offsets)
        # The two variables of a regressor's row are one unit, unless they are of different groups.
        shared = problem.rows is not None and problem.n_groups < 2
        self.unit: Numbers = problem.row_of(np.arange(problem.size))
        self.K: Entries = gram.K
        if problem.rows is not None and not shared:
            self.K, self.unit = gram.square(self.unit), np.arange(problem.size)
        beta = self.of_row if shared else self.solution.beta
        self.knots, self.targets = staircase(problem, shared)
        self.beta, self.state = standing(beta, self.knots)
        self._arrange()
        exact = np.empty_like(self.beta)
        if self._follow(np.zeros(problem.n_groups), self.knots, self._memory(), exact):
            exact, state = standing(exact, self.knots)
            changed = bool((state != self.state).any())
            self.beta, self.state = exact, state
            if changed:
                self._arrange()

    def _arrange(self) -> None:
        """The tableau of the units that are free now."""
        p, n = self.problem, len(self.beta)
        free = self.state % 2 == 1
        F, B = np.flatnonzero(free), np.flatnonzero(~free)
        group = p.group[:n]
        A = (group == np.arange(p.n_groups)[:, None]).astype(float)
        self.count = len(F) + p.n_groups
        self.place = np.empty(n, np.int64)
        self.place[F], self.place[B] = np.arange(len(F)), self.count + np.arange(len(B))
        K = self.K.astype(float, copy=False)
        M = inverse(K[np.ix_(F, F)], A[:, F])
        C = np.vstack([K[np.ix_(F, B)], A[:, B]])
        S = np.empty((n + p.n_groups, n + p.n_groups))
        MC = M @ C
        S[: self.count, : self.count], S[: self.count, self.count :] = M, MC
        S[self.count :, : self.count] = MC.T
        S[self.count :, self.count :] = K[np.ix_(B, B)] - C.T @ MC
        self.S = S
        given = np.concatenate(
            [self.targets[F, self.state[F] // 2], p.sums, self.beta[B]]
        )
        self.known = S @ given
        self.known[: self.count] -= 2 * MC @ self.beta[B]  # the sign of −MC

    @property
    def free(self) -> Numbers:
        """The units that are free."""
        return np.flatnonzero(self.state % 2)

    def spans(self) -> Floats:
        """S² of every row: how far its decision value falls, for each unit of β."""
        diagonal = np.diagonal(self.S)[self.place]
        free = self.place < self.count
        spans = np.where(free, 1 / np.where(free & (diagonal > 0), diagonal, np.inf), diagonal)
        return np.asarray(np.maximum(spans[: self.gram.n], 0.0))

    def _memory(self) -> tuple[Numbers, Floats, Floats, Floats]:
        size = len(self.S)
        numbers, reals = np.empty((3, size), np.int64), np.empty((3, size))
        return numbers, reals, np.empty_like(self.knots), np.empty((MOST, MOST + 1))

    def _follow(self, lacking: Floats, goal: Floats, memory: Any, beta: Floats) -> bool:
        return follow(
            *(self.S, self.count, self.place, self.known, lacking, self.beta, self.state),
            *(self.knots, goal, self.targets, SLACK * self.solver.tol, *memory, beta),
        )

    def remove(self, rows: Numbers, problems: list[DualProblem] | None) -> list[Removed]:
        """The machine without each of these rows.

        `problems` are those without them; None if they differ in the box of the row alone.
        """
        p, memory = self.problem, self._memory()
        beta, done = np.empty((len(rows), len(self.beta))), np.zeros(len(rows), bool)
        goal, lacking = self.knots.copy(), np.zeros(p.n_groups)
        for k, row in enumerate(rows.tolist()):
            if problems is not None:
                goal = staircase(problems[k], self.targets.shape[1] > 1)[0]
                lacking = problems[k].sums - p.sums
            goal[row] = 0.0
            done[k] = self._follow(lacking, goal, memory, beta[k])
            goal[row] = self.knots[row]
        with one_blas_thread():
            f = beta @ self.K
        return [
            self._judged(int(row), beta[k], f[k], None if problems is None else problems[k])
            if done[k]
            else self._solved(int(row), None if problems is None else problems[k])
            for k, row in enumerate(rows)
        ]

    def _without(self, row: int, problem: DualProblem | None) -> DualProblem:
        if problem is not None:
            return problem
        mine = self.problem.row_of(np.arange(self.problem.size)) == row
        lower, upper = (np.where(mine, 0.0, b) for b in (self.problem.lower, self.problem.upper))
        return replace(self.problem, lower=lower, upper=upper)

    def _judged(self, row: int, beta: Floats, f: Floats, problem: DualProblem | None) -> Removed:
        """The result of pivots if it is optimal, else that of the solver."""
        p = self._without(row, problem)
        beta = snapped(p, beta[self.unit])
        gradient = f[self.unit] + p.linear
        values = p.values(beta, gradient)
        if self.solver.criterion.of(values) > self.solver.tol:
            return self._solved(row, p)
        solution = replace(
            self.solution, beta=beta, gradient=gradient, values=values, status=Status.CONVERGED
        )
        return self._removed(row, p, solution)

    def _solved(self, row: int, problem: DualProblem | None) -> Removed:
        """By the solver, from the full solution."""
        p = self._without(row, problem)
        start = p.feasible(self.solution.beta)
        return self._removed(row, p, self.solver.solve(p, self.gram, start=start))

    def _removed(self, row: int, p: DualProblem, solution: Solution) -> Removed:
        coef, offset = self.machine._decode(p.on_rows(solution.beta), solution.offsets)
        decision = float(coef @ self.gram.K[row]) + offset
        return Removed(decision, coef, offset, Certificate.of(solution))


def staircase(problem: DualProblem, shared: bool) -> tuple[Floats, Floats]:
    """The knots and targets of each unit; if `shared`, two variables of a row are one unit."""
    p, n = problem, problem.size // 2
    if not shared:
        return np.column_stack([p.lower, p.upper]), -p.linear[:, None]
    return (
        np.column_stack([p.lower[n:], p.lower[:n], p.upper[:n]]),
        -np.column_stack([p.linear[n:], p.linear[:n]]),
    )


def standing(beta: Floats, knots: Floats) -> tuple[Floats, Numbers]:
    """β with those at a knot that are there but for rounding, and the state of each unit."""
    beta, state = np.clip(beta, knots[:, 0], knots[:, -1]), np.zeros(len(beta), np.int64)
    near = SNAP * (knots[:, -1] - knots[:, 0])
    for k in range(1, knots.shape[1]):
        state = np.where(beta > knots[:, k - 1] + near, 2 * k - 1, state)
        state = np.where(beta >= knots[:, k] - near, 2 * k, state)
    state = np.where(near > 0, state, 0)
    at = state % 2 == 0
    return np.where(at, knots[np.arange(len(beta)), state // 2], beta), state


def snapped(problem: DualProblem, beta: Floats) -> Floats:
    """β with those at a bound that are there but for rounding: b is that of the free ones."""
    near = SNAP * (problem.upper - problem.lower)
    beta = np.where(beta - problem.lower <= near, problem.lower, beta)
    return np.where(problem.upper - beta <= near, problem.upper, beta)


def solved(
    machine: Any, problem: DualProblem, gram: HeldGram, solver: Solver
) -> tuple[Solution, Solver]:
    """The solution, and the solver for others like it.

    A ν machine divides its coefficients by ρ: what is left of `tol` is divided too, so it is made
    smaller where ρ is.
    """
    solution = solver.solve(problem, gram)
    coef = problem.on_rows(solution.beta)
    largest = int(np.abs(coef).argmax())
    grown = machine._decode(coef, solution.offsets)[0][largest] / coef[largest] if coef.any() else 1
    if grown <= 1:
        return solution, solver
    finer = replace(solver, tol=solver.tol / float(grown))
    return finer.solve(problem, gram, start=solution.beta), finer


def inverse(K: Floats, A: Floats) -> Floats:
    """M, by Cholesky's factor of K + c AᵀA, which has the same M but for −c in its last block.

    A little is added to the diagonal, which duplicate rows make singular: ten times as much as
    before, until the factorisation succeeds.
    """
    m, groups = len(K), len(A)
    M = np.zeros((m + groups, m + groups))
    there = np.flatnonzero(A.any(axis=1))  # the groups that have a free unit
    c = float(np.diagonal(K).mean()) if m else 0.0
    rounding, failed = ROUNDING * (c or 1.0), int(m > 0)
    while failed:
        system = K + c * (A.T @ A)
        np.einsum("ii->i", system)[:] += rounding
        factor, failed = lapack.dpotrf(system.T, lower=1, clean=0, overwrite_a=1)
        rounding *= 10
    if m:
        P = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
        P = np.tril(P) + np.tril(P, -1).T
        PA = P @ A[there].T
        schur = np.linalg.pinv(A[there] @ PA)
        M[:m, :m] = P - PA @ schur @ PA.T
        M[:m, m + there] = PA @ schur
        M[m + there, :m] = M[:m, m + there].T
        M[np.ix_(m + there, m + there)] = c * np.eye(len(there)) - schur
    return M
