"""Mehrotra's predictor-corrector method on a block of the dual whose matrix is held whole.

With E the map from variables to rows (two variables of a regressor share one) and A the membership
in the groups, the block is

    minimise   ½ βᵀEKEᵀβ + pᵀβ   subject to   Aβ = d,   l ≤ β ≤ u

and β is optimal if there are multipliers b of the sums and v, w ≥ 0 of the bounds with

    EKEᵀβ + p + Aᵀb − v + w = 0,    v_i (β_i − l_i) = 0,    w_i (u_i − β_i) = 0.

An interior point has all products v_i (β_i − l_i), w_i (u_i − β_i) near one μ > 0 and follows
μ → 0 by Newton's method. Each step solves, with D = v/(β − l) + w/(u − β),

    (EKEᵀ + D) x + Aᵀ δb = r,    A x = s

for a few r and s: one that goes for the optimum straight away (the predictor tells how small μ can
be made now), one that aims at that μ with the predictor's own error put right (the corrector), and
up to three that bring stray products back (Gondzio's). One factorisation serves them all
(`newton_system`). Eight to fifteen steps reach a relative gap of 1e-3, whatever C and K are: it is
what SMO has to be measured against.

References: S. Mehrotra, On the implementation of a primal-dual interior point method, SIAM J.
Optim. 2 (1992), 575–601; J. Gondzio, Multiple centrality corrections in a primal-dual method for
linear programming, Comput. Optim. Appl. 6 (1996), 137–156.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Floats, Numbers
from maxmargin.resources.threads import one_blas_thread
from maxmargin.solvers.line_search import SHORT, way
from maxmargin.solvers.qp.newton_system import NewtonSystem, product
from maxmargin.solvers.qp.work import passes

CORRECTORS = 3  # Gondzio's, at most, for one factorisation
NEARBY = 10.0  # times the gap of β, shared by all bounds: the μ of a start
INSIDE = 0.3  # of the width of a box: how far inside it a start is, at most
LEAST = 1e-30  # of the first μ: a smaller one counts as 0
STUCK = 1e-6  # a step cut to less than this share of itself: rounding lets it go no farther

Step = tuple[Floats, Floats, Floats, Floats]


@dataclass(frozen=True)
class InnerPoint:
    """A point strictly inside the box, with its multipliers.

    Attributes
    ----------
    beta : β
    offsets : b, multipliers of the sums
    lower, upper : v and w, multipliers of the bounds; 0 of infinite ones
    gradient : EKEᵀβ + p
    """

    beta: Floats
    offsets: Floats
    lower: Floats
    upper: Floats
    gradient: Floats

    def on(self, W: Numbers) -> InnerPoint:
        """The same point, of some of the variables."""
        each = (self.beta[W], self.lower[W], self.upper[W], self.gradient[W])
        return InnerPoint(each[0], self.offsets, *each[1:])


@dataclass(frozen=True)
class DualBlock:
    """A problem over some variables, and the matrix K of their rows.

    `threads` factorise it; `spend` is called with the work that is done on it.
    """

    problem: DualProblem
    K: Floats
    threads: int = 1
    spend: Callable[[float], None] = lambda work: None

    @property
    def rows(self) -> Numbers:
        p = self.problem
        return np.arange(p.size) if p.rows is None else p.rows

    def count_rows(self, variables: Numbers) -> int:
        """How many rows these variables have: the size of a factorisation."""
        return len(np.unique(self.rows[variables]))

    def gradient(self, beta: Floats) -> Floats:
        """EKEᵀβ + p."""
        self.spend(passes(len(self.K)))
        values = product(
            self.K, np.bincount(self.rows, beta, len(self.K)).astype(float, copy=False)
        )
        return values[self.rows] + self.problem.linear

    def objective(self, beta: Floats) -> float:
        """½ βᵀEKEᵀβ + pᵀβ, with the same bits whatever other threads do with BLAS."""
        with one_blas_thread():
            return self.problem.objective(beta, self.gradient(beta))

    def distance(self, beta: Floats, gradient: Floats, scale: float) -> float:
        """The larger of the violation of β and its gap over `scale`."""
        p = self.problem
        gap = gap_of(p, beta, gradient, p.offsets(beta, gradient))
        return max(p.violation(beta, gradient), gap / scale if scale else gap)

    def members(self) -> Floats:
        """A, a row for each group."""
        p = self.problem
        return np.equal.outer(np.arange(p.n_groups), p.group).astype(float)

    def start(self, beta: Floats) -> InnerPoint:
        """β moved inside the box, with multipliers that make all products one μ.

        μ is ten times what the gap of β has for each bound. A variable whose bound has the
        multiplier g is moved by μ/g, at most three tenths of the box, or of the largest |β| if that
        is less; what is farther inside stays where it is. So a β that is nearly right moves little.
        The gradient does not fit these multipliers: Newton's first steps see to that.
        """
        p, largest = self.problem, float(np.abs(self.problem.linear).max())
        scale = (largest or 1.0) / float(np.diagonal(self.K).mean() or 1.0)
        has_lower, has_upper = np.isfinite(p.lower), np.isfinite(p.upper)
        low = np.where(has_lower, p.lower, np.where(has_upper, p.upper, 0.0) - scale)
        high = np.where(has_upper, p.upper, low + scale)
        gradient = self.gradient(beta)
        offsets = p.offsets(beta, gradient)
        force = np.abs(p.residual(gradient, offsets))
        count = np.count_nonzero(has_lower) + np.count_nonzero(has_upper)
        mu = NEARBY * gap_of(p, beta, gradient, offsets) / count or 1.0
        margin = INSIDE * np.minimum(high - low, float(np.abs(beta).max()) or np.inf)
        margin = mu / np.maximum(force, mu / margin)
        beta = np.clip(beta, low + margin, high - margin)
        lower = np.where(has_lower, mu / (beta - low), 0.0)
        upper = np.where(has_upper, mu / (high - beta), 0.0)
        return InnerPoint(beta, offsets, lower, upper, self.gradient(beta))


class Place:
    """Where an interior point is, and what steps lead on from there.

    A step is (δβ, δb, δv, δw); products come in pairs, of the lower and of the upper bounds.
    """

    def __init__(self, block: DualBlock, system: NewtonSystem, now: InnerPoint) -> None:
        p = block.problem
        self.system, self.now = system, now
        self.bounded = np.isfinite(p.lower), np.isfinite(p.upper)
        self.count = sum(map(np.count_nonzero, self.bounded))
        self.below = np.where(self.bounded[0], now.beta - p.lower, 1.0)
        self.above = np.where(self.bounded[1], p.upper - now.beta, 1.0)
        self.force = now.gradient + system.A.T @ now.offsets - now.lower + now.upper
        self.missing = p.sums - system.A @ now.beta

    def only(self, products: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """The products of finite bounds; 0 for those of infinite ones."""
        lower, upper = self.bounded
        return np.where(lower, products[0], 0.0), np.where(upper, products[1], 0.0)

    def step(self, change: tuple[Floats, Floats]) -> Step:
        """The Newton step: products change by `change`, all other conditions then hold."""
        now = self.now
        pull = change[0] / self.below - change[1] / self.above
        x, b = self.system.solve(pull - self.force, self.missing)
        v, w = (change[0] - now.lower * x) / self.below, (change[1] + now.upper * x) / self.above
        return x, b, *self.only((v, w))

    def length(self, step: Step) -> float:
        """The largest t ≤ 1 that stays inside."""
        x, _, v, w = step
        rise, fall = self.only((x, -x))
        moves = ((self.below, rise), (self.above, fall), (self.now.lower, v), (self.now.upper, w))
        return min(way(room, move) for room, move in moves)

    def products(self, step: Step, t: float) -> tuple[Floats, Floats]:
        """The products after t times the step."""
        x, _, v, w = step
        lower = (self.below + t * x) * (self.now.lower + t * v)
        return self.only((lower, (self.above - t * x) * (self.now.upper + t * w)))


def interior_points(
    block: DualBlock, start: InnerPoint, coarse: float = 0.0
) -> Iterator[InnerPoint]:
    """Points ever nearer to the optimum; ends where rounding does not let it come nearer.

    As long as no D is near `coarse`, steps may be made with a K whose diagonal is off by that.
    """
    system = NewtonSystem(block.K, block.rows, block.members(), coarse, block.threads, block.spend)
    now = replace(start, gradient=block.gradient(start.beta))
    first = 0.0
    while True:
        here = Place(block, system, now)
        products = here.below * now.lower, here.above * now.upper
        mu = sum(map(np.sum, products)) / here.count
        first = first or mu
        if min(here.below.min(), here.above.min()) <= 0 or mu <= LEAST * first:  # by rounding
            return
        with np.errstate(over="ignore"):
            D = now.lower / here.below + now.upper / here.above
        if not (D.min() > 0 and D.max() < np.inf):  # beyond float64
            return
        system.factorise(D)
        step = here.step((-products[0], -products[1]))
        t = here.length(step)
        left = sum(map(np.sum, here.products(step, t))) / here.count
        target = mu * (left / mu) ** 3
        x, _, v, w = (t * part for part in step)  # the linear model leaves out x v and x w
        change = here.only((target - products[0] - x * v, target - products[1] + x * w))
        step = here.step(change)
        t = here.length(step)
        for _ in range(CORRECTORS):
            lower, upper = here.products(step, min(1.0, 1.1 * t + 0.1))
            better = here.only((change[0] + pull(lower, target), change[1] + pull(upper, target)))
            corrected = here.step(better)
            longer = here.length(corrected)
            if longer <= 1.01 * t:
                break
            step, t, change = corrected, longer, better
        x, b, v, w = (SHORT * t * part for part in step)
        beta = now.beta + x
        if not (t > STUCK and np.isfinite(beta).all()):
            return
        now = InnerPoint(beta, now.offsets + b, now.lower + v, now.upper + w, block.gradient(beta))
        yield now


def gap_of(p: DualProblem, beta: Floats, gradient: Floats, offsets: Floats) -> float:
    """Primal − dual: Σ (G_i + b)(β_i − t_i) at the t in the box that makes it largest.

    Where a bound is infinite, t goes as far as any β does.
    """
    force = p.residual(gradient, offsets)
    farthest = np.abs(beta).max()
    down = np.where(np.isinf(p.lower), farthest, beta - p.lower)
    up = np.where(np.isinf(p.upper), farthest, p.upper - beta)
    return float(np.sum(np.where(force > 0, force * down, -force * up)))


def harmless(p: DualProblem, tol: float, scale: float) -> float:
    """A violation that each variable may have with all of them ≤ tol and the gap ≤ tol·scale."""
    widths = p.upper - p.lower
    total = float(widths[np.isfinite(widths)].sum())
    return 0.5 * tol * min(1.0, scale / total if total else 1.0)


def pull(products: Floats, target: float) -> Floats:
    """The change that brings products to within a factor of ten of the target, or nearer."""
    return np.maximum(np.clip(products, 0.1 * target, 10 * target) - products, -10 * target)
