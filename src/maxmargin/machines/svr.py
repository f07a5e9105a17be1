"""Support vector regression: with a tube of given width (SVR), or of given share (NuSVR)."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import Interval

from maxmargin.formulations import epsilon_svr, nu_svr
from maxmargin.kernels import Gamma, Kernel
from maxmargin.machines.base import KernelMachine
from maxmargin.machines.single import SingleMachine
from maxmargin.machines.streamed import StreamedRegressor
from maxmargin.problem import DualProblem
from maxmargin.solvers import Solver


class KernelRegression(RegressorMixin, SingleMachine):
    """Base of SVR and NuSVR."""

    _parameter_constraints: ClassVar[dict] = {
        **KernelMachine._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelRegression:
        """Train on the rows of X with the targets y.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features), or (n_samples, n_samples) for
            kernel="precomputed"
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C row by row.

        Returns
        -------
        self
        """
        X, y = self._validate(X, y, y_numeric=True)
        y = column_or_1d(y, warn=True).astype(np.float64, copy=False)
        self._fit(X, y, sample_weight)
        return self

    def _bounds(self, weights: np.ndarray) -> np.ndarray:
        return self.C * weights

    def predict(self, X: Any) -> np.ndarray:
        """f(x) = Σ β_i k(x_i, x) + b for the rows of X."""
        return self._values(X)


class SVR(StreamedRegressor, KernelRegression):
    """ε-insensitive support vector regression, exact and certified.

    Minimises ½‖w‖² + Σ C_i max(0, |y_i − f(x_i)| − ε). Every parameter and attribute of
    `sklearn.svm.SVR` is here; `solver`, `fit_intercept`, `max_time`, `warm_start`, `n_jobs`,
    `certificate_`, `certificates_` and `history_` are those of `maxmargin.SVC`.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, C, shrinking, cache_size, verbose, max_iter, solver,
    fit_intercept, max_time, warm_start, n_jobs, approximation, n_components, refine : see `SVC`
    epsilon : float, default=0.1
        Half the width of the tube inside which errors cost nothing.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, fit_status_, n_iter_,
    shape_fit_ : as in `sklearn.svm.SVR`

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> reg = SVR(epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> reg.predict([[np.pi / 2]]).round(1)
    array([1.])
    """

    _parameter_constraints: ClassVar[dict] = {
        **KernelRegression._parameter_constraints,
        **StreamedRegressor._parameter_constraints,
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float | None = None,
        verbose: int | bool = False,
        max_iter: int = -1,
        solver: str | Solver = "block",
        fit_intercept: bool = True,
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        approximation: Any = None,
        n_components: int | None = None,
        refine: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.approximation = approximation
        self.n_components = n_components
        self.refine = refine

    def _formulate(self, y: np.ndarray, bounds: np.ndarray) -> DualProblem:
        return epsilon_svr(y, bounds, self.epsilon, fit_intercept=self.fit_intercept)

    def _intercept(self, offsets: np.ndarray) -> float:
        return float(offsets[0]) if len(offsets) else 0.0


class NuSVR(KernelRegression):
    """ν-regression: as SVR, but the machine finds ε from the share ν of points outside the tube.

    ν is an upper bound on the share of errors larger than ε and a lower bound on the share of
    support vectors. Every parameter and attribute of `sklearn.svm.NuSVR` is here; the rest is
    that of `maxmargin.SVC`.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
    C, kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, solver,
    max_time, warm_start, n_jobs : see `SVC`

    Attributes
    ----------
    epsilon_ : float
        Half the width of the tube that was found.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, fit_status_, n_iter_,
    shape_fit_ : as in `sklearn.svm.NuSVR`

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 50)
    >>> reg = NuSVR(nu=0.2).fit(X, y)
    >>> float(np.mean(abs(reg.predict(X) - y) > reg.epsilon_ + 1e-6))
    0.16
    """

    _parameter_constraints: ClassVar[dict] = {
        **KernelRegression._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: str | Kernel | Callable = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float | None = None,
        verbose: int | bool = False,
        max_iter: int = -1,
        solver: str | Solver = "block",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _formulate(self, y: np.ndarray, bounds: np.ndarray) -> DualProblem:
        return nu_svr(y, bounds, self.nu)

    def _intercept(self, offsets: np.ndarray) -> float:
        return float(offsets.mean())

    def _model(self, X: Any, bounds: np.ndarray, task: Any, standing: list) -> dict[str, Any]:
        _, offsets = task.coefficients(standing[0])
        epsilon = float(offsets[0] - offsets[1]) / 2
        return {**super()._model(X, bounds, task, standing), "epsilon_": epsilon}
