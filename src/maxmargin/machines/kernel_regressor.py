"""Kernel linear regression in the dual: f(x) = Σ β_i k(x_i, x), squared loss.

    minimise   ½ Σ_i c_i (t_i − f(x_i))² + ½ λ βᵀKβ

Its solution satisfies c_i (t_i − f(x_i)) = λ β_i. Two ways to it:

    exact   solve (K + λ diag(1/c)) β = t by Cholesky
    sgd     sample a batch b; for all i in b at once
                β_i += (α/|b|) (c_i (t_i − Σ_j β_j K_ij) − λ β_i)

With c = 1 and λ = 0 the second is the dual algorithm of the lectures, letter for letter. A batch
is a gradient step on the quadratic ½ βᵀ(K + λ)β − tᵀβ, whose minimum is the solution: it lowers
it if α is below 2|b| / λ_max(K_bb + λ); above, the steps grow without end.
"""

from __future__ import annotations

from numbers import Integral, Real
from time import perf_counter
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigvalsh
from sklearn.base import RegressorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from maxmargin.conventions import Interval, StrOptions, fitting
from maxmargin.gram import Gram, cross_dot
from maxmargin.kernels import Gamma, Kernel, KernelFunction
from maxmargin.machines.kernel_machine import KernelMachine
from maxmargin.machines.validation import checked_weights, targets_of
from maxmargin.resources.arrays import Data, Floats, Labels, RandomState
from maxmargin.resources.lapack import factorise, solve_factored
from maxmargin.resources.threads import thread_count

HISTORY = np.dtype([("epoch", int), ("loss", float), ("objective", float), ("seconds", float)])
BATCHES = 8  # of the estimate of the largest stable rate; "auto" takes half of it


class KernelRegressor(RegressorMixin, KernelMachine):
    """Kernel (ridge) regression, exactly or by mini-batch SGD on the dual.

    Parameters
    ----------
    kernel, degree, gamma, coef0, cache_size, n_jobs : see `SVC`
    ridge : float, default=1.0
        λ, the weight of ½‖w‖². With 0 the data are interpolated, if they can be.
    solver : {"exact", "sgd"}
    batch_size : int, default=32
        Rows per step of "sgd".
    learning_rate : float or "auto"
        α of "sgd". "auto" takes half the largest rate that is stable.
    epochs : int, default=100
        Passes over the data of "sgd".
    random_state : seeds the order of the rows

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_targets, n_samples)
        β of each target.
    support_, support_vectors_ : the rows with a coefficient, all of them in general
    history_ : structured array
        Per epoch of "sgd": the mean loss ½(t − f(x))², the objective, the seconds so far. The
        exact solution has one record, which sums over the targets.
    largest_rate_ : float
        Only for "sgd": the estimated largest stable learning rate.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> t = np.sin(X[:, 0])
    >>> exact = KernelRegressor(ridge=0.1).fit(X, t)
    >>> sgd = KernelRegressor(ridge=0.1, solver="sgd", epochs=3000, random_state=0).fit(X, t)
    >>> bool(np.allclose(exact.predict(X), sgd.predict(X), atol=1e-3))
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "ridge": [Interval(Real, 0, None, closed="left")],
        "solver": [StrOptions({"exact", "sgd"})],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "epochs": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        kernel: str | Kernel | KernelFunction = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        ridge: float = 1.0,
        solver: Literal["exact", "sgd"] = "exact",
        batch_size: int = 32,
        learning_rate: float | Literal["auto"] = "auto",
        epochs: int = 100,
        random_state: RandomState = None,
        cache_size: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.ridge = ridge
        self.solver = solver
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.random_state = random_state
        self.cache_size = cache_size
        self.n_jobs = n_jobs

    @fitting
    def fit(self, X: Data, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit β to the targets y.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features), or (n_samples, n_samples) for
            kernel="precomputed"
        y : array of shape (n_samples,); or (n_samples, n_targets), which "exact" solves from one
            factor
        sample_weight : array of shape (n_samples,), default=None
            c: multiplies the loss row by row.

        Returns
        -------
        self
        """
        X, y = self._validate(X, y, y_numeric=True, multi_output=True)
        targets = targets_of(y)
        if self.solver == "sgd" and targets.ndim > 1:
            raise ValueError("solver='sgd' takes one target; solver='exact' takes several")
        sample_weight = checked_weights(sample_weight, X)
        weights = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        self.kernel_ = self._kernel().bind(X, sample_weight)
        gram = self._gram(self.kernel_, X)
        solve = self._exact if self.solver == "exact" else self._descend
        beta = solve(gram, targets, weights)
        self.__dict__.update(self._kept(X, np.flatnonzero(beta.any(axis=0)), beta))
        return self

    def _exact(self, gram: Gram, y: Floats, weights: Floats) -> Floats:
        began, rows = perf_counter(), np.flatnonzero(weights)
        K = gram.square(rows).copy()
        K[np.diag_indices_from(K)] += self.ridge / weights[rows]
        if not factorise(K.T, gram.threads):
            raise ValueError(
                f"K + λ is not positive definite at ridge={self.ridge:g}: rows are duplicates, or "
                "the kernel is indefinite. Raise ridge"
            )
        targets = np.atleast_2d(y.T)
        beta = np.zeros(targets.shape)
        beta[:, rows] = solve_factored(K.T, targets[:, rows])
        values = [
            self._values_of(gram, target, weights, line)
            for target, line in zip(targets, beta, strict=True)
        ]
        self.history_ = np.array([(0, *np.sum(values, axis=0), 0.0)], HISTORY)
        self.history_["seconds"] = perf_counter() - began
        return beta

    def _descend(self, gram: Gram, y: Floats, weights: Floats) -> Floats:
        began, rng = perf_counter(), check_random_state(self.random_state)
        size = min(self.batch_size, gram.n)
        self.largest_rate_ = largest_rate(gram, weights, self.ridge, size)
        rate = self.largest_rate_ / 2 if self.learning_rate == "auto" else self.learning_rate
        beta, history = np.zeros(gram.n), []
        start = self._values_of(gram, y, weights, beta)[1]
        try:
            for epoch in range(1, self.epochs + 1):
                for batch in np.array_split(rng.permutation(gram.n), -(-gram.n // size)):
                    support = np.flatnonzero(beta)
                    values = gram.dot(support, beta[support], rows=batch)
                    error = weights[batch] * (y[batch] - values)
                    beta[batch] += float(rate) / len(batch) * (error - self.ridge * beta[batch])
                loss, objective = self._values_of(gram, y, weights, beta)
                history.append((epoch, loss, objective, perf_counter() - began))
                if not objective <= 10 * start + 1e-12:
                    raise ValueError(
                        f"learning_rate={rate:g} diverges: after epoch {epoch} the objective is "
                        f"{objective:.3g}, from {start:.3g} at β = 0. The largest stable rate for "
                        f"batches of {size} is about {self.largest_rate_:.3g}"
                    )
        except KeyboardInterrupt:  # β so far is a model: it goes on in `fitting`
            self._interrupted = True
        self.history_ = np.array(history, HISTORY)
        return beta[None]

    def _values_of(
        self, gram: Gram, y: Floats, weights: Floats, beta: Floats
    ) -> tuple[float, float]:
        """Mean loss and objective at β."""
        support = np.flatnonzero(beta)
        f = gram.dot(support, beta[support])
        with np.errstate(over="ignore", invalid="ignore"):
            losses = 0.5 * weights * (y - f) ** 2
            objective = losses.sum() + 0.5 * self.ridge * (beta @ f)
        return float(losses.sum() / weights.sum()), float(objective)

    def predict(self, X: Data) -> Labels:
        """f(x) = Σ β_i k(x_i, x) for the rows of X; a column for each of several targets."""
        check_is_fitted(self)
        X, threads = self._validate_for_prediction(X), thread_count(self.n_jobs)
        coef = self._dense_dual_coef()
        values = cross_dot(self.kernel_, X, self.support_vectors_, coef, threads)
        return values[:, 0] if len(coef) == 1 else values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.solver == "exact"
        return tags


def largest_rate(gram: Gram, weights: Floats, ridge: float, size: int) -> float:
    """2|b| / λ_max(√c K_bb √c + λ), the least over a few batches."""
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(BATCHES if size < gram.n else 1):
        batch = rng.choice(gram.n, size, replace=False)
        root = np.sqrt(weights[batch])
        K = gram.square(batch) * root[:, None] * root
        top = eigvalsh(K, subset_by_index=[size - 1, size - 1])[0]
        largest = max(largest, float(top) + ridge)
    return 2 * size / largest if largest > 0 else 1.0
