"""The last digits of a small problem of Crammer and Singer: a linear system on the free entries.

Once it is known which α_im are at their bounds, the others satisfy, with one τ_i for each row,

    w_mᵀx_i + b_m + e_im = τ_i  for free (i, m),
    Σ_m (α_im + Δ_im) = 0  for each row,   Σ_i (α_im + Δ_im) = 0  for each class, if it has offsets,

where w_m = Σ_i (α_im + Δ_im) x_i. The step ends where the first entry comes to its bound; that one
is free no longer, and the system is solved again.
"""

from __future__ import annotations

import numpy as np

from maxmargin.gram import DataMatrix
from maxmargin.problem import CrammerSingerProblem
from maxmargin.problem.crammer_singer import ClassesPoint
from maxmargin.resources.arrays import Floats, Mask

NEAR = 1e-5  # of c_i: an entry this close to its bound will be at it
MOST = 100  # free entries: the system is dense, and its singular values take a millisecond or two;
# with 400, 5,000 rows of ten classes took 132 ms to a gap of 1e-5 instead of 109
ROUNDS = 20  # linear systems, each with an entry fewer: beyond, most of `free` was wrong


def solve_free_entries(
    problem: CrammerSingerProblem, rows: DataMatrix, point: ClassesPoint
) -> ClassesPoint:
    """The point at which the free entries of `point` are optimal, if it can be found."""
    alpha, own = point.beta.copy(), problem.y == 0
    upper = np.where(own, problem.cost[:, None], 0.0)
    lower = np.where(own, 0.0, -problem.cost[:, None])
    near = NEAR * problem.cost[:, None]
    alpha = np.where(alpha > upper - near, upper, np.where(alpha < lower + near, lower, alpha))
    free = (alpha < upper) & (alpha > lower)
    for _ in range(ROUNDS):
        free &= (free.sum(axis=1) > 1)[:, None]  # a single entry of a row cannot move
        if not 0 < free.sum() <= MOST:
            return point
        step, offset = _step(problem, rows, alpha, free)
        room = np.where(step > 0, upper - alpha, alpha - lower)
        share = np.where(step != 0, room / np.where(step != 0, np.abs(step), 1.0), np.inf)
        if share.min() >= 1:
            return problem.point(rows, alpha + step, offset=offset)
        alpha = np.clip(alpha + share.min() * step, lower, upper)
        free &= share > share.min()
    return point


def _step(
    problem: CrammerSingerProblem, rows: DataMatrix, alpha: Floats, free: Mask
) -> tuple[Floats, Floats]:
    """Δ and b of the linear system."""
    i, m = np.nonzero(free)
    count, k = len(i), problem.classes
    X = rows.X[i]
    dense = np.asarray(X.toarray() if rows.sparse else X, float)
    by_row = (i[:, None] == np.unique(i)).astype(float)
    by_class = (m[:, None] == np.arange(k)).astype(float) * problem.fit_intercept
    conditions = np.hstack([by_row, by_class])
    sums = conditions.shape[1]
    system = np.zeros((count + sums, count + sums))
    system[:count, :count] = (dense @ dense.T) * (m[:, None] == m)
    system[:count, count:], system[count:, :count] = conditions, conditions.T
    W = np.array([rows.combine(column) for column in alpha.T])
    lacking = np.concatenate([-alpha[np.unique(i)].sum(axis=1), -alpha.sum(axis=0)])
    right = np.concatenate([problem.y[i, m] - (dense * W[m]).sum(axis=1), lacking])
    found = np.linalg.lstsq(system, right, rcond=1e-13)[0]
    step = np.zeros_like(alpha)
    step[i, m] = found[:count]
    return step, found[count + by_row.shape[1] :]
