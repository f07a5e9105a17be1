"""The variables that are moved together: the free ones, and a sample of those that violate KKT.

Violators are sampled at random among those that violate KKT by a twentieth of the worst or more.
The worst alone are much alike: once a few have moved, the others no longer violate.
"""

from __future__ import annotations

import numpy as np

from maxmargin.hardware.arrays import Floats, Numbers
from maxmargin.solvers.qp.state import DualState


def working_set(
    state: DualState, size: int, share: float, rng: np.random.Generator
) -> tuple[Numbers, float]:
    """The free variables, up to a share of the set, and violators that can rise or fall.

    Also returns the worst violation of the others: −G − b if β can rise, G + b if it can fall.
    """
    problem, beta = state.problem, state.beta
    can_rise, can_fall = beta < problem.upper, beta > problem.lower
    free = np.flatnonzero(can_rise & can_fall)
    if size >= problem.size:
        return np.arange(problem.size), 0.0
    residual = state.residual()
    rise, fall = np.where(can_rise, -residual, 0.0), np.where(can_fall, residual, 0.0)
    groups = range(max(problem.n_groups, 1))
    chosen = np.zeros(problem.size, bool)
    most_free = min(int(share * size), size - 2 * len(groups))  # leaves a violator of each side
    chosen[most(np.abs(residual), free, most_free)] = True
    each = (size - int(chosen.sum())) // (2 * len(groups))
    for g in groups:
        for violation, can_move in ((rise, can_rise), (fall, can_fall)):
            candidates = np.flatnonzero(can_move & (problem.group == g) & ~chosen)
            violations = violation[candidates]
            bad = candidates[violations > 0.05 * violations.max(initial=0)]
            if len(bad) > each:
                some = rng.choice(bad, each, replace=False)
                some[:1] = bad[violation[bad].argmax()]  # the worst pair is in the set
                chosen[some] = True
            else:
                chosen[most(violation, candidates, each)] = True
    W = np.flatnonzero(chosen)
    others = np.maximum(rise, fall)
    others[W] = 0.0
    return W, float(others.max())


def most(score: Floats, candidates: Numbers, count: int) -> Numbers:
    """The `count` candidates with the largest score."""
    if len(candidates) <= count:
        return candidates
    return candidates[np.argpartition(-score[candidates], count)[:count]]
