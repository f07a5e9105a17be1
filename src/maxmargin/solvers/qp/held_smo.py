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

from maxmargin.gram import Gram
from maxmargin.gram.row_cache import GROUP, weighted_rows
from maxmargin.hardware.arrays import Entries, Floats, Mask, Numbers
from maxmargin.hardware.jit import compiled, inner, linked
from maxmargin.hardware.memory import large_array
from maxmargin.hardware.threads import one_blas_thread
from maxmargin.problem import DualProblem, Solution
from maxmargin.solvers.driver import convergence
from maxmargin.solvers.progress import HISTORY
from maxmargin.solvers.qp.block_interior_point import BlockInteriorPoint, possibly_free
from maxmargin.solvers.qp.path import settled
from maxmargin.solvers.qp.smo_block import smo_pairs
from maxmargin.solvers.qp.state import exact_gradient, is_certain
from maxmargin.solvers.qp.working_set import restricted
from maxmargin.solvers.solver import Solver

SMALLEST, LARGEST = 384, 2048  # variables in a block: 384 fit into a core's cache
ROOM = 1.5  # times the free variables: so many are in a block
BAD = 0.1  # of the worst violation: who violates more is in the block, if there is room
BISECTIONS = 12  # to find the least score of a block: the rest is drawn evenly
BUDGET = 20  # steps of SMO for each free variable, before and after a path
FEW = 100  # free variables that are reckoned with at least
BAND = 0.3  # of the worst violation: rows with G + b within it are in the path
WORTH = 30  # multiplications of a path for each variable of a step of SMO that was taken
REACH = 3.0  # times the worst violation: variables with G + b within it may become free
WHOLE = 20  # an interior point over m rows costs as much as m³/20 steps of SMO on one

pairs, add_rows = linked(smo_pairs), linked(weighted_rows)


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
        most = min(size, LARGEST)
        self.score = np.empty(size)
        self.chosen = np.empty((3, most + GROUP), np.int64)
        self.point = np.empty((4, most + GROUP))
        self.reals = np.empty((5, most), np.float32)
        self.place = np.arange(most, dtype=np.int32)
        self.group = np.zeros(most, np.int8)
        self.made = np.zeros(most, bool)
        self.K = large_array((most * most,), np.float32)

    def descend(
        self, problem: DualProblem, K: Entries, beta: Floats, f: Floats, aim: float, most: int
    ) -> int:
        """Minimise over β in place, with f = Kβ; returns the steps taken, `most` or more if all."""
        p = problem
        rows = np.arange(p.size) if p.rows is None else p.rows
        marks, block = (self.place, self.group, self.made), self.K
        box, memory = (p.linear, p.lower, p.upper), (self.score, self.chosen, self.point)
        return descend(K, rows, *box, beta, f, *memory, self.reals, *marks, block, aim, most)


@compiled(fastmath={"contract"})
def descend(
    K: Entries,
    rows: Numbers,
    linear: Floats,
    lower: Floats,
    upper: Floats,
    beta: Floats,
    f: Floats,
    score: Floats,
    chosen: Numbers,
    point: Floats,
    reals: Entries,
    place: Numbers,
    group: Numbers,
    made: Mask,
    space: Entries,
    aim: float,
    most: int,
) -> int:
    """Blocks until the violation is ≤ aim, `most` steps were taken, or none is possible."""
    steps = 0
    while steps < most:
        violation, middle, free = survey(rows, linear, lower, upper, beta, f, score)
        if violation <= aim:
            break
        bad = 0
        for v in range(len(score)):
            bad += score[v] > BAD * violation
        size = min(max(SMALLEST, int(ROOM * free), free + bad), len(place))
        m, outside = choose(score, -violation, size, chosen[0])
        W, now, low, high = chosen[0][:m], point[0][:m], point[1][:m], point[2][:m]
        own, G, diagonal = chosen[2][:m], reals[0][:m], reals[1][:m]
        block = space[: m * m].reshape((m, m))
        for i in range(m):
            v = W[i]
            own[i] = rows[v]
            now[i], low[i], high[i] = beta[v], lower[v], upper[v]
            G[i] = f[rows[v]] + linear[v] + middle
            diagonal[i], made[i] = K[own[i], own[i]], False
        scores = reals[2:].reshape(3 * reals.shape[1])[: 3 * m].reshape((3, 1, m))
        goal = max(0.4 * aim, 0.6 * outside, 0.02 * violation)
        limit = min(50 * m, most - steps)
        box, one = (low, high, group[:m]), reals.dtype.type(1)
        maker = made[:m], K, own
        steps += pairs(block, maker, one, diagonal, G, now, *box, scores, place[:m], goal, limit)
        moved, delta = chosen[1], point[3]
        count = 0
        for i in range(m):
            change = now[i] - beta[W[i]]
            if change != 0:
                beta[W[i]] = now[i]
                moved[count], delta[count] = rows[W[i]], change
                count += 1
        if count == 0:
            break
        while count % GROUP:
            moved[count], delta[count] = moved[0], 0.0
            count += 1
        add_rows(K, moved[:count], delta[:count], f, 0, len(f))
    return steps


@inner()
def survey(
    rows: Numbers,
    linear: Floats,
    lower: Floats,
    upper: Floats,
    beta: Floats,
    f: Floats,
    score: Floats,
) -> tuple[float, float, int]:
    """The worst violation, the offset in the middle of the extremes, and how many are free.

    The score of a variable is by how much it violates KKT with that offset; if it does not, minus
    the change of its gradient at which it would.
    """
    up, down, free = -np.inf, np.inf, 0
    for v in range(len(beta)):
        slope, rises, falls = -(f[rows[v]] + linear[v]), beta[v] < upper[v], beta[v] > lower[v]
        up = slope if rises and slope > up else up
        down = slope if falls and slope < down else down
        free += rises and falls
    middle = 0.5 * (up + down)
    for v in range(len(beta)):
        slope = -(f[rows[v]] + linear[v]) - middle
        rise = slope if beta[v] < upper[v] else -np.inf
        fall = -slope if beta[v] > lower[v] else -np.inf
        score[v] = rise if rise > fall else fall
    return up - down, middle, free


@inner()
def choose(score: Floats, least: float, size: int, W: Numbers) -> tuple[int, float]:
    """W = the variables of the largest scores above `least`, up to `size`.

    Of those with nearly the same score some are taken, evenly spread: they are much alike, and once
    a few have moved, the others no longer violate. Returns how many there are, and the largest
    score of the others.
    """
    low, high = least, least
    sure = between = 0
    for v in range(len(score)):
        sure += score[v] > least
        high = score[v] if score[v] > high else high
    if sure > size:
        above, sure = sure, 0
        for _ in range(BISECTIONS):
            t = 0.5 * (low + high)
            count = 0
            for v in range(len(score)):
                count += score[v] > t
            if count > size:
                low, above = t, count
            else:
                high, sure = t, count
        between = above - sure
    else:
        high = low
    m = seen = 0
    for v in range(len(score)):
        if score[v] > high:
            W[m] = v
            m += 1
        elif score[v] > low:
            if (seen + 1) * (size - sure) // between > seen * (size - sure) // between:
                W[m] = v
                m += 1
            seen += 1
    return m, max(high, 0.0) if between else 0.0
