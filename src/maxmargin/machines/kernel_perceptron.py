"""The perceptron in a kernel's space.

Written out, the perceptron's w is a sum of the rows it was wrong about, so its scores need inner
products only; a kernel in their place makes the same loop (`solvers.textbook.perceptron`) the
kernel perceptron.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from maxmargin.conventions import Interval
from maxmargin.gram import Gram, cross_dot
from maxmargin.kernels import Gamma, Kernel, KernelFunction
from maxmargin.machines.kernel_machine import KernelMachine
from maxmargin.machines.online_classifier import OnlineClassifier, as_one
from maxmargin.resources.arrays import Data, Floats, Numbers
from maxmargin.resources.threads import thread_count
from maxmargin.solvers.textbook.perceptron import mistakes_of_a_pass


class KernelPerceptron(OnlineClassifier, KernelMachine):
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
        Most vectors to store: beyond it the oldest is dropped.

    Attributes
    ----------
    support_vectors_ : the rows stored
    dual_coef_ : ndarray of shape (n_classes, n_stored), or (1, n_stored) for two classes
    mistakes_ : ndarray, mistakes made in each epoch; `n_mistakes_` is their sum
    novikoff_bound_ : float
        A bound on the mistakes, from the margin of the machine found; ∞ if it does not separate,
        and after more than one block. With weights see `online_classifier`. It does not hold for
        a machine with a budget that is reached.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OnlineClassifier._parameter_constraints,
        **KernelMachine._parameter_constraints,
        "budget": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        *,
        kernel: str | Kernel | KernelFunction = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        max_iter: int = 100,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
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

    def _check_blocks(self) -> None:
        if self._kernel().precomputed:
            raise ValueError(
                "partial_fit needs the rows themselves: a precomputed kernel has no values "
                "between one block and the next. Use fit, or another kernel"
            )

    def _begin(self, X: Data) -> None:
        self.kernel_ = self._kernel().bind(X)
        self.support_ = np.zeros(0, np.int32)
        self.support_vectors_ = self.kernel_.vectors(X, self.support_)
        self._coef = np.zeros((len(self.classes_), 0))
        self.shape_fit_ = X.shape

    def _rows(self, X: Data) -> Gram:
        threads = thread_count(self.n_jobs)
        return Gram(self.kernel_, X, cache_size=self.cache_size, threads=threads)

    def _epoch(self, rows: Gram, labels: Numbers, weights: Floats, *, again: bool) -> int:
        X, mistakes = rows.X, 0
        scores = self._scores(X)
        # Where the rows of this block are stored; those of earlier blocks are not in it.
        place = {int(row): k for k, row in enumerate(self.support_)} if again else {}
        for i, step in mistakes_of_a_pass(rows.row, labels, weights, scores):
            mistakes += 1
            if i not in place:
                scores -= self._make_room(X, place)
                place[i] = self._coef.shape[1]
                self._store(X, i)
            self._coef[:, place[i]] += step
        return mistakes

    def _store(self, X: Data, i: int) -> None:
        stack = sp.vstack if sp.issparse(X) else np.concatenate
        vectors: Any = stack([self.support_vectors_, self.kernel_.vectors(X, np.array([i]))])
        vectors = vectors.tocsr() if sp.issparse(X) else vectors
        support = np.append(self.support_, np.int32(i))
        coef = np.column_stack([self._coef, np.zeros(len(self.classes_))])
        self._keep(vectors, support, coef)

    def _keep(self, vectors: Data, support: Numbers, coef: Floats) -> None:
        """All three in one statement: Ctrl-C finds the model before or after it."""
        self.support_vectors_, self.support_, self._coef = vectors, support, coef

    def _make_room(self, X: Data, place: dict[int, int]) -> Floats | float:
        """Drop the oldest vector if the budget is used up; returns its part of the scores."""
        if self.budget is None or self._coef.shape[1] < self.budget:
            return 0.0
        lost = self._scores_of(X, slice(1))
        self._keep(self.support_vectors_[1:], self.support_[1:], self._coef[:, 1:])
        for row in [row for row, k in place.items() if k == 0]:
            del place[row]
        for row in place:
            place[row] -= 1
        return lost

    def _scores(self, X: Data) -> Floats:
        return self._scores_of(X, slice(None))

    def _scores_of(self, X: Data, stored: slice) -> Floats:
        """What some of the stored vectors add to the scores."""
        coef = self._coef[:, stored].T
        if self.kernel_.precomputed:
            own = X.shape[1] == self.shape_fit_[0]
            scores: Floats = X[:, self.support_[stored] if own else stored] @ coef
            return scores
        vectors = self.support_vectors_[stored]
        return cross_dot(self.kernel_, X, vectors, coef.T, thread_count(self.n_jobs))

    def _squares(self, X: Data, weights: Floats) -> tuple[float, float]:
        precomputed = self.kernel_.precomputed
        diagonal = X.diagonal() if precomputed else self.kernel_.diagonal(X)
        radius = float(np.max(weights * diagonal))
        if self._coef.shape[1] == 0:
            return radius, 0.0
        stored = X[self.support_] if precomputed else self.support_vectors_
        return radius, float(np.sum(self._scores(stored) * self._coef.T))

    @property
    def dual_coef_(self) -> Floats:
        """Coefficients of the stored vectors: of each class; of two, ±1 for each mistake."""
        return np.atleast_2d(as_one(self._coef))
