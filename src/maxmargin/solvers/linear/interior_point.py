"""Interior point: the solver of the linear machines with few columns.

Split β = Σ σ α into parts that are not negative: one part where the loss has one side (σ = y of a
classifier), two where it has both. With multipliers z of α ≥ 0 and v of α ≤ c the optimality
conditions of the dual are

    σ (x'w + b) + q α + p − z + v = 0,   w = Σ σ α x,   Σ σ α = 0,   α z = 0,   (c − α) v = 0

with p = ε − σ y. Newton's method on these, with the products held at a μ that falls to zero,
needs Δα = θ (h − σ (x'Δw + Δb)) with θ = 1 / (q + z/α + v/(c − α)), and what remains is a system
in the columns only:

    | I + X'ΘX   X'θ |  | Δw |     | X'g |
    |   θ'X      Σθ  |  | Δb |  =  | Σ g |,      g = σ θ h

so each of the twenty or thirty iterations costs n d² (sparse: the squared row lengths) and d³,
whatever C is: coordinate descent slows down as C grows, this does not.

Where C‖x‖² is beyond the digits of float64, I is lost in X'ΘX. In the principal axes of the rows,
X = U S V' with f = U t + b and w = V S⁻¹ t, it is not: the penalty is ½ Σ t²/s², the columns of U
are orthonormal, and the system has S⁻² + U'ΘU.

References: S. Mehrotra, On the implementation of a primal-dual interior point method, SIAM J.
Optim. 2 (1992), 575–601. M. C. Ferris, T. S. Munson, Interior-point methods for massive support
vector machines, SIAM J. Optim. 13 (2002), 783–804.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, pinvh, svd

from maxmargin.gram.data_matrix import DataMatrix, dot
from maxmargin.problem import LinearProblem
from maxmargin.resources.arrays import Floats
from maxmargin.solvers.driver import CLOCK
from maxmargin.solvers.line_search import SHORT, way
from maxmargin.solvers.linear.conjugate_gradients import minimise_on_face
from maxmargin.solvers.linear.solver import LinearSolver
from maxmargin.solvers.linear.state import LinearState
from maxmargin.solvers.state import Moves

Direction = tuple[Floats, Floats, Floats, Floats, float]  # of α, z, v, w and b
LinearSystem = Callable[[Floats, Floats], Direction]  # by its right-hand side

FEASIBLE = 0.01  # violation of the first condition, relative to p, below which m μ is the gap
LOST = 1e3  # the same: rounding errors have taken over
ROUGHLY = 1e-3  # of the objective: from there on each point is measured, for it may be the best
REFINEMENTS = 1  # of each solution of the linear system
SINGULAR, BALANCING = 1e-12, 3  # relative eigenvalues that count as zero, and steps of refinement


@dataclass(frozen=True)
class LinearInteriorPoint(LinearSolver):
    """Mehrotra's predictor-corrector method in the space of the columns.

    Parameters
    ----------
    principal : bool, default=False
        Whether to work in the principal axes of the rows, which takes a dense copy of them: for a
        C‖x‖² of more than some ten decades.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from maxmargin import LinearSVC
    >>> X, y = make_classification(200, 5, flip_y=0.1, random_state=0)
    >>> LinearSVC(solver=LinearInteriorPoint(), loss="hinge").fit(X, y).certificate_.status.value
    'converged'
    """

    principal: bool = False

    def iterate(self, state: LinearState) -> Moves:
        axes = principal_axes(state.problem, state.rows) if self.principal else None
        now = Interior(state.problem, axes or Axes(state.rows, np.ones(state.rows.d)))
        near, gap, smallest = False, np.inf, np.inf
        while True:
            before = now.mu
            try:
                now.step()
            except LinAlgError:
                break
            smallest = min(smallest, now.infeasible)
            if (near and not now.mu < 0.5 * before) or not now.infeasible <= LOST + LOST * smallest:
                break
            state.steps += 1
            state.beta, state.coef = now.beta(), now.axes.model(now.w)
            left, value = now.mu * len(now.alpha), abs(now.value())
            near = left <= max(state.aim, 1e-9) * value and now.infeasible <= FEASIBLE
            yield None if near or left <= ROUGHLY * value else CLOCK
            if near and state.now.values.relative_gap >= gap:
                break
            gap = state.now.values.relative_gap if near else gap
        # θ spans more magnitudes than float64 has digits, but the free variables are identified.
        free = minimise_on_face(state.problem, state.rows, state.best.beta, remaining=1e-14)
        state.beta, state.coef = free, None
        yield
        return None


class Axes(NamedTuple):
    """Coordinates t of the model: its values are `rows` t + b, and ‖w‖² is Σ `penalty` t².

    `basis` has w = `basis` t; None where t is w itself.
    """

    rows: DataMatrix
    penalty: Floats
    basis: Floats | None = None

    def model(self, t: Floats) -> Floats:
        """w."""
        return t if self.basis is None else self.basis @ t


def principal_axes(problem: LinearProblem, rows: DataMatrix) -> Axes:
    """Those of the rows; about their mean, where an offset is free to move with it."""
    X = rows.X.toarray() if rows.sparse else rows.X
    X = X - X.mean(axis=0, dtype=np.float64) if problem.fit_intercept else np.asarray(X, np.float64)
    U, s, V = svd(X, full_matrices=False, check_finite=False)
    kept = s > np.finfo(float).eps * s.max(initial=0.0)
    return Axes(DataMatrix(np.ascontiguousarray(U[:, kept])), s[kept] ** -2.0, V[kept].T / s[kept])


class Interior:
    """α strictly inside its box, multipliers z and v, and the model w, b in the given axes."""

    def __init__(self, problem: LinearProblem, axes: Axes) -> None:
        self.problem, self.axes, self.rows, self.penalty = problem, axes, axes.rows, axes.penalty
        rows = axes.rows
        lower, upper = problem.bounds
        up, down = np.flatnonzero(upper > 0), np.flatnonzero(lower < 0)
        self.part = np.concatenate([up, down])  # the row behind each α
        self.sign = np.repeat([1.0, -1.0], [len(up), len(down)])
        self.most = np.concatenate([upper[up], -lower[down]])
        self.boxed = bool(np.isfinite(self.most).all())
        self.q = problem.curvature[self.part]
        self.p = problem.loss.epsilon - self.sign * problem.y[self.part]
        # Well centred: steps from a good point near the bounds would be short.
        self.alpha = 0.5 * self.most if self.boxed else np.ones(len(self.part))
        self.room = self.alpha.copy()  # c − α, updated by itself: the difference cancels near c
        # What α implies is beyond all measure in principal axes, where the penalty is small.
        implied = axes.basis is None
        self.w = rows.combine(self.fold(self.alpha)) if implied else np.zeros(rows.d)
        self.b = 0.0
        # The first condition holds from the start, in whatever units the rows are.
        slope = self.slope()
        typical = float(np.abs(slope).mean()) or 1.0
        self.z = np.maximum(slope, 0.0) + typical
        self.v = self.boxed * (np.maximum(-slope, 0.0) + typical)
        self.infeasible = np.inf

    def fold(self, alpha: Floats) -> Floats:
        """Σ σ α over the parts of each row."""
        return np.bincount(self.part, self.sign * alpha, self.rows.n).astype(float, copy=False)

    def slope(self) -> Floats:
        """Of the dual's negative along each α, given w and b."""
        scores = self.rows.scores(self.w) + self.b
        slope: Floats = self.sign * scores[self.part] + self.q * self.alpha + self.p
        return slope

    @property
    def mu(self) -> float:
        """Mean of the products that vanish at the optimum."""
        return (dot(self.alpha, self.z) + dot(self.room, self.v)) / len(self.alpha)

    def value(self) -> float:
        """The dual's negative."""
        quadratic = 0.5 * (dot(self.penalty * self.w, self.w) + dot(self.q, self.alpha**2))
        return quadratic + dot(self.p, self.alpha)

    def beta(self) -> Floats:
        """β, with parts whose multiplier exceeds their distance to a bound set to it."""
        alpha, reach = self.alpha, np.minimum(self.most, self.alpha.max())
        alpha = np.where(alpha < self.z * reach, 0.0, alpha)
        if self.boxed:
            alpha = np.where(self.room < self.v * reach, self.most, alpha)
        if self.axes.basis is None:
            return self.fold(alpha)
        return max(self._balanced(alpha), self._balanced(self.alpha), key=self._bound)

    def _bound(self, beta: Floats) -> float:
        """D."""
        beta = self.problem.feasible(beta)
        return self.problem.value(beta, self.rows.combine(beta) / np.sqrt(self.penalty))

    def _balanced(self, alpha: Floats) -> Floats:
        """β of α, moved inside the box until Xᵀβ is that of the model and Σβ = 0.

        ½‖Xᵀβ‖² is what a dual value has to lose: with s² of 10²⁰ every digit of Xᵀβ counts.
        """
        beta, free = self.fold(alpha), np.flatnonzero((alpha > 0) & (alpha < self.most))
        room, some = np.minimum(alpha, self.most - alpha)[free], self.part[free]
        A = np.column_stack([self.rows.X[some], np.full(len(some), self.problem.fit_intercept)])
        A *= room[:, None]
        inverse = pinvh(A.T @ A, rtol=SINGULAR, check_finite=False)
        for _ in range(BALANCING):
            behind = np.append(self.penalty * self.w - self.rows.combine(beta), -beta.sum())
            step = room * (A @ (inverse @ behind))
            beta = beta + np.bincount(some, step, self.rows.n)
        return beta

    def step(self) -> None:
        """A predictor step with μ = 0 sets the next μ; the corrector step is taken."""
        room, mu = self.room, self.mu
        theta = 1 / (self.q + self.z / self.alpha + self.v / room)
        solve = self._newton(theta)
        d_alpha, d_z, d_v, *_ = solve(-self.alpha * self.z, -room * self.v)
        share = self._reach(d_alpha, d_z, d_v)
        ahead = dot(self.alpha + share * d_alpha, self.z + share * d_z)
        if self.boxed:
            ahead += dot(room - share * d_alpha, self.v + share * d_v)
        centre = (ahead / len(self.alpha) / mu) ** 3 * mu / (1 + self.boxed)
        d_alpha, d_z, d_v, d_w, d_b = solve(
            centre - self.alpha * self.z - d_alpha * d_z,
            self.boxed * (centre - room * self.v + d_alpha * d_v),
        )
        share = min(1.0, SHORT * self._reach(d_alpha, d_z, d_v))
        self.alpha += share * d_alpha
        self.room -= self.boxed * share * d_alpha
        self.z += share * d_z
        self.v += share * d_v
        self.b += share * d_b
        self.w = self.w + share * d_w
        self.infeasible *= 1 - share

    def _newton(self, theta: Floats) -> LinearSystem:
        """The solver of the linear system at this point, for any right-hand side."""
        rows, sign, part = self.rows, self.sign, self.part
        room, residual = self.room, self.slope() - self.z + self.v
        self.infeasible = float(np.abs(residual).max()) / (float(np.abs(self.p).max()) or 1.0)
        beta = self.fold(self.alpha)
        missing, behind = -float(beta.sum()), rows.combine(beta) - self.penalty * self.w
        by_row: Floats = np.bincount(part, theta, rows.n).astype(float, copy=False)
        column, total = rows.combine(by_row), float(by_row.sum())
        if not (total > 0 and self.mu > 0):
            raise LinAlgError("no digits are left of θ, or of μ")
        centre = column / total if self.problem.fit_intercept else np.zeros(rows.d)
        matrix = rows.scatter(by_row, centre)  # with b eliminated, if there is one
        diagonal = np.diag_indices_from(matrix)
        # Relative to the diagonal, whatever a column's unit is.
        matrix[diagonal] += self.penalty + 1e-15 * rows.d * matrix[diagonal]
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

        def solve(at_zero: Floats, at_most: Floats) -> Direction:
            h = at_zero / self.alpha - at_most / room - residual
            d_w, d_b, d_alpha = np.zeros(rows.d), 0.0, theta * h
            for _ in range(1 + REFINEMENTS):  # of Δw = Σ σ Δα x and Σ σ (α + Δα) = 0
                moves = self.fold(d_alpha)
                right_b = float(moves.sum()) - missing if self.problem.fit_intercept else 0.0
                right = rows.combine(moves) + behind - self.penalty * d_w - centre * right_b
                more = cho_solve(factor, right, check_finite=False)
                d_w, d_b = d_w + more, d_b + right_b / total - dot(centre, more)
                d_alpha = theta * (h - sign * (rows.scores(d_w) + d_b)[part])
            d_z = (at_zero - self.z * d_alpha) / self.alpha
            d_v = (at_most + self.v * d_alpha) / room
            return d_alpha, d_z, d_v, d_w, d_b

        return solve

    def _reach(self, d_alpha: Floats, d_z: Floats, d_v: Floats) -> float:
        """The share of the step that makes the first of α, c − α, z, v zero; at most 1."""
        pairs = [(self.alpha, d_alpha), (self.z, d_z)]
        if self.boxed:
            pairs += [(self.room, -d_alpha), (self.v, d_v)]
        return min(way(x, dx) for x, dx in pairs)
