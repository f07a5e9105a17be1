"""The staircase that the coefficient β and the decision value q of each row stand on.

A unit (a row of the data, with all its variables) has knots B_0 < … < B_P for β and targets
t_1 > … > t_P for q. At the optimum it is at a knot, with q between two targets, or free between two
knots, with q at the target of that piece. Its state is 2k at knot k and 2k − 1 free below it.
"""

from __future__ import annotations

import numpy as np

from maxmargin.hardware.arrays import Floats, Numbers
from maxmargin.problem import DualProblem

# Of the width of the box, or of the largest |β| where that is infinite (a hard margin): what
# rounding leaves of a variable at a bound.
SNAP = 1e-12


def units(problem: DualProblem) -> int:
    """How many units there are: rows, or variables where two of a row are of different groups."""
    shared = problem.rows is not None and problem.n_groups < 2
    return problem.size // 2 if shared else problem.size


def staircase(problem: DualProblem, shared: bool) -> tuple[Floats, Floats]:
    """The knots and targets of each unit; if `shared`, two variables of a row are one unit."""
    p, n = problem, problem.size // 2
    if not shared:
        return np.column_stack([p.lower, p.upper]), -p.linear[:, None]
    return (
        np.column_stack([p.lower[n:], p.lower[:n], p.upper[:n]]),
        -np.column_stack([p.linear[n:], p.linear[:n]]),
    )


def standing(beta: Floats, knots: Floats) -> tuple[Floats, Numbers]:
    """β with those at a knot that are there but for rounding, and the state of each unit."""
    beta, state = np.clip(beta, knots[:, 0], knots[:, -1]), np.zeros(len(beta), np.int64)
    width = knots[:, -1] - knots[:, 0]
    near = SNAP * np.where(width < np.inf, width, np.abs(beta).max(initial=0.0))
    for k in range(1, knots.shape[1]):
        state = np.where(beta > knots[:, k - 1] + near, 2 * k - 1, state)
        state = np.where(beta >= knots[:, k] - near, 2 * k, state)
    state = np.where(width > 0, state, 0)
    at = state % 2 == 0
    return np.where(at, knots[np.arange(len(beta)), state // 2], beta), state
