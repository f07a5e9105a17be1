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

References: S. Mehrotra, On the implementation of a primal-dual interior point method, SIAM J.
Optim. 2 (1992), 575–601. M. C. Ferris, T. S. Munson, Interior-point methods for massive support
vector machines, SIAM J. Optim. 13 (2002), 783–804.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from maxmargin.gram.data_matrix import DataMatrix, dot
from maxmargin.hardware.arrays import Floats
from maxmargin.problem import LinearProblem
from maxmargin.solvers.driver import CLOCK
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
TO_THE_WALL = 0.995  # of the way to the nearest bound: Mehrotra's; 1 would end on the bound


@dataclass(frozen=True)
class LinearInteriorPoint(LinearSolver):
    """Mehrotra's predictor-corrector method in the space of the columns.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from maxmargin import LinearSVC
    >>> X, y = make_classification(200, 5, flip_y=0.1, random_state=0)
    >>> LinearSVC(solver=LinearInteriorPoint(), loss="hinge").fit(X, y).certificate_.status.value
    'converged'
    """

    def iterate(self, state: LinearState) -> Moves:
        now, near, gap, smallest = Interior(state.problem, state.rows), False, np.inf, np.inf
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
            state.beta, state.coef = now.beta(), now.w
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


class Interior:
    """α strictly inside its box, multipliers z and v, and the model w, b."""

    def __init__(self, problem: LinearProblem, rows: DataMatrix) -> None:
        self.problem, self.rows = problem, rows
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
        self.w, self.b = rows.combine(self.fold(self.alpha)), 0.0
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
        quadratic = 0.5 * (dot(self.w, self.w) + dot(self.q, self.alpha**2))
        return quadratic + dot(self.p, self.alpha)

    def beta(self) -> Floats:
        """β, with parts whose multiplier exceeds their distance to a bound set to it."""
        alpha, reach = self.alpha, self.most if self.boxed else self.alpha.mean()
        alpha = np.where(alpha < self.z * reach, 0.0, alpha)
        if self.boxed:
            alpha = np.where(self.room < self.v * reach, self.most, alpha)
        return self.fold(alpha)

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
        share = min(1.0, TO_THE_WALL * self._reach(d_alpha, d_z, d_v))
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
        missing, behind = -float(beta.sum()), rows.combine(beta) - self.w
        by_row: Floats = np.bincount(part, theta, rows.n).astype(float, copy=False)
        column, total = rows.combine(by_row), float(by_row.sum())
        if not (total > 0 and self.mu > 0):
            raise LinAlgError("no digits are left of θ, or of μ")
        centre = column / total if self.problem.fit_intercept else np.zeros(rows.d)
        matrix = rows.scatter(by_row, centre)  # with b eliminated, if there is one
        diagonal = np.diag_indices_from(matrix)
        matrix[diagonal] += 1.0 + 1e-15 * rows.d * matrix[diagonal]  # whatever a column's unit is
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

        def solve(at_zero: Floats, at_most: Floats) -> Direction:
            h = at_zero / self.alpha - at_most / room - residual
            d_w, d_b, d_alpha = np.zeros(rows.d), 0.0, theta * h
            for _ in range(1 + REFINEMENTS):  # of Δw = Σ σ Δα x and Σ σ (α + Δα) = 0
                moves = self.fold(d_alpha)
                right_b = float(moves.sum()) - missing if self.problem.fit_intercept else 0.0
                right = rows.combine(moves) + behind - d_w - centre * right_b
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
        # −Δx/x is at most 1/share
        return 1 / max(1.0, *(float(np.max(-dx / x)) for x, dx in pairs))
