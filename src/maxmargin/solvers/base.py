"""What all solvers share: the state of a solve, its clock, its limits and its record.

A solver is a frozen dataclass of its options whose `iterate` is a generator: it changes the
state and yields once per outer iteration. `solve` drives it, so that Ctrl-C, limits, observers
and the stopping rule exist once, and mean the same for every algorithm:

* it stops when the worst KKT violation is ≤ tol, proven in float64 from β alone;
* kernel entries are float32 until that proof fails or progress ends, float64 from then on;
* a solver that runs out of moves, iterations or time says so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

from maxmargin.certificate import duality_gap
from maxmargin.gram import Gram
from maxmargin.problem import DualProblem, Solution, Status

HISTORY = np.dtype(
    [("objective", float), ("gap", float), ("violation", float), ("steps", int), ("seconds", float)]
)
PATIENCE = 5  # outer iterations without progress before the entries are blamed, or we give up


@dataclass
class State:
    """Where a solve stands. Solvers change it; everything else reads it."""

    problem: DualProblem
    gram: Gram
    beta: np.ndarray
    gradient: np.ndarray
    dtype: type
    steps: int = 0

    def row(self, i: int) -> np.ndarray:
        """Row i of K over the variables."""
        row_number = i if self.problem.rows is None else self.problem.rows[i]
        return self.problem.on_variables(self.gram.row(row_number, self.dtype))

    @property
    def diagonal(self) -> np.ndarray:
        """K_ii of every variable."""
        return self.problem.on_variables(self.gram.diagonal)

    def move_to(self, variables: np.ndarray, values: np.ndarray) -> None:
        """Set β on some variables, and bring the gradient along."""
        delta = values - self.beta[variables]
        change = self.gram.dot(self.problem.row_of(variables), delta, self.dtype)
        self.beta[variables] = values
        self.gradient += self.problem.on_variables(change)

    def refresh(self) -> None:
        """Recompute the gradient from β alone, in float64."""
        self.gradient = exact_gradient(self.problem, self.gram, self.beta)


def exact_gradient(problem: DualProblem, gram: Gram, beta: np.ndarray) -> np.ndarray:
    """G = Kβ + p from β alone, in float64."""
    support = np.flatnonzero(beta)
    product = gram.dot(problem.row_of(support), beta[support])
    return problem.on_variables(product) + problem.linear


@dataclass(frozen=True)
class Progress:
    """What an observer is told after each outer iteration."""

    state: State
    objective: float
    gap: float
    violation: float
    tol: float
    seconds: float
    measure: ClassVar[str] = "KKT violation"

    @property
    def distance(self) -> float:
        """What `tol` bounds."""
        return self.violation


Observer = Callable[[Progress], bool | None]


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

    @abstractmethod
    def iterate(self, state: State) -> Iterator[None]:
        """Improve `state`, yielding once per outer iteration; return when out of moves."""

    def check(self, problem: DualProblem, gram: Gram) -> None:
        """Refuse a problem this solver cannot take, naming one that can."""

    def solve(
        self,
        problem: DualProblem,
        gram: Gram,
        *,
        start: np.ndarray | None = None,
        observe: Observer | None = None,
    ) -> Solution:
        """Minimise the dual from `start` (0 by default), telling `observe` how it goes.

        An observer that returns True ends the solve with status `interrupted`.
        """
        self.check(problem, gram)
        began, evaluations = perf_counter(), gram.evaluations
        beta = problem.feasible(start)
        state = State(problem, gram, beta, problem.linear.copy(), gram.precision)
        history: list[tuple] = []
        status = Status.OUT_OF_ITERATIONS
        try:
            if beta.any():
                state.refresh()
            status = self._drive(state, history, observe, began)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        if status is not Status.CONVERGED:
            state.refresh()
        return Solution(
            beta=state.beta,
            gradient=state.gradient,
            offsets=problem.offsets(state.beta, state.gradient),
            status=status,
            n_iter=state.steps,
            kernel_evaluations=gram.evaluations - evaluations,
            seconds=perf_counter() - began,
            history=np.array(history, HISTORY),
        )

    def _drive(
        self, state: State, history: list[tuple], observe: Observer | None, began: float
    ) -> Status:
        problem = state.problem
        limit = max(10_000_000, 100 * problem.size) if self.max_iter < 0 else self.max_iter
        best, idle, moves = np.inf, 0, self.iterate(state)
        while True:
            violation = problem.violation(state.beta, state.gradient)
            if violation <= self.tol and state.steps:
                state.refresh()
                violation = problem.violation(state.beta, state.gradient)
                state.dtype = np.float64
            objective = problem.objective(state.beta, state.gradient)
            gap = duality_gap(problem, state.beta, state.gradient)
            seconds = perf_counter() - began
            history.append((-objective, gap, violation, state.steps, seconds))
            stop = observe and observe(
                Progress(state, -objective, gap, violation, self.tol, seconds)
            )
            if violation <= self.tol:
                return Status.CONVERGED
            if stop:
                return Status.INTERRUPTED
            if state.steps >= limit:
                return Status.OUT_OF_ITERATIONS
            if self.max_time is not None and seconds >= self.max_time:
                return Status.OUT_OF_TIME
            idle = 0 if objective < best - 1e-15 * abs(best) else idle + 1
            best = min(best, objective)
            if idle >= PATIENCE:
                if state.dtype == np.float64:
                    return Status.STAGNATED
                state.refresh()
                state.dtype, idle = np.float64, 0
            if next(moves, "end") == "end":
                return self.out_of_moves

    @property
    def out_of_moves(self) -> Status:
        """The status when `iterate` returns before the violation is ≤ tol."""
        return Status.STAGNATED
