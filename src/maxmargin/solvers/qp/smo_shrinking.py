"""Second-order SMO on ever fewer variables: shrinking, within one dense matrix.

A variable at a bound takes part in no step as long as its −G is beyond the extremes of those that
can move the other way:

    β_k = lower_k  and  −G_k < min {−G_j : β_j can fall}      (at the upper bound: > max, can rise)

At first and after every 2q steps these are left out, if they are many, and if K is there: of rows
that are computed one by one, few are needed anyway. The steps are the same.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from maxmargin.gram.on_demand import RowsOnDemand
from maxmargin.resources.arrays import Floats, Numbers, Reals
from maxmargin.solvers.qp.smo_block import smo_block

OFTEN = 2  # steps for each variable between two looks: a copy takes as long as one for each
SHRUNK = 0.65  # of the variables left in play: fewer are worth a copy of their part of K


def smo_shrinking(
    rows: RowsOnDemand,
    diagonal: Reals,
    gradient: Floats,
    beta: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    n_groups: int,
    tol: float,
    max_steps: int,
) -> int:
    """As `smo_block` with the rows of K, on ever fewer variables; `gradient` is not that of all.

    The caller computes G of all from β, and begins again if one that was left out violates KKT.
    """
    box, taken, left = (lower, upper, group), 0, np.arange(len(beta))
    values, W = beta, in_play(gradient, beta, *box, n_groups)
    while len(W) and taken < max_steps:
        if rows.is_whole and len(W) < SHRUNK * len(values):
            beta[left] = values
            left, values, diagonal, gradient = left[W], values[W], diagonal[W], gradient[W]
            box = lower[left], upper[left], group[left]
            rows = rows.take(W)
        limit = min(OFTEN * len(values), max_steps - taken)
        block = diagonal, gradient, values, *box, n_groups, tol
        steps = rows.run(partial(smo_block, rows.K, *block, maker=rows.maker), limit)
        taken += steps
        if steps < limit:
            break
        W = in_play(gradient, values, *box, n_groups)
    beta[left] = values
    return taken


def in_play(
    gradient: Floats, beta: Floats, lower: Floats, upper: Floats, group: Numbers, n_groups: int
) -> Numbers:
    """The variables that could be one of a violating pair, or violate KKT by themselves."""
    up = np.where(beta < upper, -gradient, -np.inf)
    down = np.where(beta > lower, -gradient, np.inf)
    groups = [group == g for g in range(n_groups)] if n_groups > 1 else [slice(None)]
    top = np.array([up[mine].max(initial=-np.inf) for mine in groups])
    bottom = np.array([down[mine].min(initial=np.inf) for mine in groups])
    if not n_groups:
        top = np.maximum(np.maximum(top, -bottom), 0.0)
        bottom = -top
    return np.flatnonzero((up >= bottom[group]) | (down <= top[group]))
