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
from maxmargin.hardware.arrays import Entries, Floats, Index, Mask, Numbers, Real, Reals
from maxmargin.hardware.jit import compiled, inner, linked
from maxmargin.hardware.simd import larger
from maxmargin.solvers.qp import pair_step

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
    variables = gradient, beta, lower, upper, group, n_groups
    with_maker = () if maker is None else (maker,)
    return native.smo(K, diagonal, *variables, tol, max_steps, *with_maker)


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
    maker: tuple[Mask, Entries, Numbers] | None,
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
