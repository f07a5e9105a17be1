"""The solutions of one problem on one kernel matrix, C after C.

Each C begins at the solution of the one before, as it is or times the ratio of the two, whichever
has the lower objective: where most are at their bounds they stay there, where none is the solution
stays, and f = Kβ only has to be scaled. SMO in blocks (`blocks`) goes most of the way. Where it
takes many steps, C is large: then Newton's method on the face that it has come to (`face_newton`)
may end it; if that face is not the right one, SMO goes on, and tries again later; and once it has
worked as long as an interior point would on all that may be free, that is what solves the problem.
All this is counted, not timed.

A problem of another kind (no offset, an infinite bound, few rows, K not in memory, another solver)
is solved by the machine's own solver, from the same start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np

from maxmargin.gram import Gram
from maxmargin.gram.matrix import HELD_ROWS
from maxmargin.hardware.arrays import Entries, Floats, Numbers
from maxmargin.hardware.threads import one_blas_thread
from maxmargin.problem import DualProblem, Ending, Solution, Status
from maxmargin.selection.blocks import LARGEST, Workspace
from maxmargin.solvers import BlockSMO, Solver
from maxmargin.solvers.dual.block_interior_point import (
    BlockInteriorPoint,
    block_of,
    possibly_free,
)
from maxmargin.solvers.dual.face_newton import face_optimum
from maxmargin.solvers.progress import HISTORY

BUDGET = 50  # steps of SMO for each variable of a face: they cost about as much as the face does
FEW = 100  # free variables that are reckoned with at least
NEAR = 0.5  # violation up to which the face may be right
REACH = 3.0  # times the worst violation: variables with G + b within it may become free
WHOLE = 20  # an interior point over m rows costs as much as m³/20 steps of SMO on one
EXACT = 0.4  # of tol: how exactly a face is solved


class FoldPath:
    """One problem for one C after another.

    Parameters
    ----------
    gram : K
    room : rows of a face, or of an interior point, at most
    stop : whether to end now
    """

    def __init__(
        self, gram: Gram, room: float = np.inf, stop: Callable[[], bool] = lambda: False
    ) -> None:
        self.gram, self.room, self.stop = gram, room, stop
        self._space: Workspace | None = None
        self._known: dict[float, tuple[DualProblem, Floats, Floats]] = {}
        self._last = np.nan

    def solve(self, problem: DualProblem, C: float, solver: Solver) -> Solution:
        """The solution for this C, as exact as the solver says."""
        beta, f = self._start(problem, C)
        K, p = self.gram.matrix, problem
        finite = np.isfinite(p.lower).all() and np.isfinite(p.upper).all()
        balanced = p.n_groups == 1 and not p.sums.any()
        large = self.gram.n > HELD_ROWS  # of fewer rows the machine's solver finds the last digits
        if K is not None and type(solver) is BlockSMO and finite and balanced and large:
            solution = self._in_blocks(K, problem, beta, f, solver)
        else:
            solution = self._by(solver, problem, beta)
        known = problem, solution.beta, of_rows(problem, solution)
        self._known[C], self._last = known, C
        return solution

    def _start(self, problem: DualProblem, C: float) -> tuple[Floats, Floats]:
        """β and f = Kβ: of the same C if there is one (of another ε), else from the last one."""
        if not self._known or not np.isfinite(C):
            return np.zeros(problem.size), np.zeros(self.gram.n)
        last = C if C in self._known else self._last
        before, beta, f = self._known[last]
        slope, bend = problem.linear @ beta, f @ problem.on_rows(beta)
        ratio = C / last
        if ratio > 1 and slope + 0.5 * bend < ratio * slope + 0.5 * ratio**2 * bend:
            return beta.copy(), f.copy()
        scaled = np.where(beta == before.upper, problem.upper, ratio * beta)
        scaled = np.where(beta == before.lower, problem.lower, scaled)
        return np.clip(scaled, problem.lower, problem.upper), ratio * f

    def _by(self, solver: Solver, problem: DualProblem, beta: Floats) -> Solution:
        start = beta if beta.any() else None
        return solver.solve(problem, self.gram, start=start, observe=lambda _: self.stop())

    def _in_blocks(
        self, K: Entries, problem: DualProblem, beta: Floats, f: Floats, solver: Solver
    ) -> Solution:
        began, p = perf_counter(), problem
        rows = p.row_of(np.arange(p.size))
        space = self._space = self._space or Workspace(p.size)
        aim, steps, before, budget = solver.tol, 0, 0, BUDGET
        limit = solver.most_steps(p) if solver.max_iter < 0 else solver.max_iter
        while True:
            free = max(int(np.count_nonzero((p.lower < beta) & (beta < p.upper))), FEW)
            most = int(min(budget * free, limit - steps))
            did = space.descend(p, K, beta, f, aim, most)
            steps += did
            values = p.values(beta, f[rows] + p.linear)
            if solver.criterion.of(values) <= solver.tol:
                ending = Ending(Status.CONVERGED, f"{solver.criterion.words} ≤ tol")
                break
            if self.stop():
                ending = Ending(Status.INTERRUPTED, "asked to stop")
                break
            if solver.max_time is not None and perf_counter() - began > solver.max_time:
                ending = Ending(Status.OUT_OF_TIME, "max_time is over")
                break
            if steps >= limit:
                ending = Ending(Status.OUT_OF_ITERATIONS, "max_iter is reached")
                break
            if did >= most:
                budget *= 2
                if values.violation <= NEAR:
                    self._try_face(p, beta, f, rows, solver.tol)
                finish = BlockInteriorPoint(solver.tol, max_time=solver.max_time)
                finish = replace(finish, criterion=solver.criterion)
                margin = REACH * values.violation
                m = len(np.unique(rows[possibly_free(p, beta, f[rows] + p.linear, margin)]))
                whole = m**3 / (WHOLE * min(LARGEST, free))
                if m <= self.room and steps - before > whole:
                    found = self._by(finish, p, beta)
                    beta, f = found.beta, of_rows(p, found)
                    steps = before = steps + found.n_iter
            elif values.violation <= aim:
                aim = values.violation * min(0.5, solver.tol / values.relative_gap)
            else:
                found = self._by(solver, p, beta)
                return replace(found, n_iter=steps + found.n_iter)
        return Solution(
            beta=beta,
            gradient=f[rows] + p.linear,
            coef=None,
            values=values,
            status=ending.status,
            why=ending.why,
            n_iter=steps,
            kernel_evaluations=0,
            seconds=perf_counter() - began,
            history=np.empty(0, HISTORY),
        )

    def _try_face(self, p: DualProblem, beta: Floats, f: Floats, rows: Numbers, tol: float) -> None:
        """Move β to the optimum of its face, and f with it, if that is closer to the solution."""
        gradient = f[rows] + p.linear
        W = possibly_free(p, beta, gradient, p.violation(beta, gradient))
        if len(W) > self.room:
            return
        now = beta[W]
        free = (p.lower[W] < now) & (now < p.upper[W])
        scale = abs(p.objective(beta, gradient))
        with one_blas_thread():
            block, _ = block_of(p, self.gram, W, beta, gradient)
            found, least = face_optimum(block, (now.copy(), free), EXACT * tol, scale)
        if least <= tol:
            f += self.gram.dot(rows[W], found - now)
            beta[W] = found


def of_rows(problem: DualProblem, solution: Solution) -> Floats:
    """f = Kβ of every row, from the gradient of its variables."""
    f: Floats = solution.gradient - problem.linear
    return f if problem.rows is None else f[np.unique(problem.rows, return_index=True)[1]]
