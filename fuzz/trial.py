"""Trying a problem: fit, ask the judge, predict, and compare with scikit-learn."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import sklearn.svm

from fuzz.problem import CLASSIFIERS, LINEAR, Problem
from judge import FalseCertificate, as_rows, dual_verdicts, judge, values_on_rows

AGREES, REFUSES, STOPS, DISAGREES = "agrees", "refused", "not converged", "disagrees"


class Outcome(NamedTuple):
    """How a trial ended, and what was wrong."""

    kind: str
    why: str = ""


def tried(problem: Problem) -> Outcome:
    """Fit the problem's machine on its data, and see whether all that is said of it is true."""
    X, y, weights = problem.data()
    machine = problem.estimator()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            machine.fit(X, y, weights)
        except ValueError as error:
            right = has_no_solution(problem, y, weights) or overflows(X)
            return Outcome(REFUSES if right else DISAGREES, f"ValueError: {error}")
        except (ArithmeticError, IndexError, TypeError, FloatingPointError) as error:
            return Outcome(DISAGREES, f"{type(error).__name__}: {error}")
        try:
            judge(machine, X, y, weights)
            predicts(machine, X)
            compare(problem, machine, X, y, weights)
        except FalseCertificate as false:
            return Outcome(DISAGREES, str(false))
        status = machine.certificate_.status.value
    return Outcome(AGREES) if status == "converged" else Outcome(STOPS, status)


def has_no_solution(problem: Problem, y: Any, weights: Any) -> bool:
    """Whether the machine is right to refuse: one class, or a ν that no dual point has.

    Σ|β| of a class is ν/2 of the weight of both, and each |β_i| at most the weight of its row.
    """
    if problem.machine not in CLASSIFIERS:
        return False
    weights = np.ones(len(y)) if weights is None else weights
    sizes = [weights[y == each].sum() for each in np.unique(y[weights > 0])]
    if problem.machine != "NuSVC" or not problem.fit_intercept or len(sizes) < 2:
        return len(sizes) < 2
    pairs = list(combinations(sizes, 2))
    if problem.multiclass == "ovr" and len(sizes) > 2:
        pairs = [(size, sum(sizes) - size) for size in sizes]
    return any(problem.nu > 2 * min(pair) / sum(pair) for pair in pairs)


def overflows(X: Any) -> bool:
    """Whether a row's squared norm is beyond the precision that the rows are given in."""
    limit = np.finfo(X.dtype if X.dtype.kind == "f" else float).max / 8
    rows = (X.toarray() if sp.issparse(X) else np.asarray(X)).astype(np.longdouble)
    return bool((rows**2).sum(axis=1).max() > limit)


def predicts(machine: Any, X: Any) -> None:
    """That decision values of the training rows are those of the model, where it is one line."""
    if not hasattr(machine, "kernel_") or len(machine.intercept_) > 1:
        return
    rows = as_rows(X, machine.kernel_)
    coef = machine.dual_coef_
    truth, error = values_on_rows(machine, rows, coef.toarray() if sp.issparse(coef) else coef)
    error = error * 10.0
    decide = machine.decision_function if hasattr(machine, "decision_function") else machine.predict
    off = np.abs(decide(X) - truth[0] - machine.intercept_[0])
    room = error[0] + 1e-9 * np.abs(machine.intercept_[0])
    if type(machine).__name__ == "OneClassSVM":  # 0 on the border, as far as the fit leaves it open
        room = room + min(machine.certificate_.kkt_violation, machine.tol)
    if not (off <= room + 1e-9 * np.abs(truth[0])).all():
        raise FalseCertificate(f"decision values of {machine!r} are off by {off.max():.3g}")


def compare(problem: Problem, machine: Any, X: Any, y: Any, weights: Any) -> None:
    """That no model of scikit-learn's is better than our bound, nor its bound than our model."""
    names = ("linear", "poly", "rbf")  # weak duality holds for no indefinite kernel
    if problem.machine in LINEAR or problem.kernel not in names or problem.n > 300:
        return
    if not problem.fit_intercept or (problem.multiclass == "ovr" and problem.classes > 2):
        return
    if problem.machine == "NuSVR" or (problem.weights == "balanced" and problem.machine == "NuSVC"):
        return  # its ε, or its C, is not public
    other = getattr(sklearn.svm, problem.machine)()
    shared = set(other.get_params()) & set(machine.get_params())
    other.set_params(**{name: getattr(machine, name) for name in shared - {"cache_size", "gamma"}})
    other.set_params(gamma=getattr(machine.kernel_, "gamma", 1.0), max_iter=100_000, tol=1e-6)
    try:
        other.fit(X, y, weights)
        other.kernel_, other.multiclass, other.fit_intercept = machine.kernel_, "ovo", True
        rows = as_rows(X)
        theirs = dual_verdicts(other, rows, y, weights)
    except (ValueError, FalseCertificate):
        return  # it refuses what we take, or leaves its box
    for mine, its in zip(dual_verdicts(machine, rows, y, weights), theirs, strict=True):
        room = mine.slack_of_values + its.slack_of_values
        room += 1e-9 * max(abs(mine.dual), abs(its.dual))
        if mine.dual > its.primal + room and np.isfinite(its.primal):
            raise FalseCertificate(f"our bound {mine} is above scikit-learn's model {its}")
        if its.dual > mine.primal + room and np.isfinite(mine.primal):
            raise FalseCertificate(f"our model {mine} is below scikit-learn's bound {its}")
