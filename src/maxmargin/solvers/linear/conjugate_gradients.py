"""Conjugate gradients on a face of the box: the free variables, the others fixed at their bounds.

Given which β_i are at a bound, the others solve a linear system. Coordinate descent solves it
slowly where rows are nearly dependent (documents quoted in full, say): no single coordinate step is
long. Conjugate gradients take long steps along the common direction:

    r = −(slope of the free variables), minus its mean if Σβ must stay
    p = r; repeat
        t = r'r / p'Kp, but not farther than the nearest bound
        x += t p,  slope += t K p
        at a bound: fix that variable and restart from p = r
        r = −slope again,  p = r + (r'r / last r'r) p

with Kp = X(X'p) + q p over the rows of the free variables alone. Every step lowers the objective,
and none leaves the box or changes Σβ.
"""

from __future__ import annotations

import numpy as np

from maxmargin.gram.data_matrix import DataMatrix, row_add, row_dot
from maxmargin.hardware.arrays import Floats, Mask, Numbers, Reals
from maxmargin.hardware.jit import compiled
from maxmargin.problem import LinearProblem

STEPS = 300  # most in one call: then sweeps choose the free variables anew


def minimise_on_face(
    problem: LinearProblem, rows: DataMatrix, beta: Floats, remaining: float = 1e-3
) -> Floats:
    """β of a lower objective; variables at bounds, and at the kink of ε|β|, are fixed.

    It ends when the largest slope is `remaining` times the first one, or after STEPS steps.
    """
    lower, upper = problem.bounds
    if problem.loss.epsilon:
        lower, upper = np.where(beta >= 0, 0.0, lower), np.where(beta <= 0, 0.0, upper)
    inside = np.flatnonzero((beta > lower) & (beta < upper))
    if len(inside) < 2:
        return beta
    some, x, q = DataMatrix(rows.X[inside]), beta[inside], problem.curvature[inside]
    slope = some.scores(rows.combine(beta)) - problem.y[inside] + q * x
    slope += problem.loss.epsilon * np.sign(x)
    rounding = 1e-14 * float(np.abs(slope).max() + np.abs(problem.y[inside]).max())
    box, free = (lower[inside], upper[inside]), np.ones(len(x), bool)
    room = np.zeros(len(x)), np.empty(rows.d)
    descend(*some.parts, x, slope, q, *box, problem.fit_intercept, free, *room, remaining, rounding)
    beta = beta.copy()
    beta[inside] = x
    return beta


@compiled()
def descend(
    data: Reals,
    indices: Numbers,
    indptr: Numbers,
    x: Floats,
    slope: Floats,
    q: Floats,
    lower: Floats,
    upper: Floats,
    centred: bool,
    free: Mask,
    p: Floats,
    w: Floats,
    remaining: float,
    rounding: float,
) -> None:
    """The loop above: changes x and its slope; p and w are working memory for p and Xᵀp."""
    enough, last = -1.0, np.inf
    for _ in range(STEPS):
        mean, count = 0.0, 0
        for i in range(len(x)):
            if free[i]:
                mean += slope[i]
                count += 1
        if count < 2:
            break
        mean = mean / count if centred else 0.0
        square, largest = 0.0, 0.0
        for i in range(len(x)):
            if free[i]:
                square += (mean - slope[i]) ** 2
                largest = max(largest, abs(mean - slope[i]))
        if enough < 0:
            enough = max(remaining * largest, rounding)
        if largest <= enough:
            break
        w[:] = 0.0
        along, length, curvature = 0.0, 0.0, 0.0  # r'p, p'p, p'Kp
        for i in range(len(x)):
            if free[i]:
                p[i] = mean - slope[i] + square / last * p[i]
                along += (mean - slope[i]) * p[i]
                length += p[i] * p[i]
                curvature += q[i] * p[i] * p[i]
                row_add(data, indices, indptr, i, p[i], w)
        for k in range(len(w)):
            curvature += w[k] * w[k]
        if along <= 0:  # p does not descend: rounding errors are all that is left
            break
        t = along / curvature if curvature > 1e-14 * length else np.inf
        for i in range(len(x)):
            if free[i] and p[i] != 0.0:
                t = min(t, ((upper[i] if p[i] > 0 else lower[i]) - x[i]) / p[i])
        last = square
        for i in range(len(x)):
            if free[i] and p[i] != 0.0:
                wall = upper[i] if p[i] > 0 else lower[i]
                hit = (wall - x[i]) / p[i] <= t
                x[i] = wall if hit else x[i] + t * p[i]
                slope[i] += t * (row_dot(data, indices, indptr, i, w) + q[i] * p[i])
                if hit:
                    free[i], last = False, np.inf  # square / ∞ = 0: restart
