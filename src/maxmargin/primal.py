"""The linear machines' problem, and the proof that comes with its answer.

    minimise over w and b   P(w, b) = ½‖w‖² + Σ_i c_i L(y_i, x_iᵀw + b)

with a piecewise linear or quadratic loss L. The offset b is not regularised. By Fenchel every β
with Σβ = 0 (any β, if there is no offset) bounds the minimum from below,

    D(β) = −½‖Xᵀβ‖² − Σ_i c_i L*(y_i, −β_i / c_i)  ≤  P(w, b),

with equality exactly at the optimum, where w = Xᵀβ. Written out, −D is a quadratic in a box,

    ½‖Xᵀβ‖² + Σ_i (½ q_i β_i² − y_i β_i + ε|β_i|),   l ≤ β ≤ u,   q_i = κ / c_i,

the one dual problem with K = XXᵀ + diag(q). What is reported is the value of P at the model's
own w and b, and of D at a β that is made feasible first: a true gap, whatever the solver did.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from maxmargin.losses import PiecewiseLoss
from maxmargin.rows import Rows, dot


@dataclass(frozen=True)
class Point:
    """A model (w, b), a dual point β, and what they prove together.

    Attributes
    ----------
    coef, offset : w and b
    scores : Xw, without the offset
    beta : ndarray, feasible
    primal, dual : P(w, b) and D(β)
    violation : worst violation of the optimality conditions of β
    """

    coef: np.ndarray
    offset: float
    scores: np.ndarray
    beta: np.ndarray
    primal: float
    dual: float
    violation: float

    @property
    def gap(self) -> float:
        """P − D."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """(P − D) / P; P is never negative."""
        return self.gap / self.primal if self.primal > 0 else self.gap

    def better(self, other: Point) -> Point:
        """The better model and the better bound of two."""
        model = min(self, other, key=lambda point: point.primal)
        bound = max(self, other, key=lambda point: point.dual)
        return replace(model, beta=bound.beta, dual=bound.dual, violation=bound.violation)


@dataclass(frozen=True)
class PrimalProblem:
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
    >>> rows = Rows(np.array([[0.0], [2.0]]))
    >>> problem = PrimalProblem(np.array([-1.0, 1.0]), np.ones(2), Hinge())
    >>> best = problem.point(rows, np.array([-0.5, 0.5]))
    >>> best.coef, best.offset, best.primal, best.gap
    (array([1.]), -1.0, 0.5, 0.0)
    """

    y: np.ndarray
    cost: np.ndarray
    loss: PiecewiseLoss
    fit_intercept: bool = True

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """l and u: the values −c s that β = −c L' can take."""
        lowest, highest = self.loss.domain(self.y)
        return -self.cost * highest, -self.cost * lowest

    @cached_property
    def _pieces(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows whose loss falls to the left of a kink, or rises to the right; the cost of each."""
        lower, upper = self.bounds
        falls, rises = np.flatnonzero(upper > 0), np.flatnonzero(lower < 0)
        return falls, rises, self.cost[np.concatenate([falls, rises])]

    @cached_property
    def curvature(self) -> np.ndarray:
        """q = κ / c."""
        return self.loss.kappa / self.cost

    def point(
        self,
        rows: Rows,
        beta: np.ndarray,
        coef: np.ndarray | None = None,
        offset: float | None = None,
    ) -> Point:
        """β made feasible, with the model it implies (or the one given) and its best offset."""
        beta = self.feasible(beta)
        implied = rows.combine(beta)
        coef = implied if coef is None else coef
        scores = rows.scores(coef)
        offset = self.best_offset(scores) if offset is None else offset
        loss = dot(self.cost, self.loss.value(self.y, scores + offset))
        return Point(
            coef=coef,
            offset=offset,
            scores=scores,
            beta=beta,
            primal=0.5 * dot(coef, coef) + loss,
            dual=self.value(beta, implied),
            violation=self.violation(beta, scores if coef is implied else rows.scores(implied)),
        )

    def value(self, beta: np.ndarray, image: np.ndarray) -> float:
        """D(β) from β in its box and Xᵀβ."""
        conjugate = self.loss.conjugate(self.y, -beta / self.cost)
        return -0.5 * dot(image, image) - dot(self.cost, conjugate)

    def implied(self, values: np.ndarray) -> np.ndarray:
        """β_i = −c_i L'(y_i, f_i) of a loss of quadratic pieces: what the answers f imply."""
        excess = self.y - values
        if self.loss.epsilon:
            excess -= np.clip(excess, -self.loss.epsilon, self.loss.epsilon)
        return np.clip(excess / self.curvature, *self.bounds)

    def feasible(self, beta: np.ndarray) -> np.ndarray:
        """A feasible point near β: clipped to the box, and Σβ = 0 if there is an offset.

        What the sum lacks is spread over the free variables, which it costs least, then over
        all that are not zero, then over all.
        """
        lower, upper = self.bounds
        beta = np.clip(beta, lower, upper)
        if not self.fit_intercept:
            return beta
        free = (beta > lower) & (beta < upper) & (beta != 0)
        for among in (free, beta != 0, np.ones_like(free)):
            missing = -beta.sum()
            if abs(missing) <= 1e-15 * np.abs(beta).sum():
                break
            reach = np.minimum(np.abs((upper if missing > 0 else lower) - beta), abs(missing))
            room = np.where(among, reach, 0.0)
            if room.sum() > 0:
                move = np.sign(missing) * room * min(1.0, abs(missing) / room.sum())
                beta = np.clip(beta + move, lower, upper)
        return beta

    def best_multiple(self, rows: Rows, beta: np.ndarray) -> np.ndarray:
        """The multiple τβ, 0 ≤ τ ≤ 1, of a β in the box with the largest dual value."""
        beta = self.feasible(beta)
        w = rows.combine(beta)
        linear = dot(self.y, beta) - self.loss.epsilon * float(np.abs(beta).sum())
        square = dot(w, w) + dot(self.curvature, beta**2)
        return beta * (min(max(linear / square, 0.0), 1.0) if square > 0 else 1.0)

    def violation(self, beta: np.ndarray, scores: np.ndarray) -> float:
        """Worst KKT violation at β, whose w gives the scores Xw.

        The slope of −D to the right of β_i is G_i ± ε, to the left G_i ± ε with the other sign
        at 0: for an optimum there is one b between the steepest wish to go up and to go down.
        """
        lower, upper = self.bounds
        right = left = scores - self.y + self.curvature * beta
        if self.loss.epsilon:
            right = right + np.where(beta >= 0, self.loss.epsilon, -self.loss.epsilon)
            left = left + np.where(beta > 0, self.loss.epsilon, -self.loss.epsilon)
        up = float(np.max(np.where(beta < upper, -right, -np.inf), initial=-np.inf))
        down = float(np.min(np.where(beta > lower, -left, np.inf), initial=np.inf))
        return max(up - down if self.fit_intercept else max(up, -down), 0.0)

    def best_offset(self, scores: np.ndarray) -> float:
        """The b that minimises Σ c_i L(y_i, f_i + b), exactly.

        The slope of the sum, as a function of b, rises from kink to kink: in steps for linear
        pieces (if it is zero on an interval, b is its middle), in lines for quadratic ones.
        """
        if not self.fit_intercept:
            return 0.0
        residual, epsilon = self.y - scores, self.loss.epsilon
        falls, rises, cost = self._pieces
        kinks = np.concatenate([residual[falls] - epsilon, residual[rises] + epsilon])
        order = np.argsort(kinks)
        kinks = kinks[order]
        if self.loss.kappa:
            return _zero_of_line(kinks, cost[order], order >= len(falls))
        slope = np.cumsum(cost[order]) - cost[: len(falls)].sum()
        rounding = 1e-13 * cost.sum()
        first = min(int(np.searchsorted(slope, -rounding)), len(kinks) - 1)
        last = first + 1 if first + 1 < len(kinks) and slope[first] <= rounding else first
        return float(0.5 * (kinks[first] + kinks[last]))


def _zero_of_line(kinks: np.ndarray, cost: np.ndarray, rises: np.ndarray) -> float:
    """Where Σ ±cost max(0, ±(b − kink)) is zero: kinks sorted; right of them (+) it rises."""
    right, left = np.where(rises, cost, 0.0), np.where(rises, 0.0, cost)
    # Left of kink k + 1 the right pieces up to k and the left pieces after it are active.
    weight = np.cumsum(right) + left.sum() - np.cumsum(left)
    moment = np.cumsum(right * kinks) + dot(left, kinks) - np.cumsum(left * kinks)
    slope = weight * kinks - moment  # at each kink
    k = max(int(np.searchsorted(np.maximum.accumulate(slope), 0.0)) - 1, 0)
    return float(moment[k] / weight[k] if weight[k] > 0 else kinks[k])
