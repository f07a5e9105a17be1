"""The solutions of one problem on one kernel matrix, C after C.

Each C begins at the solution of the one before, as it is or times the ratio of the two, whichever
has the lower objective: where most are at their bounds they stay there, where none is the solution
stays, and f = Kβ only has to be scaled. SMO in blocks (`blocks`) goes most of the way. Where it
takes many steps, C is large: then a path by pivots (`homotopy`) leads from where it has come to the
optimum over the variables that are free or nearly so, and SMO looks after the others; and once it
has worked as long as an interior point would on all that may be free, that is what solves the
problem. All this is counted, not timed.

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
from maxmargin.problem import DualProblem, Solution
from maxmargin.selection.blocks import LARGEST, ROOM, SMALLEST, Workspace
from maxmargin.selection.homotopy import BATCH, PIVOTS, end_of_path
from maxmargin.solvers import BlockSMO, Solver
from maxmargin.solvers.driver import convergence
from maxmargin.solvers.progress import HISTORY
from maxmargin.solvers.qp.block_interior_point import (
    BlockInteriorPoint,
    possibly_free,
)
from maxmargin.solvers.qp.state import exact_gradient, is_certain

BUDGET = 20  # steps of SMO for each free variable, before and after a path
FEW = 100  # free variables that are reckoned with at least
BAND = 0.3  # of the worst violation: variables with G + b within it are in the path
WORTH = 30  # multiplications of a path for each variable of a step of SMO that was taken
REACH = 3.0  # times the worst violation: variables with G + b within it may become free
WHOLE = 20  # an interior point over m rows costs as much as m³/20 steps of SMO on one


class FoldPath:
    """One problem for one C after another.

    Parameters
    ----------
    gram : K
    room : variables of a tableau, or rows of an interior point, at most
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
        """The solution by blocks on K; where they do not end within tol, the solver goes on.

        f = Kβ is updated from block to block. In the end it is computed from β alone, so that a
        cell of a search is judged as any fit is.
        """
        began, p = perf_counter(), problem
        rows = p.row_of(np.arange(p.size))
        space = self._space = self._space or Workspace(p.size)
        aim, steps, before, followed = solver.tol, 0, 0, 0
        limit = solver.most_steps(p) if solver.max_iter < 0 else solver.max_iter
        late = np.inf if solver.max_time is None else began + solver.max_time
        while steps < limit and perf_counter() < late and not self.stop():
            free = max(int(np.count_nonzero((p.lower < beta) & (beta < p.upper))), FEW)
            most = int(min(BUDGET * free, limit - steps))
            did = space.descend(p, K, beta, f, aim, most)
            steps += did
            values = p.values(beta, f[rows] + p.linear)
            if solver.criterion.of(values) <= solver.tol:
                break
            if did >= most:
                if self._follows_path(p, beta, f, rows, values.violation, steps - followed):
                    followed = steps
                    continue
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
                break
        gradient = exact_gradient(p, self.gram, beta)
        values = p.values(beta, gradient)
        ending = convergence(values, solver.criterion, solver.tol)
        if ending and is_certain(self.gram, beta, solver.tol):
            return Solution(
                beta=beta,
                gradient=gradient,
                coef=None,
                values=values,
                status=ending.status,
                why=ending.why,
                n_iter=steps,
                kernel_evaluations=0,
                seconds=perf_counter() - began,
                history=np.empty(0, HISTORY),
            )
        solver = replace(solver, max_iter=max(int(limit - steps), 1))
        if solver.max_time is not None:
            solver = replace(solver, max_time=max(late - perf_counter(), 0.0))
        found = self._by(solver, p, beta)
        return replace(found, n_iter=steps + found.n_iter, seconds=perf_counter() - began)

    def _follows_path(
        self, p: DualProblem, beta: Floats, f: Floats, rows: Numbers, worst: float, steps: int
    ) -> bool:
        """Move β to the end of its path, and f with it: whether that was worth it and of use.

        It is worth it once SMO has worked as long as the path takes: a factorisation over the free
        variables, and a column for each pivot, about two for each variable that is wrong.
        """
        if p.rows is not None:  # of a regressor's row one variable is 0
            both = np.minimum(beta[: self.gram.n], -beta[self.gram.n :])
            beta[: self.gram.n] -= both
            beta[self.gram.n :] += both
        gradient = f[rows] + p.linear
        force = gradient + p.offsets(beta, gradient)[0]
        free = p.free(beta)
        wrong = ((beta < p.upper) & (force < 0)) | ((beta > p.lower) & (force > 0))
        near = (p.lower < p.upper) & (wrong | (np.abs(force) <= BAND * worst))
        F, B = np.flatnonzero(free), np.flatnonzero(near & ~free)
        m, others = len(F), len(B)
        pivots = min(BATCH + 2 * int(np.count_nonzero(wrong & ~free)), PIVOTS)
        work = m**3 / 2 + pivots * m * (2 * m + others) + 5 * pivots**2 * (m + others)
        width = min(LARGEST, max(SMALLEST, int(ROOM * m)))
        if m < 2 or m + others > self.room or work > WORTH * width * steps:
            return False
        end, W = beta.copy(), np.concatenate([F, B])
        with one_blas_thread():
            end[W] = end_of_path(p, self.gram, F, B, beta, force)[0]
        end = p.feasible(end)
        moved = np.flatnonzero(end != beta)
        f_end = f + self.gram.dot(rows[moved], (end - beta)[moved])
        if not p.objective(end, f_end[rows] + p.linear) < p.objective(beta, gradient):
            return False
        beta[:], f[:] = end, f_end
        return True


def of_rows(problem: DualProblem, solution: Solution) -> Floats:
    """f = Kβ of every row, from the gradient of its variables."""
    f: Floats = solution.gradient - problem.linear
    return f if problem.rows is None else f[np.unique(problem.rows, return_index=True)[1]]
