"""One row removed from a solution: where the others go, and the exact optimum from there.

Let F be the free variables of the full solution, and suppose that after the removal of row i the
same ones are free. They stay on the margin, so their changes δ and those of the offsets solve

    K_FF δ + Aᵀ Δb = β_i K_Fi,   A δ = what the sums lack

for a row i at its bound; and if i is free, δ_i = −β_i and the equation of i itself is dropped. With

    M = [ K_FF  Aᵀ ]⁻¹     both follow from M by a product: M (β_i K_Fi, …), or a multiple of its
        [ A     0  ]       column i.

So M is computed once, and all rows are removed by matrix products. This is the span of Vapnik and
Chapelle (2000): f₋ᵢ(x_i) = f(x_i) − β_i S_i². Where the supposition holds, the point is optimal
already; where it does not, a few steps of SMO from there end at the optimum. Every optimum is
judged by its own violation and gap, from its coefficients alone.
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
from maxmargin.solvers import Solver
from maxmargin.solvers.dual.smo_block import smo_block

PINS = 10  # most rounds in which variables are pinned to their bounds
STEPS = 20  # times the variables: most steps of SMO before the solver itself takes over
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
    solver : for all rows, and for a row whose removal changes much
    """

    def __init__(self, machine: Any, problem: DualProblem, gram: HeldGram, solver: Solver) -> None:
        self.machine, self.problem, self.gram = machine, problem, gram
        self.solution, self.solver = solved(machine, problem, gram, solver)
        self.certificate = Certificate.of(self.solution)
        beta = self.solution.beta
        self.rows: Numbers = np.arange(problem.size) if problem.rows is None else problem.rows
        self.K: Entries = gram.K
        if problem.rows is not None:
            self.K = gram.square(self.rows, gram.precision)
        free = np.flatnonzero((problem.lower < beta) & (beta < problem.upper))
        # Of the two variables of a row one is enough: the other could only do the same.
        self.free = free[np.unique(self.rows[free], return_index=True)[1]]
        self.of_row = problem.on_rows(beta)
        self.model: tuple[Floats, float] = machine._decode(self.of_row, self.solution.offsets)
        self._groups = np.arange(problem.n_groups)
        A = (problem.group[self.free] == self._groups[:, None]).astype(float)
        self.M = inverse(self.K[np.ix_(self.free, self.free)].astype(float), A)
        self.place = np.full(problem.size, -1)
        self.place[self.free] = np.arange(len(self.free))

    @property
    def n_groups(self) -> int:
        """Number of sum constraints."""
        return self.problem.n_groups

    def spans(self) -> Floats:
        """S² of every row: how far its decision value falls, for each unit of β."""
        K_F = self.K[self.free][:, : self.gram.n].astype(float)
        mine = self.problem.group[self._variables_of_support()]
        columns = np.vstack([K_F, mine == np.arange(self.n_groups)[:, None]])
        spans = self.gram.diagonal - np.einsum("ij,ij->j", columns, self.M @ columns)
        diagonal = np.diagonal(self.M)[: len(self.free)]
        spans[self.rows[self.free]] = 1 / np.where(diagonal > 0, diagonal, np.inf)
        return np.asarray(np.maximum(spans, 0.0))

    def _variables_of_support(self) -> Numbers:
        """The variable of each row that is not zero; its first, if none is."""
        chosen = np.arange(self.gram.n)
        used = np.flatnonzero(self.solution.beta)
        chosen[self.rows[used]] = used
        return chosen

    def start(self, row: int, problem: DualProblem) -> Floats:
        """β without a row, `problem` being the one without it.

        Variables that would leave their box are pinned to its side, and the others follow: pins J
        with their values change the solution by M[:, J] M[J, J]⁻¹ times what they lack.
        """
        beta, F, count = self.solution.beta.copy(), self.free, len(self.free)
        mine = np.flatnonzero(self.rows == row) if self.problem.rows is not None else [row]
        lacking, right = problem.sums - self.problem.sums, np.zeros(len(self.M))
        pinned = np.full(count, np.nan)
        for variable in mine:
            value, at = beta[variable], self.place[variable]
            if at >= 0:
                pinned[at] = 0.0
            elif value:
                right[:count] += value * self.K[variable, F]
                lacking = lacking + value * (self.problem.group[variable] == self._groups)
        right[count:] = lacking
        free = self.M @ right
        low, high, now = problem.lower[F], problem.upper[F], beta[F]
        moved = free
        for _ in range(PINS):
            J = np.flatnonzero(~np.isnan(pinned))
            if len(J):
                lack = pinned[J] - now[J] - free[J]
                moved = free + self.M[:, J] @ np.linalg.lstsq(self.M[np.ix_(J, J)], lack)[0]
            new = now + moved[:count]
            outside = np.isnan(pinned) & ((new < low) | (new > high))
            if not outside.any():
                break
            pinned[outside] = np.clip(new, low, high)[outside]
        beta[F] = now + moved[:count]
        beta[mine] = 0.0
        return beta

    def remove(self, numbers: Numbers, problems: list[DualProblem]) -> list[Removed]:
        """The machine without each of these rows; `problems` are those without them."""
        with one_blas_thread():
            points = np.array(
                [
                    snapped(p, p.feasible(self.start(int(row), p)))
                    for row, p in zip(numbers, problems, strict=True)
                ]
            )
            products = points @ self.K
        return [
            self._optimum(int(row), problem, point, product)
            for row, problem, point, product in zip(
                numbers, problems, points, products, strict=True
            )
        ]

    def _optimum(self, row: int, problem: DualProblem, beta: Floats, product: Floats) -> Removed:
        tol, gradient, steps = self.solver.tol, product + problem.linear, 0
        values = problem.values(beta, gradient)
        if values.violation > tol:
            bounds = problem.lower, problem.upper, problem.group, problem.n_groups
            steps = smo_block(
                *(self.K, self.K.diagonal(), gradient, beta, *bounds),
                *(0.4 * tol, STEPS * problem.size),
            )
            beta = snapped(problem, beta)
            with one_blas_thread():
                gradient = beta @ self.K + problem.linear
            values = problem.values(beta, gradient)
        if values.violation <= tol:
            solution = replace(
                self.solution,
                beta=beta,
                gradient=gradient,
                values=values,
                status=Status.CONVERGED,
                n_iter=steps,
            )
        else:
            solution = self.solver.solve(problem, self.gram, start=beta)
        coef, offset = self.machine._decode(problem.on_rows(solution.beta), solution.offsets)
        decision = float(coef @ self.gram.K[row]) + offset
        return Removed(decision, coef, offset, Certificate.of(solution))


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
    """M; a little is added to the diagonal of K, which duplicate rows make singular."""
    size, groups = len(K), len(A)
    system = np.zeros((size + groups, size + groups))
    system[:size, :size], system[size:, :size], system[:size, size:] = K, A, A.T
    rounding = ROUNDING * float(np.diagonal(K).max(initial=1.0))
    np.einsum("ii->i", system)[:size] += rounding
    np.einsum("ii->i", system)[size:] -= rounding  # a group without a free variable
    factor, pivots, failed = lapack.dsytrf(system, lower=1)
    if not failed:
        inverted, failed = lapack.dsytri(factor, pivots, lower=1)
    if failed:
        return np.asarray(np.linalg.pinv(system), float)
    return np.asarray(np.tril(inverted) + np.tril(inverted, -1).T)
