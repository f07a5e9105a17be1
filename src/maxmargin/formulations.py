"""Formulations: data to `DualProblem`. Pure functions; solvers have no C, ν or ε."""

from __future__ import annotations

import numpy as np

from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Floats


def one_sum(fit_intercept: bool) -> Floats:
    """The sum constraint Σβ = 0 that an offset brings, or none."""
    return np.zeros(1 if fit_intercept else 0)


def c_svc(y: Floats, C: Floats | float, *, fit_intercept: bool = True) -> DualProblem:
    """Soft-margin classifier: minimise ½‖w‖² + Σ C_i max(0, 1 − y_i(wᵀφ(x_i) + b)).

    With β_i = y_i α_i the dual is ½βᵀKβ − yᵀβ with β_i in [0, C_i] where y_i = +1 and in
    [−C_i, 0] where y_i = −1, and Σβ = 0 if there is an offset.

    Parameters
    ----------
    y : labels, +1 or −1
    C : penalty of each row (weights included), or one for all; infinite for the hard margin

    Examples
    --------
    >>> problem = c_svc(np.array([1, -1]), C=5.0)
    >>> problem.linear, problem.lower, problem.upper, problem.sums
    (array([-1.,  1.]), array([ 0., -5.]), array([5., 0.]), array([0.]))
    """
    end = np.multiply(y, C, dtype=float)  # the other bound is 0
    return DualProblem(
        linear=np.negative(y, dtype=float),
        lower=np.minimum(end, 0.0),
        upper=np.maximum(end, 0.0),
        sums=one_sum(fit_intercept),
    )


def nu_svc(
    y: Floats, bound: Floats, nu: float, count: float, *, fit_intercept: bool = True
) -> DualProblem:
    """ν-classifier: β_i in [0, w_i] or [−w_i, 0], each class summing to ±ν·count/2.

    The offsets of the two groups are b − ρ (positive class) and b + ρ; dividing by ρ gives the
    decision function of a C-SVC with C = 1/ρ. ν bounds the share of margin errors from above
    and that of support vectors from below. Without an offset only Σ y_i β_i = ν·count is asked, of
    both classes together: the one-class problem of the points y_i φ(x_i). Its offset is −ρ.

    Examples
    --------
    >>> problem = nu_svc(np.array([1.0, 1.0, -1.0]), np.ones(3), nu=0.5, count=3)
    >>> problem.n_groups, problem.sums
    (2, array([ 0.75, -0.75]))
    """
    ends = {"lower": np.where(y > 0, 0.0, -bound), "upper": np.where(y > 0, bound, 0.0)}
    if not fit_intercept:
        total = min(nu * count, bound.sum())
        return DualProblem(np.zeros(len(y)), **ends, sums=np.array([total]), signs=y.astype(float))
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
        **ends,
        sums=np.array([total, -total]),
        group=np.where(y > 0, 0, 1).astype(np.int8),
    )


def epsilon_svr(
    y: Floats, bound: Floats, epsilon: float, *, fit_intercept: bool = True
) -> DualProblem:
    """ε-insensitive regression: minimise ½‖w‖² + Σ C_i max(0, |y_i − f(x_i)| − ε).

    Two variables for each row, one for points above the tube and one for those below; they share
    the row's kernel values. The coefficient of the row is their sum.

    Examples
    --------
    >>> problem = epsilon_svr(np.array([2.0, 3.0]), np.ones(2), epsilon=0.1)
    >>> problem.linear, problem.rows
    (array([-1.9, -2.9, -2.1, -3.1]), array([0, 1, 0, 1]))
    """
    rows = np.tile(np.arange(len(y)), 2)
    return DualProblem(
        linear=np.concatenate([epsilon - y, -epsilon - y]),
        lower=np.concatenate([np.zeros(len(y)), -bound]),
        upper=np.concatenate([bound, np.zeros(len(y))]),
        sums=one_sum(fit_intercept),
        rows=rows,
    )


def nu_svr(y: Floats, bound: Floats, nu: float, *, fit_intercept: bool = True) -> DualProblem:
    """ν-regression: as ε-SVR with ε found by the machine, both copies summing to ±ν ΣC_i / 2.

    The offsets of the two groups are b + ε (points above the tube) and b − ε. Without an offset
    Σ|β| = ν ΣC_i is all that is asked, and its offset is ε.

    Examples
    --------
    >>> nu_svr(np.array([2.0, 3.0]), np.ones(2), nu=0.5).sums
    array([ 0.5, -0.5])
    """
    rows = np.tile(np.arange(len(y)), 2)
    total = nu * bound.sum()
    copy = np.repeat(np.array([0, 1], np.int8), len(y))
    if fit_intercept:
        sums = {"sums": np.array([total / 2, -total / 2]), "group": copy}
    else:
        sums = {"sums": np.array([total]), "signs": 1.0 - 2.0 * copy}
    return DualProblem(
        linear=np.concatenate([-y, -y]).astype(float),
        lower=np.concatenate([np.zeros(len(y)), -bound]),
        upper=np.concatenate([bound, np.zeros(len(y))]),
        rows=rows,
        **sums,
    )


def quantile(y: Floats, bound: Floats, q: float, *, fit_intercept: bool = True) -> DualProblem:
    """Quantile regression: minimise ½‖w‖² + Σ C_i ρ(y_i − f(x_i)), ρ(r) = max(q r, (q − 1) r).

    ρ(r) is the largest t r with q − 1 ≤ t ≤ q, so β_i is in [C_i (q − 1), C_i q]. Σβ = 0 makes the
    share of rows below f at most q and, with the rows on f, at least q.

    Examples
    --------
    >>> problem = quantile(np.array([2.0, 3.0]), np.full(2, 4.0), q=0.75)
    >>> problem.linear, problem.lower, problem.upper
    (array([-2., -3.]), array([-1., -1.]), array([3., 3.]))
    """
    return DualProblem(
        linear=np.negative(y, dtype=float),
        lower=(q - 1) * bound,
        upper=q * bound,
        sums=one_sum(fit_intercept),
    )


def one_class(bound: Floats, nu: float) -> DualProblem:
    """One-class machine: β_i in [0, w_i], Σβ = ν Σw; f(x) = Σ β_i k(x_i, x) + b, b = −ρ.

    There is no such machine without b: w = 0 would be its optimum.

    Examples
    --------
    >>> one_class(np.ones(4), nu=0.5).sums
    array([2.])
    """
    return DualProblem(
        linear=np.zeros(len(bound)),
        lower=np.zeros(len(bound)),
        upper=bound,
        sums=np.array([nu * bound.sum()]),
    )
