"""Rows removed from a solution: where the others go, exactly, and the proof that it is the optimum.

All rows are removed from one tableau (`tableau`), which is computed once from the full solution: a
removal is a few pivots. The result is judged by its own violation and gap, from its coefficients
alone; what does not pass is solved again by the machine's solver.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import lapack

from maxmargin.certificate import Certificate
from maxmargin.gram.held import HeldGram
from maxmargin.hardware.arrays import Entries, Floats, Numbers
from maxmargin.hardware.jit import compiled, linked
from maxmargin.hardware.threads import one_blas_thread
from maxmargin.problem import DualProblem, Solution, Status, Values
from maxmargin.problem.dual import SIDES, primal_of, values_of
from maxmargin.selection.tableau import MOST, follow
from maxmargin.solvers import Solver

SLACK = 0.2  # of tol: how far a decision value may be outside of its interval
SNAP = 1e-12  # of the width of the box: what rounding leaves of a variable at a bound
ROUNDING = 1e-10  # of the largest diagonal entry: added to K_FF, which may be singular

parts_of_values = linked(values_of)


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
        self._row: Numbers = problem.row_of(np.arange(problem.size))
        self.unit = self._row
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
        C = np.vstack([K[np.ix_(F, B)], A[:, B]])
        S = np.empty((n + p.n_groups, n + p.n_groups))
        with one_blas_thread():
            M = inverse(K[np.ix_(F, F)], A[:, F])
            MC = M @ C
            R = C.T @ MC
        S[: self.count, : self.count], S[: self.count, self.count :] = M, MC
        S[self.count :, : self.count] = MC.T
        S[self.count :, self.count :] = K[np.ix_(B, B)] - R
        self.S = S
        given = np.concatenate([self.targets[F, self.state[F] // 2], p.sums, self.beta[B]])
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

    def _follow(self, lacking: Floats, goal: Floats, memory: Any, beta: Floats) -> int:
        return follow(
            *(self.S, self.count, self.place, self.known, lacking, self.beta, self.state),
            *(self.knots, goal, self.targets, SLACK * self.solver.tol, *memory, beta),
        )

    def remove(self, rows: Numbers, problems: list[DualProblem] | None) -> list[Removed]:
        """The machine without each of these rows.

        `problems` are those without them; None if they differ in the box of the row alone.
        """
        began, p, memory = perf_counter(), self.problem, self._memory()
        beta, rounds = np.empty((len(rows), len(self.beta))), np.zeros(len(rows), int)
        goal, lacking = self.knots.copy(), np.zeros(p.n_groups)
        for k, row in enumerate(rows.tolist()):
            if problems is not None:
                goal = staircase(problems[k], self.targets.shape[1] > 1)[0]
                lacking = problems[k].sums - p.sums
            goal[row] = 0.0
            rounds[k] = self._follow(lacking, goal, memory, beta[k])
            goal[row] = self.knots[row]
        with one_blas_thread():
            f = beta @ self.K
        seconds = (perf_counter() - began) / len(rows)
        space = np.empty((4, p.size)), np.empty((SIDES, max(p.n_groups, 1)))
        found = []
        for k, row in enumerate(rows.tolist()):
            q = p if problems is None else problems[k]
            proved = self._values(row, q, beta[k], f[k], space)
            if rounds[k] and self.solver.criterion.of(proved) <= self.solver.tol:
                proof = Certificate.made(proved, Status.CONVERGED, int(rounds[k]), 0, seconds)
                found.append(self._removed(row, space[0][0].copy(), proved.offsets, proof))
            else:
                found.append(self._solved(row, q))
        return found

    def _values(
        self, row: int, p: DualProblem, beta: Floats, f: Floats, space: tuple[Floats, Floats]
    ) -> Values:
        """Of the problem without a row, from β of the units and f = Kβ alone."""
        slope, quadratic, loss, margin, violation = judge(
            *(row, beta, f, self.unit, self._row, p.linear, p.lower, p.upper, p.group, p.sums),
            *space,
        )
        offsets = space[1][-1, : p.n_groups].copy()
        return Values(-(quadratic + slope), primal_of(quadratic, loss, margin), violation, offsets)

    def _solved(self, row: int, p: DualProblem) -> Removed:
        """By the solver, from the full solution."""
        lower, upper = (np.where(self._row == row, 0.0, bound) for bound in (p.lower, p.upper))
        p = replace(p, lower=lower, upper=upper)
        solution = self.solver.solve(p, self.gram, start=p.feasible(self.solution.beta))
        return self._removed(row, solution.beta, solution.offsets, Certificate.of(solution))

    def _removed(self, row: int, beta: Floats, offsets: Floats, proof: Certificate) -> Removed:
        coef, offset = self.machine._decode(self.problem.on_rows(beta), offsets)
        return Removed(float(coef @ self.gram.K[row]) + offset, coef, offset, proof)


@compiled()
def judge(
    row: int,
    beta: Floats,
    f: Floats,
    unit: Numbers,
    rows: Numbers,
    linear: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    sums: Floats,
    space: Floats,
    sides: Floats,
) -> tuple[float, float, float, float, float]:
    """What the values of a problem without a row are made of; β of its variables is in `space`.

    A variable that is at a bound but for rounding is there: b is that of the free ones.
    """
    own, gradient, low, high = space[0], space[1], space[2], space[3]
    for v in range(len(linear)):
        low[v], high[v] = lower[v], upper[v]
        if rows[v] == row:
            low[v] = high[v] = 0.0
        near = SNAP * (high[v] - low[v])
        own[v] = beta[unit[v]]
        own[v] = low[v] if own[v] <= low[v] + near else own[v]
        own[v] = high[v] if own[v] >= high[v] - near else own[v]
        gradient[v] = f[unit[v]] + linear[v]
    return parts_of_values(own, gradient, linear, low, high, group, sums, sides, sides[-1])


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
