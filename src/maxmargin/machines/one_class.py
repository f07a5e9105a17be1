"""The one-class machine: where the data are dense."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin, _fit_context
from sklearn.utils._param_validation import Interval

from maxmargin.formulations import one_class
from maxmargin.kernels import Gamma, Kernel
from maxmargin.machines.base import KernelMachine
from maxmargin.machines.single import SingleMachine
from maxmargin.problem import DualProblem
from maxmargin.solvers import Solver


class OneClassSVM(OutlierMixin, SingleMachine):
    """Unsupervised outlier detection: the smallest region that holds a share 1 − ν of the rows.

    Every parameter and attribute of `sklearn.svm.OneClassSVM` is here; the rest is that of
    `maxmargin.SVC`.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, solver, max_time,
    warm_start, n_jobs : see `SVC`
    nu : float in (0, 1], default=0.5
        Upper bound on the share of outliers, lower bound on the share of support vectors.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        ρ: the decision value is `score_samples` − ρ.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, fit_status_, n_iter_,
    shape_fit_ : as in `sklearn.svm.OneClassSVM`

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.2], [0.15], [5.0]])
    >>> OneClassSVM(nu=0.5, gamma=1.0).fit_predict(X)
    array([ 1,  1,  1,  1, -1])
    """

    _parameter_constraints: ClassVar[dict] = {
        **KernelMachine._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float | None = None,
        verbose: int | bool = False,
        max_iter: int = -1,
        solver: str | Solver = "block",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> OneClassSVM:
        """Find the region where the rows of X are dense.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features), or (n_samples, n_samples) for
            kernel="precomputed"
        y : ignored
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        X = self._validate(X)
        self._fit(X, np.zeros(X.shape[0]), sample_weight)
        return self

    def _bounds(self, weights: np.ndarray) -> np.ndarray:
        return weights

    def _formulate(self, y: np.ndarray, bounds: np.ndarray) -> DualProblem:
        return one_class(bounds, self.nu)

    def _intercept(self, offsets: np.ndarray) -> float:
        return float(offsets[0])

    @property
    def offset_(self) -> np.ndarray:
        """ρ, minus the intercept."""
        return -self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """Signed distance to the region's border: positive inside, 0 on it up to rounding."""
        values = self._values(X)
        return np.where(np.abs(values) <= 1e-9 * np.abs(self.offset_), 0.0, values)

    def score_samples(self, X: Any) -> np.ndarray:
        """The density score Σ β_i k(x_i, x): the decision value before ρ is taken off."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """+1 inside the region or on its border, −1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
