"""Second-order SMO on a small dense problem whose matrix stays in cache: the compiled loop.

A step reads two rows of K in two passes over q numbers (core/smo.hpp):

    1. G += t(K_i − K_j) of the last step; i, the largest −G that can rise, and the smallest −G that
       can fall: their distance is the violation
    2. j, the variable that can fall with the largest gain (G_j − G_i)²/a

Without a sum constraint (no offset) two variables move too, independently: i has the largest gain
alone, j the largest gain together with i. One at a time would take 2 to 22 times the steps
(docs/speed.md).

Bounds and groups need no branch: −∞ is added to the score of a variable that cannot move. All this
runs in the precision of the diagonal, however the entries of K are stored. β and t are float64, and
the caller updates the gradient of all variables from β: rounding in here affects this block's β
only, and the next block corrects it.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core import native
from maxmargin.gram.on_demand import Maker, need
from maxmargin.hardware.arrays import Entries, Floats, Index, Numbers, Real, Reals
from maxmargin.hardware.jit import compiled, inner, linked
from maxmargin.hardware.simd import UNIT, larger
from maxmargin.solvers.qp import pair_step

# Of K_ii K_jj: a determinant K_ii K_jj − K_ij² up to which φ(x_i) and φ(x_j) are parallel, for by
# rounding it says nothing. In float64; float32 has half the digits.
PARALLEL = 1e-13
TINY = 1e-100  # in place of a K_ii of 0: a step ends at a bound

curvature, take_pair = linked(pair_step.curvature), linked(pair_step.take_pair)


def smo_block(
    K: Entries,
    diagonal: Reals,
    gradient: Floats,
    beta: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    n_groups: int,
    tol: float,
    max_steps: int,
    maker: Maker | None = None,
) -> int:
    """Minimise over β in place until the violation is ≤ tol; returns the steps taken.

    K has the precision of the diagonal, or uint16, which holds value · UNIT. With a maker, its rows
    are computed when they are needed.
    """
    if maker is None:
        variables = gradient, beta, lower, upper, group, n_groups
        return native.smo(K, diagonal, *variables, tol, max_steps)
    solve = smo_pairs if n_groups else smo_twos  # only what is used is compiled
    G = gradient.astype(diagonal.dtype)
    scores = np.empty((3, max(n_groups, 1), len(beta)), diagonal.dtype)
    place = np.arange(len(beta), dtype=np.int32)
    unit = G.dtype.type(1 / UNIT if K.dtype.kind == "u" else 1)
    box = lower, upper, group
    steps = solve(K, maker, unit, diagonal, G, beta, *box, scores, place, tol, max_steps)
    gradient[:] = G
    return steps


@inner()
def _ways(
    beta: Floats, lower: Floats, upper: Floats, group: Numbers, up: Reals, down: Reals
) -> None:
    """Added to the scores of a group: up is 0 where β can rise, down where it can fall, else −∞."""
    for g in range(len(up)):
        for k in range(len(beta)):
            mine = len(up) == 1 or group[k] == g
            up[g, k] = 0 if mine and beta[k] < upper[k] else -np.inf
            down[g, k] = 0 if mine and beta[k] > lower[k] else -np.inf


@compiled(fastmath={"contract"})
def smo_pairs(
    K: Entries,
    maker: Maker | None,
    unit: Real,
    diagonal: Reals,
    G: Reals,
    beta: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    scores: Reals,
    place: Numbers,
    tol: float,
    max_steps: int,
) -> int:
    """Steps of pairs of one group, until the violation is ≤ tol; returns how many."""
    up, down, score = scores[0], scores[1], scores[2]
    _ways(beta, lower, upper, group, up, down)
    i = j = np.int64(0)
    t, steps = 0.0, 0
    real = G.dtype.type
    need(K, maker, i)
    while True:
        worst: Real = real(tol)
        highest: Real = real(0)
        g = -1
        for h in range(len(up)):
            top, bottom = _move(unit * real(t), K[i], K[j], G, up[h], down[h], score[h])
            t = 0.0  # moved once, in the first group's pass
            if top - bottom > worst:
                worst, g, highest = top - bottom, h, top
        if g < 0 or steps == max_steps:
            break
        i = _find(highest, score[g], place)
        need(K, maker, i)
        gain = _partners(unit, K[i], diagonal, G, down[g], i, score[g])
        if gain == 0:
            break
        j = _find(gain, score[g], place)
        need(K, maker, j)
        before_i, before_j = beta[i], beta[j]
        a = curvature(diagonal[i], diagonal[j], unit * real(K[i, j]))
        t = take_pair(i, j, a, G, beta, lower, upper)
        if beta[i] == before_i and beta[j] == before_j:
            break
        up[g, i] = 0 if beta[i] < upper[i] else -np.inf
        down[g, j] = 0 if beta[j] > lower[j] else -np.inf
        down[g, i] = up[g, j] = 0
        steps += 1
    return steps


@inner(fastmath={"contract"})
def _move(
    t: Real, row_i: Entries, row_j: Entries, G: Reals, up: Reals, down: Reals, score: Reals
) -> tuple[Real, Real]:
    """G += t(K_i − K_j); the largest −G that can rise and the smallest that can fall."""
    real = G.dtype.type
    top = low = real(-np.inf)
    for k in range(len(G)):
        G[k] += t * (real(row_i[k]) - real(row_j[k]))
        score[k] = up[k] - G[k]
        top = larger(top, score[k])
        low = larger(low, down[k] + G[k])
    return top, -low


@inner(fastmath={"contract"})
def _partners(
    unit: Real, row: Entries, diagonal: Reals, G: Reals, down: Reals, i: Index, score: Reals
) -> Real:
    """The gain of lowering each k with i, (G_k − G_i)²/a, and the largest gain."""
    real = G.dtype.type
    G_i, K_ii, twice, most = G[i], diagonal[i], real(2) * unit, real(0)
    for k in range(len(G)):
        slope = larger(G[k] - G_i + down[k], real(0))
        a = larger(K_ii + diagonal[k] - twice * real(row[k]), real(1e-12))
        score[k] = slope * slope / a
        most = larger(most, score[k])
    return most


@inner()
def _find(value: Real, score: Reals, place: Numbers) -> np.int64:
    """The first place of a value that is present."""
    first = nowhere = np.int32(len(place))
    for k in range(len(place)):
        here = place[k] if score[k] == value else nowhere
        first = here if here < first else first  # as `min` would, which takes longer to compile
    return np.int64(first)


@compiled(fastmath={"contract"})
def smo_twos(
    K: Entries,
    maker: Maker | None,
    unit: Real,
    diagonal: Reals,
    G: Reals,
    beta: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    scores: Reals,
    place: Numbers,
    tol: float,
    max_steps: int,
) -> int:
    """Steps of two variables without a sum constraint; returns how many."""
    up, down, score = scores[0], scores[1], scores[2, 0]
    _ways(beta, lower, upper, group, up, down)
    i = j = np.int64(0)
    move_i, move_j, steps = 0.0, 0.0, 0
    real = G.dtype.type
    need(K, maker, i)
    while True:
        worst, gain = _shift(
            unit * real(move_i), K[i], unit * real(move_j), K[j], G, diagonal, up[0], down[0], score
        )
        if worst <= tol or steps == max_steps:
            break
        i = _find(gain, score, place)
        need(K, maker, i)
        j = _find(_companions(unit, K[i], diagonal, G, up[0], down[0], i, score), score, place)
        need(K, maker, j)
        box = (lower[i] - beta[i], upper[i] - beta[i], lower[j] - beta[j], upper[j] - beta[j])
        K_ij, product = unit * real(K[i, j]), diagonal[i] * diagonal[j]
        if product - K_ij * K_ij <= _parallel(G) * product:  # i itself, or no direction but i's
            alone = -float(G[i]) / max(float(diagonal[i]), TINY)
            j, move_i, move_j = i, min(max(alone, box[0]), box[1]), 0.0
        else:
            move_i, move_j = two_step(G[i], G[j], diagonal[i], diagonal[j], K_ij, box)
        before_i, before_j = beta[i], beta[j]
        for k, move in ((i, move_i), (j, move_j)):
            beta[k] = min(max(beta[k] + move, lower[k]), upper[k])
            up[0, k] = 0 if beta[k] < upper[k] else -np.inf
            down[0, k] = 0 if beta[k] > lower[k] else -np.inf
        if beta[i] == before_i and beta[j] == before_j:
            break
        steps += 1
    return steps


@inner(fastmath={"contract"})
def _shift(
    s: Real,
    row_i: Entries,
    t: Real,
    row_j: Entries,
    G: Reals,
    diagonal: Reals,
    up: Reals,
    down: Reals,
    score: Reals,
) -> tuple[Real, Real]:
    """G += s K_i + t K_j; the worst violation, and the largest of the gains G_k²/K_kk."""
    real = G.dtype.type
    worst = most = real(0)
    for k in range(len(G)):
        G[k] += s * real(row_i[k]) + t * real(row_j[k])
        violation = larger(larger(up[k] - G[k], down[k] + G[k]), real(0))
        score[k] = violation * violation / larger(diagonal[k], real(1e-12))
        worst = larger(worst, violation)
        most = larger(most, score[k])
    return worst, most


@inner(fastmath={"contract"})
def _companions(
    unit: Real,
    row: Entries,
    diagonal: Reals,
    G: Reals,
    up: Reals,
    down: Reals,
    i: Index,
    score: Reals,
) -> Real:
    """The gain of each k beyond that of i if both move, s²/(K_ii K_kk − K_ik²), and the largest.

    s = G_i K_ik − G_k K_ii has the sign of k's move.
    """
    real = G.dtype.type
    G_i, K_ii, most, parallel = G[i], diagonal[i], real(0), _parallel(G)
    for k in range(len(G)):
        K_ik, product = unit * real(row[k]), K_ii * diagonal[k]
        s = G_i * K_ik - G[k] * K_ii
        slope = larger(larger(s + up[k], down[k] - s), real(0))
        least = parallel * product + real(1e-30)
        score[k] = slope * slope / larger(product - K_ik * K_ik, least)
        most = larger(most, score[k])
    return most


@inner()
def _parallel(G: Reals) -> Real:
    real = G.dtype.type
    return real(PARALLEL if G.itemsize == 8 else PARALLEL**0.5)


@compiled()
def two_step(
    G_i: float,
    G_j: float,
    K_ii: float,
    K_jj: float,
    K_ij: Real,
    box: tuple[float, float, float, float],
) -> tuple[float, float]:
    """The minimum of G_i s + G_j t + ½(K_ii s² + 2 K_ij s t + K_jj t²) over a box for (s, t).

    Outside the box the minimum is on a side: that of s if s stays at its bound for the t that is
    best there, else that of t.
    """
    low_i, high_i, low_j, high_j = box
    a, b, c = max(float(K_ii), TINY), max(float(K_jj), TINY), float(K_ij)
    determinant = max(a * b - c * c, PARALLEL * a * b)
    s, t = (G_j * c - G_i * b) / determinant, (G_i * c - G_j * a) / determinant
    if low_i <= s <= high_i and low_j <= t <= high_j:
        return s, t
    s, t = min(max(s, low_i), high_i), min(max(t, low_j), high_j)
    best_t = min(max(-(G_j + c * s) / b, low_j), high_j)
    slope = G_i + a * s + c * best_t
    if (s == low_i and slope >= 0) or (s == high_i and slope <= 0):
        return s, best_t
    return min(max(-(G_i + c * t) / a, low_i), high_i), t
