"""Newton's method for ‖w‖₁ + Σ c_i L, on the columns that matter: the solver of penalty="l1".

Between the places where its quadratic pieces meet, the loss is a quadratic; only ‖w‖₁ has kinks.
With β_i = −c_i L'(y_i, f_i), θ_i = c_i L'' (c_i / κ for the rows that pay, else 0), the θ-weighted
mean m of the rows, and b at its best for every w, the model of P around w is

    q(x) = ½ (x − w)ᵀH(x − w) − gᵀ(x − w) + ‖x‖₁,
    H = Σ θ_i (x_i − m)(x_i − m)ᵀ,   g = Xᵀβ − m Σβ.

Few columns have w_j ≠ 0 in the end, so that H is needed on these and some candidates only:

    repeat
        A = the columns with w_j ≠ 0, and as many again that violate their condition most
        repeat, on A alone
            x = the minimiser of q
            t = where P(w + t (x − w)) is smallest, 0 < t ≤ 1
            w, b += t (their change)
        until A violates its conditions a tenth as much as all did

x is found by coordinate descent on q, which costs |A| per coordinate whatever the number of rows;
and, once it is known which x_j are zero, by solving for the others: as far along the step as no
x_j changes its sign.

References: G.-X. Yuan, C.-H. Ho, C.-J. Lin, An improved GLMNET for L1-regularized logistic
regression, JMLR 13 (2012), 1999–2030. M. Massias, A. Gramfort, J. Salmon, Celer: a fast solver for
the lasso with dual extrapolation, ICML 2018 (working sets).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from maxmargin.core import native
from maxmargin.gram.data_matrix import DataMatrix, Scatter, dot
from maxmargin.problem import L1Problem
from maxmargin.problem.l1 import L1Point, column_violations
from maxmargin.resources.arrays import Floats, Numbers
from maxmargin.solvers.driver import CLOCK
from maxmargin.solvers.line_search import line_minimum
from maxmargin.solvers.linear.solver import LinearSolver
from maxmargin.solvers.state import Moves

CANDIDATES = 50  # columns to begin with, of many
FEW = 200  # columns: choosing among them costs more than it saves
MOST_COLUMNS = 2000  # at once: H has the square of it
ENOUGH = 0.1  # share of the worst violation that remains on the chosen columns
NEWTON_STEPS = 20  # with the same columns
INNER = 0.1  # largest share of the columns' violation that remains in the model q
SWEEPS, ROUNDS = 100, 20  # of coordinate descent between two linear systems; how often both
STRAIGHT = 0.1  # share of the first slope that may remain after a line search
JITTER = 1e-12  # of the mean diagonal: H may be singular


@dataclass(frozen=True)
class L1Newton(LinearSolver):
    """Proximal Newton on working sets of columns; takes an `L1Problem`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from maxmargin import LinearSVC
    >>> X, y = make_classification(200, 5, flip_y=0.1, random_state=0)
    >>> machine = LinearSVC(penalty="l1", dual=False).fit(X, y)
    >>> machine.certificate_.status.value  # it was trained by L1Newton
    'converged'
    """

    takes: ClassVar[tuple[type, type]] = (L1Problem, DataMatrix)

    def iterate(self, state: Any) -> Moves:
        part = None
        while True:
            now: L1Point = state.now
            chosen = working_set(now)
            if part is None or not np.array_equal(chosen, part.chosen):
                part = ColumnIterate(state.problem, state.rows, chosen)
            part.begin(now)
            enough = ENOUGH * now.values.violation
            for _ in range(NEWTON_STEPS):
                moved = part.step()
                state.steps += part.columns.stored / max(state.rows.stored, 1)
                if not moved or part.violation <= enough:
                    break
                yield CLOCK
            state.steps += 1
            state.coef = now.coef.copy()
            state.coef[chosen] = part.w
            yield
            if np.array_equal(state.coef, now.coef):
                return None


def working_set(point: L1Point) -> Numbers:
    """The columns with w_j ≠ 0, and at least as many again of those that violate most."""
    violations, used = column_violations(point.coef, point.slopes), np.flatnonzero(point.coef)
    if len(violations) <= FEW:
        return np.arange(len(violations))
    size = min(max(CANDIDATES, 2 * len(used)), MOST_COLUMNS, len(violations))
    rank = violations.copy()
    if len(used) <= size:
        rank[used] = np.inf
    return np.sort(np.argpartition(-rank, size - 1)[:size])


class ColumnIterate:
    """The model on some columns: w on these, b, the scores, and the β that they imply."""

    def __init__(self, problem: L1Problem, rows: DataMatrix, chosen: Numbers) -> None:
        self.problem, self.chosen, self.columns = problem, chosen, rows.columns(chosen)
        self.scatter = Scatter(self.columns, problem.fit_intercept)

    def begin(self, point: L1Point) -> None:
        """Go on from here."""
        self.b, self.scores = point.offset, point.scores
        self._move_to(point.coef[self.chosen])

    def _move_to(self, w: Floats) -> None:
        self.w = w
        self.beta = self.problem.implied(self.scores + self.b)
        self.slopes = self.columns.combine(self.beta)

    @property
    def violation(self) -> float:
        """The worst of these columns' conditions, and of that of b."""
        return float(column_violations(self.w, self.slopes).max(initial=0))

    def step(self) -> bool:
        """One step of Newton's method; returns whether it moved."""
        problem, columns = self.problem, self.columns
        theta = np.where(self.beta != 0, 1 / problem.curvature, 0.0)
        total, (H, centre) = float(theta.sum()), self.scatter.of(theta)
        lack = float(self.beta.sum()) if problem.fit_intercept and total > 0 else 0.0
        gradient = centre * lack - self.slopes
        # Ever more exactly: the last steps then bring as many digits as Newton's method should.
        enough = min(INNER, self.violation) * self.violation
        x = minimise_model(H, gradient, self.w, enough)
        d_w = x - self.w
        d_b = lack / total - dot(centre, d_w) if problem.fit_intercept and total > 0 else 0.0
        d_scores = columns.scores(d_w)
        share = self._share(d_w, d_scores + d_b)
        self.b += share * d_b
        self.scores = self.scores + share * d_scores
        self._move_to(x if share == 1 else self.w + share * d_w)
        return share > 0 and bool(d_w.any() or d_b)

    def _share(self, d_w: Floats, d_values: Floats) -> float:
        """The t ≤ 1 where P is smallest along the step, by its slope just before t."""
        values, rises = self.scores + self.b, np.abs(d_w)
        turns = np.where(d_w != 0, -self.w / np.where(d_w != 0, d_w, 1.0), 0.0)

        def slope(t: float) -> float:
            penalty = float(np.where(t > turns, rises, -rises).sum())
            return penalty - dot(self.problem.implied(values + t * d_values), d_values)

        return 1.0 if slope(1.0) <= 0 else line_minimum(slope, STRAIGHT)


def minimise_model(H: Floats, gradient: Floats, w: Floats, enough: float) -> Floats:
    """The minimiser of q, whose smooth part has this gradient at w."""
    x, slope = w.copy(), gradient.copy()
    for _ in range(ROUNDS):
        if native.descend_l1(H, x, slope, enough, SWEEPS) <= enough:
            break
        solve_on_face(H, x, slope)
    return x


def solve_on_face(H: Floats, x: Floats, slope: Floats) -> None:
    """Minimise q over the x_j ≠ 0, each keeping its sign: one that comes to 0 stays there."""
    while len(free := np.flatnonzero(x)):
        matrix, rest = H[np.ix_(free, free)], slope[free] + np.sign(x[free])
        jitter = JITTER * float(np.trace(matrix)) / len(free)
        try:
            factor = cho_factor(matrix + jitter * np.eye(len(free)), check_finite=False)
        except LinAlgError:
            return
        step = -cho_solve(factor, rest, check_finite=False)
        along, curvature = -dot(rest, step), dot(step, matrix @ step)
        if not along > 0:
            return
        inward = step * x[free] < 0
        room = np.where(inward, -x[free] / np.where(inward, step, -1.0), np.inf)
        share = min(along / curvature if curvature > 0 else np.inf, float(room.min()))
        if not np.isfinite(share):
            return
        x[free] = np.where(room <= share, 0.0, x[free] + share * step)
        slope += share * (step @ H[free])
        if room.min() > share:
            return
