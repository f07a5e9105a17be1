"""The perceptron in a kernel's space.

Written out, the perceptron's w is a sum of the rows it was wrong about, so its scores need inner
products only; a kernel in their place makes the same loop (see `online`) the kernel perceptron.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from maxmargin.cross import cross_dot
from maxmargin.kernels import Gamma, Kernel, Precomputed
from maxmargin.machines.kernel_model import KernelModel
from maxmargin.machines.online import OnlineClassifier
from maxmargin.resources import thread_count


class KernelPerceptron(OnlineClassifier, KernelModel):
    """The perceptron in a kernel's space: f(x) = Σ over the mistakes of ± k(x_i, x).

    Parameters
    ----------
    kernel, degree, gamma, coef0, cache_size, n_jobs : see `SVC`. With `partial_fit` the first
        block fixes gamma="scale".
    max_iter : int, default=100
        Most passes over the rows.
    class_weight : dict or "balanced"
        Multiplies the step after a mistake on a row of the class.
    budget : int or None
        Most vectors to store: beyond it the oldest is forgotten.

    Attributes
    ----------
    support_vectors_ : the rows stored
    dual_coef_ : ndarray of shape (n_classes, n_stored), or (1, n_stored) for two classes
    mistakes_ : ndarray, mistakes made in each epoch; `n_mistakes_` is their sum
    novikoff_bound_ : float
        A bound on the mistakes, from the margin of the machine found; ∞ if it does not separate,
        and after more than one block. With weights see `online`. It does not hold for a machine
        that forgets.
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
        class_weight: dict | Literal["balanced"] | None = None,
        budget: int | None = None,
        cache_size: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.budget = budget
        self.cache_size = cache_size
        self.n_jobs = n_jobs

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> KernelPerceptron:
        """One pass over the rows of a block that arrives now; see `Perceptron.partial_fit`."""
        if isinstance(self._kernel(), Precomputed):
            raise ValueError(
                "partial_fit needs the rows themselves: a precomputed kernel has no values "
                "between one block and the next. Use fit, or another kernel"
            )
        return super().partial_fit(X, y, classes, sample_weight)

    def _begin(self, X: Any) -> None:
        self._kernel_ = self._kernel().bind(X)
        self.support_ = np.zeros(0, np.int32)
        self.support_vectors_ = X[:0]
        self._coef = np.zeros((len(self.classes_), 0))
        self.shape_fit_ = X.shape

    def _epoch(self, X: Any, labels: np.ndarray, weights: np.ndarray, *, again: bool) -> int:
        scores, mistakes = self._scores(X), 0
        # Where the rows of this block are stored; those of earlier blocks are not in it.
        place = {int(row): k for k, row in enumerate(self.support_)} if again else {}
        for i, y in enumerate(labels):
            among = np.flatnonzero(scores[i] >= scores[i, y])
            if len(among) == 1 or weights[i] == 0:
                continue
            mistakes += 1
            if i not in place:
                scores -= self._make_room(X, place)
                place[i] = self._coef.shape[1]
                self._store(X, i)
            column = self._column(X, place[i])
            steps = np.where(among == y, weights[i], -weights[i] / (len(among) - 1))
            self._coef[among, place[i]] += steps
            scores[:, among] += np.outer(column, steps)
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

    def _squares(self, X: Any, weights: np.ndarray) -> tuple[float, float]:
        precomputed = isinstance(self._kernel_, Precomputed)
        diagonal = X.diagonal() if precomputed else self._kernel_.diagonal(X)
        radius = float(np.max(weights * diagonal))
        if self._coef.shape[1] == 0:
            return radius, 0.0
        stored = X[self.support_] if precomputed else self.support_vectors_
        return radius, float(np.sum(self._scores(stored) * self._coef.T))

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the stored vectors: for each class, or the second's minus the first's."""
        return self._coef[1:] - self._coef[:1] if len(self.classes_) == 2 else self._coef

    def _linear_coef(self) -> Any:
        return np.asarray(self.dual_coef_ @ self.support_vectors_)
