"""Blocks of rows that come once and are not kept: `partial_fit` of SVC and SVR with features.

Each call finds the β of its rows and adds them to w = Σ β_i φ(x_i); the β of earlier rows stay
what they were. With w⁰ the weights so far that is, in the primal,

    minimise  ½‖w − w⁰‖² + ½(b − b⁰)² + the loss of the block's rows:

what was learned is kept as far as the new rows allow, and of a stream the offset is one more
weight. The first call fixes φ, unless `fit` has; then the blocks add to what it learned. Rows
should come mixed: after a block of one class everything looks like that class. There is no
certificate of it all: the primal value needs rows that are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.machines.approximate import ApproximableMachine
from maxmargin.machines.classifier import KernelClassifier
from maxmargin.machines.single import SingleMachine
from maxmargin.machines.validation import checked_weights
from maxmargin.problem import DualProblem
from maxmargin.solvers.proximal_newton import WIDTH, ProximalNewton

PROXIMAL_STEPS = 3  # for a block: the next one will move everything again
MOST_STEPS = 100  # of Newton's method, for a block


def streams(machine: StreamedMachine) -> bool:
    """Whether a machine can learn from blocks."""
    if machine.approximation is None or machine.refine:
        raise AttributeError(
            "partial_fit needs approximation='rff', 'nystroem' or a transformer, and refine=False: "
            "the exact machine needs all rows at once"
        )
    return True


class StreamedMachine(ApproximableMachine):
    """What the `partial_fit` of SVC and SVR share."""

    feature_coef_: np.ndarray
    intercept_: np.ndarray

    @property
    def _first(self) -> bool:
        """Whether nothing has been learned yet, neither by `fit` nor from blocks."""
        return not hasattr(self, "feature_coef_")

    def _begin(self, X: Any) -> None:
        """Make φ from the first block; after `fit`, there is one."""
        if self._first:
            self._fit_features(X, None)
            self._approximate_ = True
        if not hasattr(self, "n_samples_seen_"):
            self.n_samples_seen_ = 0 if self._first else self.shape_fit_[0]

    def _learn(self, X: Any, problems: Sequence[tuple[np.ndarray | slice, DualProblem]]) -> None:
        """Sweep the rows of X for every problem, given with the rows it is about."""
        gram = self._feature_gram(X)
        self.n_samples_seen_ += X.shape[0]
        if self._first:
            self.feature_coef_ = np.zeros((len(problems), gram.columns))
            self.intercept_ = np.zeros(len(problems))
        for number, (rows, problem) in enumerate(problems):
            if problem.size:
                w, b = self.feature_coef_[number], self.intercept_[number]
                change, self.intercept_[number] = learned(problem, gram.take(rows), w, b)
                self.feature_coef_[number] += change


def learned(problem: DualProblem, gram: Any, w: np.ndarray, b: float) -> tuple[np.ndarray, float]:
    """What a block of rows adds to w, and the new b."""
    seen = problem.on_variables(gram.scores(w))
    newton = ProximalNewton(
        replace(problem, linear=problem.linear + seen), gram, np.zeros(gram.columns), b, WIDTH
    )
    steps = islice(newton.rounds(offset=False), MOST_STEPS)
    for _ in islice(filter(None, steps), PROXIMAL_STEPS):
        pass
    return newton.image, newton.b


class StreamedClassifier(StreamedMachine, KernelClassifier):
    """Base of SVC."""

    _parameter_constraints: ClassVar[dict] = {
        **KernelClassifier._parameter_constraints,
        **StreamedMachine._parameter_constraints,
    }

    def _decisions(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._by_features(X) if self._approximate_ else super()._decisions(X)

    def _positive(self, X: Any) -> np.ndarray:
        return self._by_features(X)[:, 0] > 0 if self._approximate_ else super()._positive(X)

    @available_if(streams)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> StreamedClassifier:
        """Learn from a block of rows; only with `approximation`.

        Parameters
        ----------
        X, y, sample_weight : as for `fit`
        classes : array of all labels there will be; needed in the first call

        Returns
        -------
        self
        """
        self._validate_params()
        first = self._first
        X, y = self._validate(X, y, reset=first)
        y = column_or_1d(y, warn=True)
        if first:
            self._begin_classes(classes)
        self._begin(X)
        labels = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        unknown = np.flatnonzero(self.classes_[labels] != y)
        if len(unknown):
            raise ValueError(
                f"row {unknown[0]} has the label {y[unknown[0]]}, which is not among the "
                f"classes of the first call, {self.classes_.tolist()}"
            )
        weights = self.class_weight_[labels]
        own = checked_weights(sample_weight, X)
        bounds = self._bounds(weights if own is None else weights * own)
        problems = [
            (
                split.rows,
                self._formulate(number, split.signs, bounds[split.rows], bounds[split.rows]),
            )
            for number, split in enumerate(self._scheme().splits(labels))
        ]
        self._learn(X, problems)
        return self

    def _begin_classes(self, classes: Any) -> None:
        if classes is None:
            raise ValueError("the first call of partial_fit needs classes=, all labels there are")
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows; give partial_fit the weights as a dict"
            )
        self.classes_ = np.unique(classes)
        given = self.class_weight or {}
        self.class_weight_ = np.array([float(given.get(name, 1)) for name in self.classes_])


class StreamedRegressor(StreamedMachine, SingleMachine):
    """Base of SVR."""

    def _values(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._by_features(X)[:, 0] if self._approximate_ else super()._values(X)

    @available_if(streams)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> StreamedRegressor:
        """Learn from a block of rows; only with `approximation`.

        Parameters
        ----------
        X, y, sample_weight : as for `fit`

        Returns
        -------
        self
        """
        self._validate_params()
        X, y = self._validate(X, y, reset=self._first, y_numeric=True)
        y = column_or_1d(y, warn=True).astype(np.float64, copy=False)
        self._begin(X)
        own = checked_weights(sample_weight, X)
        bounds = self._bounds(np.ones(len(y)) if own is None else own)
        self._learn(X, [(slice(None), self._formulate(y, bounds))])
        return self
