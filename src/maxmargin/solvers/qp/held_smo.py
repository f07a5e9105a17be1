"""Block SMO on a kernel matrix that is held in memory, from a known point: what a search calls.

    repeat
        W = the variables that violate KKT most, or come closest to it: all that are free among them
        minimise over β_W by second-order SMO on a copy of K[W, W] in float32, which stays in cache,
            of the rows that it asks for
        f += K[:, W] Δβ_W in float64
    until the violation is ≤ aim

A fit of a search takes a few milliseconds: here it takes no call from Python per block. f = Kβ is
summed in float64 over all rows, those held out too.

Near the optimum G + b is small, and it is what SMO is given, in float32: its rounding is relative
to what is left to do, so that blocks in float32 converge to any tolerance.

Where SMO takes many steps, C is large. Once it has worked as long as the pivots of a `path` would
take, these lead from where it has come to the optimum over the rows that are free or nearly so, and
SMO looks after the others; and once it has worked as long as an interior point would on all that
may be free, that is what solves the problem. All this is counted, not timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np

from maxmargin.core import native
from maxmargin.gram import Gram
from maxmargin.problem import DualProblem, Solution
from maxmargin.resources.arrays import Entries, Floats, Numbers
from maxmargin.resources.memory import large_array
from maxmargin.resources.threads import one_blas_thread
from maxmargin.solvers.driver import convergence
from maxmargin.solvers.progress import HISTORY
from maxmargin.solvers.qp.block_interior_point import BlockInteriorPoint, possibly_free
from maxmargin.solvers.qp.path import settled
from maxmargin.solvers.qp.state import exact_gradient, is_certain
from maxmargin.solvers.qp.working_set import restricted
from maxmargin.solvers.solver import Solver

SMALLEST, LARGEST = 384, 2048  # variables in a block: 384 fit into a core's cache
ROOM = 1.5  # times the free variables: so many are in a block
BUDGET = 20  # steps of SMO for each free variable, before and after a path
FEW = 100  # free variables that are reckoned with at least
BAND = 0.3  # of the worst violation: rows with G + b within it are in the path
WORTH = 30  # multiplications of a path for each variable of a step of SMO that was taken
REACH = 3.0  # times the worst violation: variables with G + b within it may become free
WHOLE = 20  # an interior point over m rows costs as much as m³/20 steps of SMO on one


class HeldSMO:
    """Solves problems of one matrix, one after another.

    Parameters
    ----------
    gram : K, held
    room : rows of a path or of an interior point, at most
    stop : whether to end now
    """

    def __init__(self, gram: Gram, room: float, stop: Callable[[], bool]) -> None:
        self.gram, self.room, self.stop = gram, room, stop
        self._space: Workspace | None = None

    def solve(self, p: DualProblem, beta: Floats, f: Floats, solver: Solver) -> Solution:
        """The solution from β, with f = Kβ; where blocks do not end within tol, `solver` goes on.

        f is updated from block to block. In the end it is computed from β alone, so that a cell of
        a search is judged as any fit is.
        """
        began, rows = perf_counter(), p.row_of(np.arange(p.size))
        K = self.gram.matrix
        assert K is not None
        space = self._space = self._space or Workspace(p.size)
        aim, steps, before, followed = solver.tol, 0, 0, 0
        limit = solver.most_steps(p) if solver.max_iter < 0 else solver.max_iter
        late = np.inf if solver.max_time is None else began + solver.max_time
        while steps < limit and perf_counter() < late and not self.stop():
            free = max(int(np.count_nonzero(p.free(beta))), FEW)
            most = int(min(BUDGET * free, limit - steps))
            did = space.descend(p, K, beta, f, aim, most)
            steps += did
            values = p.values(beta, f[rows] + p.linear)
            if solver.criterion.of(values) <= solver.tol:
                break
            if did >= most:
                if self._settles(p, beta, f, rows, values.violation, steps - followed):
                    followed = steps
                    continue
                margin = REACH * values.violation
                m = len(np.unique(rows[possibly_free(p, beta, f[rows] + p.linear, margin)]))
                whole = m**3 / (WHOLE * min(LARGEST, free))
                if m <= self.room and steps - before > whole:
                    finish = BlockInteriorPoint(solver.tol, max_time=solver.max_time)
                    finish = replace(finish, criterion=solver.criterion)
                    found = self.by(finish, p, beta)
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
        found = self.by(solver, p, beta)
        return replace(found, n_iter=steps + found.n_iter, seconds=perf_counter() - began)

    def by(self, solver: Solver, problem: DualProblem, beta: Floats) -> Solution:
        """The solution from β by a solver."""
        start = beta if beta.any() else None
        return solver.solve(problem, self.gram, start=start, observe=lambda _: self.stop())

    def _settles(
        self, p: DualProblem, beta: Floats, f: Floats, rows: Numbers, worst: float, steps: int
    ) -> bool:
        """Move β to the end of its path, and f with it: whether that was worth it and of use.

        It is worth it once SMO has worked as long as the path takes.
        """
        gradient = f[rows] + p.linear
        force = p.residual(gradient, p.offsets(beta, gradient))
        free = p.free(beta)
        wrong = ((beta < p.upper) & (force < 0)) | ((beta > p.lower) & (force > 0))
        near = (p.lower < p.upper) & (wrong | (np.abs(force) <= BAND * worst))
        some, m = np.unique(rows[free | near]), len(np.unique(rows[free]))
        width = min(LARGEST, max(SMALLEST, int(ROOM * m)))
        if m < 2 or len(some) > self.room or len(some) ** 3 > WORTH * width * steps:
            return False
        W = np.flatnonzero(np.isin(rows, some))
        inside = None if p.rows is None else np.searchsorted(some, rows[W])
        with one_blas_thread():
            K = self.gram.block(some, some)
            linear = gradient[W] - (K @ p.on_rows(beta)[some])[np.searchsorted(some, rows[W])]
            part = restricted(p, W, linear, np.array([beta[W].sum()]), inside)
            end = beta.copy()
            end[W] = spread(part, settled(part, K, beta[W], gradient[W]))
        end = p.feasible(end)
        moved = np.flatnonzero(end != beta)
        f_end = f + self.gram.dot(rows[moved], (end - beta)[moved])
        if not p.objective(end, f_end[rows] + p.linear) < p.objective(beta, gradient):
            return False
        beta[:], f[:] = end, f_end
        return True


def spread(p: DualProblem, of_units: Floats) -> Floats:
    """β of the variables; of a regressor's row one of them is 0."""
    if p.rows is None:
        return of_units
    return np.concatenate([np.maximum(of_units, 0.0), np.minimum(of_units, 0.0)])


def of_rows(problem: DualProblem, solution: Solution) -> Floats:
    """f = Kβ of every row, from the gradient of its variables."""
    f: Floats = solution.gradient - problem.linear
    return f if problem.rows is None else f[np.unique(problem.rows, return_index=True)[1]]


class Workspace:
    """Memory of the blocks of problems of one size, used again and again.

    Parameters
    ----------
    size : number of variables
    """

    def __init__(self, size: int) -> None:
        self.most = min(size, LARGEST)
        self.K = large_array((self.most**2,), np.float32)

    def descend(
        self, problem: DualProblem, K: Entries, beta: Floats, f: Floats, aim: float, most: int
    ) -> int:
        """Minimise over β in place, with f = Kβ; returns the steps taken, `most` or more if all."""
        p = problem
        rows = np.arange(p.size) if p.rows is None else p.rows
        state = rows, p.linear, p.lower, p.upper, beta, f
        return native.held_blocks(K, *state, self.K, self.most, aim, most)
