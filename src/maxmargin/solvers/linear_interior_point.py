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

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from maxmargin.primal import PrimalProblem
from maxmargin.rows import Rows, dot
from maxmargin.solvers.face import minimise_on_face
from maxmargin.solvers.linear import LinearSolver, LinearState

Direction = tuple[np.ndarray, np.ndarray, np.ndarray, float]  # of α, z, v and b
Newton = Callable[[np.ndarray, np.ndarray], Direction]

FEASIBLE = 0.01  # violation of the first condition, relative to p, below which μ tells the gap
TO_THE_WALL = 0.995  # share of the way to the nearest bound that a step may go


@dataclass(frozen=True)
class LinearInteriorPoint(LinearSolver):
    """Mehrotra's predictor-corrector method in the space of the columns."""

    def iterate(self, state: LinearState) -> Iterator[bool]:
        now, near, gap = Interior(state.problem, state.rows), False, np.inf
        while True:
            before = now.mu
            try:
                now.step()
            except LinAlgError:
                break
            if near and not now.mu < 0.5 * before:
                break
            state.passes += 1
            state.beta, state.coef = now.beta(), now.w
            enough = max(state.aim, 1e-9) * abs(now.value())
            near = now.mu * len(now.alpha) <= enough and now.infeasible <= FEASIBLE
            yield near
            if near and state.now.relative_gap >= gap:
                break
            gap = state.now.relative_gap if near else gap
        # θ spans more magnitudes than float64 has digits; but it is known by now who is free.
        free = minimise_on_face(state.problem, state.rows, state.best.beta, remaining=1e-14)
        state.beta, state.coef = free, None
        yield True


class Interior:
    """α strictly inside its box, multipliers z and v, and the model w, b."""

    def __init__(self, problem: PrimalProblem, rows: Rows) -> None:
        self.problem, self.rows = problem, rows
        lower, upper = problem.bounds
        up, down = np.flatnonzero(upper > 0), np.flatnonzero(lower < 0)
        self.part = np.concatenate([up, down])  # the row behind each α
        self.sign = np.repeat([1.0, -1.0], [len(up), len(down)])
        self.most = np.concatenate([upper[up], -lower[down]])
        self.boxed = bool(np.isfinite(self.most).all())
        self.q = problem.curvature[self.part]
        self.p = problem.loss.epsilon - self.sign * problem.y[self.part]
        # Far from feasible but well centred: better than a good point near the walls.
        self.alpha = 0.5 * self.most if self.boxed else np.ones(len(self.part))
        self.room = self.alpha.copy()  # c − α, kept by itself: near c a difference has no digits
        self.z = np.ones(len(self.part))
        self.v = self.boxed * np.ones(len(self.part))
        self.w, self.b = rows.combine(self.fold(self.alpha)), 0.0
        self.infeasible = np.inf

    def fold(self, alpha: np.ndarray) -> np.ndarray:
        """Σ σ α over the parts of each row."""
        return np.bincount(self.part, self.sign * alpha, self.rows.n)

    def slope(self) -> np.ndarray:
        """Of the dual's negative along each α, given w and b."""
        scores = self.rows.scores(self.w) + self.b
        return self.sign * scores[self.part] + self.q * self.alpha + self.p

    @property
    def mu(self) -> float:
        """Mean of the products that vanish at the optimum."""
        return (dot(self.alpha, self.z) + dot(self.room, self.v)) / len(self.alpha)

    def value(self) -> float:
        """The dual's negative."""
        quadratic = 0.5 * (dot(self.w, self.w) + dot(self.q, self.alpha**2))
        return quadratic + dot(self.p, self.alpha)

    def beta(self) -> np.ndarray:
        """β, with the parts that are going to a bound set on it."""
        alpha, reach = self.alpha, self.most if self.boxed else self.alpha.mean()
        alpha = np.where(alpha < self.z * reach, 0.0, alpha)
        if self.boxed:
            alpha = np.where(self.room < self.v * reach, self.most, alpha)
        return self.fold(alpha)

    def step(self) -> None:
        """Predict with μ = 0 to see how far one can go, then correct toward the centre."""
        room, mu = self.room, self.mu
        theta = 1 / (self.q + self.z / self.alpha + self.v / room)
        solve = self._newton(theta)
        d_alpha, d_z, d_v, _ = solve(-self.alpha * self.z, -room * self.v)
        share = self._reach(d_alpha, d_z, d_v)
        ahead = dot(self.alpha + share * d_alpha, self.z + share * d_z)
        if self.boxed:
            ahead += dot(room - share * d_alpha, self.v + share * d_v)
        centre = (ahead / len(self.alpha) / mu) ** 3 * mu / (1 + self.boxed)
        d_alpha, d_z, d_v, d_b = solve(
            centre - self.alpha * self.z - d_alpha * d_z,
            self.boxed * (centre - room * self.v + d_alpha * d_v),
        )
        share = min(1.0, TO_THE_WALL * self._reach(d_alpha, d_z, d_v))
        self.alpha += share * d_alpha
        self.room -= self.boxed * share * d_alpha
        self.z += share * d_z
        self.v += share * d_v
        self.b += share * d_b
        self.w = self.rows.combine(self.fold(self.alpha))
        self.infeasible *= 1 - share

    def _newton(self, theta: np.ndarray) -> Newton:
        """The solver of the linear system at this point, for any right-hand side."""
        rows, sign, part = self.rows, self.sign, self.part
        room, residual = self.room, self.slope() - self.z + self.v
        self.infeasible = float(np.abs(residual).max()) / (float(np.abs(self.p).max()) or 1.0)
        missing = -float(self.fold(self.alpha).sum())
        by_row = np.bincount(part, theta, rows.n)
        column, total = rows.combine(by_row), float(by_row.sum())
        centre = column / total if self.problem.fit_intercept else np.zeros(rows.d)
        matrix = rows.scatter(by_row, centre)  # with b eliminated, if there is one
        matrix[np.diag_indices_from(matrix)] += 1.0 + 1e-14 * np.trace(matrix)
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

        def solve(at_zero: np.ndarray, at_most: np.ndarray) -> Direction:
            h = at_zero / self.alpha - at_most / room - residual
            g = self.fold(theta * h)
            lack = float(g.sum()) - missing if self.problem.fit_intercept else 0.0
            d_w = cho_solve(factor, rows.combine(g) - centre * lack, check_finite=False)
            d_b = lack / total - dot(centre, d_w)
            d_alpha = theta * (h - sign * (rows.scores(d_w) + d_b)[part])
            d_z = (at_zero - self.z * d_alpha) / self.alpha
            d_v = (at_most + self.v * d_alpha) / room
            return d_alpha, d_z, d_v, d_b

        return solve

    def _reach(self, d_alpha: np.ndarray, d_z: np.ndarray, d_v: np.ndarray) -> float:
        """The share of the step that makes the first of α, c − α, z, v zero; at most 1."""
        pairs = [(self.alpha, d_alpha), (self.z, d_z)]
        if self.boxed:
            pairs += [(self.room, -d_alpha), (self.v, d_v)]
        # −Δx/x is at most 1/share
        return 1 / max(1.0, *(float(np.max(-dx / x)) for x, dx in pairs))
