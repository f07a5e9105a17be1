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

from maxmargin.resources.arrays import Floats, Numbers, Reals

CURVATURE = 1e-12  # in place of a curvature ≤ 0 (duplicate rows, indefinite K): t ends at a bound


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
        mine = group == g
        up = np.where(mine & (beta < upper), -gradient, -np.inf)
        down = np.where(mine & (beta > lower), -gradient, np.inf)
        if up.max(initial=-np.inf) - down.min(initial=np.inf) > violation:
            first, violation = int(up.argmax()), float(up.max() - down.min())
    return first


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
    slope = np.where((group == group[i]) & (beta > lower), gradient - gradient[i], 0.0)
    a = np.maximum(diagonal[i] + diagonal - 2.0 * row, CURVATURE)
    gain = np.maximum(slope, 0.0) ** 2 / a
    best = int(gain.argmax())
    return best if gain[best] > 0 else -1


def best_single(
    diagonal: Reals, gradient: Floats, beta: Floats, lower: Floats, upper: Floats, tol: float
) -> int:
    """The variable whose own best step lowers the objective most; −1 if none violates by > tol."""
    violates = np.where(gradient < 0, beta < upper, beta > lower) & (np.abs(gradient) > tol)
    target = np.clip(beta - gradient / np.maximum(diagonal, CURVATURE), lower, upper)
    delta = target - beta
    decrease = np.where(violates, -delta * (0.5 * delta * diagonal + gradient), 0.0)
    best = int(decrease.argmax())
    return best if decrease[best] > 0 else -1
