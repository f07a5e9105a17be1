"""Blocks of rows that come once and are not kept: `partial_fit` of SVC and SVR with features.

Each call sweeps the β of its rows and adds them to w = Σ β_i φ(x_i); the β of earlier rows stay
what they were. It is one pass of `FeatureDescent` over blocks that somebody else provides. The
first call fixes φ, unless `fit` has; then the blocks add to what it learned. Rows should come
mixed: a block of one class teaches little. There is no certificate of it all: the primal value
needs rows that are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from maxmargin.solvers.feature_descent import VISITS, Descent, Walk


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

    _descents: dict[int, Descent]
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
            self._approximate_, self.n_samples_seen_ = True, 0
        elif not hasattr(self, "_descents"):
            self.n_samples_seen_ = self.shape_fit_[0]
        if not hasattr(self, "_descents"):
            self._descents = {}

    def _learn(self, X: Any, problems: Sequence[tuple[np.ndarray | slice, DualProblem]]) -> None:
        """Sweep the rows of X for every problem, given with the rows it is about."""
        gram = self._feature_gram(X)
        self.n_samples_seen_ += X.shape[0]
        for number, (rows, problem) in enumerate(problems):
            if problem.size:
                walk = Walk(problem, gram.take(rows), descent=self._descents.get(number))
                if number not in self._descents and not self._first:
                    walk.descent.resume(self.feature_coef_[number], self.intercept_[number])
                self._descents[number] = walk.descent
                for block in walk.gram.blocks():
                    walk.sweep(block, VISITS)
        unknown = [(np.zeros(gram.columns), 0.0)] * len(problems)
        models = (
            unknown if self._first else list(zip(self.feature_coef_, self.intercept_, strict=True))
        )
        for number, descent in self._descents.items():
            models[number] = descent.model()
        self.feature_coef_ = np.array([w for w, _ in models])
        self.intercept_ = np.array([b for _, b in models])


class StreamedClassifier(StreamedMachine, KernelClassifier):
    """Base of SVC."""

    _parameter_constraints: ClassVar[dict] = {
        **KernelClassifier._parameter_constraints,
        **StreamedMachine._parameter_constraints,
    }

    def _decisions(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._by_features(X) if self._approximate_ else super()._decisions(X)

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
