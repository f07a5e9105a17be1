"""The state of a solve on features: the model w, its gradient, and a feasible β with Zᵀβ."""

from __future__ import annotations

import numpy as np

from maxmargin.features.feature_gram import FeatureGram
from maxmargin.problem import DualProblem, Values
from maxmargin.resources.arrays import Floats
from maxmargin.solvers.features.proximal_newton import ProximalNewton, image
from maxmargin.solvers.state import Found, State

# KKT violation to which problems kept in float64 are solved: milliseconds more.
SETTLED = 1e-11


class FeatureState(State[DualProblem, FeatureGram]):
    """The model w with G = Zw + p, and β with Zᵀβ, whose dual value bounds the optimum.

    Attributes
    ----------
    coef : w
    image : Zᵀβ, which is w in the limit
    gradient : G of w
    newton : the iterate of Newton's method, from which `gather` takes β and w
    """

    def __init__(self, problem: DualProblem, gram: FeatureGram, start: Floats | None) -> None:
        super().__init__(problem, gram, problem.feasible(start))
        self.newton: ProximalNewton | None = None
        self.small = gram.dtype == np.float64
        self.coef = self.image = np.zeros(gram.columns)
        self.gradient = problem.linear.copy()
        if self.beta.any():
            self.image = image(problem, gram, self.beta)
            self.use(self.image)

    def use(self, w: Floats) -> None:
        """Set the model to w."""
        self.coef = w
        self.gradient = self.problem.on_variables(self.matrix.scores(w)) + self.problem.linear

    def values(self) -> Values:
        """With the offset of least P: before convergence the one that β implies can be far off."""
        problem = self.problem
        offsets = np.array([problem.best_offset(self.gradient)] if problem.n_groups else [])
        quadratic = 0.5 * float(self.coef @ self.coef), 0.5 * float(self.image @ self.image)
        return problem.values(self.beta, self.gradient, offsets, quadratic)

    def found(self) -> Found:
        return Found(self.beta, self.coef, self.gradient)

    def gather(self) -> None:
        """β and w of Newton's iterate; Zᵀβ and Zw are updated, not recomputed."""
        if self.newton is None:
            return
        problem, newton, before = self.problem, self.newton, self.beta
        self.beta = feasible(newton)
        self.movement += float(np.abs(self.beta - before).sum())
        self.image = newton.image + image(problem, self.matrix, self.beta - newton.beta)
        self.coef = newton.w
        self.gradient = problem.on_variables(newton.scores) + problem.linear

    def confirm(self, tol: float) -> None:
        """Zᵀβ and Zw, from β and w alone."""
        self.image = image(self.problem, self.matrix, self.beta)
        self.use(self.coef)

    def conclude(self) -> None:
        """Before convergence w can have a larger P than Zᵀβ: the better one is the model."""
        self.gather()
        self.confirm(0.0)
        w, gap = self.coef, self.values().gap
        self.use(self.image)
        if gap < self.values().gap:
            self.use(w)

    def arrived(self, distance: float, violation: float, tol: float) -> bool:
        exact_enough = not self.small or violation <= SETTLED or not self.steps
        return distance <= tol and exact_enough

    def check(self, solver: str) -> None:
        self.problem.check_feasible(self.beta, solver)


def feasible(newton: ProximalNewton) -> Floats:
    """A feasible β near that of a proximal step.

    Far from the solution Zᵀβ can be much too long: of all multiples of β the best is taken, where
    they have the same sum, 0.
    """
    square = float(newton.image @ newton.image)
    gain = max(-float(newton.problem.linear @ newton.beta), 0.0)
    shorten = gain < square and not newton.problem.sums.any()
    return newton.problem.feasible(newton.beta * (gain / square if shorten else 1.0))
