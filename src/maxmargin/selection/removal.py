"""Rows removed from a solution: where the others go, exactly, and the proof that it is the optimum.

All rows are removed from one full solution, along its `path`. The result is judged by its own
violation and gap, from its coefficients alone: Kβ of many removals is one matrix product, over the
coefficients that have changed. What does not pass is solved again by the machine's solver.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.gram.held import HeldGram
from maxmargin.problem import DualProblem, Solution
from maxmargin.resources.arrays import Entries, Floats, Numbers
from maxmargin.resources.threads import one_blas_thread
from maxmargin.solvers import Solver
from maxmargin.solvers.driver import convergence
from maxmargin.solvers.qp.path import CHUNK, SNAP, Path, staircase, standing, units

SLACK = 0.2  # of tol: how far a decision value may be outside of its interval


class Removed(NamedTuple):
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
        self._row: Numbers = problem.row_of(np.arange(problem.size))
        # The two variables of a regressor's row are one unit, unless they are of different groups.
        shared = units(problem) < problem.size
        self.unit = self._row if shared or problem.rows is None else np.arange(problem.size)
        self.K: Entries = gram.K if self.unit is self._row else gram.square(self._row)
        beta = self.of_row if shared else self.solution.beta
        self.path = Path(problem, self.K, beta, SLACK * self.solver.tol)
        self.path.refine()
        with one_blas_thread():
            self.f: Floats = self.path.beta @ self.K

    def spans(self) -> Floats:
        """Squared span of each row: how far its decision value falls, for each unit of β."""
        return self.path.spans()[: self.gram.n]

    def remove(self, rows: Numbers, problems: list[DualProblem] | None) -> list[Removed]:
        """The machine without each of these rows.

        `problems` are those without them; None if they differ in the box of the row alone.
        """
        began, p, path = perf_counter(), self.problem, self.path
        others = [p] if problems is None else problems
        stairs = np.array([staircase(q) for q in others])
        sums = np.array([q.sums for q in others])
        beta, rounds = path.follow(rows, stairs, sums)
        lacks = np.abs(beta @ path.members.T - sums).max(axis=1, initial=0.0)
        feasible = (rounds > 0) & (lacks <= SNAP * np.abs(beta).sum(axis=1))
        change = beta - path.beta
        moved = np.flatnonzero(change.any(axis=0))
        f = np.tile(self.f, (len(rows), 1))
        with one_blas_thread():
            for start in range(0, len(moved), CHUNK):
                some = moved[start : start + CHUNK]
                f += change[:, some] @ self.K[some]
        passed = (perf_counter() - began) / len(rows)
        return [
            self._judged(row, others[k % len(others)], beta[k], f[k], int(rounds[k]), passed)
            if feasible[k]
            else self._solved(row, others[k % len(others)])
            for k, row in enumerate(rows.tolist())
        ]

    def _judged(
        self, row: int, p: DualProblem, of_units: Floats, f: Floats, rounds: int, seconds: float
    ) -> Removed:
        """By the values of its coefficients; by the solver if they are not within tol.

        A variable that is at a bound but for rounding is there: b is that of the free ones.
        """
        p = self._without(row, p)
        beta = np.clip(of_units[self.unit], p.lower, p.upper)
        values = p.values(beta, f[self.unit] + p.linear)
        ending = convergence(values, self.solver.criterion, self.solver.tol)
        if ending is None:
            return self._solved(row, p)
        proof = Certificate.made(values, ending.status, rounds, 0, seconds)
        return self._removed(row, p.on_rows(beta), values.offsets, proof)

    def _without(self, row: int, p: DualProblem) -> DualProblem:
        own, lower, upper = self._row == row, p.lower.copy(), p.upper.copy()
        lower[own] = upper[own] = 0.0
        return DualProblem(p.linear, lower, upper, p.sums, p.group, p.rows)

    def _solved(self, row: int, p: DualProblem) -> Removed:
        """By the solver, from the full solution."""
        p = self._without(row, p)
        solution = self.solver.solve(p, self.gram, start=p.feasible(self.solution.beta))
        beta, _ = standing(solution.beta, np.column_stack([p.lower, p.upper, p.linear]))
        offsets = p.offsets(beta, solution.gradient)
        return self._removed(row, p.on_rows(beta), offsets, Certificate.of(solution))

    def _removed(self, row: int, beta: Floats, offsets: Floats, proof: Certificate) -> Removed:
        coef, offset = self.machine._decode(beta, offsets)
        return Removed(float(coef @ self.gram.K[row]) + offset, coef, offset, proof)


def solved(
    machine: Any, problem: DualProblem, gram: HeldGram, solver: Solver
) -> tuple[Solution, Solver]:
    """The solution, and the solver for others like it.

    A ν machine divides its coefficients by ρ: what is left of `tol` is divided too, so it is made
    smaller where ρ is.
    """
    solution = solver.solve(problem, gram, observe=machine._watch)
    coef = problem.on_rows(solution.beta)
    largest = int(np.abs(coef).argmax())
    grown = machine._decode(coef, solution.offsets)[0][largest] / coef[largest] if coef.any() else 1
    if grown <= 1:
        return solution, solver
    finer = replace(solver, tol=solver.tol / float(grown))
    return finer.solve(problem, gram, start=solution.beta), finer
