"""What is known of the leave-one-out error without leaving a row out.

support vectors   at most their share: a row that is none keeps its prediction, if b is unique;
                  all rows if it is not
ξα                the share of rows with 2 α_i R² + ξ_i ≥ 1, R² ≥ k(x, x) − k(x, z) for all rows
                  (Joachims 2000): a bound for two classes, where a free support vector makes b
                  unique, with all rows and without each; else b may leap, by more than α and ξ know
span              the error of f(x_i) − β_i S_i², S_i the distance of φ(x_i) from the span of the
                  free support vectors (Vapnik and Chapelle 2000): exact if no support vector
                  changes its kind, an estimate otherwise
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from maxmargin.resources.arrays import Floats
from maxmargin.selection.removal import Removal
from maxmargin.selection.target import Target


class Estimate(NamedTuple):
    """A value for the leave-one-out error, and the seconds it took beyond one fit."""

    value: float
    seconds: float


def bounds_of(
    target: Target, full: Sequence[Removal], decisions: Floats, weights: Floats, *, alike: bool
) -> dict[str, Estimate]:
    """The bounds that the machine has; `decisions` are those of all rows by the full machine.

    There is none where a row's removal changes more than its own box (not `alike`: ν, balanced
    weights), for even a row that is no support vector may lose its prediction, nor for a regressor.
    """
    known: dict[str, Callable[[], float]] = {}
    if hasattr(target, "classes") and alike:
        known["support vectors"] = lambda: support_share(target, full, weights)
        only, path = full[0], full[0].path
        if len(full) == 1 and only.problem.n_groups < 2 and len(path.free) and path.one_offset:
            known["ξα"] = lambda: xi_alpha(only, decisions[:, 0], weights)
    return {name: timed(compute) for name, compute in known.items()}


def timed(compute: Callable[[], float]) -> Estimate:
    """The value, and the seconds it took."""
    began = perf_counter()
    value = compute()
    return Estimate(value, perf_counter() - began)


def support_share(target: Target, full: Sequence[Removal], weights: Floats) -> float:
    """Rows that are a support vector of any problem, over all, by weight."""
    used = np.zeros(target.n, bool)
    for split, removal in zip(target.splits, full, strict=True):
        used[split.rows] |= (removal.of_row != 0) | (not removal.path.one_offset)
    return float(np.average(used, weights=weights))


def xi_alpha(removal: Removal, decisions: Floats, weights: Floats) -> float:
    """The share of rows with 2 α R² + ξ ≥ 1, by weight."""
    signs = np.sign(-removal.problem.linear)
    slack = np.maximum(0.0, 1 - signs * decisions)
    lowest = float(removal.gram.K.min())
    radius = float(removal.gram.diagonal.max()) - lowest
    risky = 2 * np.abs(removal.of_row) * radius + slack >= 1
    return float(np.average(risky & (removal.of_row != 0), weights=weights))


def span(target: Target, full: Sequence[Removal], decisions: Floats, weights: Floats) -> float:
    """The error of the decision values that the span predicts, which may be too low."""
    predicted = decisions.copy()
    for number, (split, removal) in enumerate(zip(target.splits, full, strict=True)):
        predicted[split.rows, number] -= removal.model[0] * removal.spans()
    return target.error(target.predictions(predicted), weights)
