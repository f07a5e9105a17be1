"""Conjugate gradients on a face of the box: how coordinate descent finishes what it has found.

Once it is known which β_i sit at a bound, the others solve a linear system. Coordinate descent
solves it slowly where rows are nearly dependent (documents quoted in full, say): it creeps along a
direction in which no single step is long. Conjugate gradients see the direction:

    r = −(slope of the free variables), minus its mean if Σβ must stay
    p = r; repeat
        t = r'r / p'Kp, but not farther than the nearest bound
        x += t p,  slope += t K p
        at a bound: that variable is free no longer, begin anew
        r = −slope again,  p = r + (r'r / last r'r) p

with Kp = X(X'p) + q p over the rows of the free variables alone. Every step lowers the objective,
and none leaves the box or changes Σβ.
"""

from __future__ import annotations

import numpy as np

from maxmargin.primal import PrimalProblem
from maxmargin.rows import Rows, dot

STEPS = 300
ENOUGH = 1e-3  # of the first slope may remain


def minimise_on_face(problem: PrimalProblem, rows: Rows, beta: np.ndarray) -> np.ndarray:
    """A better β whose variables at bounds, and at the kink of ε|β|, are where they were."""
    lower, upper = problem.bounds
    if problem.loss.epsilon:
        lower, upper = np.where(beta >= 0, 0.0, lower), np.where(beta <= 0, 0.0, upper)
    inside = np.flatnonzero((beta > lower) & (beta < upper))
    if len(inside) < 2:
        return beta
    some, x, q = Rows(rows.X[inside]), beta[inside], problem.curvature[inside]
    lower, upper = lower[inside], upper[inside]
    slope = some.scores(rows.combine(beta)) - problem.y[inside] + q * x
    slope += problem.loss.epsilon * np.sign(x)
    free = np.ones(len(x), bool)

    def downhill() -> np.ndarray:
        mean = slope[free].mean() if problem.fit_intercept else 0.0
        return np.where(free, mean - slope, 0.0)

    r = p = downhill()
    enough = ENOUGH * np.abs(r).max()
    for _ in range(STEPS):
        if np.abs(r).max() <= enough:
            break
        w = some.combine(p)
        product = some.scores(w) + q * p
        curvature = dot(w, w) + dot(q, p * p)
        wall = np.where(p > 0, upper, lower)
        room = np.divide(wall - x, p, where=p != 0, out=np.full(len(x), np.inf))
        t = room.min()
        if curvature > 1e-14 * dot(p, p):
            t = min(t, dot(r, p) / curvature)
        x += t * p
        slope += t * product
        hit = room <= t
        if hit.any():
            x[hit] = wall[hit]
            free &= ~hit
            if free.sum() < 2:
                break
            r = p = downhill()
        else:
            last, r = dot(r, r), downhill()
            p = r + dot(r, r) / last * p
    beta = beta.copy()
    beta[inside] = x
    return beta
