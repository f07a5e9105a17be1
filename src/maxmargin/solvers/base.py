"""What all solvers share: options, the loop that drives them, and the rule that ends it.

A solver is a frozen dataclass of its options whose `iterate` is a generator: it changes the
state and yields once per outer iteration. `solve` drives it, so that Ctrl-C, limits, observers
and the stopping rule exist once, and mean the same for every algorithm:

* it stops when the worst KKT violation is ≤ tol, by gradients computed from β where it counts;
* kernel entries are float32 as long as a sample in float64 shows that to be enough;
* a solver that runs out of moves, iterations or time says so. One with a stopping rule of its
  own returns the status that rule deserves from `iterate`; it can never claim convergence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from maxmargin.gram import Gram
from maxmargin.problem import DualProblem, Solution, Status
from maxmargin.solvers.progress import HISTORY, Observer, Progress
from maxmargin.solvers.state import LimitReached, State, Step

__all__ = [
    "STOPPED",
    "STRIDE",
    "Ending",
    "Moves",
    "Solver",
    "State",
    "require_positive",
]

STRIDE = 100  # steps per outer iteration of a solver that has no sweeps of its own


class Ending(NamedTuple):
    """How a solve ended, and why."""

    status: Status
    why: str


# What `iterate` is where it has a stopping rule of its own; else an Iterator[None].
Moves = Generator[None, None, Ending | None]

ARRIVED = Ending(Status.CONVERGED, "no KKT violation above tol")
STOPPED = Ending(Status.INTERRUPTED, "asked to stop")


def require_positive(solver: Solver, *options: str) -> None:
    """Refuse options that must be > 0 and are not."""
    for option in options:
        if not (value := getattr(solver, option)) > 0:
            raise ValueError(f"{type(solver).__name__}: {option} must be positive, got {value!r}")


@dataclass(frozen=True)
class Solver(ABC):
    """Options every solver has.

    Parameters
    ----------
    tol : worst KKT violation to reach
    max_iter : most steps to take; −1 for max(10⁷, 100 · variables), so that nothing hangs
    max_time : most seconds to take, or None
    """

    tol: float = 1e-3
    max_iter: int = -1
    max_time: float | None = None

    takes_groups: ClassVar[tuple[int, ...]] = (0, 1, 2)
    takes_infinite_bounds: ClassVar[bool] = True
    # Outer iterations without progress before the kernel entries are blamed, or it gives up.
    patience: ClassVar[int] = 5

    @abstractmethod
    def iterate(self, state: State) -> Iterator[None]:
        """Improve `state`, yielding once per outer iteration.

        Returns None when there is no step left that it would take, or the ending that a stopping
        rule of its own gives it.
        """

    def check(self, problem: DualProblem, gram: Gram) -> None:
        """Refuse a problem this solver cannot take, naming one that can."""
        name = type(self).__name__
        if problem.rows is None and problem.size != gram.n:
            raise ValueError(
                f"the problem has {problem.size} variables but the Gram matrix {gram.n} rows; "
                "give DualProblem(rows=...) if variables share rows"
            )
        if problem.n_groups not in self.takes_groups:
            raise ValueError(
                f"{name} cannot take a problem with "
                + (
                    "no sum constraint (no offset): use CoordinateDescent or BlockSMO",
                    "a sum constraint (an offset): use BlockSMO, SecondOrderSMO or PlattSMO",
                    "two sum constraints (a ν machine): use BlockSMO or SecondOrderSMO",
                )[problem.n_groups]
            )
        if self.takes_infinite_bounds:
            return
        if np.isinf(problem.lower).any() or np.isinf(problem.upper).any():
            raise ValueError(
                f"{name} cannot take C = ∞ (the hard margin): use BlockSMO or SecondOrderSMO"
            )

    def solve(
        self,
        problem: DualProblem,
        gram: Gram,
        *,
        start: np.ndarray | None = None,
        observe: Observer | None = None,
    ) -> Solution:
        """Minimise the dual from `start` (0 by default), telling `observe` how it goes.

        An observer that returns True ends the solve as Ctrl-C does, with status `interrupted`.
        """
        self.check(problem, gram)
        state = State(problem, gram, problem.feasible(start), problem.linear.copy(), gram.precision)
        state.most_steps = max(10**7, 100 * problem.size) if self.max_iter < 0 else self.max_iter
        if self.max_time is not None:
            state.most_seconds = self.max_time
        if observe is not None:
            state.watch = self._watch(state, observe)
        history: list[Progress] = []
        try:
            if np.count_nonzero(state.beta):
                state.refresh()
            status, why = self._drive(state, history, observe)
        except KeyboardInterrupt:
            status, why = STOPPED
        if status is Status.CONVERGED:
            end = history[-1]
        else:
            state.refresh()
            end = Progress.of(state, self.tol)
            if end.violation <= self.tol and status is not Status.INTERRUPTED:
                status, why = ARRIVED
        return Solution(
            beta=state.beta,
            gradient=state.gradient,
            offsets=end.offsets,
            status=status,
            n_iter=state.steps,
            kernel_evaluations=state.kernel_evaluations,
            seconds=state.seconds,
            history=np.array([now.record() for now in history], HISTORY),
            why=why,
        )

    def _watch(self, state: State, observe: Observer) -> Callable[[Step], None] | None:
        """What to call after each step, if the observer wants to know of each."""
        every = getattr(observe, "every", "iteration")
        if every not in ("iteration", "step"):
            raise ValueError(f"an observer's `every` is 'iteration' or 'step', got {every!r}")

        def watch(step: Step) -> None:
            if observe(Progress.of(state, self.tol, step)):
                raise KeyboardInterrupt

        return watch if every == "step" else None

    def _drive(self, state: State, history: list[Progress], observe: Observer | None) -> Ending:
        best, lowest, idle, steps = -np.inf, np.inf, 0, 0
        moves, began = self.iterate(state), 0
        while True:
            now = Progress.of(state, self.tol)
            if state.steps and now.violation <= self.tol and not state.exact:
                if not state.confirm(self.tol):
                    state.sharpen()
                now = Progress.of(state, self.tol)
            if not history:
                state.offsets = now.offsets.copy()
            history.append(now)
            stop = observe and observe(now)
            if now.violation <= self.tol:
                return ARRIVED
            if stop:
                return STOPPED
            if state.steps >= state.most_steps:
                return Ending(Status.OUT_OF_ITERATIONS, f"{state.steps:,} steps taken")
            if state.seconds >= state.most_seconds:
                return Ending(Status.OUT_OF_TIME, f"{state.seconds:.3g} s passed")
            if state.steps > steps:
                rose, fell = now.objective > best + 1e-15 * abs(best), now.violation < lowest
                idle = 0 if rose or fell else idle + 1
            best, lowest = max(best, now.objective), min(lowest, 0.99 * now.violation)
            steps = state.steps
            if idle >= self.patience:
                if state.dtype == np.float64:
                    return Ending(Status.STAGNATED, "steps no longer raise the dual")
                state.refresh()
                state.sharpen()
                idle = 0
            state.movement, state.exact = 0.0, False
            try:
                next(moves)
            except LimitReached:
                continue
            except StopIteration as end:
                if end.value is not None:
                    return end.value
                if state.steps == began:
                    return Ending(Status.STAGNATED, "found no step to take")
                state.refresh()
                state.dtype = np.float64
                moves, began = self.iterate(state), state.steps
