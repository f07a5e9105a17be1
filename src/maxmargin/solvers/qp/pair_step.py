"""The step of SMO: of two variables of one group one rises, the other falls.

β_i + t and β_j − t have the same sum. Along the way the objective is
t(G_i − G_j) + ½t²a with curvature a = K_ii + K_jj − 2K_ij = ‖φ(x_i) − φ(x_j)‖²: the best t is
(G_j − G_i)/a and gains (G_j − G_i)²/2a, unless a bound cuts it first: t is clipped to [L, H]
with L = max(l_i − β_i, β_j − u_j) and H = min(u_i − β_i, β_j − l_j). Without a sum constraint
one variable moves alone, by −G_i/K_ii.

A textbook's α_j^new = α_j + y_j(E_i − E_j)/η is this step: E = G + b, β = yα, and b cancels.
Its b that makes a free variable satisfy KKT is b = −G_i.

Solvers differ in how they choose i and j. The compiled functions choose and step; `step_pair` and
`step_single` also update the state, for solvers that take one step at a time.
"""

from __future__ import annotations

import numpy as np

from maxmargin.hardware.arrays import Floats, Index, Numbers, Real, Reals
from maxmargin.hardware.jit import compiled
from maxmargin.solvers.qp.state import DualState

CURVATURE = 1e-12  # in place of a curvature ≤ 0 (duplicate rows, indefinite K): t ends at a bound


@compiled()
def worst_up(
    gradient: Floats,
    beta: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    n_groups: int,
    tol: float,
) -> int:
    """The largest −G that can rise, in the most violated group; −1 if none violates by > tol."""
    first, violation = -1, tol
    for g in range(n_groups):
        best, top, bottom = -1, -np.inf, np.inf
        for k in range(len(beta)):
            if group[k] == g:
                if beta[k] < upper[k] and -gradient[k] > top:
                    best, top = k, -gradient[k]
                if beta[k] > lower[k] and -gradient[k] < bottom:
                    bottom = -gradient[k]
        if top - bottom > violation:
            first, violation = best, top - bottom
    return first


@compiled()
def best_partner(
    i: int,
    row: Reals,
    diagonal: Reals,
    gradient: Floats,
    beta: Floats,
    lower: Floats,
    group: Numbers,
) -> int:
    """The variable to lower with i: the largest gain (G_j − G_i)²/a; −1 if there is none."""
    j, most = -1, 0.0
    for k in range(len(beta)):
        if group[k] == group[i] and beta[k] > lower[k]:
            slope = gradient[k] - gradient[i]
            if slope > 0:
                gain = slope * slope / curvature(diagonal[i], diagonal[k], row[k])
                if gain > most:
                    j, most = k, gain
    return j


@compiled()
def best_single(
    diagonal: Reals, gradient: Floats, beta: Floats, lower: Floats, upper: Floats, tol: float
) -> int:
    """The variable whose own best step lowers the objective most; −1 if none violates by > tol."""
    best, most = -1, 0.0
    for k in range(len(beta)):
        can_move = beta[k] < upper[k] if gradient[k] < 0 else beta[k] > lower[k]
        if can_move and abs(gradient[k]) > tol:
            delta = single_step(k, diagonal, gradient, beta, lower, upper)
            decrease = -delta * (0.5 * delta * diagonal[k] + gradient[k])
            if decrease > most:
                best, most = k, decrease
    return best


@compiled()
def curvature(K_ii: Real, K_jj: Real, K_ij: Real) -> float:
    """K_ii + K_jj − 2K_ij, kept positive."""
    a = float(K_ii) + float(K_jj) - 2.0 * float(K_ij)
    return a if a > CURVATURE else CURVATURE


@compiled()
def single_step(
    i: int, diagonal: Reals, gradient: Floats, beta: Floats, lower: Floats, upper: Floats
) -> float:
    """The best step of β_i alone."""
    target = beta[i] - gradient[i] / max(float(diagonal[i]), CURVATURE)
    return float(min(max(target, lower[i]), upper[i]) - beta[i])


@compiled()
def take_pair(
    i: Index, j: Index, a: float, gradient: Reals, beta: Floats, lower: Floats, upper: Floats
) -> float:
    """Raise β_i and lower β_j by the best t within the box; returns t. Bounds are met exactly."""
    up, down = upper[i] - beta[i], beta[j] - lower[j]
    t = (gradient[j] - gradient[i]) / a
    t = up if up < t else t  # as `min` would, which takes longer to compile
    t = down if down < t else t
    beta[i] = upper[i] if t == up else beta[i] + t
    beta[j] = lower[j] if t == down else beta[j] - t
    return float(t)


@compiled()
def interval(i: int, j: int, beta: Floats, lower: Floats, upper: Floats) -> tuple[float, float]:
    """[L, H]: the t for which β_i + t and β_j − t are in the box."""
    low = max(lower[i] - beta[i], beta[j] - upper[j])
    high = min(upper[i] - beta[i], beta[j] - lower[j])
    return low, high


@compiled()
def pair_offset(
    i: int, j: int, gradient: Floats, beta: Floats, lower: Floats, upper: Floats
) -> float:
    """b after a step: −G of a variable strictly inside its bounds, else the mean of both."""
    if lower[i] < beta[i] < upper[i]:
        return float(-gradient[i])
    if lower[j] < beta[j] < upper[j]:
        return float(-gradient[j])
    return float(-0.5 * (gradient[i] + gradient[j]))


def step_pair(state: DualState, i: int, j: int, why: str, *, smallest: float = 0.0) -> bool:
    """Minimise over β_i + t and β_j − t, and update G and b.

    False if |t| would be ≤ `smallest`: then nothing has changed.
    """
    p, beta, G = state.problem, state.beta, state.gradient
    low, high = interval(i, j, beta, p.lower, p.upper)
    if low == high:
        return False
    row, diagonal = state.row(i), state.diagonal
    a = curvature(diagonal[i], diagonal[j], row[j])
    best = (G[j] - G[i]) / a
    if abs(min(max(best, low), high)) <= smallest:
        return False
    if best > 0:
        t = take_pair(i, j, a, G, beta, p.lower, p.upper)
    else:
        t = -take_pair(j, i, a, G, beta, p.lower, p.upper)
    G += t * (row - state.row(j))
    state.movement += 2 * abs(t)
    set_offset(state, i, j)
    state.took((i, j), why, best, t, low, high)
    return True


def set_offset(state: DualState, i: int, j: int) -> None:
    """Set b by the rule of `pair_offset`, and add |Δb| to the movement."""
    p, group = state.problem, state.problem.group[i]
    new = pair_offset(i, j, state.gradient, state.beta, p.lower, p.upper)
    state.movement += float(abs(new - state.offsets[group]))
    state.offsets[group] = new


def step_single(state: DualState, i: int, why: str) -> None:
    """Minimise over β_i alone, and update G."""
    p, beta, G = state.problem, state.beta, state.gradient
    old, lower, upper = beta[i], p.lower[i], p.upper[i]
    best = -G[i] / max(float(state.diagonal[i]), CURVATURE)
    beta[i] = min(max(old + best, lower), upper)
    t = beta[i] - old
    G += t * state.row(i)
    state.movement += abs(t)
    state.took((i,), why, best, t, lower - old, upper - old)


def pair_curvature(state: DualState, i: int, j: int) -> float:
    """K_ii + K_jj − 2K_ij as it is, which rounding or an indefinite kernel can make negative."""
    return float(state.diagonal[i] + state.diagonal[j] - 2.0 * state.row(i)[j])


def violates(state: DualState, i: int, tol: float, slack: float = 0.0) -> bool:
    """The KKT test of one variable, with E_i = G_i + b.

    E_i < −tol though β_i can rise, or E_i > tol though it can fall; within `slack` of a
    bound counts as on it. Two variables that both pass with ½ tol violate as a pair by ≤ tol.
    """
    p, beta = state.problem, state.beta[i]
    error = state.gradient[i] + state.offsets[p.group[i]]
    low, high = p.lower[i] + slack, p.upper[i] - slack
    return bool((error < -tol and beta < high) or (error > tol and beta > low))
