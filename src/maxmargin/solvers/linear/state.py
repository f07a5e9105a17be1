"""The state of a solve of a linear machine's problem: β, the model w and b, and their gap."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from maxmargin.gram import DataMatrix
from maxmargin.problem import LinearProblem, Values
from maxmargin.resources.arrays import Floats
from maxmargin.solvers.state import Found, State

# Numbers stored in X up to which a problem is solved to the last digits: milliseconds more.
SMALL = 100_000


class LinearState(State[LinearProblem, DataMatrix]):
    """β, and w and b if the solver has its own instead of those that β implies.

    Attributes
    ----------
    beta : the dual point, feasible or nearly so
    coef, offset : w and b; None for those that β implies
    aim : relative gap to reach: tol, or 1e-12 if X is small
    now : the point that was measured last
    best : the best model and the best bound so far
    steps : passes over the data so far
    """

    unit: ClassVar[str] = "passes over the data"

    def __init__(
        self, problem: LinearProblem, rows: DataMatrix, start: Floats | None, tol: float
    ) -> None:
        beta = np.zeros(rows.n) if start is None else problem.feasible(start)
        super().__init__(problem, rows, beta)
        self.coef: Floats | None = None
        self.offset: float | None = None
        self.aim = tol if rows.stored > SMALL else min(tol, 1e-12)
        self.now = self.best = problem.point(rows, beta)

    @property
    def rows(self) -> DataMatrix:
        """X."""
        return self.matrix

    def gather(self) -> None:
        """The model and the bound, evaluated from scratch."""
        before = self.best.beta
        self.now = self.problem.point(self.rows, self.beta, self.coef, self.offset)
        self.best = self.best.better(self.now)
        self.movement += float(np.abs(self.best.beta - before).sum())
        self.exact = True

    conclude = gather

    def values(self) -> Values:
        return self.best.values

    def found(self) -> Found:
        best, problem = self.best, self.problem
        slope = best.scores - problem.y + problem.curvature * best.beta
        return Found(best.beta, best.coef, slope)

    def arrived(self, distance: float, violation: float, tol: float) -> bool:
        return distance <= self.aim
