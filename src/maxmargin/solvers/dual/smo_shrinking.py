"""Second-order SMO on ever fewer variables: shrinking, within one dense matrix.

A variable at a bound takes part in no step as long as its −G is beyond the extremes of those that
can move the other way:

    β_k = lower_k  and  −G_k < min {−G_j : β_j can fall}      (at the upper bound: > max, can rise)

At first and after every q steps these are left out, if they are many. The steps are the same.
"""

from __future__ import annotations

import numpy as np

from maxmargin.gram.row_cache import gather_entries
from maxmargin.hardware.arrays import Entries, Floats, Mask, Numbers, Reals
from maxmargin.hardware.jit import compiled
from maxmargin.hardware.memory import large_array
from maxmargin.problem.dual import SIDES, survey
from maxmargin.solvers.dual.smo_block import smo_block

SHRUNK = 0.65  # of the variables left in play: fewer are worth a copy of their part of K


def smo_shrinking(
    K: Entries,
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
    """As `smo_block`, on ever fewer variables; `gradient` is no longer that of all of them.

    The caller computes G of all from β, and begins again if one that was left out violates KKT.
    """
    box, taken, left = (lower, upper, group), 0, np.arange(len(beta))
    values, W = beta, in_play(gradient, beta, *box, n_groups)
    while len(W) and taken < max_steps:
        if len(W) < SHRUNK * len(values):
            beta[left] = values
            left, values, diagonal, gradient = left[W], values[W], diagonal[W], gradient[W]
            box = lower[left], upper[left], group[left]
            K = square_of(K, W)
        limit = min(len(values), max_steps - taken)
        steps = smo_block(K, diagonal, gradient, values, *box, n_groups, tol, limit)
        taken += steps
        if steps < limit:
            break
        W = in_play(gradient, values, *box, n_groups)
    beta[left] = values
    return taken


def square_of(K: Entries, W: Numbers) -> Entries:
    """K[W, W], in memory that is used again; W may name a row twice."""
    square = large_array((len(W), len(W)), K.dtype)
    gather_entries(K, W, W, np.arange(len(W)), square, 0, len(W))
    return square


def in_play(
    gradient: Floats, beta: Floats, lower: Floats, upper: Floats, group: Numbers, n_groups: int
) -> Numbers:
    """The variables that could be one of a violating pair, or violate KKT by themselves."""
    chosen, sides = np.empty(len(beta), bool), np.empty((SIDES, max(n_groups, 1)))
    mark(beta, gradient, lower, upper, group, n_groups, sides, chosen)
    return np.flatnonzero(chosen)


@compiled()
def mark(
    beta: Floats,
    gradient: Floats,
    lower: Floats,
    upper: Floats,
    group: Numbers,
    n_groups: int,
    sides: Floats,
    chosen: Mask,
) -> None:
    """chosen = whether each variable is in play."""
    worst = survey(beta, gradient, lower, upper, group, n_groups, sides)
    for i in range(len(beta)):
        top, bottom = (sides[0, group[i]], sides[1, group[i]]) if n_groups else (worst, -worst)
        rises, falls = beta[i] < upper[i], beta[i] > lower[i]
        chosen[i] = (rises and -gradient[i] >= bottom) or (falls and -gradient[i] <= top)
