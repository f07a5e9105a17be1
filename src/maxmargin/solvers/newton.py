"""Newton's method in the primal: the solver of the linear machines with a loss of quadratic pieces.

Such a loss has no kinks, so P has a gradient, and between the places where its pieces meet P is a
quadratic: where the rows that pay (θ_i = c_i L'' is c_i / κ for these, else 0) stay the same, one
step of Newton's method ends at the minimum. With β_i = −c_i L'(y_i, x_iᵀw + b) and v = (w, b)

    | I + XᵀΘX   Xᵀθ |           | Xᵀβ − w |
    |   θᵀX      Σθ  |  Δv   =   |   Σβ    |
    t = where P(v + t Δv) is smallest: 1, or the zero of a slope of straight pieces
    v += t Δv

until the same rows pay before and after a step. That takes a handful of steps, each n_θ d² + d³,
whatever C is. The first ones need not be exact: a part of the rows, at as many times the cost,
tells where to begin. β is a dual point; with Σβ = 0 its gap is ½‖w − Xᵀβ‖², half the gradient's
square.

References: S. S. Keerthi, D. DeCoste, A modified finite Newton method for fast solution of large
scale linear SVMs, JMLR 6 (2005), 341–361. O. L. Mangasarian, A finite Newton method for
classification, Optimization Methods and Software 17 (2002), 913–929.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from maxmargin.primal import PrimalProblem
from maxmargin.rows import Rows, dot
from maxmargin.solvers.linear import LinearSolver, LinearState

PART = 8  # one row in so many tells where to begin
ROWS_PER_COLUMN = 20  # fewer rows do not tell enough
STRAIGHT = 0.2  # share of the first slope that may remain after a line search
TRIALS = 30
ROUGHLY = 1e-3  # relative gap at which a part of the rows has told what it can


@dataclass(frozen=True)
class Newton(LinearSolver):
    """Newton's method on P itself, for quadratic losses and few columns."""

    def iterate(self, state: LinearState) -> Iterator[bool]:
        problem, rows = state.problem, state.rows
        if not problem.loss.kappa:
            raise ValueError(
                "Newton's method needs a loss without kinks, such as the squared hinge; for "
                f"{type(problem.loss).__name__} take solver='dual' or 'interior-point'"
            )
        now = Descent(problem, rows, state.now.coef, state.now.offset)
        if not state.beta.any():
            state.passes += now.begin(self.seed)
        while True:
            settled = now.step()
            state.passes += 1
            state.beta, state.coef = now.beta, now.w
            yield settled or now.gap <= state.aim * now.value()
            if settled:
                return


class Descent:
    """The model w, b, its scores and the β that it implies."""

    def __init__(self, problem: PrimalProblem, rows: Rows, w: np.ndarray, b: float) -> None:
        self.problem, self.rows = problem, rows
        self.move_to(w, b, rows.scores(w))

    def move_to(self, w: np.ndarray, b: float, scores: np.ndarray) -> None:
        """Take this model; `scores` is Xw."""
        self.w, self.b, self.scores = w, b, scores
        self.beta = self.problem.implied(scores + b)
        self.lack = self.rows.combine(self.beta) - w  # minus the gradient

    @property
    def gap(self) -> float:
        """What β proves, but for what Σβ lacks of zero."""
        return 0.5 * dot(self.lack, self.lack)

    def value(self) -> float:
        """P."""
        loss = self.problem.loss.value(self.problem.y, self.scores + self.b)
        return 0.5 * dot(self.w, self.w) + dot(self.problem.cost, loss)

    def begin(self, seed: int) -> float:
        """Go to the minimum on a part of the rows; returns what that cost, in passes."""
        some = self.rows.n // PART
        if some < ROWS_PER_COLUMN * self.rows.d:
            return 0.0
        chosen = np.sort(np.random.default_rng(seed).choice(self.rows.n, some, replace=False))
        y, cost = self.problem.y[chosen], self.problem.cost[chosen]
        total = float(self.problem.cost.sum() / cost.sum())
        part = PrimalProblem(y, total * cost, self.problem.loss, self.problem.fit_intercept)
        inner = Descent(part, Rows(self.rows.X[chosen]), self.w, self.b)
        passes = inner.begin(seed)
        for _ in range(TRIALS):
            passes += 1
            if inner.step() or inner.gap <= ROUGHLY * inner.value():
                break
        self.move_to(inner.w, inner.b, self.rows.scores(inner.w))
        return passes / PART

    def step(self) -> bool:
        """One step; returns whether the same rows pay as before, and so this is the minimum."""
        problem, rows = self.problem, self.rows
        pays = self.beta != 0
        theta = np.where(pays, 1 / problem.curvature, 0.0)
        total, centre, lack = float(theta.sum()), np.zeros(rows.d), 0.0
        if problem.fit_intercept and total > 0:
            centre, lack = rows.combine(theta) / total, float(self.beta.sum())
        matrix = rows.scatter(theta, centre)
        matrix[np.diag_indices_from(matrix)] += 1.0
        try:
            factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:  # C spans more magnitudes than float64 has digits
            return True
        d_w = cho_solve(factor, self.lack - centre * lack, check_finite=False)
        d_b = lack / total - dot(centre, d_w) if problem.fit_intercept and total > 0 else 0.0
        d_scores = rows.scores(d_w)
        share = self._share(d_w, d_scores + d_b)
        self.move_to(self.w + share * d_w, self.b + share * d_b, self.scores + share * d_scores)
        return share == 1.0 and bool(np.array_equal(self.beta != 0, pays))

    def _share(self, d_w: np.ndarray, d_values: np.ndarray) -> float:
        """The t where the slope of P(v + t Δv) is about zero; it rises with t."""
        values, along, square = self.scores + self.b, dot(self.w, d_w), dot(d_w, d_w)

        def slope(t: float) -> float:
            return along + t * square - dot(self.problem.implied(values + t * d_values), d_values)

        low, high, at_low, at_high, t = 0.0, np.inf, slope(0.0), np.inf, 1.0
        enough = STRAIGHT * abs(at_low)
        for _ in range(TRIALS):
            here = slope(t)
            if abs(here) <= enough:
                break
            if here > 0:
                high, at_high = t, here
            else:
                low, at_low = t, here
            t = (
                2 * t
                if high == np.inf
                else low + (high - low) * max(at_low / (at_low - at_high), 0.1)
            )
        return t
