"""The state of a solve: what a solver changes, with the methods that the driver calls.

Each family of solvers has its own (`DualState`, `LinearState`, `FeatureState`): β with the
gradient, with w, or with both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from maxmargin.problem import Ending, Status, Values
from maxmargin.resources.arrays import Floats

# What a solver's `iterate` is. It yields None at the end of an outer iteration, or `CLOCK` inside a
# long one; and returns None, or the `Ending` that a stopping rule of its own gives it.
Moves = Generator[Any, None, Any]


class LimitReached(Exception):
    """The step just taken was the last one allowed."""


@dataclass(frozen=True)
class Step:
    """One step, as reported to an observer of steps.

    Attributes
    ----------
    indices : the variables that moved: β_i += t and β_j −= t for a pair (i, j)
    why : how they were chosen
    unclipped, clipped : the best t without bounds, and the t taken; NaN for a block of variables
    low, high : the interval [L, H] of t that the bounds allow; NaN for a block
    offset : b after the step, by the rule of the solver that took it

    Examples
    --------
    >>> from maxmargin import trace
    >>> from maxmargin.formulations import c_svc
    >>> from maxmargin.gram import Gram
    >>> from maxmargin.kernels import Linear
    >>> problem, gram = c_svc(np.array([-1, 1]), C=5.0), Gram(Linear(), np.array([[-1.0], [1.0]]))
    >>> table = trace("second-order", problem, gram, every="step")
    >>> table["indices"].iloc[0], float(table["clipped"].iloc[0])  # β_1 rises, β_0 falls
    ((1, 0), 0.5)
    """

    indices: tuple[int, ...]
    why: str
    unclipped: float
    clipped: float
    low: float
    high: float
    offset: float


class Found(NamedTuple):
    """What a solve has found so far."""

    beta: Floats
    coef: Floats | None
    gradient: Floats


class Matrix(Protocol):
    """What a state needs of its matrix."""

    evaluations: int


ProblemType = TypeVar("ProblemType")
MatrixType = TypeVar("MatrixType", bound=Matrix)


class State(ABC, Generic[ProblemType, MatrixType]):
    """The state of a solve. Solvers change it; everything else reads it.

    Attributes
    ----------
    problem, matrix : what is solved
    beta : the dual variables that the solver moves
    steps : taken so far; passes over the data, in a linear machine
    most_steps, most_seconds : the limits
    movement : Σ|Δβ| + Σ|Δb| over the steps since the last outer iteration
    idle : outer iterations since the last that gained anything
    measured : the values at the end of the last outer iteration
    method : a word for what is being done, where a solve has more than one part
    exact : whether the values are recomputed from the coefficients, not updated along the way
    watch : called with every `Step`, for an observer of steps
    """

    unit: ClassVar[str] = "steps"  # what `steps` counts
    note: str = ""  # more for the progress bar

    def __init__(self, problem: ProblemType, matrix: MatrixType, beta: Floats) -> None:
        self.problem, self.matrix, self.beta = problem, matrix, beta
        self.steps: float = 0
        self.most_steps = self.most_seconds = np.inf
        self.movement, self.exact = 0.0, True
        self.idle, self.method = 0, ""
        self.measured: Values
        self.watch: Callable[[Step], None] | None = None
        self._began, self._evaluations = perf_counter(), matrix.evaluations

    @property
    def seconds(self) -> float:
        """Time since the solve began."""
        return perf_counter() - self._began

    @property
    def kernel_evaluations(self) -> int:
        """Kernel entries computed since the solve began."""
        return self.matrix.evaluations - self._evaluations

    def limit(self) -> Ending | None:
        """The ending by a limit that is reached, or None."""
        if self.steps >= self.most_steps:
            return Ending(Status.OUT_OF_ITERATIONS, f"{self.unit} taken: {self.steps:,.0f}")
        if self.seconds >= self.most_seconds:
            return Ending(Status.OUT_OF_TIME, f"{self.seconds:.3g} s passed")
        return None

    @abstractmethod
    def values(self) -> Values:
        """Primal and dual value, violation and offsets at the present β."""

    @abstractmethod
    def found(self) -> Found:
        """The dual point, the model's w if it is not Σ β_i φ(x_i), and the model's gradient."""

    def check(self, solver: str) -> None:
        """Raise if β is not feasible: then D is no bound."""

    def gather(self) -> None:
        """Compute β and the model of the solver's present iterate, before they are measured."""

    def confirm(self, tol: float) -> None:
        """Recompute from the coefficients alone all that decides whether violation ≤ tol."""

    def is_certain(self, tol: float) -> bool:
        """Whether rounding leaves no doubt of values that are recomputed, as far as tol asks."""
        return True

    def tighten(self, values: Values, tol: float) -> None:
        """Aim at a smaller violation, if it is the gap that is not yet ≤ tol."""

    def conclude(self) -> None:
        """Recompute everything from the coefficients alone, if the solve did not converge."""

    def arrived(self, distance: float, violation: float, tol: float) -> bool:
        """Whether the solve is done; small problems continue to the last digits."""
        return distance <= tol

    def sharpen(self) -> bool:
        """Continue in a higher precision, because steps gain nothing; False if there is none."""
        return False

    def restart(self) -> bool:
        """Whether to iterate anew in a higher precision, after the solver found no step."""
        return False
