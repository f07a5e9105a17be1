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
no new matrix, only a system over T_JJ, a few numbers in size. Those that are wrong change sides all
at once (Kostreva's block pivots); if that does not make them fewer, one at a time, the last of them
(Murty's rule), which comes to an end for every positive definite K. What rounding or a singular K
spoils is noticed: every optimum is judged by its coefficients alone.

References: M. Kostreva, Block pivot methods for solving the complementarity problem, Linear Algebra
Appl. 21 (1978), 207–215; G. Cauwenberghs, T. Poggio, Incremental and decremental support vector
machine learning, NIPS 13 (2000).
"""

from __future__ import annotations

from maxmargin.hardware.arrays import Floats, Numbers
from maxmargin.hardware.jit import compiled, inner

ROUNDS = 30  # of pivots at most, for one step
PATIENCE = 2  # rounds that do not make the wrong ones fewer, after which the step is made shorter
SHORTEST = 1 / 64  # step
MOST = 256  # units that may have changed sides
ROUNDING = 1e-12  # of a box: how far outside a coefficient counts as inside
SINGULAR = 1e-11  # what rounding leaves of an element that is zero


@compiled(fastmath={"contract"})
def follow(
    S: Floats,
    count: int,
    place: Numbers,
    known: Floats,
    lacking: Floats,
    optimum: Floats,
    first: Numbers,
    knots: Floats,
    goal: Floats,
    targets: Floats,
    slack: float,
    numbers: Numbers,
    reals: Floats,
    between: Floats,
    system: Floats,
    beta: Floats,
) -> int:
    """β = the optimum as the knots move to `goal` and the sums grow by `lacking`.

    Returns how often a system was solved; 0 if it failed.

    S is T but for the sign of −MC, in the order F, groups, B; the first `count` are F and groups.
    `place` is where each unit is in that order, `known` the left-hand side at the known optimum,
    `first` its states: 2k at knot k, 2k − 1 free below it. All the way in one step, if the pivots
    come to an end; else in steps of half the length.
    """
    state, kept = numbers[0], numbers[1]
    for u in range(len(first)):
        kept[u] = first[u]
    at, step, rounds = 0.0, 1.0, 0
    while at < 1:
        to = min(at + step, 1.0)
        for u in range(len(first)):
            state[u] = kept[u]
            for k in range(knots.shape[1]):
                between[u, k] = goal[u, k] if to == 1 else (1 - to) * knots[u, k] + to * goal[u, k]
        for k in range(len(known)):
            reals[1, k] = known[k]
        for g in range(len(lacking)):
            add(S, count, count - len(lacking) + g, to * lacking[g], reals[1])
        box = between, targets
        did = pivot(S, count, place, optimum, first, *box, slack, numbers, reals, system, beta)
        rounds += abs(did)
        if did > 0:
            at, step = to, 2 * step
            for u in range(len(first)):
                kept[u] = state[u]
        elif step <= SHORTEST:
            return 0
        else:
            step /= 2
    return rounds


@inner(fastmath={"contract"})
def pivot(
    S: Floats,
    count: int,
    place: Numbers,
    before: Floats,
    first: Numbers,
    knots: Floats,
    targets: Floats,
    slack: float,
    numbers: Numbers,
    reals: Floats,
    system: Floats,
    beta: Floats,
) -> int:
    """Bring every unit to its staircase: β and its state.

    Returns the rounds that it took, negative if it was given up. A unit whose knots are all the
    same stays there.
    """
    state, J = numbers[0], numbers[2]
    given, base, z = reals[0], reals[1], reals[2]
    n, fewest, patience = len(beta), len(beta) + 1, PATIENCE
    for k in range(len(base)):
        given[k] = 0.0
    for u in range(n):
        if knots[u, 0] == knots[u, -1]:
            state[u] = 0
    for rounds in range(1, ROUNDS + 1):
        m = 0
        for u in range(n):
            k, free = place[u], state[u] % 2 == 1
            change = 0.0
            if free != (k < count):  # it has changed sides
                if m == MOST:
                    return -rounds
                J[m] = u
                m += 1
            elif free:
                change = targets[u, state[u] // 2] - targets[u, first[u] // 2]
            else:
                change = knots[u, state[u] // 2] - before[u]
            if change != given[k]:
                add(S, count, k, change - given[k], base)
                given[k] = change
        if not solve(S, count, place, J, m, state, knots, targets, base, system):
            return -rounds
        for k in range(len(base)):
            z[k] = base[k]
        for i in range(m):
            add(S, count, place[J[i]], system[i, m], z)
        i = wrong = 0
        for u in range(n):
            k, s = place[u], state[u]
            free = s % 2 == 1
            value = z[k]
            if free != (k < count):
                value = system[i, m] + (before[u] if free else targets[u, first[u] // 2])
                i += 1
            if free:
                beta[u] = value
                rounding = ROUNDING * (knots[u, -1] - knots[u, 0])
                way = int(value > knots[u, s // 2 + 1] + rounding)
                way -= int(value < knots[u, s // 2] - rounding)
            else:
                beta[u] = knots[u, s // 2]
                way = 0
                if knots[u, 0] < knots[u, -1]:
                    way = int(s // 2 < targets.shape[1] and value < targets[u, s // 2] - slack)
                    way -= int(s > 0 and value > targets[u, s // 2 - 1] + slack)
            state[u] += way
            wrong += way != 0
        if wrong == 0:
            return rounds
        patience = PATIENCE if wrong < fewest else patience - 1
        fewest = min(fewest, wrong)
        if patience < 0:
            return -rounds
    return -ROUNDS


@inner(fastmath={"contract"})
def add(S: Floats, count: int, k: int, x: float, z: Floats) -> None:
    """z += x times column k of T."""
    row, sign = S[k], x if k < count else -x
    for l in range(count):
        z[l] += sign * row[l]
    for l in range(count, len(z)):
        z[l] += x * row[l]


@inner(fastmath={"contract"})
def solve(
    S: Floats,
    count: int,
    place: Numbers,
    J: Numbers,
    m: int,
    state: Numbers,
    knots: Floats,
    targets: Floats,
    base: Floats,
    system: Floats,
) -> bool:
    """The last column of `system` = what is given of the units that have changed sides.

    By elimination; False if T_JJ is singular.
    """
    for i in range(m):
        u, k = J[i], place[J[i]]
        for l in range(m):
            other = place[J[l]]
            system[i, l] = -S[k, other] if k < count <= other else S[k, other]
        goal = knots[u, state[u] // 2] if k < count else targets[u, state[u] // 2]
        system[i, m] = goal - base[k]
    for i in range(m):
        largest = i
        for l in range(i + 1, m):
            largest = l if abs(system[l, i]) > abs(system[largest, i]) else largest
        for c in range(i, m + 1):
            system[i, c], system[largest, c] = system[largest, c], system[i, c]
        top = system[i]
        if not abs(top[i]) > SINGULAR:
            return False
        for l in range(i + 1, m):
            line = system[l]
            factor = line[i] / top[i]
            for c in range(i + 1, m + 1):
                line[c] -= factor * top[c]
    for i in range(m - 1, -1, -1):
        line, value = system[i], system[i, m]
        for c in range(i + 1, m):
            value -= line[c] * system[c, m]
        line[m] = value / line[i]
    return True
