"""C = ∞: every row must satisfy its constraint, and the dual tells if they cannot all do.

Where no f satisfies all of y_i f(x_i) ≥ 1 (or |y_i − f(x_i)| ≤ ε), the dual has no bound: there is
a direction β with w = Σ β_i φ(x_i) = 0 along which its linear part −pᵀβ rises for ever. For a
classifier α scaled to sum to one in each class names a point of each class's convex hull, and
‖w‖ / (½Σα) is their distance, an upper bound on twice the margin, whatever α is.
"""

from __future__ import annotations

from math import isinf

import numpy as np

from maxmargin.gram import Gram
from maxmargin.resources.arrays import Floats
from maxmargin.solvers import Progress

# −pᵀβ per Σ|β|, as a share of the largest |p|, below which the dual rises by rounding only.
LEVEL = 1e-7


def bounds_of(C: float, weights: Floats) -> Floats:
    """The largest |β| of each row. One without weight is absent, even where C is infinite."""
    return np.where(weights > 0, C, 0.0) if isinf(C) else C * weights


def is_infeasible(progress: Progress, *, fit_intercept: bool) -> bool:
    """Whether β shows that not all constraints can be satisfied: w is 0, and the dual rises."""
    state, problem = progress.state, progress.state.problem
    total, rise = np.abs(state.beta).sum(), -float(problem.linear @ state.beta)
    if not rise > LEVEL * np.abs(problem.linear).max() * total:
        return False
    squared = float(np.sum(state.beta * (state.gradient - problem.linear)))
    return bool(4 * squared / total**2 <= negligible(state.gram, fit_intercept))


def negligible(gram: Gram, fit_intercept: bool) -> float:
    """A squared distance that counts as 0, relative to the spread of the data and to rounding.

    With an offset only distances between rows matter, not where the origin is.
    """
    largest = float(gram.diagonal.max())
    spread = largest
    if fit_intercept:
        spread = float(np.max(gram.diagonal + gram.diagonal[0] - 2 * gram.row(0)))
    return 1e-10 * spread + 1e-14 * largest
