"""The perceptron and the kernel perceptron: one row at a time, learning only from mistakes.

    for each row x with label y
        r = the best scoring class other than y
        if score_y(x) ≤ score_r(x):   (a mistake)
            w_y += x,  w_r −= x

With two classes w_1 − w_0 is the perceptron of the textbooks, w += ±x (halved). Written out, w is
a sum of the rows it was wrong about, so its scores need inner products only: with a kernel in
their place the same loop is the kernel perceptron.

If some W with ‖W‖ = 1 separates the rows with margin γ = min (w_y − w_k)ᵀx over k ≠ y, there are
at most 2R²/γ² mistakes, R the largest ‖x‖ (Novikoff 1962): the loop ends. The bound is reported
for the W that was found.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numba import njit
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import check_is_fitted

from maxmargin.gram import cross_dot
from maxmargin.kernels import Gamma, Kernel, Precomputed
from maxmargin.machines.kernel_model import KernelModel
from maxmargin.machines.validation import checked_data, class_numbers
from maxmargin.resources import thread_count
from maxmargin.rows import Rows, row_add, row_dot


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


class Perceptron(OnlineClassifier):
    """Rosenblatt's perceptron, for two or more classes, online.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether every row has a further feature, 1.
    max_iter : int, default=100
        Most passes over the rows.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : ndarray of shape (n_classes,) or (1,)
    mistakes_ : ndarray, mistakes made in each epoch; `n_mistakes_` is their sum
    novikoff_bound_ : float
        A bound on the mistakes, from the margin of the machine found; ∞ if it does not separate.
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

    _parameter_constraints: ClassVar[dict] = {
        **OnlineClassifier._parameter_constraints,
        "fit_intercept": ["boolean"],
    }

    def __init__(self, *, fit_intercept: bool = True, max_iter: int = 100) -> None:
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter

    def _validate(self, X: Any, y: Any = "no_validation", *, reset: bool = True) -> Any:
        return checked_data(self, X, y, reset=reset)

    def _validate_for_prediction(self, X: Any) -> Any:
        return self._validate(X, reset=False)

    def _begin(self, X: Any) -> None:
        self._W = np.zeros((len(self.classes_), X.shape[1]))
        self._b = np.zeros(len(self.classes_))

    def _epoch(self, X: Any, labels: np.ndarray, *, again: bool) -> int:
        return epoch(*Rows(X).parts, labels, self._W, self._b, float(self.fit_intercept))

    def _scores(self, X: Any) -> np.ndarray:
        return safe_sparse_dot(X, self._W.T, dense_output=True) + self._b

    def _squares(self, X: Any) -> tuple[float, float]:
        radius = float(row_norms(X, squared=True).max()) + self.fit_intercept
        return radius, float(np.sum(self._W**2) + np.sum(self._b**2))

    @property
    def coef_(self) -> np.ndarray:
        """The weights: of each class, or of the second minus the first."""
        return self._W[1:] - self._W[:1] if len(self.classes_) == 2 else self._W

    @property
    def intercept_(self) -> np.ndarray:
        """The offsets, laid out as `coef_`."""
        return self._b[1:] - self._b[:1] if len(self.classes_) == 2 else self._b

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@njit(cache=True, nogil=True)
def epoch(data, indices, indptr, labels, W, b, one):
    """The loop of the module's page over all rows; returns the mistakes."""
    mistakes = 0
    scores = np.empty(len(b))
    for i in range(len(labels)):
        y = labels[i]
        for k in range(len(b)):
            scores[k] = row_dot(data, indices, indptr, i, W[k]) + b[k]
        rival = 1 if y == 0 else 0
        for k in range(len(b)):
            if k != y and scores[k] > scores[rival]:
                rival = k
        if scores[y] <= scores[rival]:
            mistakes += 1
            row_add(data, indices, indptr, i, 1.0, W[y])
            row_add(data, indices, indptr, i, -1.0, W[rival])
            b[y] += one
            b[rival] -= one
    return mistakes


class KernelPerceptron(OnlineClassifier, KernelModel):
    """The perceptron in a kernel's space: f(x) = Σ over the mistakes of ± k(x_i, x).

    Parameters
    ----------
    kernel, degree, gamma, coef0, cache_size, n_jobs : see `SVC`. With `partial_fit` the first
        block fixes gamma="scale".
    max_iter : int, default=100
        Most passes over the rows.
    budget : int or None
        Most vectors to store: beyond it the oldest is forgotten.

    Attributes
    ----------
    support_vectors_ : the rows stored
    dual_coef_ : ndarray of shape (n_classes, n_stored), or (1, n_stored) for two classes
    mistakes_ : ndarray, mistakes made in each epoch; `n_mistakes_` is their sum
    novikoff_bound_ : float
        A bound on the mistakes, from the margin of the machine found; ∞ if it does not separate.
        It does not hold for a machine that forgets.
    n_iter_ : int, epochs
    classes_ : ndarray

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> X, y = make_circles(100, factor=0.3, noise=0.05, random_state=0)
    >>> clf = KernelPerceptron(gamma=2.0).fit(X, y)
    >>> clf.score(X, y), bool(clf.n_mistakes_ <= clf.novikoff_bound_)
    (1.0, True)
    """

    _parameter_constraints: ClassVar[dict] = {
        **OnlineClassifier._parameter_constraints,
        **KernelModel._parameter_constraints,
        "budget": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        max_iter: int = 100,
        budget: int | None = None,
        cache_size: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.max_iter = max_iter
        self.budget = budget
        self.cache_size = cache_size
        self.n_jobs = n_jobs

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> KernelPerceptron:
        """One pass over the rows of a block that arrives now; see `Perceptron.partial_fit`."""
        if isinstance(self._kernel(), Precomputed):
            raise ValueError(
                "partial_fit needs the rows themselves: a precomputed kernel has no values "
                "between one block and the next. Use fit, or another kernel"
            )
        return super().partial_fit(X, y, classes)

    def _begin(self, X: Any) -> None:
        self._kernel_ = self._kernel().bind(X)
        self.support_ = np.zeros(0, np.int32)
        self.support_vectors_ = X[:0]
        self._coef = np.zeros((len(self.classes_), 0))
        self.shape_fit_ = X.shape

    def _epoch(self, X: Any, labels: np.ndarray, *, again: bool) -> int:
        scores, mistakes = self._scores(X), 0
        # Where the rows of this block are stored; those of earlier blocks are not in it.
        place = {int(row): k for k, row in enumerate(self.support_)} if again else {}
        for i, y in enumerate(labels):
            others = np.where(np.arange(len(self.classes_)) == y, -np.inf, scores[i])
            rival = int(others.argmax())
            if scores[i, y] > scores[i, rival]:
                continue
            mistakes += 1
            if i not in place:
                scores -= self._make_room(X, place)
                place[i] = self._coef.shape[1]
                self._store(X, i)
            column = self._column(X, place[i])
            for k, sign in ((y, 1.0), (rival, -1.0)):
                self._coef[k, place[i]] += sign
                scores[:, k] += sign * column
        return mistakes

    def _store(self, X: Any, i: int) -> None:
        stack = sp.vstack if sp.issparse(X) else np.concatenate
        self.support_vectors_ = stack([self.support_vectors_, X[[i]]])
        if sp.issparse(X):
            self.support_vectors_ = self.support_vectors_.tocsr()
        self.support_ = np.append(self.support_, np.int32(i))
        self._coef = np.column_stack([self._coef, np.zeros(len(self.classes_))])

    def _make_room(self, X: Any, place: dict[int, int]) -> np.ndarray | float:
        """Forget the oldest vector if the budget is used up; what it added to the scores."""
        if self.budget is None or self._coef.shape[1] < self.budget:
            return 0.0
        lost = np.outer(self._column(X, 0), self._coef[:, 0])
        self.support_vectors_, self.support_ = self.support_vectors_[1:], self.support_[1:]
        self._coef = self._coef[:, 1:]
        for row in [row for row, k in place.items() if k == 0]:
            del place[row]
        for row in place:
            place[row] -= 1
        return lost

    def _column(self, X: Any, k: int) -> np.ndarray:
        """k(x, z) of every row x of the block with the stored vector z."""
        if isinstance(self._kernel_, Precomputed):
            return X[:, self.support_[k]]
        vector, one = self.support_vectors_[[k]], np.ones((1, 1))
        return cross_dot(self._kernel_, X, vector, one, thread_count(self.n_jobs))[:, 0]

    def _scores(self, X: Any) -> np.ndarray:
        if isinstance(self._kernel_, Precomputed):
            columns = X[:, self.support_] if X.shape[1] == self.shape_fit_[0] else X
            return columns @ self._coef.T
        return cross_dot(
            self._kernel_, X, self.support_vectors_, self._coef, thread_count(self.n_jobs)
        )

    def _squares(self, X: Any) -> tuple[float, float]:
        precomputed = isinstance(self._kernel_, Precomputed)
        diagonal = X.diagonal() if precomputed else self._kernel_.diagonal(X)
        if self._coef.shape[1] == 0:
            return float(diagonal.max()), 0.0
        stored = X[self.support_] if precomputed else self.support_vectors_
        return float(diagonal.max()), float(np.sum(self._scores(stored) * self._coef.T))

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the stored vectors: for each class, or the second's minus the first's."""
        return self._coef[1:] - self._coef[:1] if len(self.classes_) == 2 else self._coef

    def _linear_coef(self) -> Any:
        return np.asarray(self.dual_coef_ @ self.support_vectors_)
