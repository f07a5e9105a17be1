"""The solutions of one problem on one kernel matrix, C after C.

Each C begins at the solution of the one before, times the ratio of the two: what is at its bound
stays there, and f = Kβ only has to be scaled. SMO in blocks (`blocks`) finds most of the way. Where
it takes many steps, C is large, and Newton's method on the face it has come to (`face_newton`) ends
what would take it ten times as many; if that face is not the right one, SMO goes on, and tries
again later. All this is counted, not timed.

A problem of another kind (no offset, an infinite bound, K not in memory, another solver) is solved
by the machine's own solver, from the same start.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from maxmargin.gram import Gram
from maxmargin.gram.held import HeldGram
from maxmargin.hardware.arrays import Floats, Numbers
from maxmargin.hardware.threads import one_blas_thread
from maxmargin.problem import DualProblem, Ending, Solution, Status
from maxmargin.selection.blocks import Workspace
from maxmargin.solvers import BlockSMO, Solver
from maxmargin.solvers.dual.block_interior_point import block_of, possibly_free
from maxmargin.solvers.dual.face_newton import face_optimum
from maxmargin.solvers.progress import HISTORY

BUDGET = 50  # steps of SMO for each variable of a face: they cost about as much as the face does
NEAR = 0.5  # violation up to which the face may be right
FACE = 2048  # variables of a face at most: 32 MB, twice
EXACT = 0.4  # of tol: how exactly a face is solved
UNENDED = Ending(Status.STAGNATED, "no step is left")


class FoldPath:
    """One problem for one C after another.

    Parameters
    ----------
    gram : K
    stop : whether to end now
    """

    def __init__(self, gram: Gram, stop: Callable[[], bool] = lambda: False) -> None:
        self.gram, self.stop = gram, stop
        self._space: Workspace | None = None
        self._known: dict[float, tuple[DualProblem, Floats, Floats]] = {}
        self._last = np.nan

    def solve(self, problem: DualProblem, C: float, solver: Solver) -> Solution:
        """The solution for this C, as exact as the solver says."""
        beta, f = self._start(problem, C)
        held = isinstance(self.gram, HeldGram) and type(solver) is BlockSMO
        finite = np.isfinite(problem.lower).all() and np.isfinite(problem.upper).all()
        if held and finite and problem.n_groups == 1 and not problem.sums.any():
            solution = self._in_blocks(problem, beta, f, solver)
        else:
            solution = self._by(solver, problem, beta)
        f = f if solution.beta is beta else (solution.gradient - problem.linear)[self._first(problem)]
        self._known[C], self._last = (problem, solution.beta, f), C
        return solution

    def _start(self, problem: DualProblem, C: float) -> tuple[Floats, Floats]:
        """β and f = Kβ: of the same C if there is one (of another ε), or of the last one, scaled."""
        if not self._known or not np.isfinite(C):
            return np.zeros(problem.size), np.zeros(self.gram.n)
        last = C if C in self._known else self._last
        before, beta, f = self._known[last]
        scaled = np.where(beta == before.upper, problem.upper, beta * (C / last))
        scaled = np.where(beta == before.lower, problem.lower, scaled)
        return np.clip(scaled, problem.lower, problem.upper), f * (C / last)

    def _by(self, solver: Solver, problem: DualProblem, beta: Floats) -> Solution:
        start = beta if beta.any() else None
        return solver.solve(problem, self.gram, start=start, observe=lambda _: self.stop())

    def _in_blocks(
        self, problem: DualProblem, beta: Floats, f: Floats, solver: Solver
    ) -> Solution:
        began, p = perf_counter(), problem
        rows = p.row_of(np.arange(p.size))
        space = self._space = self._space or Workspace(p.size)
        aim, steps, budget = solver.tol, 0, BUDGET
        limit = solver.most_steps(p) if solver.max_iter < 0 else solver.max_iter
        while True:
            free = np.count_nonzero((p.lower < beta) & (beta < p.upper))
            most = int(min(budget * max(free, 100), limit - steps))
            did = space.descend(p, self.gram.K, beta, f, aim, most)
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
            elif values.violation <= aim:
                aim = values.violation * min(0.5, solver.tol / values.relative_gap)
            else:
                return self._by(solver, p, beta)
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

    def _try_face(
        self, p: DualProblem, beta: Floats, f: Floats, rows: Numbers, tol: float
    ) -> None:
        """Move β to the optimum of its face, and f with it, if that is closer to the solution."""
        gradient = f[rows] + p.linear
        W = possibly_free(p, beta, gradient, p.violation(beta, gradient))
        if len(W) > FACE:
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

    def _first(self, problem: DualProblem) -> Numbers:
        """A variable of each row."""
        return np.unique(problem.row_of(np.arange(problem.size)), return_index=True)[1]
