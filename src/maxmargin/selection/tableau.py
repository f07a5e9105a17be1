"""The optimum of a problem that differs a little from one whose optimum is known, by pivots.

A unit (a row of the data, with all its variables) has a coefficient β between knots B_0 < … < B_P
and a decision value q = (Kβ)_i + b with targets t_1 > … > t_P. It is optimal if it stands on its
staircase: at a knot B_k with t_{k+1} ≤ q ≤ t_k, or free between B_{k−1} and B_k with q = t_k. A
classifier has the knots 0 and C and the target y; a regressor −C, 0, C and y + ε, y − ε.

At the known optimum the units F are free, the others B at a knot, and

    (β_F, b, q_B) = T (q_F, d, β_B),  T = [ M    −MC         ],  M = [ K_FF  Aᵀ ]⁻¹,  C = [ K_FB ]
                                          [ CᵀM  K_BB − CᵀMC ]       [ A     0  ]         [ A_B  ]

d being the sums of the groups. What is on the right is given, what is on the left follows. Taking a
row out changes one number on the right. If a β_F then leaves its piece of the staircase, or a q_B
its interval, that unit changes sides: β is given where q was, or q where β was. These pivots J need
no new matrix, only a system over T_JJ, a few numbers in size, and of T the rows of J alone, which
are computed when first needed. Those that are wrong change sides all
at once (Kostreva's block pivots); if that does not make them fewer, one at a time, the last of them
(Murty's rule), which comes to an end for every positive definite K. What rounding or a singular K
spoils is noticed: every optimum is judged by its coefficients alone.

References: M. Kostreva, Block pivot methods for solving the complementarity problem, Linear Algebra
Appl. 21 (1978), 207–215; G. Cauwenberghs, T. Poggio, Incremental and decremental support vector
machine learning, NIPS 13 (2000).
"""

from __future__ import annotations

import numpy as np

from maxmargin.hardware.arrays import Floats, Mask, Numbers
from maxmargin.hardware.jit import compiled, inner
from maxmargin.selection.tableau_rows import add, make, solve

ROUNDS = 30  # of pivots at most, for one step
PATIENCE = 2  # rounds that do not make the wrong ones fewer, after which the step is made shorter
AWAY = 2  # times the fewest wrong ones so far: then pivots lead away (california: 20 to 12 ms)
SHORTEST = 1 / 64  # step
MOST = 256  # units that may have changed sides
ROUNDING = 1e-12  # of a box: how far outside a coefficient counts as inside
LIMITS = 64  # values that are compared with their limits at a time


@compiled(fastmath={"contract"})
def follow_all(
    S: Floats,
    count: int,
    K: Floats,
    C: Floats,
    order: Numbers,
    made: Mask,
    known: Floats,
    optimum: Floats,
    first: Numbers,
    knots: Floats,
    targets: Floats,
    goals: Floats,
    lacking: Floats,
    removed: Numbers,
    slack: float,
    numbers: Numbers,
    reals: Floats,
    between: Floats,
    system: Floats,
    beta: Floats,
    rounds: Numbers,
) -> None:
    """β = the optimum without each of the units `removed`; rounds[k] = 0 where it failed.

    Everything but β is in the order of S: F, groups, B. The first `count` are F and groups, and
    `order` is the unit at each place, −1 for a group, which is a unit that is free without end.
    S is T but for the sign of −MC, and has the rows that are `made`; others are added. `known` is
    the left-hand side at the known optimum, `first` its states: 2k at knot k, 2k − 1 free below it.
    The knots move to `goals` and the sums grow by `lacking`: a line for each unit, or one for all.
    A unit −1 is none.
    """
    for i in range(len(order)):
        reals[5, i], reals[6, i] = limits(i, first[i], knots, targets, slack)
    for k in range(len(removed)):
        line, u = k % len(goals), removed[k]
        goal = goals[line]
        for j in range(goal.shape[1] if u >= 0 else 0):
            goal[u, j] = 0.0
        rounds[k] = follow(
            *(S, count, K, C, order, made, known, optimum, first, knots, targets, goal),
            *(lacking[line], slack, numbers, reals, between, system),
        )
        for j in range(goal.shape[1] if u >= 0 else 0):
            goal[u, j] = knots[u, j]
        for i in range(len(order)):
            if order[i] >= 0:
                beta[k, order[i]] = reals[0, i]


@inner(fastmath={"contract"})
def follow(
    S: Floats,
    count: int,
    K: Floats,
    C: Floats,
    order: Numbers,
    made: Mask,
    known: Floats,
    optimum: Floats,
    first: Numbers,
    knots: Floats,
    targets: Floats,
    goal: Floats,
    lacking: Floats,
    slack: float,
    numbers: Numbers,
    reals: Floats,
    between: Floats,
    system: Floats,
) -> int:
    """The optimum as the knots move to `goal`, in reals[0].

    Returns how often a system was solved; 0 if it failed. All the way in one step, if the pivots
    come to an end; else in steps of half the length.
    """
    state, kept, base = numbers[0], numbers[1], reals[1]
    for k in range(len(first)):
        kept[k] = first[k]
    at, step, rounds = 0.0, 1.0, 0
    while at < 1:
        to = min(at + step, 1.0)
        for k in range(len(first)):
            state[k], base[k] = kept[k], known[k]
            for j in range(knots.shape[1] if to < 1 else 0):
                between[k, j] = (1 - to) * knots[k, j] + to * goal[k, j]
        for g in range(len(lacking)):
            if lacking[g] != 0:
                add(S, count, count - len(lacking) + g, to * lacking[g], base)
        here = goal if to == 1 else between
        did = pivot(
            *(S, count, K, C, order, made, optimum, first, knots, here, targets, slack),
            *(numbers, reals, system),
        )
        rounds += abs(did)
        if did > 0:
            at, step = to, 2 * step
            for k in range(len(first)):
                kept[k] = state[k]
        elif step <= SHORTEST:
            return 0
        else:
            step /= 2
    return rounds


@inner(fastmath={"contract"})
def pivot(
    S: Floats,
    count: int,
    K: Floats,
    C: Floats,
    order: Numbers,
    made: Mask,
    before: Floats,
    first: Numbers,
    old: Floats,
    knots: Floats,
    targets: Floats,
    slack: float,
    numbers: Numbers,
    reals: Floats,
    system: Floats,
) -> int:
    """Bring every unit to its staircase: its state, and its β in reals[0].

    Returns the rounds that it took, negative if it was given up. A unit whose knots are all the
    same stays there. The last two lines of reals are the limits in the first states, with the old
    knots.
    """
    state, J, wrong = numbers[0], numbers[2], numbers[3]
    z, base, given, low, high = reals[0], reals[1], reals[2], reals[3], reals[4]
    size, m, fewest, patience = len(base), 0, len(base) + 1, PATIENCE
    for k in range(size):
        given[k], low[k], high[k] = 0.0, reals[5, k], reals[6, k]
    for k in range(size):
        same = old[k, 0] == knots[k, 0] and old[k, -1] == knots[k, -1]
        if same and state[k] == first[k]:
            continue
        if knots[k, 0] == knots[k, -1]:
            state[k] = 0
        if (state[k] % 2 == 1) != (k < count):
            if m == MOST:
                return -1
            J[m] = k
            m += 1
        give(S, count, k, before, first, knots, targets, slack, state, reals)
    for rounds in range(1, ROUNDS + 1):
        if not solve(S, count, J, m, state, knots, targets, base, system):
            return -rounds
        for k in range(size):
            z[k] = base[k]
        for i in range(m):
            add(S, count, J[i], system[i, m], z)
        w = outside(z, low, high, wrong)
        for i in range(m):  # the units that have changed sides: what is given of them is known
            k = J[i]
            free = state[k] % 2 == 1
            z[k] = system[i, m] + (before[k] if free else targets[k, first[k] // 2])
            least, most = limits(k, state[k], knots, targets, slack)
            if z[k] < least or z[k] > most:
                wrong[w] = k
                w += 1
        if w == 0:
            for k in range(size):
                z[k] = z[k] if state[k] % 2 == 1 else knots[k, state[k] // 2]
            return rounds
        patience = PATIENCE if w < fewest else patience - 1
        fewest = min(fewest, w)
        if patience < 0 or w > AWAY * (fewest + 1):
            return -rounds
        for i in range(w):
            k = wrong[i]
            if not made[k]:
                make(S, count, K, C, order, k)
                made[k] = True
            least, _ = limits(k, state[k], knots, targets, slack)
            rises = (z[k] < least) != (state[k] % 2 == 1)  # β does, where q is too small
            state[k] += 1 if rises else -1
            give(S, count, k, before, first, knots, targets, slack, state, reals)
        m = moved(J, m, wrong, w, count, state)
        if m < 0:
            return -rounds
    return -ROUNDS


@inner()
def moved(J: Numbers, m: int, wrong: Numbers, w: int, count: int, state: Numbers) -> int:
    """J = the units on the other side now, those of `wrong` having changed; −1 if too many."""
    kept = 0
    for i in range(m):
        if (state[J[i]] % 2 == 1) != (J[i] < count):
            J[kept] = J[i]
            kept += 1
    # A unit that was wrong has changed sides: it is new in J, or has left it.
    for i in range(w):
        k = wrong[i]
        if (state[k] % 2 == 1) != (k < count):
            if kept == MOST:
                return -1
            J[kept] = k
            kept += 1
    return kept


@inner(fastmath={"contract"})
def give(
    S: Floats,
    count: int,
    k: int,
    before: Floats,
    first: Numbers,
    knots: Floats,
    targets: Floats,
    slack: float,
    state: Numbers,
    reals: Floats,
) -> None:
    """What is given of a unit in its state, as part of the base, and the limits of what follows.

    Of one that has changed sides what is given is unknown, and it has no limits here.
    """
    base, given, low, high = reals[1], reals[2], reals[3], reals[4]
    s, change = state[k], 0.0
    low[k], high[k] = -np.inf, np.inf
    if (s % 2 == 1) == (k < count):
        low[k], high[k] = limits(k, s, knots, targets, slack)
        if k < count:
            change = targets[k, s // 2] - targets[k, first[k] // 2]
        else:
            change = knots[k, s // 2] - before[k]
    if change != given[k]:
        add(S, count, k, change - given[k], base)
        given[k] = change


@inner()
def limits(k: int, s: int, knots: Floats, targets: Floats, slack: float) -> tuple[float, float]:
    """Between what a free coefficient, or the decision value of one at a knot, must be."""
    if s % 2 == 1:
        width = knots[k, -1] - knots[k, 0]
        rounding = ROUNDING * width if width < np.inf else 0.0
        return knots[k, s // 2] - rounding, knots[k, s // 2 + 1] + rounding
    least, most = -np.inf, np.inf
    if knots[k, 0] < knots[k, -1]:
        least = targets[k, s // 2] - slack if s // 2 < targets.shape[1] else least
        most = targets[k, s // 2 - 1] + slack if s > 0 else most
    return least, most


@inner()
def outside(z: Floats, low: Floats, high: Floats, found: Numbers) -> int:
    """The places where z is not between its limits, and how many there are."""
    count = 0
    for start in range(0, len(z), LIMITS):
        stop, some = min(start + LIMITS, len(z)), 0
        for k in range(start, stop):
            some += (z[k] < low[k]) | (z[k] > high[k])
        for k in range(start, stop if some else start):
            if (z[k] < low[k]) | (z[k] > high[k]):
                found[count] = k
                count += 1
    return count
