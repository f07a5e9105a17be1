"""SMO on a kernel matrix that is held in memory: block after block, without leaving compiled code.

    repeat
        W = the variables that violate KKT most, or come closest to it: all that are free among them
        minimise over β_W by second-order SMO on a copy of K[W, W] in float32, which stays in cache,
            of the rows that it asks for
        f += K[:, W] Δβ_W in float64
    until the violation is ≤ aim

A fit of a search takes a few milliseconds: here it takes no call from Python per block. f = Kβ is
summed in float64 from beginning to end, over all rows: so the gradient needs no confirmation, and
at the rows held out f + b is the decision value.

Near the optimum G + b is small, and it is what SMO is given, in float32: its rounding is relative
to what is left to do, so that blocks in float32 converge to any tolerance.
"""

from __future__ import annotations

import numpy as np

from maxmargin.gram.row_cache import GROUP, weighted_rows
from maxmargin.hardware.arrays import Entries, Floats, Mask, Numbers
from maxmargin.hardware.jit import compiled, inner, linked
from maxmargin.hardware.memory import large_array
from maxmargin.problem import DualProblem
from maxmargin.solvers.qp.smo_block import smo_pairs

SMALLEST, LARGEST = 384, 2048  # variables in a block: 384 fit into a core's cache
ROOM = 1.5  # times the free variables: so many are in a block
BAD = 0.1  # of the worst violation: who violates more is in the block, if there is room
BISECTIONS = 12  # to find the least score of a block: the rest is drawn evenly

pairs, add_rows = linked(smo_pairs), linked(weighted_rows)


class Workspace:
    """Memory of the blocks of problems of one size, used again and again.

    Parameters
    ----------
    size : number of variables
    """

    def __init__(self, size: int) -> None:
        most = min(size, LARGEST)
        self.score = np.empty(size)
        self.chosen = np.empty((3, most + GROUP), np.int64)
        self.point = np.empty((4, most + GROUP))
        self.reals = np.empty((5, most), np.float32)
        self.place = np.arange(most, dtype=np.int32)
        self.group = np.zeros(most, np.int8)
        self.made = np.zeros(most, bool)
        self.K = large_array((most * most,), np.float32)

    def descend(
        self, problem: DualProblem, K: Entries, beta: Floats, f: Floats, aim: float, most: int
    ) -> int:
        """Minimise over β in place, with f = Kβ; returns the steps taken, `most` or more if all."""
        p = problem
        rows = np.arange(p.size) if p.rows is None else p.rows
        marks, block = (self.place, self.group, self.made), self.K
        box, memory = (p.linear, p.lower, p.upper), (self.score, self.chosen, self.point)
        return descend(K, rows, *box, beta, f, *memory, self.reals, *marks, block, aim, most)


@compiled(fastmath={"contract"})
def descend(
    K: Entries,
    rows: Numbers,
    linear: Floats,
    lower: Floats,
    upper: Floats,
    beta: Floats,
    f: Floats,
    score: Floats,
    chosen: Numbers,
    point: Floats,
    reals: Entries,
    place: Numbers,
    group: Numbers,
    made: Mask,
    space: Entries,
    aim: float,
    most: int,
) -> int:
    """Blocks until the violation is ≤ aim, `most` steps were taken, or none is possible."""
    steps = 0
    while steps < most:
        violation, middle, free = survey(rows, linear, lower, upper, beta, f, score)
        if violation <= aim:
            break
        bad = 0
        for v in range(len(score)):
            bad += score[v] > BAD * violation
        size = min(max(SMALLEST, int(ROOM * free), free + bad), len(place))
        m, outside = choose(score, -violation, size, chosen[0])
        W, now, low, high = chosen[0][:m], point[0][:m], point[1][:m], point[2][:m]
        own, G, diagonal = chosen[2][:m], reals[0][:m], reals[1][:m]
        block = space[: m * m].reshape((m, m))
        for i in range(m):
            v = W[i]
            own[i] = rows[v]
            now[i], low[i], high[i] = beta[v], lower[v], upper[v]
            G[i] = f[rows[v]] + linear[v] + middle
            diagonal[i], made[i] = K[own[i], own[i]], False
        scores = reals[2:].reshape(3 * reals.shape[1])[: 3 * m].reshape((3, 1, m))
        goal = max(0.4 * aim, 0.6 * outside, 0.02 * violation)
        limit = min(50 * m, most - steps)
        box, one = (low, high, group[:m]), reals.dtype.type(1)
        maker = made[:m], K, own
        steps += pairs(block, maker, one, diagonal, G, now, *box, scores, place[:m], goal, limit)
        moved, delta = chosen[1], point[3]
        count = 0
        for i in range(m):
            change = now[i] - beta[W[i]]
            if change != 0:
                beta[W[i]] = now[i]
                moved[count], delta[count] = rows[W[i]], change
                count += 1
        if count == 0:
            break
        while count % GROUP:
            moved[count], delta[count] = moved[0], 0.0
            count += 1
        add_rows(K, moved[:count], delta[:count], f, 0, len(f))
    return steps


@inner()
def survey(
    rows: Numbers,
    linear: Floats,
    lower: Floats,
    upper: Floats,
    beta: Floats,
    f: Floats,
    score: Floats,
) -> tuple[float, float, int]:
    """The worst violation, the offset in the middle of the extremes, and how many are free.

    The score of a variable is by how much it violates KKT with that offset; if it does not, minus
    the change of its gradient at which it would.
    """
    up, down, free = -np.inf, np.inf, 0
    for v in range(len(beta)):
        slope, rises, falls = -(f[rows[v]] + linear[v]), beta[v] < upper[v], beta[v] > lower[v]
        up = slope if rises and slope > up else up
        down = slope if falls and slope < down else down
        free += rises and falls
    middle = 0.5 * (up + down)
    for v in range(len(beta)):
        slope = -(f[rows[v]] + linear[v]) - middle
        rise = slope if beta[v] < upper[v] else -np.inf
        fall = -slope if beta[v] > lower[v] else -np.inf
        score[v] = rise if rise > fall else fall
    return up - down, middle, free


@inner()
def choose(score: Floats, least: float, size: int, W: Numbers) -> tuple[int, float]:
    """W = the variables of the largest scores above `least`, up to `size`.

    Of those with nearly the same score some are taken, evenly spread: they are much alike, and once
    a few have moved, the others no longer violate. Returns how many there are, and the largest
    score of the others.
    """
    low, high = least, least
    sure = between = 0
    for v in range(len(score)):
        sure += score[v] > least
        high = score[v] if score[v] > high else high
    if sure > size:
        above, sure = sure, 0
        for _ in range(BISECTIONS):
            t = 0.5 * (low + high)
            count = 0
            for v in range(len(score)):
                count += score[v] > t
            if count > size:
                low, above = t, count
            else:
                high, sure = t, count
        between = above - sure
    else:
        high = low
    m = seen = 0
    for v in range(len(score)):
        if score[v] > high:
            W[m] = v
            m += 1
        elif score[v] > low:
            if (seen + 1) * (size - sure) // between > seen * (size - sure) // between:
                W[m] = v
                m += 1
            seen += 1
    return m, max(high, 0.0) if between else 0.0
