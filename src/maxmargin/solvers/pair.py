"""The step of SMO: two variables of one group, one up and one down.

Moving β_i up and β_j down by t leaves their sum. Along the way the objective is
t(G_i − G_j) + ½t²a with curvature a = K_ii + K_jj − 2K_ij = ‖φ(x_i) − φ(x_j)‖²: the best t is
(G_j − G_i)/a and gains (G_j − G_i)²/2a, unless a bound cuts it first. Without a sum constraint
one variable moves alone, by −G_i/K_ii.

Every solver takes its steps from here; they differ in how they choose i and j.
"""

from __future__ import annotations

import numpy as np
from numba import njit

CURVATURE = 1e-12  # stands for a curvature that is not positive (duplicate rows, indefinite K)


@njit(cache=True, nogil=True)
def worst_up(gradient, beta, lower, upper, group, n_groups, tol):
    """The variable that most wants to go up, in the most violated group; −1 if none by > tol."""
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


@njit(cache=True, nogil=True)
def best_partner(i, row, diagonal, gradient, beta, lower, group):
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


@njit(cache=True, nogil=True)
def best_single(diagonal, gradient, beta, lower, upper, tol):
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


@njit(cache=True, nogil=True)
def curvature(K_ii, K_jj, K_ij):
    """K_ii + K_jj − 2K_ij, kept positive."""
    return max(float(K_ii) + float(K_jj) - 2.0 * float(K_ij), CURVATURE)


@njit(cache=True, nogil=True)
def single_step(i, diagonal, gradient, beta, lower, upper):
    """How far β_i alone should move."""
    target = beta[i] - gradient[i] / max(float(diagonal[i]), CURVATURE)
    return min(max(target, lower[i]), upper[i]) - beta[i]


@njit(cache=True, nogil=True)
def take_pair(i, j, a, gradient, beta, lower, upper):
    """Move β_i up and β_j down as far as is best and allowed; returns t. Bounds are met exactly."""
    up, down = upper[i] - beta[i], beta[j] - lower[j]
    t = min((gradient[j] - gradient[i]) / a, up, down)
    beta[i] = upper[i] if t == up else beta[i] + t
    beta[j] = lower[j] if t == down else beta[j] - t
    return t
