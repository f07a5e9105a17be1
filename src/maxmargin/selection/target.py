"""What is predicted, classes or numbers, by a machine that some rows were held out of.

A row is held out by a weight of zero: its bounds are zero, so β_i = 0, and what is left is the
problem of the other rows. So every fold, and every row left out, is a problem on the same rows and
the same matrix K; and K β at the rows held out is their decision value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.metrics import r2_score
from sklearn.utils import column_or_1d

from maxmargin.gram import Gram
from maxmargin.machines.classifier import KernelClassifier
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.machines.hard_margin import bounds_of
from maxmargin.machines.multiclass import AllRows, Scheme, Split, scheme_of
from maxmargin.machines.svr import DualRegressor
from maxmargin.machines.validation import class_numbers, class_weights
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Data, Floats, Labels, Numbers
from maxmargin.resources.threads import one_blas_thread

BLOCK = 1 << 20  # kernel entries that are used at a time for decision values: 8 MB


class Target(ABC):
    """The targets of all rows.

    Attributes
    ----------
    y : as the machine's user gave them
    scheme, splits : how the machine is made of problems, and the rows of each
    order, ends : the rows by class, and where each class ends: one class if it is numbers
    """

    y: Labels
    scheme: Scheme
    splits: Sequence[Split]
    order: Numbers
    ends: Numbers

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    def groups(self) -> list[Numbers]:
        """The rows of each class; all rows of numbers."""
        return [self.order[start:stop] for start, stop in pairwise(self.ends)]

    @abstractmethod
    def problem(
        self, machine: Any, number: int, weights: Floats, counts: Floats | None = None
    ) -> DualProblem:
        """One of the machine's problems over all rows, those of weight zero held out.

        `counts` says how often each row is trained on, once by default: a row given twice is a row
        of twice the weight, and counts twice where class weights are balanced.
        """

    def problems(
        self, machine: Any, weights: Floats, counts: Floats | None = None
    ) -> list[DualProblem]:
        """All problems of the machine."""
        return [self.problem(machine, k, weights, counts) for k in range(len(self.splits))]

    @abstractmethod
    def check(self, inside: Numbers, where: str) -> None:
        """Raise if a machine cannot be trained on these rows alone."""

    @abstractmethod
    def predictions(self, decisions: Floats) -> Labels:
        """What the machine predicts, from one column of decision values per problem."""

    @abstractmethod
    def values(self, machine: Any, decisions: Floats) -> Floats:
        """What its `decision_function` returns."""

    @abstractmethod
    def score(self, rows: Numbers, predictions: Labels, weights: Floats | None) -> float:
        """The machine's own `score` on some rows."""

    @abstractmethod
    def error(self, predictions: Labels, weights: Floats) -> float:
        """Share of wrong predictions, or the mean squared error, by weight."""

    def decide(self, gram: Gram, rows: Numbers, coefs: Sequence[Floats]) -> list[Floats]:
        """Decision values of some rows without offsets, for several machines' coefficients.

        Each of `coefs` is as `scheme.scatter` lays it out over all rows.
        """
        lines, stacked = len(coefs[0]), np.vstack(coefs)[:, self.order]
        parts: dict[int, Floats] = {}

        def products(number: int, _: Floats, ends: Numbers) -> Floats:
            if len(ends) not in parts:
                found = [
                    product(gram, rows, self.order[start:stop], stacked[:, start:stop])
                    for start, stop in pairwise(ends)
                ]
                parts[len(ends)] = np.array(found)
            mine = slice(number * lines, (number + 1) * lines)
            return np.ascontiguousarray(parts[len(ends)][:, mine])

        return [
            self.scheme.decide(coef, self.ends, partial(products, k))
            for k, coef in enumerate(coefs)
        ]


def product(gram: Gram, rows: Numbers, columns: Numbers, coef: Floats) -> Floats:
    """coef @ K[columns, rows] in float64, some rows at a time."""
    values = np.zeros((len(coef), len(rows)))
    used = np.flatnonzero(coef.any(axis=0))
    step, columns, coef = max(1, BLOCK // max(len(used), 1)), columns[used], coef[:, used]
    for start in range(0, len(rows) if len(used) else 0, step):
        block = gram.block(rows[start : start + step], columns)
        with one_blas_thread():
            values[:, start : start + step] = coef @ block.T
    return values


class Classes(Target):
    """Classes, of SVC and NuSVC."""

    def __init__(self, machine: KernelClassifier, y: ArrayLike) -> None:
        self.y = column_or_1d(y, warn=True)
        self.classes, self.labels = class_numbers(y)
        self.scheme = scheme_of(machine.multiclass, self.classes)
        self.splits = [*self.scheme.splits(self.labels)]  # made once, for every cell
        self.order = self.labels.argsort(kind="stable")
        self.ends = np.concatenate([[0], np.bincount(self.labels).cumsum()])

    def problem(
        self, machine: Any, number: int, weights: Floats, counts: Floats | None = None
    ) -> DualProblem:
        there = weights > 0 if counts is None else counts * (weights > 0)
        weight = class_weights(machine.class_weight, self.classes, self.labels, there)
        rows, signs = self.splits[number].rows, self.splits[number].signs
        own = weights[rows] if counts is None else weights[rows] * counts[rows]
        bounds = machine._bounds(weight[self.labels[rows]] * own)
        problem: DualProblem = machine._problem(number, signs, bounds, own)
        return problem

    def check(self, inside: Numbers, where: str) -> None:
        counts = np.bincount(self.labels[inside], minlength=len(self.classes))
        if not counts.all():
            missing = self.classes.tolist()[int(counts.argmin())]
            raise ValueError(
                f"{where} trains without a row of class {missing!r}: use fewer folds, or folds "
                "that are stratified, for example cv=StratifiedKFold(3)"
            )

    def predictions(self, decisions: Floats) -> Labels:
        if len(self.classes) == 2:
            return self.classes.take((decisions[:, 0] > 0).astype(int))
        best: Numbers = self.scheme.confidence(decisions).argmax(axis=1)
        return self.classes.take(best)

    def values(self, machine: Any, decisions: Floats) -> Floats:
        if len(self.classes) == 2:
            return decisions[:, 0]
        if machine.decision_function_shape == "ovo" and machine.multiclass == "ovo":
            return decisions
        return self.scheme.confidence(decisions)

    def score(self, rows: Numbers, predictions: Labels, weights: Floats | None) -> float:
        return float(np.average(predictions == self.y[rows], weights=weights))

    def error(self, predictions: Labels, weights: Floats) -> float:
        return float(np.average(predictions != self.y, weights=weights))


class RealTarget(Target):
    """Numbers, of SVR and NuSVR."""

    def __init__(self, machine: DualRegressor, y: ArrayLike) -> None:
        self.y = column_or_1d(y, warn=True).astype(np.float64)
        self.scheme = AllRows()
        self.splits = self.scheme.splits(np.zeros(len(self.y), int))
        self.order, self.ends = np.arange(len(self.y)), np.array([0, len(self.y)])

    def problem(
        self, machine: Any, number: int, weights: Floats, counts: Floats | None = None
    ) -> DualProblem:
        own = weights if counts is None else weights * counts
        problem: DualProblem = machine.formulate(self.y, bounds_of(machine.C, own))
        return problem

    def check(self, inside: Numbers, where: str) -> None:
        if len(inside) < 1:
            raise ValueError(f"{where} trains on no row: use other folds")

    def predictions(self, decisions: Floats) -> Labels:
        return decisions[:, 0]

    def values(self, machine: Any, decisions: Floats) -> Floats:
        return decisions[:, 0]

    def score(self, rows: Numbers, predictions: Labels, weights: Floats | None) -> float:
        return float(r2_score(self.y[rows], predictions, sample_weight=weights))

    def error(self, predictions: Labels, weights: Floats) -> float:
        return float(np.average((predictions - self.y) ** 2, weights=weights))


def target_of(machine: DualMachine, y: ArrayLike) -> Target:
    """Classes or numbers, by the kind of machine."""
    if isinstance(machine, KernelClassifier):
        return Classes(machine, y)
    if isinstance(machine, DualRegressor):
        return RealTarget(machine, y)
    raise TypeError(
        f"{type(machine).__name__} has no target to predict held-out rows of; give an SVC, NuSVC, "
        "SVR or NuSVR"
    )


def validated(machine: DualMachine, X: Data, y: ArrayLike) -> tuple[Any, Any]:
    """X and y as the machine's fit would take them."""
    if is_classifier(machine):
        X, y = machine._validate(X, y)
        return X, y
    X, y = machine._validate(X, y, y_numeric=True)
    return X, np.asarray(y, np.float64)


def check_sums(machine: Any, name: str, instead: str) -> None:
    """Raise for a ν machine without an offset: its sum is of |β|, which no path here follows."""
    params = machine.get_params()
    if "nu" in params and not params.get("fit_intercept", True):
        raise ValueError(
            f"{name} cannot take {type(machine).__name__}(fit_intercept=False): use {instead}, "
            "or fit_intercept=True"
        )
