"""The linear machines' problem, and the duality gap of its answer.

    minimise over w and b   P(w, b) = ½‖w‖² + Σ_i c_i L(y_i, x_iᵀw + b)

with a piecewise linear or quadratic loss L. The offset b is not regularised. By Fenchel every β
with Σβ = 0 (any β, if there is no offset) bounds the minimum from below,

    D(β) = −½‖Xᵀβ‖² − Σ_i c_i L*(y_i, −β_i / c_i)  ≤  P(w, b),

with equality exactly at the optimum, where w = Xᵀβ. Written out, −D is a quadratic in a box,

    ½‖Xᵀβ‖² + Σ_i (½ q_i β_i² − y_i β_i + ε|β_i|),   l ≤ β ≤ u,   q_i = κ / c_i,

the one dual problem with K = XXᵀ + diag(q). P is evaluated at
the model's own w and b, D at a β that is made feasible first: a true gap, whatever the solver did.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from maxmargin.gram.data_matrix import DataMatrix, dot
from maxmargin.losses import PiecewiseLoss
from maxmargin.problem.constraints import with_sum, zero_of_lines, zero_of_steps
from maxmargin.problem.solution import Values
from maxmargin.resources.arrays import Floats, Numbers


@dataclass(frozen=True)
class Point:
    """A model (w, b) and a dual point β, with P of the one and D of the other.

    Attributes
    ----------
    coef, offset : w and b
    scores : Xw, without the offset
    beta : ndarray, feasible
    values : P(w, b), D(β), and the worst violation of the optimality conditions of β
    """

    coef: Floats
    offset: float
    scores: Floats
    beta: Floats
    values: Values

    def better(self, other: Point) -> Point:
        """The better model and the better bound of two."""
        model = min(self, other, key=lambda point: point.values.primal)
        bound = max(self, other, key=lambda point: point.values.dual)
        values = bound.values._replace(primal=model.values.primal, offsets=model.values.offsets)
        return replace(model, beta=bound.beta, values=values)


@dataclass(frozen=True)
class LinearProblem:
    """½‖w‖² + Σ c_i L(y_i, x_iᵀw + b).

    Parameters
    ----------
    y : targets, or labels ±1, ndarray of shape (n,)
    cost : c > 0, ndarray of shape (n,)
    loss : PiecewiseLoss
    fit_intercept : whether there is an offset b

    Examples
    --------
    >>> from maxmargin.losses import Hinge
    >>> rows = DataMatrix(np.array([[0.0], [2.0]]))
    >>> problem = LinearProblem(np.array([-1.0, 1.0]), np.ones(2), Hinge())
    >>> best = problem.point(rows, np.array([-0.5, 0.5]))
    >>> best.coef, best.offset, best.values.primal, best.values.gap
    (array([1.]), -1.0, 0.5, 0.0)
    """

    y: Floats
    cost: Floats
    loss: PiecewiseLoss
    fit_intercept: bool = True

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """l and u: the values −c s that β = −c L' can take."""
        lowest, highest = self.loss.domain(self.y)
        return -self.cost * highest, -self.cost * lowest

    @cached_property
    def _pieces(self) -> tuple[Numbers, Numbers, Floats]:
        """Rows whose loss falls to the left of a kink, or rises to the right; the cost of each."""
        lower, upper = self.bounds
        falls, rises = np.flatnonzero(upper > 0), np.flatnonzero(lower < 0)
        return falls, rises, self.cost[np.concatenate([falls, rises])]

    @cached_property
    def curvature(self) -> Floats:
        """q = κ / c."""
        return self.loss.kappa / self.cost

    def point(
        self,
        rows: DataMatrix,
        beta: Floats,
        coef: Floats | None = None,
        offset: float | None = None,
    ) -> Point:
        """β made feasible, with the model it implies (or the one given) and its best offset."""
        beta = self.feasible(beta)
        implied = rows.combine(beta)
        coef = implied if coef is None else coef
        scores = rows.scores(coef)
        offset = self.best_offset(scores) if offset is None else offset
        loss = dot(self.cost, self.loss.value(self.y, scores + offset))
        values = Values(
            dual=self.value(beta, implied),
            primal=0.5 * dot(coef, coef) + loss,
            violation=self.violation(beta, scores if coef is implied else rows.scores(implied)),
            offsets=np.array([offset] if self.fit_intercept else []),
        )
        return Point(coef, offset, scores, beta, values)

    def value(self, beta: Floats, image: Floats) -> float:
        """D(β) from β in its box and Xᵀβ."""
        conjugate = self.loss.conjugate(self.y, -beta / self.cost)
        return -0.5 * dot(image, image) - dot(self.cost, conjugate)

    def implied(self, values: Floats) -> Floats:
        """β_i = −c_i L'(y_i, f_i) of a loss of quadratic pieces: what the answers f imply."""
        excess = self.y - values
        if self.loss.epsilon:
            excess -= np.clip(excess, -self.loss.epsilon, self.loss.epsilon)
        return np.clip(excess / self.curvature, *self.bounds)

    def feasible(self, beta: Floats) -> Floats:
        """A feasible point near β: clipped to the box, and Σβ = 0 if there is an offset.

        The sum is corrected by the free variables first (the objective changes least), then by all
        that are not zero, then by all.
        """
        lower, upper = self.bounds
        beta = np.clip(beta, lower, upper)
        if not self.fit_intercept:
            return beta
        free = (beta > lower) & (beta < upper) & (beta != 0)
        return with_sum(beta, lower, upper, 0.0, (free, beta != 0, np.ones_like(free)))

    def best_multiple(self, rows: DataMatrix, beta: Floats) -> Floats:
        """The multiple τβ, 0 ≤ τ ≤ 1, of a β in the box with the largest dual value."""
        beta = self.feasible(beta)
        w = rows.combine(beta)
        linear = dot(self.y, beta) - self.loss.epsilon * float(np.abs(beta).sum())
        square = dot(w, w) + dot(self.curvature, beta**2)
        return beta * (min(max(linear / square, 0.0), 1.0) if square > 0 else 1.0)

    def violation(self, beta: Floats, scores: Floats) -> float:
        """Worst KKT violation at β, whose w gives the scores Xw.

        At an optimum some b separates max −G (can rise) from min −G (can fall).
        """
        (lower, upper), (right, left) = self.bounds, self.slopes(beta, scores)
        up = float(np.max(np.where(beta < upper, -right, -np.inf), initial=-np.inf))
        down = float(np.min(np.where(beta > lower, -left, np.inf), initial=np.inf))
        return max(up - down if self.fit_intercept else max(up, -down), 0.0)

    def slopes(self, beta: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Of −D to the right and to the left of each β_i: G_i ± ε, with other signs at 0."""
        right = left = scores - self.y + self.curvature * beta
        if self.loss.epsilon:
            right = right + np.where(beta >= 0, self.loss.epsilon, -self.loss.epsilon)
            left = left + np.where(beta > 0, self.loss.epsilon, -self.loss.epsilon)
        return right, left

    def best_offset(self, scores: Floats) -> float:
        """The b that minimises Σ c_i L(y_i, f_i + b), exactly.

        The slope of the sum, as a function of b, rises from kink to kink: in steps for linear
        pieces (if it is zero on an interval, b is its middle), in lines for quadratic ones.
        """
        if not self.fit_intercept:
            return 0.0
        residual, epsilon = self.y - scores, self.loss.epsilon
        falls, rises, cost = self._pieces
        kinks = np.concatenate([residual[falls] - epsilon, residual[rises] + epsilon])
        if self.loss.kappa:
            return zero_of_lines(kinks, cost, np.arange(len(kinks)) >= len(falls))
        return zero_of_steps(kinks, cost, -float(cost[: len(falls)].sum()))
