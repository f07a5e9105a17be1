"""Formulations: data to `DualProblem`. A pure function each; no solver ever sees C, ν or ε."""

from __future__ import annotations

import numpy as np

from maxmargin.problem import DualProblem


def one_sum(fit_intercept: bool) -> np.ndarray:
    """The sum constraint Σβ = 0 that an offset brings, or none."""
    return np.zeros(1 if fit_intercept else 0)


def c_svc(y: np.ndarray, C: np.ndarray | float, *, fit_intercept: bool = True) -> DualProblem:
    """Soft-margin classifier: minimise ½‖w‖² + Σ C_i max(0, 1 − y_i(wᵀφ(x_i) + b)).

    With β_i = y_i α_i the dual is ½βᵀKβ − yᵀβ with β_i in [0, C_i] where y_i = +1 and in
    [−C_i, 0] where y_i = −1, and Σβ = 0 if there is an offset.

    Parameters
    ----------
    y : labels, +1 or −1
    C : penalty of each row (weights included), or one for all; infinite for the hard margin
    """
    end = np.multiply(y, C, dtype=float)  # the other one is 0
    return DualProblem(
        linear=np.negative(y, dtype=float),
        lower=np.minimum(end, 0.0),
        upper=np.maximum(end, 0.0),
        sums=one_sum(fit_intercept),
    )


def nu_svc(y: np.ndarray, bound: np.ndarray, nu: float, count: float) -> DualProblem:
    """ν-classifier: β_i in [0, w_i] or [−w_i, 0], each class summing to ±ν·count/2.

    The offsets of the two groups are b − ρ (positive class) and b + ρ; dividing by ρ gives the
    decision function of a C-SVC with C = 1/ρ. ν bounds the share of margin errors from above
    and that of support vectors from below.
    """
    room = min(bound[y > 0].sum(), bound[y < 0].sum())
    largest = float(2 * room / count)
    if nu > largest:
        raise ValueError(
            f"specified nu is infeasible: nu={nu}, but the smaller of the two classes has rows "
            f"enough for nu={largest} at most"
        )
    total = min(nu * count / 2, room)
    return DualProblem(
        linear=np.zeros(len(y)),
        lower=np.where(y > 0, 0.0, -bound),
        upper=np.where(y > 0, bound, 0.0),
        sums=np.array([total, -total]),
        group=np.where(y > 0, 0, 1).astype(np.int8),
    )


def epsilon_svr(
    y: np.ndarray, bound: np.ndarray, epsilon: float, *, fit_intercept: bool = True
) -> DualProblem:
    """ε-insensitive regression: minimise ½‖w‖² + Σ C_i max(0, |y_i − f(x_i)| − ε).

    Two variables for each row, one for points above the tube and one for those below; they share
    the row's kernel values. The coefficient of the row is their sum.
    """
    rows = np.tile(np.arange(len(y)), 2)
    return DualProblem(
        linear=np.concatenate([epsilon - y, -epsilon - y]),
        lower=np.concatenate([np.zeros(len(y)), -bound]),
        upper=np.concatenate([bound, np.zeros(len(y))]),
        sums=one_sum(fit_intercept),
        rows=rows,
    )


def nu_svr(y: np.ndarray, bound: np.ndarray, nu: float) -> DualProblem:
    """ν-regression: as ε-SVR with ε found by the machine, both copies summing to ±ν ΣC_i / 2.

    The offsets of the two groups are b + ε (points above the tube) and b − ε.
    """
    rows = np.tile(np.arange(len(y)), 2)
    half = nu * bound.sum() / 2
    return DualProblem(
        linear=np.concatenate([-y, -y]).astype(float),
        lower=np.concatenate([np.zeros(len(y)), -bound]),
        upper=np.concatenate([bound, np.zeros(len(y))]),
        sums=np.array([half, -half]),
        group=np.repeat(np.array([0, 1], np.int8), len(y)),
        rows=rows,
    )


def one_class(bound: np.ndarray, nu: float) -> DualProblem:
    """One-class machine: β_i in [0, w_i], Σβ = ν Σw; f(x) = Σ β_i k(x_i, x) + b, b = −ρ."""
    return DualProblem(
        linear=np.zeros(len(bound)),
        lower=np.zeros(len(bound)),
        upper=bound,
        sums=np.array([nu * bound.sum()]),
    )
