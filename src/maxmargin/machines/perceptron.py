"""The perceptron: one row at a time, learning only from mistakes (see `online_classifier`)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from maxmargin.core import native
from maxmargin.gram.data_matrix import DataMatrix
from maxmargin.machines.online_classifier import OnlineClassifier, as_one
from maxmargin.machines.validation import checked_data
from maxmargin.resources.arrays import Data, Floats, Numbers


class Perceptron(OnlineClassifier):
    """Rosenblatt's perceptron, for two or more classes, online.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether every row has a further feature, 1.
    max_iter : int, default=100
        Most passes over the rows.
    class_weight : dict or "balanced"
        Multiplies the step after a mistake on a row of the class.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : ndarray of shape (n_classes,) or (1,)
    mistakes_ : ndarray, mistakes made in each epoch; `n_mistakes_` is their sum
    novikoff_bound_ : float
        A bound on the mistakes, from the margin of the machine found; ∞ if it does not separate,
        and after more than one block. With weights see `online_classifier`.
    n_iter_ : int, epochs
    classes_ : ndarray

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(100, centers=2, random_state=0, cluster_std=0.5)
    >>> clf = Perceptron().fit(X, y)
    >>> int(clf.mistakes_[-1]), bool(clf.n_mistakes_ <= clf.novikoff_bound_)
    (0, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OnlineClassifier._parameter_constraints,
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        max_iter: int = 100,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.class_weight = class_weight

    def _validate(self, X: Data, y: ArrayLike = "no_validation", *, reset: bool = True) -> Any:
        return checked_data(self, X, y, reset=reset)

    def _validate_for_prediction(self, X: Data) -> Any:
        return self._validate(X, reset=False)

    def _begin(self, X: Data) -> None:
        self._W = np.zeros((len(self.classes_), X.shape[1]))
        self._b = np.zeros(len(self.classes_))

    def _rows(self, X: Data) -> DataMatrix:
        return DataMatrix(X)

    def _epoch(self, rows: DataMatrix, labels: Numbers, weights: Floats, *, again: bool) -> int:
        model = self._W, self._b, float(self.fit_intercept)
        return native.perceptron_epoch(rows.core, labels, weights, *model)

    def _scores(self, X: Data) -> Floats:
        products: Floats = safe_sparse_dot(X, self._W.T, dense_output=True)
        return products + self._b

    def _squares(self, X: Data, weights: Floats) -> tuple[float, float]:
        radius = float(np.max(weights * (row_norms(X, squared=True) + self.fit_intercept)))
        return radius, float(np.sum(self._W**2) + np.sum(self._b**2))

    @property
    def coef_(self) -> Floats:
        """The weights: of each class; of two classes w, which each mistake moves by ±x."""
        return np.atleast_2d(as_one(self._W))

    @property
    def intercept_(self) -> Floats:
        """The offsets, laid out as `coef_`."""
        return np.atleast_1d(as_one(self._b))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
