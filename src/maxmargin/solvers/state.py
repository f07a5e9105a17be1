"""Where a solve stands: β, its gradient, what it has cost, and the step just taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from maxmargin.gram import Gram
from maxmargin.problem import DualProblem

SAMPLE = 256  # gradient entries recomputed in float64 to see how far off all are
NEGLIGIBLE = 0.05  # of tol: how far off they may be


class LimitReached(Exception):
    """The step just taken was the last one allowed."""


@dataclass(frozen=True)
class Step:
    """One step, as told to an observer of steps.

    Attributes
    ----------
    indices : the variables that moved: β_i += t and β_j −= t for a pair (i, j)
    why : how they were chosen
    unclipped, clipped : the best t without bounds, and the t taken; NaN for a block of variables
    low, high : the interval [L, H] of t that the bounds allow; NaN for a block
    offset : b after the step, by the rule of the solver that took it
    """

    indices: tuple[int, ...]
    why: str
    unclipped: float
    clipped: float
    low: float
    high: float
    offset: float


@dataclass
class State:
    """Where a solve stands. Solvers change it; everything else reads it.

    `offsets` is the b of each group that solvers in the style of Platt carry along; `movement`
    is Σ|Δβ| + Σ|Δb| over the steps since the last outer iteration; `exact` says that the
    gradient is what `refresh` would make it.
    """

    problem: DualProblem
    gram: Gram
    beta: np.ndarray
    gradient: np.ndarray
    dtype: type
    offsets: np.ndarray = field(default_factory=lambda: np.zeros(1))
    steps: int = 0
    movement: float = 0.0
    exact: bool = False
    most_steps: float = np.inf
    most_seconds: float = np.inf
    watch: Callable[[Step], None] | None = None
    sharpened: bool = False

    def __post_init__(self) -> None:
        self._began, self._evaluations = perf_counter(), self.gram.evaluations

    @property
    def seconds(self) -> float:
        """Time since the solve began."""
        return perf_counter() - self._began

    @property
    def kernel_evaluations(self) -> int:
        """Kernel entries computed since the solve began."""
        return self.gram.evaluations - self._evaluations

    def row(self, i: int) -> np.ndarray:
        """Row i of K over the variables."""
        row_number = i if self.problem.rows is None else self.problem.rows[i]
        return self.problem.on_variables(self.gram.row(row_number, self.dtype))

    @property
    def diagonal(self) -> np.ndarray:
        """K_ii of every variable."""
        return self.problem.on_variables(self.gram.diagonal)

    def move_to(self, variables: np.ndarray, values: np.ndarray, why: str = "working set") -> None:
        """Set β on some variables, and bring the gradient along."""
        delta = values - self.beta[variables]
        change = self.gram.dot(self.problem.row_of(variables), delta, self.dtype, again=True)
        self.beta[variables] = values
        self.gradient += self.problem.on_variables(change)
        self._moved(variables, delta, why)

    def begin_at(self, beta: np.ndarray) -> None:
        """Set all of β, and compute the gradient anew."""
        delta, self.beta = beta - self.beta, beta
        self.refresh()
        self.exact = True
        self._moved(slice(None), delta, "working set")

    def _moved(self, variables: np.ndarray | slice, delta: np.ndarray, why: str) -> None:
        """Add up how far, and tell whoever watches the steps."""
        self.movement += float(np.abs(delta).sum())
        if self.watch is not None:
            nan, moved = np.nan, np.arange(self.problem.size)[variables][delta != 0]
            offset = float(np.mean(self.problem.offsets(self.beta, self.gradient)))
            self.watch(Step(tuple(moved.tolist()), why, nan, nan, nan, nan, offset))

    def took(
        self, indices: tuple[int, ...], why: str, best: float, t: float, low: float, high: float
    ) -> None:
        """Count a step, tell whoever watches, and end here if it was the last one allowed."""
        self.steps += 1
        if self.watch is not None:
            offset = self.offsets[self.problem.group[indices[0]]] if len(self.offsets) else 0.0
            self.watch(Step(tuple(map(int, indices)), why, best, t, low, high, float(offset)))
        if self.steps >= self.most_steps or self.seconds >= self.most_seconds:
            raise LimitReached

    def refresh(self) -> None:
        """Recompute the gradient from β alone, in float64."""
        self.gradient = exact_gradient(self.problem, self.gram, self.beta)

    def sharpen(self) -> None:
        """Go on from a gradient that was made exact: the precision of the entries is to blame.

        What is added to it from here on is small, and so are its errors. Where that was tried
        before, entries are float64 from now on.
        """
        if self.sharpened:
            self.dtype = np.float64
        self.sharpened = True

    def confirm(self, tol: float) -> bool:
        """Whether the violation is ≤ tol by gradients recomputed from β alone where they count.

        That is on the support vectors, which make up the objective, and on the variables that
        violate or are extreme, which make up the violation and the loss; all others enter
        neither. Kernel entries have the precision of the solve: a sample in float64 tells how far
        off their sums are. If that is not negligible beside tol, all is done in float64.
        """
        if self.problem.size <= 4 * SAMPLE or self.gram.matrix is not None:
            self.refresh()
            return self._violation() <= tol
        sample = np.arange(0, self.problem.size, self.problem.size // SAMPLE)
        drift = self._correct(sample, np.float64)
        if drift <= NEGLIGIBLE * tol and not self.sharpened:
            drift = max(drift, self._correct_where_it_counts(drift, self.dtype))
            if self._violation() <= tol - 4 * drift:
                return True
        self._correct_where_it_counts(drift, np.float64)
        return self._violation() <= tol

    def _violation(self) -> float:
        return self.problem.violation(self.beta, self.gradient)

    def _correct_where_it_counts(self, drift: float, dtype: type) -> float:
        """How far off the worst was, of the support vectors and of those that may be extreme."""
        done = np.zeros(self.problem.size, bool)
        counts = self.beta != 0
        while True:
            # One can only be extreme if it seems to be, within a few times what others are off.
            counts[self.problem.contenders(self.beta, self.gradient, 4 * drift)] = True
            worst = self._correct(np.flatnonzero(counts & ~done), dtype)
            done |= counts
            if worst <= 2 * drift:
                return worst
            drift = worst

    def _correct(self, variables: np.ndarray, dtype: type) -> float:
        """Recompute the gradient of some variables; how far off the worst was."""
        fresh = gradient_of(self.problem, self.gram, self.beta, variables, dtype)
        error = float(np.abs(fresh - self.gradient[variables]).max(initial=0))
        self.gradient[variables] = fresh
        return error


def gradient_of(
    problem: DualProblem, gram: Gram, beta: np.ndarray, variables: np.ndarray, dtype: type
) -> np.ndarray:
    """G = Kβ + p of some variables from β alone, with entries of this precision."""
    support = np.flatnonzero(beta)
    rows, coef = problem.row_of(support), beta[support]
    again = dtype != np.float64  # the solve has kept such rows
    product = gram.dot(rows, coef, dtype, rows=problem.row_of(variables), again=again)
    return product + problem.linear[variables]


def exact_gradient(problem: DualProblem, gram: Gram, beta: np.ndarray) -> np.ndarray:
    """G = Kβ + p from β alone, in float64."""
    (support,) = beta.nonzero()
    product = gram.dot(problem.row_of(support), beta[support])
    return problem.on_variables(product) + problem.linear
