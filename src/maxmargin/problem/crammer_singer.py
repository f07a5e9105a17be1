"""The multiclass problem of Crammer and Singer, and the proof that comes with its answer.

One vector w_m and one offset b_m per class; a row pays if the score of another class comes closer
than 1 to that of its own:

    minimise over W and b   P(W, b) = ½ Σ_m ‖w_m‖² + Σ_i c_i max_m (e_im + f_im − f_{i,y_i}),

f_im = w_mᵀx_i + b_m, e_im = 0 for m = y_i and 1 for the other classes. The offsets are not
regularised. By Fenchel, every α of n × k numbers with

    α_im ≤ c_i if m = y_i, else 0;    Σ_m α_im = 0 for each row;    Σ_i α_im = 0 for each class

(the last only if there are offsets) bounds the minimum from below:

    D(α) = −½ Σ_m ‖Σ_i α_im x_i‖² − Σ_im e_im α_im  ≤  P(W, b),

with equality exactly at the optimum, where w_m = Σ_i α_im x_i. For two classes w_1 = −w_0, and
w_1 − w_0 is the binary machine with the hinge loss and 2C.

Reference: K. Crammer, Y. Singer, On the algorithmic implementation of multiclass kernel-based
vector machines, JMLR 2 (2001), 265–292; there without offsets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from maxmargin.gram.data_matrix import DataMatrix, dot
from maxmargin.problem.constraints import zero_of_steps
from maxmargin.problem.linear import Point
from maxmargin.problem.solution import Values
from maxmargin.resources.arrays import Floats, Numbers

ROUNDING = 1e-12  # of c_i: an entry this close to its bound is at it


@dataclass(frozen=True)
class ClassesPoint(Point):
    """A model of W (k × d) and b (k), the scores XWᵀ and the α (n × k) of a proof."""

    offset: Any


@dataclass(frozen=True)
class CrammerSingerProblem:
    """½ Σ_m ‖w_m‖² + Σ_i c_i max_m (e_im + f_im − f_{i,y_i}).

    Parameters
    ----------
    labels : the number of each row's class, ndarray of shape (n,)
    cost : c > 0, ndarray of shape (n,)
    classes : k
    fit_intercept : whether there are offsets b_m

    Examples
    --------
    >>> rows = DataMatrix(np.array([[0.0], [2.0]]))
    >>> problem = CrammerSingerProblem(np.array([0, 1]), np.ones(2), 2)
    >>> alpha = np.array([[0.25, -0.25], [-0.25, 0.25]])
    >>> best = problem.point(rows, alpha, offset=np.array([0.5, -0.5]))
    >>> best.coef, best.values.primal, best.values.gap
    (array([[-0.5],
           [ 0.5]]), 0.25, 0.0)
    """

    labels: Numbers
    cost: Floats
    classes: int
    fit_intercept: bool = True

    curvature: ClassVar[float] = 0.0

    @cached_property
    def y(self) -> Floats:
        """−e: 0 for the class of a row, −1 for the others."""
        own: Floats = (np.arange(self.classes) == self.labels[:, None]).astype(float)
        return own - 1.0

    @cached_property
    def _own(self) -> tuple[Numbers, Numbers]:
        """Where the classes of the rows are in an n × k array."""
        return np.arange(len(self.labels)), self.labels

    def point(
        self,
        rows: DataMatrix,
        alpha: Floats,
        coef: Floats | None = None,
        offset: Floats | None = None,
    ) -> ClassesPoint:
        """α made feasible, with the model it implies (or the one given).

        Its offsets are these (0 by default), or better ones.
        """
        clipped = self._clipped(alpha)
        alpha = self._balanced(clipped)
        implied = np.array([rows.combine(column) for column in alpha.T])
        coef = implied if coef is None else coef
        scores = np.column_stack([rows.scores(w) for w in coef])
        offset = self.better_offset(scores, np.zeros(self.classes) if offset is None else offset)
        slopes = scores - self.y  # e_im + f_im
        slopes += offset
        highest = slopes.max(axis=1)
        losses = highest - slopes[self._own]
        values = Values(
            dual=float(alpha[self._own].sum() - alpha.sum()) - 0.5 * dot(implied, implied),
            primal=0.5 * dot(coef, coef) + dot(self.cost, losses),
            violation=self._violation(clipped, slopes, highest),
            offsets=offset if self.fit_intercept else np.zeros(0),
        )
        return ClassesPoint(coef, offset, scores, alpha, values)

    def better_offset(self, scores: Floats, offset: Floats) -> Floats:
        """Each b_m in turn where P is smallest, given the others; then all shifted to a sum of 0.

        A row's loss changes its slope in b_m by c_i, where e_im + f_im is the largest of the
        others: so the slope of P begins at −Σ c_i over the rows of class m and rises in steps. A
        shift of all offsets changes nothing.
        """
        if not self.fit_intercept:
            return offset
        offset = offset.copy()
        for m in range(self.classes):
            values = scores + offset - self.y
            mine = values[:, m].copy()
            values[:, m] = -np.inf
            start = -float(self.cost[self.labels == m].sum())
            offset[m] += zero_of_steps(values.max(axis=1) - mine, self.cost, start)
        balanced: Floats = offset - offset.mean()
        return balanced

    def feasible(self, alpha: Floats) -> Floats:
        """A feasible point near α: the conditions of the rows first, then those of the classes."""
        return self._balanced(self._clipped(alpha))

    def _clipped(self, alpha: Floats) -> Floats:
        """Entries of other classes cut at 0, and shrunk until a row's sum is ≥ −c_i.

        The entry of the own class balances them.
        """
        alpha = np.minimum(alpha, 0.0)
        alpha[self._own] = 0.0
        alpha *= (self.cost / np.maximum(-alpha.sum(axis=1), self.cost))[:, None]
        alpha[self._own] = -alpha.sum(axis=1)
        return alpha

    def _balanced(self, alpha: Floats) -> Floats:
        """Every S_m = Σ_i α_im brought to 0, if there are offsets.

        A class whose S_m < 0 is raised to 0 by bringing its negative entries closer to 0, all by
        the same factor; what a row gains by that it loses to the classes with S_m > 0, in
        proportion to these. So no entry exceeds its bound.
        """
        sums = alpha.sum(axis=0)
        spare = np.maximum(sums, 0.0)
        if not self.fit_intercept or not spare.any():
            return alpha
        others = np.where(self.y < 0, -alpha, 0.0)
        lacking = np.maximum(-sums, 0.0)
        share = np.divide(lacking, others.sum(axis=0), np.zeros_like(sums), where=lacking > 0)
        raised = others * np.minimum(share, 1.0)
        lowered: Floats = np.outer(raised.sum(axis=1), spare / spare.sum())
        balanced: Floats = alpha + raised - lowered
        return balanced

    def _violation(self, alpha: Floats, slopes: Floats, highest: Floats) -> float:
        """How much the largest slope of a row exceeds the smallest of an α_im that can rise.

        That of α before its classes are balanced, which moves entries off their bounds by as
        little as the sums are off 0.
        """
        rounding = ROUNDING * self.cost
        can_rise = alpha < -rounding[:, None]
        can_rise[self._own] = alpha[self._own] < self.cost - rounding
        lowest = highest.copy()
        row, m = can_rise.nonzero()
        np.minimum.at(lowest, row, slopes[row, m])
        return float((highest - lowest).max(initial=0))
