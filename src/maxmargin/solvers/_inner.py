"""Second-order SMO on a small dense problem whose matrix stays in cache: the compiled loop.

A step reads two rows of K in four passes over q numbers, each a loop that vectorises:

    1. which k scores highest: i wants up most (the largest −G_i that can go up)
    2. the gain b²/a of every partner k that can go down, and the largest of them
    3. which k scores highest: j
    4. G += t(K_i − K_j), and on the way the scores −G and the extremes that tell when to stop

Without a sum constraint (no offset) two variables move as well, each as far as it likes: i by what
it gains alone, j by what both gain together. One at a time would take many more steps, for rows
have much in common and all push the same way.

A maximum together with its place does not vectorise, so a pass finds the value and the next one
the place (the lowest, when several are equal). Bounds and groups are not asked about either: what
may not move has −∞ added to its score. All this runs in the precision of K. β and the length of a
step are float64, and whoever calls brings the gradient of all variables along from β, so that
rounding in here costs accuracy of this block's answer only, and the next block repairs it.
"""

import numpy as np

from maxmargin.compiled import compiled, inner
from maxmargin.small_matrix import need
from maxmargin.solvers.pair import curvature, take_pair
from maxmargin.vectors import UNIT, larger


def smo_block(matrix, diagonal, gradient, beta, lower, upper, group, n_groups, tol, max_steps):
    """Minimise over β in place until the violation is ≤ tol; returns the steps taken.

    `matrix` is K as the parts of a `SmallMatrix`; whole numbers in it are UNITths.
    """
    solve = _pairs if n_groups else _twos  # only what is used is compiled
    G = gradient.astype(diagonal.dtype)
    scores = np.empty((3, max(n_groups, 1), len(beta)), diagonal.dtype)
    place = np.arange(len(beta), dtype=np.int32)
    unit = G.dtype.type(1 / UNIT if matrix[0].dtype.kind == "u" else 1)
    box = lower, upper, group
    steps = solve(matrix, unit, diagonal, G, beta, *box, scores, place, tol, max_steps)
    gradient[:] = G
    return steps


@inner()
def _ways(beta, lower, upper, group, up, down):
    """For each group what is added to the scores of going up and of going down: 0, or −∞."""
    for g in range(len(up)):
        for k in range(len(beta)):
            mine = len(up) == 1 or group[k] == g
            up[g, k] = 0 if mine and beta[k] < upper[k] else -np.inf
            down[g, k] = 0 if mine and beta[k] > lower[k] else -np.inf


@compiled(fastmath={"contract"})
def _pairs(matrix, unit, diagonal, G, beta, lower, upper, group, scores, place, tol, max_steps):
    up, down, score = scores[0], scores[1], scores[2]
    _ways(beta, lower, upper, group, up, down)
    i = j = np.int64(0)  # the type that `_find` returns: `need` is compiled once
    t, steps = 0.0, 0
    (K, maker), real = matrix, G.dtype.type
    while True:
        worst, g, highest = real(tol), -1, real(0)
        need(K, maker, i)
        need(K, maker, j)
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
def _move(t, row_i, row_j, G, up, down, score):
    """G += t(K_i − K_j); the largest −G that can go up and the smallest that can go down."""
    real = G.dtype.type
    top = low = real(-np.inf)
    for k in range(len(G)):
        G[k] += t * (real(row_i[k]) - real(row_j[k]))
        score[k] = up[k] - G[k]
        top = larger(top, score[k])
        low = larger(low, down[k] + G[k])
    return top, -low


@inner(fastmath={"contract"})
def _partners(unit, row, diagonal, G, down, i, score):
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
def _find(value, score, place):
    """The first place of a value that is there."""
    first = nowhere = np.int32(len(score))
    for k in range(len(score)):
        here = place[k] if score[k] == value else nowhere
        first = here if here < first else first  # as `min` would, which takes longer to compile
    return np.int64(first)


@compiled(fastmath={"contract"})
def _twos(matrix, unit, diagonal, G, beta, lower, upper, group, scores, place, tol, max_steps):
    up, down, score = scores[0], scores[1], scores[2, 0]
    _ways(beta, lower, upper, group, up, down)
    i = j = np.int64(0)
    move_i, move_j, steps = 0.0, 0.0, 0
    (K, maker), real = matrix, G.dtype.type
    while True:
        need(K, maker, i)
        need(K, maker, j)
        worst, gain = _shift(
            unit * real(move_i), K[i], unit * real(move_j), K[j], G, diagonal, up[0], down[0], score
        )
        if worst <= tol or steps == max_steps:
            break
        i = _find(gain, score, place)
        need(K, maker, i)
        j = _find(_companions(unit, K[i], diagonal, G, up[0], down[0], i, score), score, place)
        box = (lower[i] - beta[i], upper[i] - beta[i], lower[j] - beta[j], upper[j] - beta[j])
        if i == j:  # no other has anything to add
            alone = -float(G[i]) / max(float(diagonal[i]), 1e-12)
            move_i, move_j = min(max(alone, box[0]), box[1]), 0.0
        else:
            K_ij = unit * real(K[i, j])
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
def _shift(s, row_i, t, row_j, G, diagonal, up, down, score):
    """G += s K_i + t K_j; the worst violation, and the largest of the gains G_k²/K_kk."""
    real = G.dtype.type
    worst = most = real(0)
    for k in range(len(G)):
        G[k] += s * real(row_i[k]) + t * real(row_j[k])
        wish = larger(larger(up[k] - G[k], down[k] + G[k]), real(0))
        score[k] = wish * wish / larger(diagonal[k], real(1e-12))
        worst = larger(worst, wish)
        most = larger(most, score[k])
    return worst, most


@inner(fastmath={"contract"})
def _companions(unit, row, diagonal, G, up, down, i, score):
    """What each k adds to the gain of i when both move, s²/(K_ii K_kk − K_ik²), and the most.

    s = G_i K_ik − G_k K_ii has the sign of k's move.
    """
    real = G.dtype.type
    G_i, K_ii, most = G[i], diagonal[i], real(0)
    for k in range(len(G)):
        K_ik = unit * real(row[k])
        s = G_i * K_ik - G[k] * K_ii
        slope = larger(larger(s + up[k], down[k] - s), real(0))
        score[k] = slope * slope / larger(K_ii * diagonal[k] - K_ik * K_ik, real(1e-12))
        most = larger(most, score[k])
    return most


@compiled()
def two_step(G_i, G_j, K_ii, K_jj, K_ij, box):
    """The minimum of G_i s + G_j t + ½(K_ii s² + 2 K_ij s t + K_jj t²) over a box for (s, t).

    Where it is not inside, it is on the side of the box beyond which one of the two would go: that
    of s if s would go beyond it even when t is where it is best for that side.
    """
    low_i, high_i, low_j, high_j = box
    a, b, c = max(float(K_ii), 1e-12), max(float(K_jj), 1e-12), float(K_ij)
    determinant = max(a * b - c * c, 1e-12)
    s, t = (G_j * c - G_i * b) / determinant, (G_i * c - G_j * a) / determinant
    if low_i <= s <= high_i and low_j <= t <= high_j:
        return s, t
    s, t = min(max(s, low_i), high_i), min(max(t, low_j), high_j)
    best_t = min(max(-(G_j + c * s) / b, low_j), high_j)
    slope = G_i + a * s + c * best_t
    if (s == low_i and slope >= 0) or (s == high_i and slope <= 0):
        return s, best_t
    return min(max(-(G_i + c * t) / a, low_i), high_i), t
