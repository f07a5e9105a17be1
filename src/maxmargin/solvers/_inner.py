"""Second-order SMO on a small dense problem whose matrix stays in cache: the compiled loop.

A step reads two rows of K in four passes over q numbers, each a loop that vectorises:

    1. which k scores highest: i wants up most (the largest −G_i that can go up)
    2. the gain b²/a of every partner k that can go down, and the largest of them
    3. which k scores highest: j
    4. G += t(K_i − K_j), and on the way the scores −G and the extremes that tell when to stop

A maximum together with its place does not vectorise, so a pass finds the value and the next one
the place (the lowest, when several are equal). Bounds and groups are not asked about either: what
may not move has −∞ added to its score. All this runs in the precision of K. β and the length of a
step are float64, and whoever calls brings the gradient of all variables along from β, so that
rounding in here costs accuracy of this block's answer only, and the next block repairs it.
"""

import numpy as np
from numba import njit

from maxmargin.solvers.pair import best_single, curvature, single_step, take_pair
from maxmargin.vectors import larger


def smo_block(K, gradient, beta, lower, upper, group, n_groups, tol, max_steps):
    """Minimise over β in place until the violation is ≤ tol; returns the steps taken."""
    if n_groups == 0:
        return _singles(K, gradient, beta, lower, upper, tol, max_steps)
    inside = group == np.arange(n_groups)[:, None]
    up = np.where(inside & (beta < upper), K.dtype.type(0), K.dtype.type(-np.inf))
    down = np.where(inside & (beta > lower), K.dtype.type(0), K.dtype.type(-np.inf))
    G, diagonal, place = (
        gradient.astype(K.dtype),
        K.diagonal().copy(),
        np.arange(len(beta), dtype=np.int32),
    )
    steps = _pairs(
        K, diagonal, G, beta, lower, upper, up, down, np.empty_like(up), place, tol, max_steps
    )
    gradient[:] = G
    return steps


@njit(cache=True, nogil=True, fastmath={"contract"})
def _pairs(K, diagonal, G, beta, lower, upper, up, down, score, place, tol, max_steps):
    i, j, t, steps = 0, 0, 0.0, 0
    real = K.dtype.type
    while True:
        worst, g, highest = real(tol), -1, real(0)
        for h in range(len(up)):
            top, bottom = _move(real(t), K[i], K[j], G, up[h], down[h], score[h])
            t = 0.0  # moved once, in the first group's pass
            if top - bottom > worst:
                worst, g, highest = top - bottom, h, top
        if g < 0 or steps == max_steps:
            break
        i = _find(highest, score[g], place)
        j = _find(_partners(K[i], diagonal, G, down[g], i, score[g]), score[g], place)
        before_i, before_j = beta[i], beta[j]
        a = curvature(diagonal[i], diagonal[j], K[i, j])
        t = take_pair(i, j, a, G, beta, lower, upper)
        if beta[i] == before_i and beta[j] == before_j:
            break
        up[g, i] = 0 if beta[i] < upper[i] else -np.inf
        down[g, j] = 0 if beta[j] > lower[j] else -np.inf
        down[g, i] = up[g, j] = 0
        steps += 1
    return steps


@njit(cache=True, nogil=True, fastmath={"contract"})
def _move(t, row_i, row_j, G, up, down, score):
    """G += t(K_i − K_j); the largest −G that can go up and the smallest that can go down."""
    top = low = G.dtype.type(-np.inf)
    for k in range(len(G)):
        G[k] += t * (row_i[k] - row_j[k])
        score[k] = up[k] - G[k]
        top = larger(top, score[k])
        low = larger(low, down[k] + G[k])
    return top, -low


@njit(cache=True, nogil=True, fastmath={"contract"})
def _partners(row, diagonal, G, down, i, score):
    """The gain of lowering each k with i, (G_k − G_i)²/a, and the largest gain."""
    real = G.dtype.type
    G_i, K_ii, most = G[i], diagonal[i], real(0)
    for k in range(len(G)):
        slope = larger(G[k] - G_i + down[k], real(0))
        a = larger(K_ii + diagonal[k] - real(2) * row[k], real(1e-12))
        score[k] = slope * slope / a
        most = larger(most, score[k])
    return most


@njit(cache=True, nogil=True)
def _find(value, score, place):
    """The first place of a value that is there."""
    first = np.int32(len(score))
    for k in range(len(score)):
        first = min(first, place[k] if score[k] == value else np.int32(len(score)))
    return first


@njit(cache=True, nogil=True)
def _singles(K, gradient, beta, lower, upper, tol, max_steps):
    diagonal = np.diag(K).astype(np.float64)
    for step in range(max_steps):
        i = best_single(diagonal, gradient, beta, lower, upper, tol)
        if i < 0:
            return step
        t = single_step(i, diagonal, gradient, beta, lower, upper)
        beta[i] += t
        for k in range(len(beta)):
            gradient[k] += t * K[i, k]
    return max_steps
