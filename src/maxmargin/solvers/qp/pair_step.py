"""The step of SMO: of two variables of one group one rises, the other falls.

β_i + t and β_j − t have the same sum. Along the way the objective is
t(G_i − G_j) + ½t²a with curvature a = K_ii + K_jj − 2K_ij = ‖φ(x_i) − φ(x_j)‖²: the best t is
(G_j − G_i)/a and gains (G_j − G_i)²/2a, unless a bound cuts it first: t is clipped to [L, H]
with L = max(l_i − β_i, β_j − u_j) and H = min(u_i − β_i, β_j − l_j). Without a sum constraint
one variable moves alone, by −G_i/K_ii.

Solvers differ in how they choose i and j. `solvers.textbook.blackboard` has the same step in the
notation of the lectures.
"""

from __future__ import annotations

import numpy as np

from maxmargin.hardware.arrays import Floats, Index, Numbers, Real, Reals
from maxmargin.hardware.jit import compiled

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
