"""Second-order SMO on ever fewer variables: shrinking, within one dense matrix.

A variable at a bound takes part in no step as long as its −G is beyond the extremes of those that
can move the other way:

    β_k = lower_k  and  −G_k < min {−G_j : β_j can fall}      (at the upper bound: > max, can rise)

At first and after every q steps these are left out, if they are many. The steps are the same.
"""

from __future__ import annotations

import numpy as np

from maxmargin.hardware.arrays import Entries, Floats, Numbers, Reals
from maxmargin.hardware.memory import large_array
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
    rows = K.take(W, 0, large_array((len(W), K.shape[1]), K.dtype), "clip")
    return rows.take(W, 1, large_array((len(W), len(W)), K.dtype), "clip")


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
