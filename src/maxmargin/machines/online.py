"""What the online classifiers share: epochs, blocks, mistakes, Novikoff's bound.

    for each row x with label y
        E = the classes that score as much on x as y does, or more
        if there are any:   (a mistake)
            w_y += x,  w_r −= x / |E| for r in E

With two classes w_1 − w_0 is the perceptron of the textbooks, w += ±x (doubled). If some W with
‖W‖ = 1 separates the rows with margin γ = min (w_y − w_k)ᵀx over k ≠ y, there are at most 2R²/γ²
mistakes, R the largest ‖x‖ (Novikoff 1962): the loop ends. The bound is reported for the W that
was found. That all of E share the blame (K. Crammer, Y. Singer, Ultraconservative online algorithms
for multiclass problems, JMLR 3 (2003), 951–991) leaves nothing to the order of the classes.

A row of weight c, its class's times its own, takes the step c x. Novikoff's argument then reads,
of M mistakes on rows x_m with weights c_m: each step has c_m γ or more along the W that separates,
and none lengthens W by more than its own square 2 c_m² ‖x_m‖², so

    (γ Σ c_m)² ≤ ‖W_M‖² ≤ Σ 2 c_m² ‖x_m‖² ≤ 2R² Σ c_m,      R² = max c ‖x‖² over the rows,

which is Σ c_m ≤ 2R²/γ²: what weighs more may be mistaken less. M is at most that over the smallest
weight, and without weights all is as before. A row of weight 0 is as if absent.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import check_is_fitted

from maxmargin.machines.validation import (
    check_two_classes,
    checked_weights,
    class_numbers,
    class_weights,
    refuse_balanced,
)


class OnlineClassifier(ClassifierMixin, BaseEstimator):
    """What both perceptrons share: epochs, mistakes, scores to classes."""

    _parameter_constraints: ClassVar[dict] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    @abstractmethod
    def _begin(self, X: Any) -> None:
        """Forget everything."""

    @abstractmethod
    def _epoch(self, X: Any, labels: np.ndarray, weights: np.ndarray, *, again: bool) -> int:
        """One pass over the rows, the same as in the last epoch or not; the mistakes made."""

    @abstractmethod
    def _scores(self, X: Any) -> np.ndarray:
        """One column of scores per class, of validated rows."""

    @abstractmethod
    def _squares(self, X: Any, weights: np.ndarray) -> tuple[float, float]:
        """R² and ‖W‖²."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> OnlineClassifier:
        """Pass over the rows until an epoch has no mistakes, or `max_iter` times.

        Rows have no weights of their own here: in scikit-learn a weight c means c copies of a
        row, wherever they stand, and what a perceptron learns depends on the order of the rows.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features)
        y : array of shape (n_samples,)

        Returns
        -------
        self
        """
        X, y = self._validate(X, y)
        self.classes_, labels = class_numbers(y)
        weights = class_weights(self.class_weight, self.classes_, y)[labels]
        check_two_classes(labels, weights)
        self._begin(X)
        mistakes: list[int] = []
        while len(mistakes) < self.max_iter and (not mistakes or mistakes[-1]):
            mistakes.append(self._epoch(X, labels, weights, again=bool(mistakes)))
        self.mistakes_, self.n_iter_ = np.array(mistakes), len(mistakes)
        self._bound(X, labels, weights)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> OnlineClassifier:
        """One pass over the rows of a block that arrives now.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : array, default=None
            Every class there will be; needed at the first call.
        sample_weight : array of shape (n_samples,), default=None
            Multiplies the step after a mistake, row by row; a row of weight 0 is as if absent.

        Returns
        -------
        self
        """
        first = not hasattr(self, "classes_")
        X, y = self._validate(X, y, reset=first)
        refuse_balanced(self.class_weight)
        own = checked_weights(sample_weight, X)
        if _check_partial_fit_first_call(self, classes):
            self.classes_ = np.unique(classes)
            self._begin(X if own is None else X[own > 0])
            self.mistakes_, self.n_iter_ = np.zeros(0, int), 0
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y has the class {unknown.tolist()[0]!r}, which is not among `classes`: "
                f"{self.classes_.tolist()}"
            )
        labels = np.searchsorted(self.classes_, y)
        weights = class_weights(self.class_weight, self.classes_, y)[labels]
        weights = weights if own is None else weights * own
        self.mistakes_ = np.append(self.mistakes_, self._epoch(X, labels, weights, again=False))
        self.n_iter_ += 1
        self._bound(X, labels, weights)
        if self.n_iter_ > 1:  # the rows of the blocks before are gone, and their margin with them
            self.novikoff_bound_ = np.inf
        return self

    def _bound(self, X: Any, labels: np.ndarray, weights: np.ndarray) -> None:
        """Novikoff's bound for the W found, if it separates these rows; else infinity."""
        scores, present = self._scores(X), weights > 0
        own = scores[np.arange(len(labels)), labels].copy()
        scores[np.arange(len(labels)), labels] = -np.inf
        margin = float(np.min((own - scores.max(axis=1))[present], initial=np.inf))
        radius, norm = self._squares(X, weights)
        self.novikoff_bound_ = np.inf
        if margin > 0 and present.any():
            lightest = float(weights[present].min())
            self.novikoff_bound_ = 2 * radius * norm / margin**2 / lightest

    @property
    def n_mistakes_(self) -> int:
        """Mistakes made in all."""
        return int(self.mistakes_.sum())

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes; for two, the second's minus the first's."""
        check_is_fitted(self)
        scores = self._scores(self._validate_for_prediction(X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]
