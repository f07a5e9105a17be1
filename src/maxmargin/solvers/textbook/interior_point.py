"""Interior point: the whole quadratic program by Newton's method, inside the box all the way.

    minimise   ½ βᵀKβ + pᵀβ   subject to   Aβ = d,   l ≤ β ≤ u

with one row of A for each group. A barrier takes the place of the bounds,

    minimise   ½ βᵀKβ + pᵀβ − μ Σ log(β_i − l_i) − μ Σ log(u_i − β_i)   subject to   Aβ = d,

and as μ → 0 its minimum goes to that of the program, through the middle of the box: the central
path. With v_i = μ/(β_i − l_i) and w_i = μ/(u_i − β_i), the minimum for one μ is where

    Kβ + p + Aᵀb − v + w = 0,    Aβ = d,    v_i (β_i − l_i) = μ,    w_i (u_i − β_i) = μ:

the KKT conditions, but for the μ in place of 0. v and w are the multipliers of the bounds, b is the
offset. Repeat:

    barrier        μ = a tenth of the mean of all v_i (β_i − l_i) and w_i (u_i − β_i)
    Newton step    solve the linearised conditions for Δβ, Δb, Δv and Δw. Without the last two,
                       (K + D) Δβ + Aᵀ Δb = r,   A Δβ = d − Aβ,   D = v/(β − l) + w/(u − β)
    step length    99 % of the largest t with which β stays inside the box and v, w positive

K is dense and in memory, and a step costs m³/3 operations, but some twenty steps are enough,
whatever K and C are: the reference that other solvers are compared with.

An interior point only comes near its bounds. So once the products are small, a variable is put on
the bound whose multiplier exceeds its distance (in units in which their largest are 1), and
the free variables correct the sums.

Reference: S. Wright, Primal-dual interior-point methods, SIAM (1997), chapters 1 and 5; M. Ferris,
T. Munson, Interior-point methods for massive support vector machines, SIAM J. Optim. 13 (2002),
783–804.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from maxmargin.gram import Gram
from maxmargin.problem import DualProblem, Ending, Status
from maxmargin.resources.arrays import Floats
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.solver import Solver, require_positive
from maxmargin.solvers.state import Moves

SMALLER = 0.1  # μ beside the mean product: less makes steps shorter, more makes more of them
SHORT = 0.99  # of the way to the first bound: nearer to it the next steps become short
INSIDE = 0.01  # of the box: how far from its sides a start is at least
MOST_STEPS = 100  # a solve takes 15 to 40; ends one that rounding keeps from the optimum
THIN = 1e-12  # of the widest box: the half width of a box that has none, so that it has an inside
ROUNDING = 1e-15  # of the largest K_ii, per variable: what rounding may take from K's eigenvalues


class Program(NamedTuple):
    """½ βᵀKβ + pᵀβ subject to Aβ = d and l ≤ β ≤ u."""

    K: Floats
    p: Floats
    A: Floats
    d: Floats
    l: Floats
    u: Floats


class Iterate(NamedTuple):
    """β inside the box, the offset b, and the multipliers v, w > 0 of the bounds l and u."""

    β: Floats
    b: Floats
    v: Floats
    w: Floats


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """A primal-dual interior-point method on the dense matrix, one frame for each Newton step.

    Parameters
    ----------
    largest : int, default=5000
        Most variables it takes: time grows with their cube and memory with the square.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> SVC(solver=InteriorPoint()).fit(X, y).certificate_.status.value
    'converged'
    """

    largest: int = 5000

    patience: ClassVar[float] = np.inf  # on its way through the box the dual need not rise

    def __post_init__(self) -> None:
        require_positive(self, "largest")

    def check(self, problem: DualProblem, gram: Gram) -> None:
        super().check(problem, gram)
        if problem.size > self.largest:
            raise ValueError(
                f"InteriorPoint(largest={self.largest}) cannot take {problem.size} variables: the "
                "dense matrix is too large; use BlockSMO or SecondOrderSMO, or raise `largest`"
            )

    def iterate(self, state: DualState) -> Moves:
        qp = program(state)
        point = start(state.problem, qp)
        for _ in range(MOST_STEPS):
            μ = barrier(qp, point)
            step = newton_step(qp, point, μ)
            if step is None:
                return Ending(Status.STAGNATED, "K + D is not positive definite")
            t = step_length(qp, point, step)
            point = Iterate(*(now + t * change for now, change in zip(point, step, strict=True)))
            state.steps += 1
            show(state, qp, point.β, f"Newton step: barrier μ = {μ:.1e}, step length {t:.2f}")
            yield
            if near(state, qp, point):
                show(state, qp, settled(qp, point), "variables beside a bound are put on it")
                yield
        return Ending(Status.STAGNATED, f"{MOST_STEPS} Newton steps made")


def barrier(qp: Program, point: Iterate) -> float:
    """μ: a tenth of the mean product of a multiplier and the distance from its bound; 0 without."""
    (L, U), below, above = distances(qp, point.β), qp.l > -np.inf, qp.u < np.inf
    products = np.concatenate([point.v[below] * L[below], point.w[above] * U[above]])
    return SMALLER * float(products.mean()) if len(products) else 0.0


def newton_step(qp: Program, point: Iterate, μ: float) -> Iterate | None:
    """Δβ, Δb, Δv and Δw to where the linearised conditions hold; None if K is indefinite."""
    K, p, A, d, *_ = qp
    β, b, v, w = point
    L, U = distances(qp, β)
    r = -(K @ β + p + b @ A) + μ / L - μ / U
    solve = solver_of(K, v / L + w / U)
    if solve is None:
        return None
    by_r, by_A = solve(r), solve(A.T)
    Δb = np.asarray(np.linalg.solve(A @ by_A, A @ by_r - (d - A @ β)), float)
    Δβ = by_r - by_A @ Δb
    Δv = (μ - v * Δβ) / L - v
    Δw = (μ + w * Δβ) / U - w
    return Iterate(Δβ, Δb, Δv, Δw)


def step_length(qp: Program, point: Iterate, step: Iterate) -> float:
    """The largest t ≤ 1 that keeps β inside the box and v, w positive, up to 1 %."""
    room = np.concatenate([*distances(qp, point.β), point.v, point.w])
    change = np.concatenate([step.β, -step.β, step.v, step.w])
    falls = change < 0
    return min(1.0, SHORT * float(np.min(room[falls] / -change[falls], initial=np.inf)))


def program(state: DualState) -> Program:
    """The matrices of a state's problem, K dense."""
    p = state.problem
    K, state.dtype = state.gram.square(p.row_of(np.arange(p.size))), np.float64
    A = np.equal.outer(np.arange(p.n_groups), p.group).astype(float)
    width = p.upper - p.lower
    thin = np.where(width > 0, 0.0, THIN * width[width < np.inf].max(initial=0))
    return Program(K, p.linear, A, p.sums, p.lower - thin, p.upper + thin)


def start(problem: DualProblem, qp: Program) -> Iterate:
    """The middle of the box, moved so that the sums are right, with v = w = the largest |G|."""
    K, p, _, _, l, u = qp
    scale = (np.abs(p).max() or 1.0) / (K.diagonal().mean() or 1.0)
    low = np.where(l > -np.inf, l, np.where(u < np.inf, u, scale) - 2 * scale)
    high = np.where(u < np.inf, u, low + 2 * scale)
    margin = INSIDE * (high - low)
    β = np.clip(problem.feasible((low + high) / 2), low + margin, high - margin)
    force = np.abs(K @ β + p).max() or 1.0
    v, w = np.where(l > -np.inf, force, 0.0), np.where(u < np.inf, force, 0.0)
    return Iterate(β, np.zeros(len(qp.A)), v, w)


def solver_of(K: Floats, D: Floats) -> Callable[[Floats], Floats] | None:
    """x ↦ (K + D)⁻¹x by Cholesky's factor; None if there is none, because K is indefinite."""
    M = K.copy()
    M.flat[:: len(K) + 1] += D + ROUNDING * len(K) * K.diagonal().max()
    try:
        factor = cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    return lambda x: cho_solve(factor, x, check_finite=False)


def distances(qp: Program, β: Floats) -> tuple[Floats, Floats]:
    """β − l and u − β; where rounding makes one 0, an ulp of the largest β."""
    ulp = np.finfo(float).eps * np.abs(β).max()
    return np.maximum(β - qp.l, ulp), np.maximum(qp.u - β, ulp)


def show(state: DualState, qp: Program, β: Floats, why: str) -> None:
    """Move the state to β, with its sums put right, and report the step."""
    β = state.problem.feasible(β)
    state.settle(β, qp.K @ β + qp.p, why)


def near(state: DualState, qp: Program, point: Iterate) -> bool:
    """Whether the gap of β, Σ v (β − l) + w (u − β), is within tol of the objective."""
    gap = 2 * len(qp.p) * barrier(qp, point) / SMALLER
    return gap <= state.aim * abs(state.problem.objective(state.beta, state.gradient))


def settled(qp: Program, point: Iterate) -> Floats:
    """β with the variables on their bound whose multiplier exceeds their distance from it."""
    β, _, v, w = point
    unit = (max(v.max(), w.max()) or 1.0) / np.abs(β).max()  # no multiplier where there is no bound
    at_lower, at_upper = β - qp.l < v / unit, qp.u - β < w / unit
    return np.where(at_lower, qp.l, np.where(at_upper, qp.u, β))
