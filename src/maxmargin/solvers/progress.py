"""What a solve tells those who watch it.

An observer is a function of one `Progress`. It is told of every outer iteration (a sweep, a
block); if it has an attribute `every = "step"` it is told of every step too, and `Progress.step`
says which variables moved, why they were chosen, and how far. Nothing is computed for steps that
nobody asked about. An observer that returns True ends the solve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.certificate import values
from maxmargin.solvers.state import State, Step

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


@dataclass(frozen=True)
class Progress:
    """What an observer is told after each outer iteration, and after each step if it asks.

    Attributes
    ----------
    state : β, G, the problem and its Gram matrix, to look at and not to change
    objective : the dual value, which rises
    gap : primal − dual
    violation : worst KKT violation, to be brought to ≤ `tol`
    offsets : b of each group, as β implies them
    movement : Σ|Δβ| + Σ|Δb| over the steps since the last outer iteration
    steps, kernel_evaluations, seconds : the cost so far
    step : the step just taken; None at the end of an outer iteration
    """

    state: State
    objective: float
    gap: float
    violation: float
    tol: float
    offsets: np.ndarray
    movement: float
    steps: int
    kernel_evaluations: int
    seconds: float
    step: Step | None = None
    measure: ClassVar[str] = "KKT violation"

    @property
    def distance(self) -> float:
        """What `tol` bounds."""
        return self.violation

    @classmethod
    def of(cls, state: State, tol: float, step: Step | None = None) -> Progress:
        """Everything computed from β and G, nothing taken on trust."""
        dual, primal, violation, offsets = values(state.problem, state.beta, state.gradient)
        return cls(
            state=state,
            objective=dual,
            gap=primal - dual,
            violation=violation,
            tol=tol,
            offsets=offsets,
            movement=state.movement,
            steps=state.steps,
            kernel_evaluations=state.kernel_evaluations,
            seconds=state.seconds,
            step=step,
        )

    def record(self) -> tuple:
        """One row of `Solution.history`."""
        return (
            self.objective,
            self.gap,
            self.violation,
            self.movement,
            self.steps,
            self.kernel_evaluations,
            self.seconds,
        )


Observer = Callable[[Progress], bool | None]
