"""What the solvers of the linear machines share: the clock, the limits, the record, the proof.

As in `base`, a solver is a frozen dataclass of its options whose `iterate` is a generator, and
`solve` drives it. Here the proof is the duality gap: it is computed anew from β (and w, b) each
time, in float64, and the solve ends when it is ≤ tol relative to the primal value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

from maxmargin.primal import Point, PrimalProblem
from maxmargin.problem import Status
from maxmargin.rows import Rows
from maxmargin.solvers.face import minimise_on_face

HISTORY = np.dtype(
    [
        ("objective", float),
        ("gap", float),
        ("violation", float),
        ("passes", float),
        ("seconds", float),
    ]
)
SMALL = 100_000  # numbers in X: less is solved to the last digits, for it costs nothing


@dataclass
class LinearState:
    """Where a solve stands.

    Attributes
    ----------
    beta : the dual point, feasible or nearly so
    aim : relative gap to come to
    now : what β (and w, b) proved when the driver last computed it
    best : the best model and the best bound so far
    coef, offset : w and b, if the solver does not want those that β implies
    passes : passes over the data so far
    """

    problem: PrimalProblem
    rows: Rows
    beta: np.ndarray
    aim: float
    now: Point
    best: Point
    coef: np.ndarray | None = None
    offset: float | None = None
    passes: float = 0.0

    def point(self) -> Point:
        """What has been reached, evaluated from scratch."""
        return self.problem.point(self.rows, self.beta, self.coef, self.offset)


@dataclass(frozen=True)
class LinearProgress:
    """What an observer is told each time the gap has been computed."""

    state: LinearState
    tol: float
    seconds: float
    measure: ClassVar[str] = "relative gap"

    @property
    def distance(self) -> float:
        """What `tol` bounds."""
        return self.state.best.relative_gap


@dataclass(frozen=True)
class LinearSolution:
    """The best model and the best bound that were found.

    Attributes
    ----------
    point : Point
    status : Status
    n_iter : int, passes over the data, rounded up
    seconds : float
    history : structured ndarray, one record per evaluation of the gap
    why : str, what ended it
    """

    point: Point
    status: Status
    n_iter: int
    seconds: float
    history: np.ndarray
    why: str


LinearObserver = Callable[[LinearProgress], bool | None]


@dataclass(frozen=True)
class LinearSolver(ABC):
    """Options every linear solver has.

    Parameters
    ----------
    tol : relative duality gap to reach
    max_iter : most passes over the data; −1 for no limit
    max_time : most seconds to take, or None
    seed : of whatever is random
    """

    tol: float = 1e-6
    max_iter: int = 1000
    max_time: float | None = None
    seed: int = 0

    @abstractmethod
    def iterate(self, state: LinearState) -> Iterator[bool]:
        """Improve `state`; yield often, True when it is worth computing the gap."""

    def solve(
        self,
        problem: PrimalProblem,
        rows: Rows,
        *,
        start: np.ndarray | None = None,
        observe: LinearObserver | None = None,
    ) -> LinearSolution:
        """Minimise P from the dual point `start` (0 by default), telling `observe` how it goes.

        An observer that returns True ends the solve with status `interrupted`.
        """
        began = perf_counter()
        beta = np.zeros(rows.n) if start is None else problem.feasible(start)
        aim = self.tol if rows.stored > SMALL else min(self.tol, 1e-12)
        start_point = problem.point(rows, beta)
        state = LinearState(problem, rows, beta, aim, start_point, start_point)
        history: list[tuple] = []
        limit = np.inf if self.max_iter < 0 else self.max_iter
        status, why = Status.STAGNATED, "steps no longer close the gap"
        try:
            for worth in self.iterate(state):
                seconds = perf_counter() - began
                late = self.max_time is not None and seconds >= self.max_time
                if not (worth or late or state.passes >= limit):
                    continue
                state.now = state.point()
                best = state.best = state.best.better(state.now)
                history.append((best.dual, best.gap, best.violation, state.passes, seconds))
                if best.relative_gap <= aim:
                    break
                if observe and observe(LinearProgress(state, self.tol, seconds)):
                    status, why = Status.INTERRUPTED, "asked to stop"
                elif late:
                    status, why = Status.OUT_OF_TIME, f"{seconds:.3g} s passed"
                elif state.passes >= limit:
                    status, why = Status.OUT_OF_ITERATIONS, f"max_iter={self.max_iter} is reached"
                else:
                    continue
                break
        except KeyboardInterrupt:
            state.best = state.best.better(state.point())
            status, why = Status.INTERRUPTED, "asked to stop"
        if state.best.relative_gap <= self.tol and status is not Status.INTERRUPTED:
            status, why = Status.CONVERGED, "relative duality gap ≤ tol"
            if rows.stored <= SMALL:
                state.best = polished(state)
        return LinearSolution(
            point=state.best,
            status=status,
            n_iter=int(np.ceil(state.passes)),
            seconds=perf_counter() - began,
            history=np.array(history, HISTORY),
            why=why,
        )


def polished(state: LinearState) -> Point:
    """The best point with its free variables solved for, if that makes it better."""
    best, problem, rows = state.best, state.problem, state.rows
    point = problem.point(rows, minimise_on_face(problem, rows, best.beta, remaining=1e-14))
    close = point.primal <= best.primal * (1 + 1e-9)
    return point if close and point.violation < best.violation else best
