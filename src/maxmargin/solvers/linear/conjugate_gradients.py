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

from maxmargin.core import native
from maxmargin.gram.data_matrix import DataMatrix
from maxmargin.problem import LinearProblem
from maxmargin.resources.arrays import Floats


def minimise_on_face(
    problem: LinearProblem, rows: DataMatrix, beta: Floats, remaining: float = 1e-3
) -> Floats:
    """β of a lower objective; variables at bounds, and at the kink of ε|β|, are fixed.

    It ends when the largest slope is `remaining` times the first one, or after 300 steps: sweeps
    then choose the free variables anew.
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
    face = x, slope, q, lower[inside], upper[inside], problem.fit_intercept
    native.minimise_on_face(some.core, *face, remaining, rounding)
    beta = beta.copy()
    beta[inside] = x
    return beta
