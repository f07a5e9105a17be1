"""The one loop that drives every solver, and the one rule that ends it.

    repeat
        measure: primal, dual, gap, worst violation
        if the violation and the relative gap are within tol (or the one of them that the solver's
            criterion names), recompute them from the coefficients alone
        call the observer
        end if the recomputed values are within tol too, the observer returns True, a limit is
            reached, or the solver has long taken no step
        if the last iterations gained nothing, continue in float64; in float64 already, end
        run the solver to the end of its next outer iteration

Ctrl-C, limits, observers and the meaning of `converged` are decided here only: no
solver can claim convergence by itself. After Ctrl-C the solution so far is measured like any other,
and then raised with the KeyboardInterrupt, so that the program that called ends too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from maxmargin.problem import Ending, Interrupted, Solution, Status, Values
from maxmargin.solvers.progress import HISTORY, Criterion, Observer, Progress
from maxmargin.solvers.state import LimitReached, Moves, State, Step

CLOCK = "clock"  # yielded inside a long outer iteration: only the limits are checked
EMPTY = 100  # outer iterations in a row without a step, after which a solver has none: those that
# draw pairs by lot may miss the last ones for some sweeps
STOPPED = Ending(Status.INTERRUPTED, "asked to stop")
PRESSED = Ending(Status.INTERRUPTED, "Ctrl-C")


def convergence(values: Values, criterion: Criterion, tol: float) -> Ending | None:
    """The ending `converged` if these values are within tol; None if they are not.

    The values must be computed from the coefficients alone, in float64. Nobody else says
    `converged`: who has solved a problem in another way than by `Run` asks here.
    """
    if criterion.of(values) <= tol:
        return Ending(Status.CONVERGED, f"{criterion.words} ≤ tol")
    return None


@contextmanager
def proving(state: State[Any, Any]) -> Iterator[None]:
    """Say on the progress line that the proof is running: on many rows it takes seconds."""
    before, state.note = state.note, "the proof: gradients of all rows, in float64"
    try:
        yield
    finally:
        state.note = before


class SeenEnough(Exception):
    """An observer of steps asked to stop."""


class Algorithm(Protocol):
    """What the driver needs of a solver."""

    @property
    def tol(self) -> float: ...
    @property
    def criterion(self) -> Criterion: ...
    @property
    def patience(self) -> float: ...

    def iterate(self, state: Any) -> Moves: ...
    def polish(self, state: Any) -> None: ...


class Run:
    """One solve: a solver, its state and an observer."""

    def __init__(self, solver: Algorithm, state: State[Any, Any], observe: Observer | None) -> None:
        self.solver, self.state, self.observe = solver, state, observe
        self.history: list[Progress] = []
        if observe is not None:
            self._watch_steps(observe)

    def solution(self) -> Solution:
        """Run to the end and return the solution; raise it as `Interrupted` after Ctrl-C."""
        solver, state = self.solver, self.state
        try:
            ending = self._climb()
            if ending.status is Status.CONVERGED:
                self._polish()
        except SeenEnough:
            ending = STOPPED
        except KeyboardInterrupt:  # in the middle of a step: `conclude` makes β feasible
            ending, state.exact = PRESSED, False
        if ending is not PRESSED:
            state.check(type(solver).__name__)
        if ending.status is Status.CONVERGED:
            end = self.history[-1]
        else:
            if state.steps or not state.exact:
                with proving(state):
                    state.conclude()
            end = self._measured()
        if ending.status is not Status.INTERRUPTED and state.is_certain(solver.tol):
            ending = convergence(end.values, solver.criterion, solver.tol) or ending
        solution = Solution(
            **state.found()._asdict(),
            values=end.values,
            status=ending.status,
            why=ending.why,
            n_iter=int(np.ceil(state.steps)),
            kernel_evaluations=state.kernel_evaluations,
            seconds=state.seconds,
            history=np.array([now.record() for now in self.history], HISTORY),
        )
        if ending is PRESSED:
            raise Interrupted(solution)
        return solution

    def _climb(self) -> Ending:
        solver, state = self.solver, self.state
        best, lowest, steps, method = -np.inf, np.inf, state.steps, state.method
        moves = solver.iterate(state)
        began, empty = state.steps, 0
        while True:
            now, refuted = self._measured(), False
            if now.distance <= solver.tol and not (state.exact and state.is_certain(solver.tol)):
                with proving(state):
                    state.confirm(solver.tol)
                now = self._measured()
                refuted = now.distance > solver.tol
            state.measured = now.values
            self.history.append(now)
            stop = self.observe is not None and self.observe(now)
            if now.distance <= solver.tol and not state.is_certain(solver.tol):
                return Ending(Status.STAGNATED, "rounding of kernel values exceeds tol / 20")
            if state.arrived(now.distance, now.violation, solver.tol):
                return Ending(Status.CONVERGED, "")
            if stop:
                return STOPPED
            if (ending := state.limit()) is not None:
                return ending
            if refuted or state.method != method:  # a dual computed more exactly may be lower
                best, lowest, method = -np.inf, np.inf, state.method
            empty = 0 if state.steps > steps or state.movement else empty + 1
            if empty > EMPTY:
                return Ending(Status.STAGNATED, "found no step to take")
            if state.steps > steps:
                dual_rose = now.objective > best + 1e-15 * abs(best)
                state.idle = 0 if dual_rose or now.distance < lowest else state.idle + 1
            best, lowest = max(best, now.objective), min(lowest, 0.99 * now.distance)
            steps = state.steps
            if state.idle >= solver.patience:
                if not state.sharpen():
                    return Ending(Status.STAGNATED, "steps no longer raise the dual")
                state.idle = 0
            if solver.criterion is not Criterion.KKT:
                state.tighten(now.values, solver.tol)
            state.movement, state.exact = 0.0, False
            try:
                self._advance(moves)
            except LimitReached:
                continue
            except StopIteration as end:
                own: Ending | None = end.value
                # A solver's claim to have converged means only that it has no step left.
                if own is not None and own.status is not Status.CONVERGED:
                    return own
                if state.steps == began:
                    return Ending(Status.STAGNATED, "found no step to take")
                with proving(state):
                    continues = state.restart()
                if not continues:
                    return Ending(Status.STAGNATED, "steps no longer close the gap")
                moves, began = solver.iterate(state), state.steps

    def _polish(self) -> None:
        """The solver's `polish`, reported as one more outer iteration if it moved β."""
        self.state.movement = 0.0
        self.solver.polish(self.state)
        if self.state.movement:
            self.history.append(self._measured())
            if self.observe is not None:
                self.observe(self.history[-1])

    def _advance(self, moves: Moves) -> None:
        """To the end of the solver's next outer iteration, or to a limit."""
        while next(moves) == CLOCK:
            if self.state.limit() is not None:
                break
        self.state.gather()

    def _measured(self, step: Step | None = None) -> Progress:
        return Progress.of(self.state, self.solver.criterion, self.solver.tol, step)

    def _watch_steps(self, observe: Observer) -> None:
        """Call an observer with `every = "step"` after each step."""
        every = getattr(observe, "every", "iteration")
        if every not in ("iteration", "step"):
            raise ValueError(f"an observer's `every` is 'iteration' or 'step', got {every!r}")

        def watch(step: Step) -> None:
            if observe(self._measured(step)):
                raise SeenEnough

        if every == "step":
            self.state.watch = watch
