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
A − A_k A_kᵀ / A_kk; the terms are kept. Few columns of A are ever asked for: Cholesky's factor of
K_FF gives those that the path is likely to meet next, many at once. The
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
from maxmargin.hardware.lapack import cholesky, solve_factored
from maxmargin.problem import DualProblem
from maxmargin.solvers.qp.path import ROUNDING

MORE = 1.05  # times a wrong gradient: so much of it q takes away
PIVOTS = 512  # at most
BATCH = 64  # columns of A that are computed at a time
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
    q = changes(p.row_of(W), m, now == low, r)
    A = Responses(gram, p.row_of(W), m)
    if not A.known:
        return now, 0.0
    slope, offset = A.to(np.array([-q, np.ones(len(W))]))
    # The first pivot is on the offset: it moves such that the sum of β_F stays.
    most = min(PIVOTS, 2 * len(W)) + 1
    terms, pivots = np.empty((most, len(W))), np.empty(most)
    terms[0], pivots[0] = offset, -offset[:m].sum()
    slope += offset * (slope[:m].sum() / pivots[0])
    diagonal = -(offset**2) / pivots[0]  # of A but for what it was in the beginning
    free, r, place = np.arange(len(W)) < m, r + q, np.full(len(W), -1)
    columns, have = np.empty((min(2 * most, len(W)), len(W))), 0
    at, reach, marks = np.zeros(1), np.empty(len(W)), np.array([1, -1])
    path = diagonal, slope, free, now, low, high, r, terms, pivots, A.singular, at, reach, marks
    while follow(columns, place, *path) and have < len(columns):
        soon = np.flatnonzero((reach < np.inf) & (place < 0))
        soon = soon[np.argsort(reach[soon], kind="stable")][: min(BATCH, len(columns) - have)]
        place[soon] = have + np.arange(len(soon))
        columns[place[soon]] = A.columns(soon)
        diagonal[soon] += columns[place[soon], soon]
        have += len(soon)
    return np.clip(now, low, high), float(at[0])


class Responses:
    """How β_F and the gradient of B answer to changes: A.

    A multiple of 11ᵀ is added to K: as the sum of β stays, it changes the offset and nothing else.

    Parameters
    ----------
    gram : K
    rows : of F, then of B
    m : variables in F

    Attributes
    ----------
    known : whether K_FF could be factorised
    singular : the least pivot
    """

    def __init__(self, gram: Gram, rows: Numbers, m: int) -> None:
        self.gram, self.rows, self.m = gram, rows, m
        self.scale = float(gram.diagonal[rows].mean())
        self.singular = SINGULAR * self.scale
        self.K = gram.block(rows[:m], rows)
        self.K += self.scale
        least = ROUNDING * self.scale
        self.L, added = cholesky(lambda: self.K[:, :m].copy(), least, most=self.scale)
        self.known = added < self.scale

    def to(self, changes: Floats) -> Floats:
        """P c_F, then c_B − K_BF P c_F, for each c."""
        m = self.m
        answers = changes.copy()
        answers[:, :m] = solve_factored(self.L, changes[:, :m])
        answers[:, m:] -= answers[:, :m] @ self.K[:, m:]
        return answers

    def columns(self, J: Numbers) -> Floats:
        """Of A, as rows."""
        free, m = self.m > J, self.m
        changes = np.zeros((len(J), len(self.rows)))
        changes[free, J[free]] = -1.0
        new = J[~free]
        changes[~free, :m] = self.K[:, new].T
        changes[~free, m:] = self.gram.block(self.rows[new], self.rows[m:]) + self.scale
        return self.to(changes)


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


@compiled(fastmath={"contract"})
def follow(
    columns: Floats,
    place: Numbers,
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
    at: Floats,
    reach: Floats,
    marks: Numbers,
) -> bool:
    """Follow the path: β and r, the gradient at the bounds, are changed; s is at[0].

    `slope` is −dβ/ds of the free variables and dr/ds of the others, `diagonal` that of A after the
    pivots on `terms`, of which there are marks[0]; marks[1] is the variable that has left last.
    True where the column of the next pivot is not there: `reach` is where each variable would be
    next, ∞ beyond the end.
    """
    count, left = marks[0], marks[1]
    while True:
        step, k = 1.0 - at[0], -1
        for i in range(len(beta)):
            way = slope[i]
            if free[i]:
                room = (beta[i] - low[i]) if way > 0 else (beta[i] - high[i])
            else:
                bound = low[i] == high[i] or i == left or (way > 0) == (beta[i] == low[i])
                room, way = -r[i], 0.0 if bound else way
            reach[i] = np.inf
            if way != 0 and room / way < 1.0 - at[0]:
                reach[i] = room / way
                if reach[i] < step:
                    step, k = reach[i], i
        if k >= 0 and place[k] < 0 and count < len(terms):
            marks[0], marks[1] = count, left
            return True
        step = max(step, 0.0)
        for i in range(len(beta)):
            if free[i]:
                beta[i] -= step * slope[i]
            else:
                r[i] += step * slope[i]
        at[0] = 1.0 if k < 0 else at[0] + step
        if k < 0 or count == len(terms):
            return False
        d, column, first = diagonal[k], terms[count], columns[place[k]]
        if (free[k] and d >= 0) or (not free[k] and d <= singular):
            return False
        for i in range(len(beta)):
            column[i] = first[i]
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
