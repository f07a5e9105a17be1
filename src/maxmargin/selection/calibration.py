"""Probabilities from out-of-fold decision values, without a further fit.

Each binary machine's decision value f becomes P(positive) = 1 / (1 + exp(z(f))):

    sigmoid       z = A f + B, by Platt (1999)
    isotonic      any falling z: the best steps, by pool-adjacent-violators (Zadrozny, Elkan 2002)
    temperature   z = −f / T with one T for all machines (Guo et al. 2017): f = 0 stays at one half

and `machines.probability` joins those of several machines. Sigmoid and isotonic describe the data
as they are; without class weights `SVCCV` moves them, as little as possible, to agree with its
predictions. With temperature the likeliest class is always the predicted one. The cost: where f = 0
is not even odds, which class weights or rare classes bring about, its probabilities are wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logit
from sklearn.isotonic import IsotonicRegression

from maxmargin.machines.multiclass import OneVersusOne, OneVersusRest, Split
from maxmargin.machines.probability import Calibration, joined, normalised, platt
from maxmargin.resources.arrays import Floats, Mask, Numbers

Scheme = OneVersusOne | OneVersusRest


class Calibrated(Protocol):
    """Decision values to probabilities."""

    def probabilities(self, decisions: Floats, scheme: Scheme) -> Floats:
        """(rows, classes), each row summing to one."""


@dataclass(frozen=True)
class Isotonic:
    """A falling step function z for every binary machine."""

    steps: Sequence[IsotonicRegression]
    least: float  # probability that steps of one class only get, as if one row more were of another

    def probabilities(self, decisions: Floats, scheme: Scheme) -> Floats:
        """(rows, classes), each row summing to one."""
        p = np.column_stack(
            [each.predict(f) for each, f in zip(self.steps, decisions.T, strict=True)]
        )
        return joined(-logit(np.clip(p, self.least, 1 - self.least)), scheme)


@dataclass(frozen=True)
class Temperature:
    """One T for all binary machines."""

    T: float

    def probabilities(self, decisions: Floats, scheme: Scheme) -> Floats:
        """(rows, classes), each row summing to one."""
        return agreeing(joined(-decisions / self.T, scheme), decisions, scheme)


def agreeing(p: Floats, decisions: Floats, scheme: Scheme) -> Floats:
    """Probabilities moved as little as makes the likeliest class the predicted one."""
    if len(scheme.classes) == 2:
        return agree(p, (decisions[:, 0] > 0).astype(int))
    return agree(p, scheme.confidence(decisions).argmax(axis=1))


def agree(p: Floats, predicted: Numbers) -> Floats:
    """The nearest probabilities whose largest entry is that of the predicted class.

    Projecting on {p : p_c ≥ p_k for all k} replaces p_c and the entries above it by their
    average, entries joining from the largest down. A last unit in the sixteenth digit breaks
    the ties this leaves.
    """
    p = p.copy()
    for row in np.flatnonzero(p.argmax(axis=1) != predicted):
        c = predicted[row]
        order = np.argsort(-p[row])
        pool = [c]
        for k in order[order != c]:
            if p[row, k] <= p[row, pool].mean():
                break
            pool.append(k)
        p[row, pool] = p[row, pool].mean()
        p[row, c] += 4 * np.finfo(float).eps
    return normalised(p)


def sigmoid(
    decisions: Floats, labels: Numbers, splits: Sequence[Split], weights: Floats, scheme: Scheme
) -> Calibration:
    """A and B of every binary machine."""
    fits = [
        platt(decisions[split.rows, k], split.signs > 0, weights[split.rows])
        for k, split in enumerate(splits)
    ]
    return Calibration(*np.array(fits).T)


def isotonic(
    decisions: Floats, labels: Numbers, splits: Sequence[Split], weights: Floats, scheme: Scheme
) -> Isotonic:
    """The steps of every binary machine."""
    steps = [
        IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(
            decisions[split.rows, k], split.signs > 0, sample_weight=weights[split.rows]
        )
        for k, split in enumerate(splits)
    ]
    return Isotonic(steps, 1 / (weights.sum() + 2))


def temperature(
    decisions: Floats, labels: Numbers, splits: Sequence[Split], weights: Floats, scheme: Scheme
) -> Temperature:
    """The T of the least log loss, between a thousandth and a thousand times the usual |f|."""
    usual, rows = float(np.median(np.abs(decisions))) or 1.0, np.arange(len(labels))

    def loss(exponent: float) -> float:
        p = Temperature(usual * float(np.exp(exponent))).probabilities(decisions, scheme)
        return -float(weights @ np.log(np.maximum(p[rows, labels], 1e-300)))

    best = minimize_scalar(loss, bounds=(-np.log(1e3), np.log(1e3)), method="bounded")
    return Temperature(usual * float(np.exp(best.x)))


CALIBRATIONS: dict[str, Callable[..., Calibrated]] = {
    "sigmoid": sigmoid,
    "isotonic": isotonic,
    "temperature": temperature,
}


def calibrated(
    method: str,
    decisions: Floats,
    labels: Numbers,
    splits: Sequence[Split],
    weights: Floats | None,
    scheme: Scheme,
) -> Calibrated:
    """Fit a calibration on the rows that have a decision value."""
    known: Mask = np.isfinite(decisions.sum(axis=1))
    weight = np.where(known, 1.0 if weights is None else weights, 0.0)
    values = np.where(known[:, None], decisions, 0.0)
    return CALIBRATIONS[method](values, labels, splits, weight, scheme)
