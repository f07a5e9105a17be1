"""From a point that is nearly optimal to the optimum: a path of problems, by pivots.

β violates KKT a little; with other linear terms p + q it would not, q being as large as the
violation. As s goes from 0 to 1, p + (1 − s) q goes to p, and the optimum moves with it on straight
lines: where a free variable meets its bound it stays there, where the gradient of one at a bound
changes its sign it becomes free, and the lines go on from there. The number of these pivots is
about that of the variables whose place is not yet right, and each costs little. With the
free variables F and those at a bound B,

    A = [ −P      P K_FB               ],   P = K_FF⁻¹,
        [ K_BF P  K_BB − K_BF P K_FB   ]

says how β_F and the gradient of B answer to any change. A pivot on k is one term of rank one,
A − A_k A_kᵀ / A_kk; the terms are kept, and a column of A is computed when its turn comes. The
offset is one more index, with K_o· = 1. Wherever the path is left, what still violates KKT is
(1 − s) q.

References: M. Best, An algorithm for the solution of the parametric quadratic programming problem,
in Applied Mathematics and Parallel Computing (1996); H. Ferreau, H. Bock, M. Diehl, An online
active set strategy to overcome the limitations of explicit MPC, Int. J. Robust Nonlinear Control
18 (2008), 816–830; J. Goodnight, A tutorial on the SWEEP operator, Am. Stat. 33 (1979), 149–158.
"""

from __future__ import annotations

import numpy as np

from maxmargin.gram import Gram
from maxmargin.hardware.arrays import Floats, Mask, Numbers
from maxmargin.hardware.jit import compiled
from maxmargin.hardware.lapack import factorise, invert
from maxmargin.problem import DualProblem

MORE = 1.05  # times a wrong gradient: so much of it q takes away
PIVOTS = 512  # at most
ROUNDING = 1e-10  # of the mean diagonal entry: added to K_FF, which may be singular
SINGULAR = 1e-9  # of the mean diagonal entry: what rounding leaves of a curvature that is zero


def end_of_path(
    p: DualProblem, gram: Gram, F: Numbers, B: Numbers, beta: Floats, force: Floats
) -> tuple[Floats, float]:
    """β of F and B where the path ends, and how far it came: 1 is the optimum over both.

    F are the free variables, B those at a bound that may become free; `force` is the gradient with
    the offset. The problem has one group.
    """
    m, W = len(F), np.concatenate([F, B])
    now, low, high, r = beta[W], p.lower[W], p.upper[W], force[W]
    rows = p.row_of(W)
    q = changes(rows, m, now == low, r)
    A, singular = tableau(gram.square(rows), m)
    if A is None:
        return now, 0.0
    slope = A[:, :m] @ q[:m]
    slope[m:] -= q[m:]
    # The first pivot is on the offset: it moves such that the sum of β_F stays.
    terms, pivots = np.empty((min(PIVOTS, 2 * len(W)) + 1, len(W))), np.empty(PIVOTS + 1)
    offset = -A[:, :m].sum(axis=1)
    offset[m:] += 1.0
    terms[0], pivots[0] = offset, -offset[:m].sum()
    slope += offset * (slope[:m].sum() / pivots[0])
    diagonal = A.diagonal() - offset**2 / pivots[0]
    free, r = np.arange(len(W)) < m, r + q
    came = follow(A, diagonal, slope, free, now, low, high, r, terms, pivots, singular)
    return np.clip(now, low, high), came


def changes(rows: Numbers, m: int, at_low: Mask, force: Floats) -> Floats:
    """q: with it the first m variables, which are free, have no gradient, the others none wrong.

    Both variables of a row are changed alike: so they stay as far apart as ε says.
    """
    wrong = np.where(at_low, np.minimum(force, 0.0), np.maximum(force, 0.0))[m:]
    of_row = np.zeros(int(rows.max()) + 1)
    np.minimum.at(of_row, rows[m:], -MORE * wrong)
    rising = np.zeros_like(of_row)
    np.maximum.at(rising, rows[m:], -MORE * wrong)
    of_row += rising
    of_row[rows[:m]] = -force[:m]
    changed: Floats = of_row[rows]
    return changed


def tableau(K: Floats, m: int) -> tuple[Floats | None, float]:
    """A in place of K, the first m being free, and the least pivot; None where K_FF is singular.

    A multiple of 11ᵀ is added to K: as the sum of β stays, it changes the offset and nothing else.
    """
    scale = float(np.diagonal(K).mean())
    K += scale
    rounding, done = ROUNDING * scale, False
    while not done and rounding < scale:
        P = K[:m, :m].copy()
        np.einsum("ii->i", P)[:] += rounding
        done = factorise(P.T)
        rounding *= 10
    if not done:
        return None, 0.0
    invert(P.T)
    answer = P @ K[:m, m:]
    K[m:, m:] -= K[m:, :m] @ answer
    K[:m, m:], K[m:, :m] = answer, answer.T
    np.negative(P, out=K[:m, :m])
    return K, SINGULAR * scale


@compiled(fastmath={"contract"})
def follow(
    A: Floats,
    diagonal: Floats,
    slope: Floats,
    free: Mask,
    beta: Floats,
    low: Floats,
    high: Floats,
    r: Floats,
    terms: Floats,
    pivots: Floats,
    singular: float,
) -> float:
    """Follow the path: β and r, the gradient at the bounds, are changed; returns s.

    `slope` is −dβ/ds of the free variables and dr/ds of the others, `diagonal` that of A after the
    pivots on `terms`, of which the first is given.
    """
    s, count, left = 0.0, 1, -1
    while True:
        step, k = 1.0 - s, -1
        for i in range(len(beta)):
            way = slope[i]
            if free[i]:
                room = (beta[i] - low[i]) if way > 0 else (beta[i] - high[i])
            else:
                bound = low[i] == high[i] or i == left or (way > 0) == (beta[i] == low[i])
                room, way = -r[i], 0.0 if bound else way
            if way != 0 and room / way < step:
                step, k = room / way, i
        step = max(step, 0.0)
        for i in range(len(beta)):
            if free[i]:
                beta[i] -= step * slope[i]
            else:
                r[i] += step * slope[i]
        s += step
        if k < 0 or count == len(terms):
            return 1.0 if k < 0 else s
        d, column = diagonal[k], terms[count]
        if (free[k] and d >= 0) or (not free[k] and d <= singular):
            return s
        for i in range(len(beta)):
            column[i] = A[k, i]
        for l in range(count):
            term, factor = terms[l], terms[l, k] / pivots[l]
            for i in range(len(beta)):
                column[i] -= factor * term[i]
        along, factor = slope[k], slope[k] / d
        for i in range(len(beta)):
            slope[i] -= factor * column[i]
            diagonal[i] -= column[i] * column[i] / d
        slope[k], diagonal[k] = along / abs(d), -1.0 / d
        column[k] = d - d / abs(d)  # so that this term makes A_k to A_k / |d|
        pivots[count] = d
        count += 1
        left = k if free[k] else -1
        if free[k]:
            beta[k], r[k] = low[k] if along > 0 else high[k], 0.0
        free[k] = not free[k]
