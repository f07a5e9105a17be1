"""Proximal steps, each by Newton's method in the space of the features: K̂ = ZZᵀ, Z = φ(X), n × D.

With few columns the dual problem in n variables is better solved for w and b. A proximal step
from the dual point β⁰,

    minimise  ½βᵀK̂β + pᵀβ + ½δ‖β − β⁰‖²   over the box,   the sum in the sense of multipliers,

is in the primal the smooth problem

    minimise  ψ(w, b) = ½‖w‖² + Σ_i max_{l ≤ t ≤ u} (r_i t − ½δ(t − β⁰_i)²) + b d + ½(b − b⁰)²,

r_i = −(p_i + z_iᵀw + b), whose maximisers are β_i = clip(β⁰_i + r_i/δ, l_i, u_i). The hinge is
quadratic over a width of δC. The gradient is w − Zᵀβ, and only the variables strictly inside their
box (a few, near the margin) contribute to the curvature of ψ:

    repeat
        repeat                                                               (Newton)
            F = the rows whose β is free,  Ẑ = (Z_F, 1)
            solve (δI + ẐᵀẐ) d = −δ∇ψ, by the identity of Woodbury with ẐẐᵀ if that is smaller
            (w, b) += t d with the t that minimises ψ along d, found by its slope alone
        until ‖∇ψ‖² is small relative to the duality gap
        β⁰ = β,  b⁰ = b,  δ a little smaller                                 (proximal step)

A Newton step costs one product Zd; of ẐᵀẐ and of Zᵀβ only the rows that have changed are computed.
Proximal steps converge to the exact solution faster than δ → 0 alone would.

References: R. T. Rockafellar, Augmented Lagrangians and applications of the proximal point
algorithm, Math. of OR 1 (1976), 97–116. X. Li, D. Sun, K.-C. Toh, A highly efficient semismooth
Newton augmented Lagrangian method, SIAM J. Optim. 28 (2018), 433–458. O. Chapelle, Training a
support vector machine in the primal, Neural Computation 19 (2007), 1155–1178.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk, ssyrk

from maxmargin.core import native
from maxmargin.features.feature_gram import FeatureGram
from maxmargin.problem import DualProblem
from maxmargin.problem.solution import relative_gap
from maxmargin.resources.arrays import Floats, Numbers
from maxmargin.resources.threads import run_all
from maxmargin.solvers.line_search import line_minimum

# Each against another value: docs/how-it-works/speed.md, ablation.
WIDTH = 0.5  # δC: a wide quadratic part makes few Newton steps, a narrow one few proximal steps
SHRINK = 0.7  # of δ per proximal step: without, a fit to tol = 1e-6 takes 2.7 times as long
INNER = 0.5  # ‖∇ψ‖² relative to the gap that ends a proximal step: less gains nothing in the gap
ROUNDING = 1e-20  # ‖∇ψ‖² relative to P that rounding leaves


class ProximalNewton:
    """The iterate (w, b), and its dual point β.

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
        gram: FeatureGram,
        w: Floats,
        b: float,
        width: float,
        anchor: Floats | None = None,
    ) -> None:
        self.problem, self.gram = problem, gram
        self.w, self.b = w, b
        self.scores = gram.scores(w)
        self.delta = width / mean_length(problem)
        self.one = 1.0 if problem.n_groups else 0.0  # the column of b in Ẑ
        self.anchor = np.zeros(problem.size) if anchor is None else anchor
        self.anchor_b = b
        self.beta, self.image = np.zeros(problem.size), np.zeros(gram.columns)  # β, Zᵀβ
        self.counts = np.zeros(gram.n, int)
        self.update()

    def update(self) -> None:
        """β of (w, b), Zᵀβ, P and ∇ψ."""
        problem = self.problem
        self.residual = -(problem.on_variables(self.scores) + problem.linear + self.b)
        self.reach = self.anchor + self.residual / self.delta  # β before clipping
        beta = np.clip(self.reach, problem.lower, problem.upper)
        self.image = self.image + image(problem, self.gram, beta - self.beta)
        self.beta = beta
        self.excess = float(beta.sum() - problem.sums[0]) if problem.n_groups else 0.0
        loss = self.residual * np.where(self.residual > 0, problem.upper, problem.lower)
        self.primal = 0.5 * float(self.w @ self.w) + float(loss.sum())
        self.primal += self.b * float(problem.sums.sum())
        shift = self.one * (self.b - self.anchor_b)
        self.slope = np.append(self.w - self.image, shift - self.one * self.excess)  # ∇ψ

    @property
    def gap(self) -> float:
        """P(w, b) − D(β) + b (Σβ − d), relative: D of a feasible β nearby, to first order; ≥ 0."""
        dual = -float(self.problem.linear @ self.beta) - 0.5 * float(self.image @ self.image)
        return relative_gap(self.primal, dual - self.excess * self.b)

    def step(self) -> None:
        """One step of Newton's method."""
        problem = self.problem
        free = np.flatnonzero(problem.free(self.reach))
        move = -self._solve(problem.row_of(free))
        change = self.gram.scores(move[:-1])
        db = self.one * float(move[-1])
        along = -(problem.on_variables(change) + db) / self.delta
        here = np.append(self.w, self.one * (self.b - self.anchor_b))
        linear = float(here @ move) + db * float(problem.sums.sum())
        square = float(move @ move)

        def slope(t: float) -> float:
            """Of ψ along the step: linear + t square + δ Σ along_i clip(reach_i + t along_i)."""
            box = problem.lower, problem.upper
            return linear + t * square + self.delta * native.clipped_sum(self.reach, along, *box, t)

        t = line_minimum(slope)
        self.w = self.w + t * move[:-1]
        self.b += t * db
        self.scores += t * change
        self.update()

    def _solve(self, rows: Numbers) -> Floats:
        """(δI + ẐᵀẐ)⁻¹ δ∇ψ."""
        gram, delta, g = self.gram, self.delta, self.slope
        size = len(g)
        if len(rows) < size:
            if len(rows) == 0:
                return g
            parts = list(gram.blocks(rows))
            Z = parts[0] if len(parts) == 1 else np.vstack(parts)
            syrk = ssyrk if Z.dtype == np.float32 else dsyrk
            H = syrk(1.0, Z.T, trans=1, lower=1).astype(np.float64) + self.one
            H[np.diag_indices_from(H)] += delta
            x = solved(H, Z @ g[:-1].astype(Z.dtype) + self.one * g[-1])
            part: Floats = np.append(x.astype(Z.dtype) @ Z, self.one * x.sum())
            return g - part
        self._update_matrix(rows)
        H = self.matrix.copy(order="F")
        H[np.diag_indices_from(H)] += delta
        return solved(H, delta * g)

    def _update_matrix(self, rows: Numbers) -> None:
        """The lower half of ẐᵀẐ, from scratch or by the rows that joined and left F."""
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
                self.matrix[-1, :-1] += sign * self.one * Z.sum(axis=0, dtype=np.float64)
        self.matrix[-1, -1] = self.one * len(rows)

    def rounds(self, offset: bool = True) -> Iterator[bool]:
        """Newton steps without end; yields True where a proximal step is done.

        The next one begins there; without `offset`, with the same b⁰.
        """
        while True:
            enough = max(INNER * self.gap, ROUNDING) * abs(self.primal)
            done = bool(self.slope @ self.slope <= enough)
            yield done
            if done:
                self.anchor = self.beta
                self.anchor_b = self.b if offset else self.anchor_b
                self.delta *= SHRINK
                self.update()
            self.step()


def mean_length(problem: DualProblem) -> float:
    """The mean length u − l of the boxes that have one."""
    length = problem.upper - problem.lower
    return float(length[length > 0].mean()) if length.any() else 1.0


def products(Z: Floats, threads: int) -> list[Floats]:
    """The lower halves of matrices that sum to ZᵀZ, one per thread."""
    syrk = ssyrk if Z.dtype == np.float32 else dsyrk
    shares = np.array_split(Z, threads)
    results: list[Floats] = [np.zeros(0)] * threads

    def fill(number: int) -> None:
        results[number] = syrk(1.0, shares[number].T, lower=1)

    run_all(fill, [(number,) for number in range(threads)], threads)
    return results


def image(problem: DualProblem, gram: FeatureGram, beta: Floats) -> Floats:
    """Zᵀβ for a vector over the variables."""
    coef = problem.on_rows(beta)
    rows = np.flatnonzero(coef)
    return gram.combine(rows, coef[rows])


def solved(H: Floats, g: Floats) -> Floats:
    """H⁻¹g for a positive definite H, of which the lower half is read."""
    try:
        factor = cho_factor(H, lower=True, check_finite=False)
    except LinAlgError:  # rounding of products in float32
        H[np.diag_indices_from(H)] += 1e-5 * H.diagonal().max()
        factor = cho_factor(H, lower=True, check_finite=False)
    x: Floats = cho_solve(factor, g, check_finite=False)
    return x
