"""Proximal steps, each by Newton's method in the space of the features: K̂ = ZZᵀ, Z = φ(X), n × D.

With few columns the dual problem in n variables is better solved for w and b. A proximal step
from the dual point β⁰,

    minimise  ½βᵀK̂β + pᵀβ + ½δ‖β − β⁰‖²   over the box,   the sum in the sense of multipliers,

is in the primal the smooth problem

    minimise  ψ(w, b) = ½‖w‖² + Σ_i max_{l ≤ t ≤ u} (r_i t − ½δ(t − β⁰_i)²) + (b − b⁰)²/2κ²,

r_i = −(p_i + z_iᵀw + b), whose maximisers are β_i = clip(β⁰_i + r_i/δ, l_i, u_i). The hinge has
become round over a width of δC. The gradient is w − Zᵀβ, and only the variables strictly inside
their box (a few, near the margin) bend ψ:

    repeat
        repeat                                                               (Newton)
            F = the rows whose β is free,  Ẑ = (Z_F, κ)
            solve (δI + ẐᵀẐ) d = −δ∇ψ, by the identity of Woodbury with ẐẐᵀ if that is smaller
            (w, b) += t d with the t that minimises ψ along d, found by its slope alone
        until ‖∇ψ‖² is small beside the duality gap
        β⁰ = β,  b⁰ = b,  δ a little smaller                                 (proximal step)

A Newton step costs one product Zd; of ẐᵀẐ and of Zᵀβ only the rows that have changed are computed.
The proximal steps lead to the exact solution, which making the hinge less and less round does
only slowly.

References: R. T. Rockafellar, Augmented Lagrangians and applications of the proximal point
algorithm, Math. of OR 1 (1976), 97–116. X. Li, D. Sun, K.-C. Toh, A highly efficient semismooth
Newton augmented Lagrangian method, SIAM J. Optim. 28 (2018), 433–458. O. Chapelle, Training a
support vector machine in the primal, Neural Computation 19 (2007), 1155–1178.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk, ssyrk

from maxmargin.compiled import compiled
from maxmargin.problem import DualProblem
from maxmargin.resources import run_all

WIDTH = 0.5  # δC: over how much of the margin the hinge is round
SHRINK = 0.7  # of δ, from one proximal step to the next
KAPPA = 1.0
INNER = 0.5  # ‖∇ψ‖² relative to the gap at which a proximal step is done
ROUNDING = 1e-20  # ‖∇ψ‖² relative to the primal value that is none


class ProximalNewton:
    """(w, b) on its way, and the dual point that goes with it.

    Parameters
    ----------
    problem : DualProblem of one group or none
    gram : FeatureGram
    w, b : where to begin
    width : δ times the mean length of the box
    anchor : β⁰, 0 by default
    """

    def __init__(
        self,
        problem: DualProblem,
        gram: Any,
        w: np.ndarray,
        b: float,
        width: float,
        anchor: np.ndarray | None = None,
    ) -> None:
        self.problem, self.gram = problem, gram
        self.w, self.b = w, b
        self.scores = gram.scores(w)
        length = problem.upper - problem.lower
        self.delta = width / (float(length[length > 0].mean()) if length.any() else 1.0)
        self.kappa = KAPPA if problem.n_groups else 0.0
        self.anchor = np.zeros(problem.size) if anchor is None else anchor
        self.anchor_b = b
        self.beta, self.image = np.zeros(problem.size), np.zeros(gram.columns)  # β, Zᵀβ
        self.counts = np.zeros(gram.n, int)
        self.look()

    def look(self) -> None:
        """β from (w, b), and what follows from it."""
        problem = self.problem
        self.residual = -(problem.on_variables(self.scores) + problem.linear + self.b)
        self.reach = self.anchor + self.residual / self.delta  # β before it is cut
        beta = np.clip(self.reach, problem.lower, problem.upper)
        self.image = self.image + image(problem, self.gram, beta - self.beta)
        self.beta = beta
        self.lack = float(beta.sum() - problem.sums[0]) if problem.n_groups else 0.0
        loss = self.residual * np.where(self.residual > 0, problem.upper, problem.lower)
        self.primal = 0.5 * float(self.w @ self.w) + float(loss.sum())
        shift = (self.b - self.anchor_b) / self.kappa if self.kappa else 0.0
        self.slope = np.append(self.w - self.image, shift - self.kappa * self.lack)  # ∇ψ

    @property
    def gap(self) -> float:
        """The relative gap of (w, b) and β; what Σβ lacks is counted at the price of b."""
        dual = -float(self.problem.linear @ self.beta) - 0.5 * float(self.image @ self.image)
        dual -= abs(self.lack * self.b)
        return (self.primal - dual) / max(abs(self.primal), abs(dual), 1e-300)

    def step(self) -> None:
        """One step of Newton's method."""
        problem = self.problem
        free = np.flatnonzero((self.reach > problem.lower) & (self.reach < problem.upper))
        move = -self._solve(problem.row_of(free))
        change = self.gram.scores(move[:-1])
        db = self.kappa * float(move[-1])
        along = -(problem.on_variables(change) + db) / self.delta
        here = np.append(self.w, (self.b - self.anchor_b) / self.kappa if self.kappa else 0.0)
        t = line_minimum(
            self.reach, along, problem.lower, problem.upper, self.delta, here @ move, move @ move
        )
        self.w = self.w + t * move[:-1]
        self.b += t * db
        self.scores += t * change
        self.look()

    def _solve(self, rows: np.ndarray) -> np.ndarray:
        """(δI + ẐᵀẐ)⁻¹ δ∇ψ."""
        gram, delta, g = self.gram, self.delta, self.slope
        size = len(g)
        if len(rows) < size:
            if len(rows) == 0:
                return g
            parts = list(gram.blocks(rows))
            Z = parts[0] if len(parts) == 1 else np.vstack(parts)
            syrk = ssyrk if Z.dtype == np.float32 else dsyrk
            H = syrk(1.0, Z.T, trans=1, lower=1).astype(np.float64) + self.kappa**2
            H[np.diag_indices_from(H)] += delta
            x = solved(H, Z @ g[:-1].astype(Z.dtype) + self.kappa * g[-1])
            return g - np.append(x.astype(Z.dtype) @ Z, self.kappa * x.sum())
        self._update(rows)
        H = self.matrix.copy(order="F")
        H[np.diag_indices_from(H)] += delta
        return solved(H, delta * g)

    def _update(self, rows: np.ndarray) -> None:
        """The lower half of ẐᵀẐ, from scratch or by the rows that came and went."""
        counts = np.bincount(rows, minlength=self.gram.n)
        change = counts - self.counts
        if np.abs(change).sum() >= len(rows):
            self.matrix = np.zeros((len(self.slope),) * 2, order="F")
            change = counts
        self.counts = counts
        for sign in (1, -1):
            some = np.flatnonzero(sign * change > 0)
            for Z in self.gram.blocks(np.repeat(some, np.abs(change[some]))):
                for product in products(Z, self.gram.threads):
                    self.matrix[:-1, :-1] += sign * product
                self.matrix[-1, :-1] += sign * self.kappa * Z.sum(axis=0, dtype=np.float64)
        self.matrix[-1, -1] = self.kappa**2 * len(rows)

    def rounds(self, offset: bool = True) -> Iterator[bool]:
        """Steps of Newton's method for ever; yields True where a proximal step is done.

        The next one begins from there; if no `offset` is wanted, with the same b⁰.
        """
        while True:
            enough = max(INNER * self.gap, ROUNDING) * self.primal
            done = bool(self.slope @ self.slope <= enough)
            yield done
            if done:
                self.anchor = self.beta
                self.anchor_b = self.b if offset else self.anchor_b
                self.delta *= SHRINK
                self.look()
            self.step()


def products(Z: np.ndarray, threads: int) -> list[np.ndarray]:
    """The lower halves of matrices that sum to ZᵀZ, one per thread."""
    syrk = ssyrk if Z.dtype == np.float32 else dsyrk
    shares = np.array_split(Z, threads)
    results: list[np.ndarray] = [np.zeros(0)] * threads

    def fill(number: int) -> None:
        results[number] = syrk(1.0, shares[number].T, lower=1)

    run_all(fill, [(number,) for number in range(threads)], threads)
    return results


def image(problem: DualProblem, gram: Any, beta: np.ndarray) -> np.ndarray:
    """Zᵀβ for a vector over the variables."""
    if problem.rows is not None:
        beta = np.bincount(problem.rows, beta, gram.n)
    rows = np.flatnonzero(beta)
    return gram.combine(rows, beta[rows])


def solved(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    """H⁻¹g for a positive definite H, of which the lower half is read."""
    try:
        factor = cho_factor(H, lower=True, check_finite=False)
    except LinAlgError:  # the products were in float32
        H[np.diag_indices_from(H)] += 1e-5 * H.diagonal().max()
        factor = cho_factor(H, lower=True, check_finite=False)
    return cho_solve(factor, g, check_finite=False)


def line_minimum(
    reach: np.ndarray,
    along: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    delta: float,
    linear: float,
    square: float,
) -> float:
    """The t at which ψ is smallest along a direction: where its slope, which rises, is zero.

    The slope is linear + t square + δ Σ along_i clip(reach_i + t along_i). By false position
    (with Illinois's halving) until it is a twentieth of what it was.
    """

    def slope(t: float) -> float:
        return linear + t * square + delta * clipped_sum(reach, along, lower, upper, t)

    low, high = 0.0, 1.0
    at_low, at_high = slope(low), slope(high)
    aim = 0.05 * abs(at_low)
    while at_high < -aim and high < 64:
        low, at_low, high = high, at_high, 2 * high
        at_high = slope(high)
    side = 0
    for _ in range(50):
        if abs(at_high) <= aim:
            return high
        t = (low * at_high - high * at_low) / (at_high - at_low)
        at = slope(t)
        if abs(at) <= aim:
            return t
        if at < 0:
            low, at_low, at_high = t, at, at_high * (0.5 if side < 0 else 1.0)
            side = -1
        else:
            high, at_high, at_low = t, at, at_low * (0.5 if side > 0 else 1.0)
            side = 1
    return low


@compiled(fastmath={"reassoc", "contract"})
def clipped_sum(reach, along, lower, upper, t):
    """Σ along_i clip(reach_i + t along_i, lower_i, upper_i)."""
    total = 0.0
    for i in range(len(reach)):
        total += along[i] * min(max(reach[i] + t * along[i], lower[i]), upper[i])
    return total
