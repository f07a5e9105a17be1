"""What a solve reports while it runs.

An observer is a function of one `Progress`, called after every outer iteration (a sweep, a block).
With an attribute `every = "step"` it is called after every step too, and `Progress.step` says which
variables moved, why they were chosen, and how far. An observer that returns True ends the solve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.problem import Values
from maxmargin.resources.arrays import Floats
from maxmargin.solvers.state import Found, State, Step

HISTORY = np.dtype(
    [
        ("objective", float),
        ("gap", float),
        ("violation", float),
        ("movement", float),
        ("steps", int),
        ("kernel_evaluations", int),
        ("seconds", float),
    ]
)


class Criterion(Enum):
    """What `tol` bounds: LIBSVM's KKT violation, the relative duality gap, or both of them.

    Examples
    --------
    >>> Criterion.BOTH.words
    'KKT violation and relative duality gap'
    """

    KKT = "kkt"
    GAP = "gap"
    BOTH = "both"

    def of(self, values: Values) -> float:
        """How far from the optimum these values are, by this measure."""
        if self is Criterion.BOTH:
            return max(values.violation, values.relative_gap)
        return values.violation if self is Criterion.KKT else values.relative_gap

    def named(self, values: Values) -> str:
        """Which of its measures is the largest, in words."""
        parts = self._parts(values)
        return max(parts, key=parts.__getitem__)

    @cached_property
    def words(self) -> str:
        """Its measures, in words."""
        return " and ".join(self._parts(Values(0.0, 0.0, 0.0, np.zeros(0))))

    def _parts(self, values: Values) -> dict[str, float]:
        violation = {"KKT violation": values.violation} if self is not Criterion.GAP else {}
        gap = {"relative duality gap": values.relative_gap} if self is not Criterion.KKT else {}
        return violation | gap


@dataclass(frozen=True)
class Progress:
    """The argument of an observer.

    Attributes
    ----------
    state : β, G, the problem and its matrix, read-only
    values : primal and dual value, worst violation, offsets
    criterion, tol : the solve converges when `distance` ≤ tol
    movement : Σ|Δβ| + Σ|Δb| over the steps since the last outer iteration
    steps, kernel_evaluations, seconds : the cost so far
    step : the step just taken; None at the end of an outer iteration

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin.formulations import c_svc
    >>> from maxmargin.gram import Gram
    >>> from maxmargin.kernels import RBF
    >>> from maxmargin.solvers import SecondOrderSMO
    >>> X, y = make_moons(40, noise=0.2, random_state=0)
    >>> def enough(now):
    ...     return now.values.relative_gap < 0.05  # True ends the solve
    >>> problem, gram = c_svc(2 * y - 1, C=1.0), Gram(RBF(gamma=1.0), X)
    >>> SecondOrderSMO(tol=1e-9).solve(problem, gram, observe=enough).values.relative_gap < 0.05
    True
    """

    state: Any
    values: Values
    criterion: Criterion
    tol: float
    movement: float
    steps: float
    kernel_evaluations: int
    seconds: float
    step: Step | None = None

    @classmethod
    def of(
        cls, state: State[Any, Any], criterion: Criterion, tol: float, step: Step | None = None
    ) -> Progress:
        """Values computed from the state's β and gradient."""
        costs = state.movement, state.steps, state.kernel_evaluations, state.seconds
        return cls(state, state.values(), criterion, tol, *costs, step)

    @property
    def objective(self) -> float:
        """The dual value, which rises."""
        return self.values.dual

    @property
    def gap(self) -> float:
        """Primal − dual."""
        return self.values.gap

    @property
    def violation(self) -> float:
        """Worst KKT violation."""
        return self.values.violation

    @property
    def offsets(self) -> Floats:
        """b of each group."""
        return self.values.offsets

    @property
    def distance(self) -> float:
        """What `tol` bounds."""
        return self.criterion.of(self.values)

    @property
    def method(self) -> str:
        """A word for what is being done, where a solve has more than one part; else nothing."""
        word: str = self.state.method
        return word

    @property
    def beta(self) -> Floats:
        """The dual variables."""
        found: Found = self.state.found()
        return found.beta

    @property
    def coef(self) -> Floats | None:
        """w, of a model that is w itself."""
        found: Found = self.state.found()
        return found.coef

    def record(self) -> tuple[float, ...]:
        """One row of `Solution.history`."""
        dual, primal, violation = self.values[:3]
        costs = self.movement, int(np.ceil(self.steps)), self.kernel_evaluations, self.seconds
        return (dual, primal - dual, violation, *costs)


Observer = Callable[[Progress], bool | None]
