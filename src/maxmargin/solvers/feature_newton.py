"""The machine with features: a solution of few rows, then proximal Newton steps, then the proof.

See `proximal_newton` for the steps. A few of the rows give the first w and b, roughly; eight times
as many the next, and so on up to all. After every proximal step β is made feasible, and

    P(w, b) − D(β),   P = ½‖w‖² + the loss,   D = −pᵀβ − ½‖Zᵀβ‖²

is the gap. w = Zᵀβ holds in the limit only: the loss of a million rows feels a difference that
neither w nor β does. So the model is w itself, and β the proof. Once the gap is small enough, all
of it is computed again from w and β alone, in float64.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from maxmargin.certificate import best_offset, values
from maxmargin.problem import DualProblem, Solution, Status
from maxmargin.resources import one_blas_thread
from maxmargin.solvers.base import STOPPED, Ending
from maxmargin.solvers.progress import HISTORY, Observer, Progress
from maxmargin.solvers.proximal_newton import WIDTH, ProximalNewton, image
from maxmargin.solvers.state import State

MOST_STEPS = 1000
NEAR = 0.2  # over how much of the margin the hinge is round where w is nearly right
FEWEST = 500  # rows to begin with, and
LEVEL = 8  # how many times more there are in the next set
ROUGH = 0.1  # relative gap that is enough for fewer rows
SETTLED = 1e-11  # KKT violation to which small problems are solved, for it costs nothing
PATIENCE = 5  # proximal steps without any gain
CONVERGED = Ending(Status.CONVERGED, "relative duality gap ≤ tol")


@dataclass
class FeatureState(State):
    """Where a solve stands: the model w, its gradient, and a feasible β with Zᵀβ, its proof."""

    gram: Any
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))
    image: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def quadratic(self) -> tuple[float, float]:
        """½‖w‖² and ½‖Zᵀβ‖²."""
        return 0.5 * float(self.weights @ self.weights), 0.5 * float(self.image @ self.image)


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
    def of(cls, state: Any, tol: float, step: Any = None) -> FeatureProgress:
        """With the best offset there is: on the way, the one that β implies can be far off."""
        problem, beta, gradient = state.problem, state.beta, state.gradient
        offsets = np.array([best_offset(problem, gradient)] if problem.n_groups else [])
        dual, primal, _, _ = values(problem, beta, gradient, offsets, state.quadratic)
        told: Any = super().of(state, tol)
        return replace(
            told, objective=dual, gap=primal - dual, offsets=offsets, weights=state.weights
        )


@dataclass(frozen=True, kw_only=True)
class FeatureSolution(Solution):
    """With the model's w."""

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
        state.weights = state.image = np.zeros(gram.columns)
        state.most_steps = MOST_STEPS if self.max_iter < 0 else self.max_iter
        state.most_seconds = np.inf if self.max_time is None else self.max_time
        run = Run(state, self.tol, observe)
        with one_blas_thread():  # many small products: threads of its own only get in the way
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
            quadratic=state.quadratic,
            weights=state.weights,
        )


class Run:
    """One solve: the sets of rows, the proofs, the limits."""

    def __init__(self, state: FeatureState, tol: float, observe: Observer | None) -> None:
        self.state, self.tol, self.observe = state, tol, observe
        self.history: list[tuple] = []
        self.small = state.gram.dtype == np.float64
        self.newton: ProximalNewton | None = None

    def go(self, start: np.ndarray | None) -> Ending:
        """From a dual point, or from nothing."""
        problem, gram = self.state.problem, self.state.gram
        try:
            if start is None:
                self.newton = ProximalNewton(problem, gram, *self.from_fewer_rows())
            else:
                beta = problem.feasible(start)
                told = self.prove(beta, image(problem, gram, beta))
                if told.distance <= self.tol:
                    return CONVERGED
                b = float(told.offsets[0]) if problem.n_groups else 0.0
                self.newton = ProximalNewton(problem, gram, told.weights, b, NEAR, beta)
            ending = self.climb(self.newton)
        except KeyboardInterrupt:
            ending = STOPPED
        if ending is not CONVERGED and self.newton is not None:
            self.best_of_two(self.newton)
        return ending

    def from_fewer_rows(self) -> tuple[np.ndarray, float, float]:
        """w, b and the width to begin with."""
        problem, gram = self.state.problem, self.state.gram
        w, b, width = np.zeros(gram.columns), 0.0, WIDTH
        sizes = [gram.n]
        while sizes[-1] >= LEVEL * FEWEST:
            sizes.append(sizes[-1] // LEVEL)
        for size in sizes[:0:-1]:
            rows = gram.lot(size)
            newton = ProximalNewton(part(problem, rows), gram.take(rows, gram.threads), w, b, width)
            for _ in newton.rounds():
                if newton.gap <= ROUGH or self.late:
                    break
            w, b, width = newton.w, newton.b, NEAR
        return w, b, width

    def climb(self, newton: ProximalNewton) -> Ending:
        """With all rows, until it is proven or a limit is reached."""
        state, best, idle = self.state, np.inf, 0
        for done in newton.rounds():
            full = state.steps >= state.most_steps
            if done or full or self.late or (newton.gap <= self.tol and not self.small):
                told = self.look(newton)
                if told.distance <= self.tol:
                    told = self.prove(state.beta, newton.w)
                self.history.append(told.record())
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

    def look(self, newton: ProximalNewton) -> FeatureProgress:
        """What Newton's method has come to, as far as it is known."""
        state, beta = self.state, feasible(newton)
        change = image(state.problem, state.gram, beta - newton.beta)
        state.beta, state.image, state.weights = beta, newton.image + change, newton.w
        state.gradient = state.problem.on_variables(newton.scores) + state.problem.linear
        return FeatureProgress.of(state, self.tol)

    def prove(self, beta: np.ndarray, w: np.ndarray) -> FeatureProgress:
        """The gap of a feasible β and a model w, from nothing else."""
        state = self.state
        state.beta, state.weights = beta, w
        state.image = image(state.problem, state.gram, beta)
        state.gradient = state.problem.on_variables(state.gram.scores(w)) + state.problem.linear
        return FeatureProgress.of(state, self.tol)

    def best_of_two(self, newton: ProximalNewton) -> None:
        """Before the end w can be worse than Zᵀβ: the better one is the model."""
        beta = feasible(newton)
        first = self.prove(beta, newton.w)
        second = self.prove(beta, self.state.image)
        if first.gap < second.gap:
            self.prove(beta, newton.w)

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
