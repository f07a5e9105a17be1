"""Base of the perceptrons: epochs, blocks, mistakes, Novikoff's bound.

    for each row x with label y
        E = the classes that score as much on x as y does, or more
        if there are any:   (a mistake)
            w_y += x,  w_r −= x / |E| for r in E

With two classes (w_1 − w_0)/2 is the perceptron of the textbooks, w += yx where y wᵀx ≤ 0 with
y = ±1, and that is its `coef_` (`dual_coef_` in a kernel's space). If some W with
‖W‖ = 1 separates the rows with margin γ = min (w_y − w_k)ᵀx over k ≠ y, there are at most 2R²/γ²
mistakes, R the largest ‖x‖ (Novikoff 1962): the loop ends. The bound is reported for the W that
was found. All of E share the step (K. Crammer, Y. Singer, Ultraconservative online algorithms for
multiclass problems, JMLR 3 (2003), 951–991), so the order of the classes does not matter.

A row of weight c, its class's times its own, takes the step c x. Novikoff's argument then reads,
of M mistakes on rows x_m with weights c_m: each step has c_m γ or more along the W that separates,
and none lengthens W by more than its own square 2 c_m² ‖x_m‖², so

    (γ Σ c_m)² ≤ ‖W_M‖² ≤ Σ 2 c_m² ‖x_m‖² ≤ 2R² Σ c_m,      R² = max c ‖x‖² over the rows,

which is Σ c_m ≤ 2R²/γ². M is at most that over the smallest weight. A row of weight 0 is as if
absent.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin.conventions import Interval, StrOptions, fitting
from maxmargin.machines.multiclass import class_of
from maxmargin.machines.validation import (
    check_two_classes,
    checked_weights,
    class_numbers,
    class_weights,
    declared_classes,
    known_labels,
)
from maxmargin.resources.arrays import Data, Floats, Labels, Numbers


class OnlineClassifier(ClassifierMixin, BaseEstimator):
    """Base of both perceptrons."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    classes_: Labels

    def _check_blocks(self) -> None:
        """Raise if the machine cannot learn from rows that come block by block."""

    @abstractmethod
    def _begin(self, X: Data) -> None:
        """Set the model to 0."""

    @abstractmethod
    def _rows(self, X: Data) -> Any:
        """The rows as epochs read them: made once for all epochs."""

    @abstractmethod
    def _epoch(self, rows: Any, labels: Numbers, weights: Floats, *, again: bool) -> int:
        """One pass over the rows, the same as in the last epoch or not; the mistakes made."""

    @abstractmethod
    def _scores(self, X: Data) -> Floats:
        """One column of scores per class, of validated rows."""

    @abstractmethod
    def _squares(self, X: Data, weights: Floats) -> tuple[float, float]:
        """R² and ‖W‖²."""

    @fitting
    def fit(self, X: Data, y: ArrayLike) -> Self:
        """Pass over the rows until an epoch has no mistakes, or `max_iter` times, or Ctrl-C.

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
        of_class = class_weights(self.class_weight, self.classes_, labels)
        weights = of_class[labels]
        check_two_classes(labels, of_class, None)
        self._begin(X)
        rows, mistakes = self._rows(X), list[int]()
        try:
            while len(mistakes) < self.max_iter and (not mistakes or mistakes[-1]):
                mistakes.append(self._epoch(rows, labels, weights, again=bool(mistakes)))
        except KeyboardInterrupt:  # the model so far is one: it goes on in `fitting`
            self._interrupted = True
        self.mistakes_, self.n_iter_ = np.array(mistakes, int), len(mistakes)
        self._bound(X, labels, weights)
        return self

    @fitting
    def partial_fit(
        self,
        X: Data,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
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
        self._check_blocks()
        first = not hasattr(self, "classes_")
        X, y = self._validate(X, y, reset=first)
        own = checked_weights(sample_weight, X)
        self.classes_, class_weight = declared_classes(self, classes)
        labels = known_labels(self.classes_, y)
        if first:
            self._begin(X if own is None else X[own > 0])
            self.mistakes_, self.n_iter_ = np.zeros(0, int), 0
        weights = class_weight[labels] if own is None else class_weight[labels] * own
        mistakes = self._epoch(self._rows(X), labels, weights, again=False)
        self.mistakes_ = np.append(self.mistakes_, mistakes)
        self.n_iter_ += 1
        self._bound(X, labels, weights)
        if self.n_iter_ > 1:  # the rows of the blocks before are gone, and their margin with them
            self.novikoff_bound_ = np.inf
        return self

    def _bound(self, X: Data, labels: Numbers, weights: Floats) -> None:
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

    def decision_function(self, X: Data) -> Floats:
        """Scores of the classes; for two, half of the second's minus the first's: wᵀx."""
        check_is_fitted(self)
        return as_one(self._scores(self._validate_for_prediction(X)).T).T

    def predict(self, X: Data) -> Labels:
        """The class with the largest score."""
        scores = self.decision_function(X)  # raises if it is not fitted, before `classes_` does
        return class_of(self.classes_, scores)


def as_one(of_classes: Floats) -> Floats:
    """What each class has, one after the other; of two classes the textbooks' (w_1 − w_0)/2."""
    two = len(of_classes) == 2
    halved: Floats = (of_classes[1] - of_classes[0]) / 2 if two else of_classes
    return halved
