"""The machine with features: a solution of few rows, then proximal Newton steps, then the proof.

See `proximal_newton` for the steps. A few of the rows give the first w and b, roughly; eight times
as many the next, and so on up to all. After every proximal step β is made feasible and its gap is
computed from scratch, in float64: that is what ends the solve, and what is returned.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from maxmargin.certificate import best_offset, primal_value
from maxmargin.problem import DualProblem, Solution, Status
from maxmargin.resources import one_blas_thread
from maxmargin.solvers.base import STOPPED, Ending
from maxmargin.solvers.progress import HISTORY, Observer, Progress
from maxmargin.solvers.proximal_newton import WIDTH, ProximalNewton, image
from maxmargin.solvers.state import State

MOST_STEPS = 1000
NEAR = 0.2  # over how much of the margin the hinge is round where w is nearly right
FEWEST = 4000  # rows to begin with, and
LEVEL = 8  # how many times more there are in the next set
ROUGH = 0.1  # relative gap that is enough for fewer rows
SETTLED = 1e-9  # KKT violation to which small problems are solved, for it costs nothing
PATIENCE = 5  # proximal steps without any gain
CONVERGED = Ending(Status.CONVERGED, "relative duality gap ≤ tol")


@dataclass
class FeatureState(State):
    """Where a solve stands: the β that was last proven, with its w = Zᵀβ."""

    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class FeatureProgress(Progress):
    """What an observer is told after each proximal step: here the relative gap is what counts."""

    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))
    measure: ClassVar[str] = "relative duality gap"

    @property
    def distance(self) -> float:
        scale = max(abs(self.objective), abs(self.objective + self.gap))
        return self.gap / scale if 0 < scale < np.inf else self.gap

    @classmethod
    def of(cls, state: State, tol: float, step: Any = None) -> FeatureProgress:
        """With the best offset there is: on the way, the one that β implies can be far off."""
        assert isinstance(state, FeatureState)
        problem, beta, gradient = state.problem, state.beta, state.gradient
        offsets = np.array([best_offset(problem, gradient)] if problem.n_groups else [])
        gap = primal_value(problem, beta, gradient, offsets) + problem.objective(beta, gradient)
        told = super().of(state, tol)
        assert isinstance(told, FeatureProgress)
        return replace(told, gap=gap, offsets=offsets, weights=state.weights)


@dataclass(frozen=True)
class FeatureSolution(Solution):
    """With w = Zᵀβ, which is the model."""

    weights: np.ndarray


@dataclass(frozen=True)
class FeatureNewton:
    """Proximal Newton steps in the space of the features, on a few rows first.

    Parameters
    ----------
    tol : float
        Relative duality gap to reach.
    max_iter : int
        Most steps of Newton's method on all rows; −1 for 1,000.
    max_time : float or None
    """

    tol: float = 1e-3
    max_iter: int = -1
    max_time: float | None = None

    def solve(
        self,
        problem: DualProblem,
        gram: Any,
        *,
        start: np.ndarray | None = None,
        observe: Observer | None = None,
    ) -> FeatureSolution:
        """Minimise the dual of a `FeatureGram`; otherwise as `Solver.solve`."""
        state = FeatureState(problem, gram, problem.feasible(), problem.linear.copy(), np.float64)
        state.weights = np.zeros(gram.columns)
        state.most_steps = MOST_STEPS if self.max_iter < 0 else self.max_iter
        state.most_seconds = np.inf if self.max_time is None else self.max_time
        run = Run(state, self.tol, observe)
        with one_blas_thread() if gram.threads == 1 else nullcontext():
            status, why = run.go(start)
        return FeatureSolution(
            beta=state.beta,
            gradient=state.gradient,
            offsets=FeatureProgress.of(state, self.tol).offsets,
            status=status,
            n_iter=state.steps,
            kernel_evaluations=state.kernel_evaluations,
            seconds=state.seconds,
            history=np.array(run.history, HISTORY),
            why=why,
            weights=state.weights,
        )


class Run:
    """One solve: the sets of rows, the proofs, the limits."""

    def __init__(self, state: FeatureState, tol: float, observe: Observer | None) -> None:
        self.state, self.tol, self.observe = state, tol, observe
        self.history: list[tuple] = []
        self.small = state.gram.dtype == np.float64

    def go(self, start: np.ndarray | None) -> Ending:
        """From a dual point, or from nothing."""
        problem, gram = self.state.problem, self.state.gram
        newton: ProximalNewton | None = None
        try:
            if start is None:
                newton = ProximalNewton(problem, gram, *self.from_fewer_rows())
                return self.climb(newton)
            told = self.prove(problem.feasible(start))
            if self.settled(told):
                return CONVERGED
            b = float(told.offsets[0]) if problem.n_groups else 0.0
            newton = ProximalNewton(problem, gram, told.weights, b, NEAR, told.state.beta)
            return self.climb(newton)
        except KeyboardInterrupt:
            if newton is not None and not self.history:
                self.prove(feasible(newton))
            return STOPPED

    def from_fewer_rows(self) -> tuple[np.ndarray, float, float]:
        """w, b and the width to begin with."""
        problem, gram = self.state.problem, self.state.gram
        w, b, width = np.zeros(gram.columns), 0.0, WIDTH
        size = gram.n
        while size >= LEVEL * FEWEST:
            size //= LEVEL
        while size < gram.n and not self.late:
            rows = gram.lot(size)
            newton = ProximalNewton(part(problem, rows), gram.take(rows, gram.threads), w, b, width)
            for _ in newton.rounds():
                if newton.gap <= ROUGH or self.late:
                    break
            w, b, width, size = newton.w, newton.b, NEAR, size * LEVEL
        return w, b, width

    def climb(self, newton: ProximalNewton) -> Ending:
        """With all rows, until it is proven or a limit is reached."""
        state, best, idle = self.state, np.inf, 0
        for done in newton.rounds():
            full = state.steps >= state.most_steps
            if done or full or self.late or (newton.gap <= self.tol and not self.small):
                told = self.prove(feasible(newton))
                stop = self.observe is not None and self.observe(told)
                measure = told.violation if self.small else told.distance
                idle = 0 if measure < 0.9 * best else idle + 1
                best = min(best, measure)
                idle_or_out = full or self.late or idle >= PATIENCE
                if self.settled(told) or (told.distance <= self.tol and idle_or_out):
                    return CONVERGED
                if stop:
                    return STOPPED
                if self.late:
                    return Ending(Status.OUT_OF_TIME, "max_time is over")
                if full:
                    return Ending(Status.OUT_OF_ITERATIONS, "max_iter steps are done")
                if idle >= PATIENCE:
                    return Ending(Status.STAGNATED, "proximal steps no longer lower the gap")
            state.steps += 1
        raise AssertionError("rounds() does not end")

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self.state.seconds >= self.state.most_seconds

    def prove(self, beta: np.ndarray) -> FeatureProgress:
        """Its w, its gradient and its gap, from scratch."""
        state = self.state
        state.beta, state.weights = beta, image(state.problem, state.gram, beta)
        scores = state.gram.scores(state.weights)
        state.gradient = state.problem.on_variables(scores) + state.problem.linear
        told = FeatureProgress.of(state, self.tol)
        self.history.append(told.record())
        return told

    def settled(self, told: FeatureProgress) -> bool:
        """Whether there is nothing more to do."""
        return told.distance <= self.tol and (not self.small or told.violation <= SETTLED)


def feasible(newton: ProximalNewton) -> np.ndarray:
    """A feasible β near that of a proximal step.

    Far from the solution Zᵀβ can be much too long: of all multiples of β the best is taken.
    """
    square = float(newton.image @ newton.image)
    gain = max(-float(newton.problem.linear @ newton.beta), 0.0)
    return newton.problem.feasible(newton.beta * (gain / square if gain < square else 1.0))


def part(problem: DualProblem, rows: np.ndarray) -> DualProblem:
    """The same problem of some of the rows."""
    variables, renumbered = rows, None
    if problem.rows is not None:
        variables = np.flatnonzero(np.isin(problem.rows, rows))
        renumbered = np.searchsorted(rows, problem.rows[variables])
    return DualProblem(
        problem.linear[variables],
        problem.lower[variables],
        problem.upper[variables],
        problem.sums,
        problem.group[variables],
        renumbered,
    )
