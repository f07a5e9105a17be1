"""Newton's method in the primal: the solver of the linear machines with a loss of quadratic pieces.

Such a loss has no kinks: P is differentiable and piecewise quadratic. On the piece where the rows
of nonzero loss (θ_i = c_i L'' = c_i / κ for these, else 0) stay the same, one step of Newton's
method ends at the minimum. With β_i = −c_i L'(y_i, x_iᵀw + b) and v = (w, b)

    | I + XᵀΘX   Xᵀθ |           | Xᵀβ − w |
    |   θᵀX      Σθ  |  Δv   =   |   Σβ    |
    t = where P(v + t Δv) is smallest: 1, or the zero of a slope of straight pieces
    v += t Δv

until the same rows have a loss before and after a step. That takes a handful of steps, each
n_θ d² + d³, whatever C is. A part of the rows, with costs scaled up, gives the first v. β is a dual
point; with Σβ = 0 its gap is ½‖w − Xᵀβ‖², half the gradient's square.

References: S. S. Keerthi, D. DeCoste, A modified finite Newton method for fast solution of large
scale linear SVMs, JMLR 6 (2005), 341–361. O. L. Mangasarian, A finite Newton method for
classification, Optimization Methods and Software 17 (2002), 913–929.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from maxmargin.gram.data_matrix import DataMatrix, Scatter, dot
from maxmargin.problem import LinearProblem
from maxmargin.resources.arrays import Floats
from maxmargin.solvers.driver import CLOCK
from maxmargin.solvers.line_search import line_minimum
from maxmargin.solvers.linear.solver import LinearSolver
from maxmargin.solvers.linear.state import LinearState
from maxmargin.solvers.state import Moves

# Begin from one row in PART if that leaves ROWS_PER_COLUMN rows per column
# (docs/how-it-works/speed.md, ablation: without).
PART = 8
ROWS_PER_COLUMN = 20
TRIALS = 30  # most steps on a part of the rows, so that nothing hangs
ROUGHLY = 1e-3  # relative gap on a part of the rows: that of its optimum on all rows is larger


@dataclass(frozen=True)
class Newton(LinearSolver):
    """Newton's method on P itself, for quadratic losses and few columns.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from maxmargin import LinearSVC
    >>> X, y = make_classification(200, 5, flip_y=0.1, random_state=0)
    >>> LinearSVC(solver=Newton()).fit(X, y).certificate_.status.value
    'converged'
    """

    def iterate(self, state: LinearState) -> Moves:
        problem, rows = state.problem, state.rows
        if not problem.loss.kappa:
            raise ValueError(
                "Newton's method needs a loss without kinks, such as the squared hinge; for "
                f"{type(problem.loss).__name__} take solver='dual' or 'interior-point'"
            )
        now = PrimalIterate(problem, rows, state.now.coef, state.now.offset)
        if not state.beta.any():
            state.steps += now.begin(self.seed)
        while True:
            settled = now.step()
            state.steps += 1
            state.beta, state.coef = now.beta, now.w
            yield None if settled or now.gap <= state.aim * now.value() else CLOCK
            if settled:
                return None


class PrimalIterate:
    """The model w, b, its scores and the β that it implies."""

    def __init__(self, problem: LinearProblem, rows: DataMatrix, w: Floats, b: float) -> None:
        self.problem, self.rows = problem, rows
        self.scatter = Scatter(rows, problem.fit_intercept)
        self.move_to(w, b, rows.scores(w))

    def move_to(self, w: Floats, b: float, scores: Floats) -> None:
        """Take this model; `scores` is Xw."""
        self.w, self.b, self.scores = w, b, scores
        self.beta = self.problem.implied(scores + b)
        self.descent = self.rows.combine(self.beta) - w  # −∂P/∂w

    @property
    def gap(self) -> float:
        """The duality gap, ignoring Σβ ≠ 0."""
        return 0.5 * dot(self.descent, self.descent)

    def value(self) -> float:
        """P."""
        loss = self.problem.loss.value(self.problem.y, self.scores + self.b)
        return 0.5 * dot(self.w, self.w) + dot(self.problem.cost, loss)

    def begin(self, seed: int) -> float:
        """Start from the minimum on a part of the rows; returns the passes that cost."""
        some = self.rows.n // PART
        if some < ROWS_PER_COLUMN * self.rows.d:
            return 0.0
        chosen = np.sort(np.random.default_rng(seed).choice(self.rows.n, some, replace=False))
        y, cost = self.problem.y[chosen], self.problem.cost[chosen]
        total = float(self.problem.cost.sum() / cost.sum())
        part = LinearProblem(y, total * cost, self.problem.loss, self.problem.fit_intercept)
        inner = PrimalIterate(part, DataMatrix(self.rows.X[chosen]), self.w, self.b)
        passes = inner.begin(seed)
        for _ in range(TRIALS):
            passes += 1
            if inner.step() or inner.gap <= ROUGHLY * inner.value():
                break
        self.move_to(inner.w, inner.b, self.rows.scores(inner.w))
        return passes / PART

    def step(self) -> bool:
        """One step; returns whether this is the minimum.

        It is if the same rows have a loss as before, or if P falls no more.
        """
        problem, rows = self.problem, self.rows
        active = self.beta != 0
        theta = np.where(active, 1 / problem.curvature, 0.0)
        total, (matrix, centre) = float(theta.sum()), self.scatter.of(theta)
        right_b = float(self.beta.sum()) if problem.fit_intercept and total > 0 else 0.0
        matrix[np.diag_indices_from(matrix)] += 1.0
        try:
            factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:  # C spans more magnitudes than float64 has digits
            return True
        d_w = cho_solve(factor, self.descent - centre * right_b, check_finite=False)
        d_b = right_b / total - dot(centre, d_w) if problem.fit_intercept and total > 0 else 0.0
        d_scores = rows.scores(d_w)
        share = self._share(d_w, d_scores + d_b)
        self.move_to(self.w + share * d_w, self.b + share * d_b, self.scores + share * d_scores)
        return share == 0.0 or (share == 1.0 and bool(np.array_equal(self.beta != 0, active)))

    def _share(self, d_w: Floats, d_values: Floats) -> float:
        """The t where the slope of P(v + t Δv) is about zero; it rises with t."""
        values, along, square = self.scores + self.b, dot(self.w, d_w), dot(d_w, d_w)
        problem = self.problem  # SciPy's search keeps `slope` for a while: it must not keep X

        def slope(t: float) -> float:
            return along + t * square - dot(problem.implied(values + t * d_values), d_values)

        return line_minimum(slope)
