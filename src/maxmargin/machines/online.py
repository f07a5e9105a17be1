"""What the online classifiers share: epochs, blocks, mistakes, Novikoff's bound.

    for each row x with label y
        r = the best scoring class other than y
        if score_y(x) ≤ score_r(x):   (a mistake)
            w_y += x,  w_r −= x

With two classes w_1 − w_0 is the perceptron of the textbooks, w += ±x (doubled). If some W with
‖W‖ = 1 separates the rows with margin γ = min (w_y − w_k)ᵀx over k ≠ y, there are at most 2R²/γ²
mistakes, R the largest ‖x‖ (Novikoff 1962): the loop ends. The bound is reported for the W that
was found.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import check_is_fitted

from maxmargin.machines.validation import class_numbers


class OnlineClassifier(ClassifierMixin, BaseEstimator):
    """What both perceptrons share: epochs, mistakes, scores to classes."""

    _parameter_constraints: ClassVar[dict] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    @abstractmethod
    def _begin(self, X: Any) -> None:
        """Forget everything."""

    @abstractmethod
    def _epoch(self, X: Any, labels: np.ndarray, *, again: bool) -> int:
        """One pass over the rows, the same as in the last epoch or not; the mistakes made."""

    @abstractmethod
    def _scores(self, X: Any) -> np.ndarray:
        """One column of scores per class, of validated rows."""

    @abstractmethod
    def _squares(self, X: Any) -> tuple[float, float]:
        """R² and ‖W‖²."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> OnlineClassifier:
        """Pass over the rows until an epoch has no mistakes, or `max_iter` times.

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
        self._begin(X)
        mistakes: list[int] = []
        while len(mistakes) < self.max_iter and (not mistakes or mistakes[-1]):
            mistakes.append(self._epoch(X, labels, again=bool(mistakes)))
        self.mistakes_, self.n_iter_ = np.array(mistakes), len(mistakes)
        self._bound(X, labels)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> OnlineClassifier:
        """One pass over the rows of a block that arrives now.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : array, default=None
            Every class there will be; needed at the first call.

        Returns
        -------
        self
        """
        first = not hasattr(self, "classes_")
        X, y = self._validate(X, y, reset=first)
        if _check_partial_fit_first_call(self, classes):
            self.classes_ = np.unique(classes)
            self._begin(X)
            self.mistakes_, self.n_iter_ = np.zeros(0, int), 0
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y has the class {unknown.tolist()[0]!r}, which is not among `classes`: "
                f"{self.classes_.tolist()}"
            )
        labels = np.searchsorted(self.classes_, y)
        self.mistakes_ = np.append(self.mistakes_, self._epoch(X, labels, again=False))
        self.n_iter_ += 1
        self._bound(X, labels)
        return self

    def _bound(self, X: Any, labels: np.ndarray) -> None:
        """Novikoff's bound for the W found, if it separates these rows; else infinity."""
        scores = self._scores(X)
        own = scores[np.arange(len(labels)), labels].copy()
        scores[np.arange(len(labels)), labels] = -np.inf
        margin = float(np.min(own - scores.max(axis=1)))
        radius, norm = self._squares(X)
        self.novikoff_bound_ = 2 * radius * norm / margin**2 if margin > 0 else np.inf

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
