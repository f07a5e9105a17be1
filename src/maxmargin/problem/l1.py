"""The linear machines' problem with the sum of absolute values as its penalty, and its proof.

    minimise over w and b   P(w, b) = ‖w‖₁ + Σ_i c_i L(y_i, x_iᵀw + b)

with a loss of quadratic pieces, such as the squared hinge. Most w_j of an answer are zero. The
conjugate of ‖·‖₁ is 0 where no entry exceeds 1 in size and infinite elsewhere, so by Fenchel

    D(β) = −Σ_i c_i L*(y_i, −β_i / c_i)  ≤  P(w, b)   for every β with Σβ = 0 and ‖Xᵀβ‖_∞ ≤ 1

(any sum, if there is no offset), with equality exactly at the optimum, where

    x^jᵀβ = sign(w_j) if w_j ≠ 0,   |x^jᵀβ| ≤ 1 if w_j = 0,   β_i = −c_i L'(y_i, x_iᵀw + b)

for the columns x^j. A model gives its own dual point: with the best b for w the β of the last
equation sums to 0, and the multiple of it with the largest D among those that satisfy the bound is
feasible. So the gap is a true one, whatever the solver did.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.gram.data_matrix import DataMatrix, dot
from maxmargin.problem.linear import LinearProblem, Point
from maxmargin.problem.solution import Values
from maxmargin.resources.arrays import Floats


@dataclass(frozen=True)
class L1Point(Point):
    """A point of an `L1Problem`.

    Attributes
    ----------
    slopes : x^jᵀβ of every column, for the β that the model implies, before it is made feasible
    """

    slopes: Floats


@dataclass(frozen=True)
class L1Problem(LinearProblem):
    """‖w‖₁ + Σ c_i L(y_i, x_iᵀw + b); parameters as of `LinearProblem`.

    Examples
    --------
    >>> from maxmargin.losses import SquaredHinge
    >>> rows = DataMatrix(np.array([[0.0, 1.0], [2.0, 1.0]]))
    >>> problem = L1Problem(np.array([-1.0, 1.0]), np.ones(2), SquaredHinge())
    >>> best = problem.point(rows, coef=np.array([0.875, 0.0]))
    >>> best.coef, best.offset, best.values.primal, best.values.gap
    (array([0.875, 0.   ]), -0.875, 0.90625, 0.0)
    """

    def point(
        self,
        rows: DataMatrix,
        beta: Floats | None = None,
        coef: Floats | None = None,
        offset: float | None = None,
    ) -> L1Point:
        """The model w (0 by default) with its best offset, and the dual point that it implies.

        A β says nothing about w, and an offset nothing that w does not say: they are not used.
        """
        coef = np.zeros(rows.d) if coef is None else coef
        scores = rows.scores(coef)
        offset = self.best_offset(scores)
        beta = self.feasible(self.implied(scores + offset))
        slopes = rows.combine(beta)
        loss = dot(self.cost, self.loss.value(self.y, scores + offset))
        bounded = beta * self._best_share(beta, float(np.abs(slopes).max(initial=0)))
        values = Values(
            dual=-dot(self.cost, self.loss.conjugate(self.y, -bounded / self.cost)),
            primal=float(np.abs(coef).sum()) + loss,
            violation=float(column_violations(coef, slopes).max(initial=0)),
            offsets=np.array([offset] if self.fit_intercept else []),
        )
        return L1Point(coef, offset, scores, bounded, values, slopes)

    def _best_share(self, beta: Floats, steepest: float) -> float:
        """The τ ≥ 0 with the largest D(τβ) such that τ ‖Xᵀβ‖_∞ ≤ 1."""
        linear = dot(self.y, beta) - self.loss.epsilon * float(np.abs(beta).sum())
        square = dot(self.curvature, beta**2)
        share = max(linear / square, 0.0) if square > 0 else 0.0
        return min(share, 1 / steepest) if steepest > 0 else share


def column_violations(coef: Floats, slopes: Floats) -> Floats:
    """How far each column is from its optimality condition, given x^jᵀβ."""
    size: Floats = np.abs(slopes)
    return np.where(coef == 0, np.maximum(size - 1, 0.0), np.abs(slopes - np.sign(coef)))
