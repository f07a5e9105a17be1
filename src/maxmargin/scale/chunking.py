"""Chunking over partitions: exact training on rows that no machine holds all of.

    repeat
        tell every partition how the support vectors changed; each updates f of its rows and
            returns the M rows that violate KKT worst
        W = { i : β_i ≠ 0 } and these violators
        minimise over β_W, the others being 0, by another solver, from the present β
    until no row of any partition violates KKT, and the duality gap is closed

Only support vectors and violators travel. M is as large as the number of support vectors, if the
budget of the driver takes as many: moving the violators then costs as much as telling the
partitions the support vectors, solving for both at most four times as much as for the latter alone,
and the working set may double each round, so that few rounds are needed.

The end is certified by a last round in float64, from the coefficients alone.

Reference: as `solvers.textbook.chunking`; V. Vapnik (1982).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from maxmargin.problem import Ending, Interrupted, Solution, Status
from maxmargin.resources.arrays import Floats, Records
from maxmargin.scale.rows import RowSet
from maxmargin.scale.state import PartitionedGram, PartitionedProblem, PartitionedState
from maxmargin.solvers.driver import STOPPED
from maxmargin.solvers.progress import HISTORY, Observer, Progress
from maxmargin.solvers.qp.block_smo import BlockSMO
from maxmargin.solvers.solver import Solver, require_positive
from maxmargin.solvers.state import Moves

ROUNDS = np.dtype([("rounds", int), ("violators", int), ("held", int), ("bytes", int)])

Start: TypeAlias = Any  # rows with β of their variables, or None
FEW = 0.1  # of the rows held: so few violators change the others little
NEGLIGIBLE = 1e-3  # of tol: a threshold below it finds nothing that could close the gap


@dataclass(frozen=True)
class PartitionedSolution(Solution):
    """A solution given by some of the rows.

    Attributes
    ----------
    rows : RowSet, those with a coefficient; β is that of their variables
    """

    rows: RowSet


@dataclass(frozen=True)
class PartitionedChunking(Solver):
    """Chunking over partitions, with any solver inside.

    Parameters
    ----------
    inner : solver of each working problem; its `tol` and `max_time` are set by this one
    violators : M of the first round
    watch : called with the progress of each working problem; may raise
    save : called after each round and at the end with the solution so far, whose values are those
        of the round
    """

    inner: Solver = field(default_factory=BlockSMO)
    violators: int = 2048
    watch: Callable[[Progress], None] | None = None
    save: Callable[[PartitionedSolution], None] | None = None

    takes: ClassVar[tuple[type, type]] = (PartitionedProblem, PartitionedGram)
    resume: ClassVar[str] = "fit again; with checkpoint=path a fit continues where it was"

    def __post_init__(self) -> None:
        require_positive(self, "violators")

    def check(self, problem: PartitionedProblem, matrix: PartitionedGram) -> None:
        self.check_family(problem, matrix)

    def begin(
        self,
        problem: PartitionedProblem,
        matrix: PartitionedGram,
        start: Start,
    ) -> PartitionedState:
        return PartitionedState(problem, matrix, start, self.tol, self.violators)

    def most_steps(self, problem: PartitionedProblem) -> float:
        return np.inf  # each working problem has a limit of its own

    def solve(
        self,
        problem: PartitionedProblem,
        matrix: PartitionedGram,
        *,
        start: Start = None,
        observe: Observer | None = None,
    ) -> PartitionedSolution:
        """As `Solver.solve`; a start is `RowSet` with β of their variables."""
        costs: list[tuple[int, ...]] = []
        records: list[tuple[float, ...]] = []
        last: list[PartitionedState] = []

        def observed(progress: Progress) -> bool | None:
            state: PartitionedState = progress.state
            last[:] = [state]
            costs.append((state.rounds, state.violators, len(state.held.rows), state.moved))
            records.append(progress.record())
            saved(so_far(progress, records))
            return None if observe is None else observe(progress)

        def of_rows(solution: Solution) -> PartitionedSolution:
            kept, beta = support_of(last[0])
            history = with_costs(solution.history, costs)
            changed = {**vars(solution), "beta": beta, "history": history}
            return PartitionedSolution(**changed, rows=kept)

        def saved(solution: Solution) -> PartitionedSolution:
            found = of_rows(solution)
            if self.save is not None and len(costs) > 1:  # a working problem has been solved
                self.save(found)
            return found

        try:
            return saved(super().solve(problem, matrix, start=start, observe=observed))
        except Interrupted as stopped:
            if not last:
                raise
            raise Interrupted(saved(stopped.solution)) from None

    def iterate(self, state: PartitionedState) -> Moves:
        steps = 0  # of the last working problem
        while state.lost is None:
            state.exchange()
            violation, left = state.values().violation, max(state.most_seconds - state.seconds, 0.0)
            # While the working set changes, exactness beyond a tenth of the violation is wasted.
            # When few rows violate KKT it may save a round, and is worth it where steps cost less.
            held, support = len(state.held.rows), np.count_nonzero(state.held.coef)
            final = state.violators <= FEW * held and steps * held <= state.survey.rows * support
            tol = max(0.0 if final else 0.1 * violation, 0.4 * state.threshold)
            most = -1 if state.most_steps == np.inf else int(state.most_steps - state.steps)
            solver = replace(self.inner, tol=tol, max_time=left, max_iter=most)
            gram, watch = state.gram(), self.watch
            observe = None if watch is None else lambda progress, watch=watch: watch(progress)
            solution = solver.solve(
                state.held.problem, gram, start=state.held.beta.ravel(), observe=observe
            )
            state.adopt(solution)
            steps = solution.n_iter
            if solution.status is Status.INTERRUPTED:
                return STOPPED
            state.ask(max(self.violators, int(np.count_nonzero(state.held.coef))))
            state.round()
            if not state.violators and solution.values.violation <= 2 * state.threshold:
                # All is solved to the threshold: what is still violated is rounding errors of
                # float32, or so little that only the gap shows it.
                if not state.exact:
                    state.confirm(self.tol)
                if not state.violators:
                    if state.threshold < NEGLIGIBLE * self.tol and not state.movement:
                        return None
                    state.threshold *= 0.5
            yield
        return Ending(Status.INTERRUPTED, str(state.lost))


def so_far(progress: Progress, records: list[tuple[float, ...]]) -> Solution:
    """The solution of the last round, as if the solve ended there."""
    state: PartitionedState = progress.state
    return Solution(
        **state.found()._asdict(),
        values=progress.values,
        status=Status.INTERRUPTED,
        why="the solve goes on",
        n_iter=int(np.ceil(state.steps)),
        kernel_evaluations=state.kernel_evaluations,
        seconds=state.seconds,
        history=np.array(records, HISTORY),
    )


def support_of(state: PartitionedState) -> tuple[RowSet, Floats]:
    """The rows with a coefficient, sorted by their numbers, and β of their variables."""
    rows, _, beta, _ = state.held
    some = np.flatnonzero(beta.any(axis=0))
    some = some[rows.numbers[some].argsort()]
    return rows.take(some), beta[:, some]


def with_costs(history: Records, costs: list[tuple[int, ...]]) -> Records:
    """The history with rounds, violators, rows held and bytes moved."""
    table = np.empty(len(history), [*history.dtype.descr, *ROUNDS.descr])
    for name in history.dtype.names or ():
        table[name] = history[name]
    for k, name in enumerate(ROUNDS.names or ()):
        table[name] = [cost[k] for cost in costs]
    return table
