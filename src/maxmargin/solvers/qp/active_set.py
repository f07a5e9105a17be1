"""The active-set method: from nearly optimal to optimal, to the last digits.

A converged solver has found which variables are free. Their values then solve a linear system,

    K_FF δ + b = −G_F,   Σ δ = 0 in each group,

whose solution is exact where SMO would need ever smaller steps. A free variable that would leave
its box stops at the bound and is fixed there; a bound variable that violates KKT becomes free.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core import native
from maxmargin.gram import Gram
from maxmargin.gram.matrix import HELD_ROWS
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Floats

# Time grows with the rows times the support vectors, and with the cube of the free variables:
# within these limits it is a small part of a fit
# (docs/how-it-works/speed.md, "Small fits in one piece").
MOST_FREE = 200


def polished(
    problem: DualProblem, gram: Gram, beta: Floats, gradient: Floats
) -> tuple[Floats, Floats]:
    """β of a small problem and its gradient, improved; unchanged if the problem is large."""
    p = problem
    if gram.n > HELD_ROWS or gram.matrix is None or gram.matrix.dtype != np.float64:
        return beta, gradient
    best, rows = np.empty((2, p.size)), np.arange(gram.n) if p.rows is None else p.rows
    native.active_set(
        *(gram.matrix, rows, p.linear, p.lower, p.upper, p.group, p.n_groups),
        *(beta.copy(), gradient.copy(), best, MOST_FREE),
    )
    return best[0], best[1]
