"""The proof of a fitted machine, computed again from its coefficients and its training rows.

Nothing of `certificate_` is used. For β of the machine, with G = Kβ + p in float64,

    D = −(½ βᵀKβ + pᵀβ)   ≤   the optimum   ≤   P

so that P − D bounds how far the machine is from the best there is. A linear machine keeps w and b
but not β: P is that of its w and b, D comes from training again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import ApproximateCertificate
from maxmargin.formulations import one_class
from maxmargin.machines.plan import Plan
from maxmargin.machines.precomputed import checked_matrix
from maxmargin.problem.solution import relative_gap
from maxmargin.resources.arrays import Data, Floats
from maxmargin.results import Result


@dataclass(frozen=True, repr=False)
class Proof(Result):
    """Values summed over the problems of a machine, and the worst violation of them.

    Attributes
    ----------
    primal, dual : P and D
    kkt_violation : the worst, of the machine's own coefficients
    offset_error : how far `intercept_` is from what the coefficients imply
    """

    primal: float
    dual: float
    kkt_violation: float
    offset_error: float

    @property
    def gap(self) -> float:
        """P − D."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """(P − D) / max(|P|, |D|)."""
        return relative_gap(self.primal, self.dual)


def prove(machine: Any, X: Data, y: ArrayLike | None = None) -> Proof:
    """Prove again how far a fitted machine is from optimal.

    Parameters
    ----------
    machine : SVC, NuSVC, SVR, NuSVR, OneClassSVM, LinearSVC or LinearSVR, fitted
    X, y : the rows it was trained on, in the same order

    Returns
    -------
    Proof

    Raises
    ------
    ValueError
        If these are not the rows, or the machine does not keep what a proof needs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SVC().fit(X, y)
    >>> prove(clf, X, y).kkt_violation <= clf.tol
    True
    """
    check_is_fitted(machine)
    name = type(machine).__name__
    if not hasattr(machine, "certificate_"):
        raise ValueError(
            f"this {name} has no certificate: it solves no problem that has one, or was made of "
            "another library's model, which does not hold all that a proof needs"
        )
    if isinstance(machine.certificate_, ApproximateCertificate):
        raise ValueError(
            f"{name}(approximation=...) keeps no coefficients of its rows: its proof cannot be "
            "computed again"
        )
    return _linear(machine, X, y) if hasattr(machine, "_targets_of") else _dual(machine, X, y)


def _dual(machine: Any, X: Data, y: ArrayLike | None) -> Proof:
    X = machine._validate(X, reset=False)
    X = checked_matrix(X) if machine.kernel_.precomputed else X
    _check_rows(machine, X)
    plan = _plan(machine, y)
    if not np.array_equal(plan.bounds, machine._bounds_):
        raise ValueError("the machine was trained with sample weights, or with other targets")
    coef = np.zeros((machine.dual_coef_.shape[0], X.shape[0]))
    coef[:, machine.support_] = machine._dense_dual_coef()
    matrix = machine._gram(machine.kernel_, X)
    primal = dual = violation = offset_error = 0.0
    parts = plan.scheme.gather(plan.splits, coef)
    pairs = zip(plan.splits, plan.problems, parts, strict=True)
    for number, (split, problem, part) in enumerate(pairs):
        beta = problem.on_variables(machine._encode(number, part))
        beta = np.clip(beta, problem.lower, problem.upper)  # of two copies of a row, each its part
        for bound in (problem.lower, problem.upper):  # ρ of NuSVC was divided by, and rounds
            beta = np.where(np.isclose(beta, bound, rtol=1e-12, atol=0), bound, beta)
        problem.check_feasible(beta, f"the fitted {type(machine).__name__}")
        on_rows = problem.on_rows(beta)
        (support,) = on_rows.nonzero()
        product: Floats = matrix.take(split.rows).dot(support, on_rows[support])
        values = problem.values(beta, problem.on_variables(product) + problem.linear)
        _, offset = machine._decode(on_rows, values.offsets)
        primal, dual = primal + values.primal, dual + values.dual
        violation = max(violation, values.violation)
        offset_error = max(offset_error, abs(offset - float(machine.intercept_[number])))
    return Proof(primal, dual, violation, offset_error)


def _plan(machine: Any, y: ArrayLike | None) -> Plan:
    """The problems that the machine was made from."""
    if is_classifier(machine):
        if machine.class_weight is not None and hasattr(machine, "_rho_"):
            raise ValueError("NuSVC with class weights keeps only the second of its two problems")
        classified: Plan = machine._plan(np.asarray(y), None)
        return classified
    bounds = machine._bounds_
    if is_regressor(machine):
        problems = machine._problems(np.asarray(y, np.float64), bounds)
    else:
        problems = [one_class(bounds, machine.nu)]
    plan: Plan = machine._of_all_rows(problems, bounds)
    return plan


def _check_rows(machine: Any, X: Data) -> None:
    """Refuse rows that are not those of the training: support vectors must be among them."""
    n = machine.shape_fit_[0]
    if X.shape[0] != n:
        raise ValueError(f"these are {X.shape[0]:,} rows, but the machine was trained on {n:,}")
    if machine.kernel_.precomputed:
        return
    difference = abs(X[machine.support_] - machine.support_vectors_)
    worst = difference.max(axis=1)
    worst = worst.toarray().ravel() if sp.issparse(worst) else np.asarray(worst).ravel()
    if worst.max(initial=0) > 0:
        row = int(machine.support_[int(worst.argmax())])
        raise ValueError(
            f"row {row + 1} (from 1) is not the support vector that the machine has from it: "
            "these are not the rows it was trained on, or they are in another order"
        )


def _linear(machine: Any, X: Data, y: ArrayLike | None) -> Proof:
    again = clone(machine).set_params(verbose=0).fit(X, y)
    targets, cost = again._targets_of(y)
    primal, values = 0.0, np.atleast_2d(machine._scores(X).T)
    for line, w, f in zip(targets, np.atleast_2d(machine.coef_), values, strict=True):
        penalty = np.abs(w).sum() if getattr(machine, "penalty", "l2") == "l1" else 0.5 * w @ w
        primal += float(penalty + cost @ machine._loss().value(line, f))
    shift = float(np.abs(again.intercept_ - machine.intercept_).max())
    proof = again.certificate_
    return Proof(primal, proof.dual, proof.kkt_violation, shift)
