"""Support vector regression: with a tube of given width (SVR), or of given share (NuSVR)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import isinf
from numbers import Real
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from maxmargin.conventions import Interval, exists_if, fitting
from maxmargin.formulations import epsilon_svr, nu_svr
from maxmargin.kernels import Gamma, Kernel, KernelFunction
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.machines.feature_map import APPROXIMATION
from maxmargin.machines.fit import Fit
from maxmargin.machines.hard_margin import bounds_of, is_infeasible
from maxmargin.machines.partitioned import fit_partitions
from maxmargin.machines.plan import Plan
from maxmargin.machines.streaming import is_first, learn, streams
from maxmargin.machines.validation import checked_weights, targets_of
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Data, Floats, Labels
from maxmargin.scale.kinds import as_partitions, by_block, without_names
from maxmargin.scale.scores import r2
from maxmargin.solvers import Progress, Solver


class DualRegressor(RegressorMixin, DualMachine):
    """Base of regressors whose loss is a formulation of the one dual problem: SVR, NuSVR.

    A subclass defines `formulate` and a constructor that stores its parameters, `kernel` and `C`
    among them. It has those of `SVC` that it offers: `gamma`, `tol`, `solver`, … The rest have
    their defaults. docs/how-it-works/add-a-machine.md builds one.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DualMachine._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
    }

    @abstractmethod
    def formulate(self, y: Floats, bounds: Floats) -> DualProblem:
        """The dual problem of the targets y.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
        bounds : ndarray of shape (n_samples,), C times the sample weight of each row

        Returns
        -------
        DualProblem of one group, whose offset is b, or of none
        """

    @fitting
    def fit(
        self, X: Data, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on the rows of X with the targets y.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features), or (n_samples, n_samples) for
            kernel="precomputed"; or rows in partitions: `maxmargin.scale`, or a collection of Dask
        y : array of shape (n_samples,) or (n_samples, n_targets); None if the partitions have
            targets, which are of one line
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C row by row.

        Returns
        -------
        self
        """
        if (data := as_partitions(X, y, sample_weight)) is not None:
            fit_partitions(self, data)
            return self
        X, y = self._validated(X, y, reset=True)
        sample_weight = checked_weights(sample_weight, X)
        plan = self._plan_of_rows(y, np.ones(len(y)) if sample_weight is None else sample_weight)
        with Fit(self, X, y) as run:
            self._train(run, X, plan, sample_weight)
        return self

    def _plan_of_rows(self, y: Labels | None, weights: Floats) -> Plan:
        bounds = bounds_of(self.C, weights)
        return self._of_all_rows(self._problems(np.asarray(y, np.float64), bounds), bounds)

    def _problems(self, y: Floats, bounds: Floats) -> list[DualProblem]:
        """A problem for each target, which is a column of y."""
        return [self.formulate(target, bounds) for target in np.atleast_2d(y.T)]

    def _validated(self, X: Data, y: ArrayLike | None, reset: bool) -> tuple[Any, Floats]:
        X, y = self._validate(X, y, reset=reset, y_numeric=True, multi_output=True)
        return X, targets_of(y)

    @by_block
    def predict(self, X: Data) -> Labels:
        """f(x) = Σ β_i k(x_i, x) + b for the rows of X; a column for each of several targets."""
        values = self._decisions(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def score(
        self, X: Data, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """R² on the rows of X."""
        if (data := as_partitions(X, y, sample_weight)) is not None:
            share: float = r2(data, without_names(self).predict)
            return share
        plain: float = super().score(X, y, sample_weight)
        return plain

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class SVR(DualRegressor):
    """ε-insensitive support vector regression, exact and certified.

    Minimises ½‖w‖² + Σ C_i max(0, |y_i − f(x_i)| − ε). Every parameter and attribute of
    `sklearn.svm.SVR` is here; `solver`, `criterion`, `fit_intercept`, `max_time`, `warm_start`,
    `n_jobs`, `certificate_`, `certificates_` and `history_` are those of `maxmargin.SVC`.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, solver,
    criterion, fit_intercept, max_time, warm_start, n_jobs, approximation, n_components, refine,
    checkpoint : see `SVC`
    C : float, default=1.0
        Price of an error beyond ε. `np.inf` allows none: every |y − f(x)| ≤ ε, or an error if no
        function of the kernel can do that.
    epsilon : float, default=0.1
        Half the width of the tube inside which errors cost nothing.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, fit_status_, n_iter_,
    shape_fit_ : as in `sklearn.svm.SVR`
    error_scale_ : float
        σ, the mean |error| on rows held out. `fit` does not set it: it comes with a model of LIBSVM
        (`maxmargin svm-train -b 1`, `maxmargin.io.load_libsvm`) and stays in our model files.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> reg = SVR(epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> reg.predict([[np.pi / 2]]).round(1)
    array([1.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DualRegressor._parameter_constraints,
        **APPROXIMATION,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        *,
        kernel: str | Kernel | KernelFunction = "rbf",
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
        criterion: Literal["both", "kkt"] = "both",
        fit_intercept: bool = True,
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        approximation: Any = None,
        n_components: int | None = None,
        refine: bool = False,
        checkpoint: str | PathLike[str] | None = None,
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
        self.criterion = criterion
        self.fit_intercept = fit_intercept
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.approximation = approximation
        self.n_components = n_components
        self.refine = refine
        self.checkpoint = checkpoint

    def formulate(self, y: Floats, bounds: Floats) -> DualProblem:
        return epsilon_svr(y, bounds, self.epsilon, fit_intercept=self.fit_intercept)

    def _watch(self, progress: Progress) -> None:
        """Raise if the targets do not fit into the tube, for C = ∞."""
        if isinf(self.C) and is_infeasible(progress, fit_intercept=self.fit_intercept):
            raise ValueError(
                f"C=inf asks that no error exceed epsilon={self.epsilon:g}, and no function of "
                "this kernel comes that close to all targets. Use a finite C, a larger epsilon, "
                "or a kernel that bends more (an RBF with a larger gamma passes through any "
                "targets of distinct rows)"
            )

    @exists_if(streams)
    @fitting
    def partial_fit(self, X: Data, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a block of rows; only with `approximation`.

        Parameters
        ----------
        X, y, sample_weight : as for `fit`

        Returns
        -------
        self
        """
        X, y = self._validated(X, y, reset=is_first(self))
        if y.ndim > 1:
            raise ValueError("partial_fit takes one target; fit takes several")
        own = checked_weights(sample_weight, X)
        bounds = bounds_of(self.C, np.ones(len(y)) if own is None else own)
        learn(self, X, [(slice(None), self.formulate(y, bounds))])
        return self


class NuSVR(DualRegressor):
    """ν-regression: as SVR, but the machine finds ε from the share ν of points outside the tube.

    ν is an upper bound on the share of errors larger than ε and a lower bound on the share of
    support vectors. Every parameter and attribute of `sklearn.svm.NuSVR` is here; the rest is
    that of `maxmargin.SVC`.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
    C, kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, solver,
    criterion, fit_intercept, max_time, warm_start, n_jobs : see `SVC`

    Attributes
    ----------
    epsilon_ : float, or ndarray of shape (n_targets,)
        Half the width of the tube that was found.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, fit_status_, n_iter_,
    shape_fit_ : as in `sklearn.svm.NuSVR`
    error_scale_ : see `SVR`

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 50)
    >>> reg = NuSVR(nu=0.2).fit(X, y)
    >>> float(np.mean(abs(reg.predict(X) - y) > reg.epsilon_ + 1e-6))
    0.16
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DualRegressor._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: str | Kernel | KernelFunction = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float | None = None,
        verbose: int | bool = False,
        max_iter: int = -1,
        solver: str | Solver = "block",
        criterion: Literal["both", "kkt"] = "both",
        fit_intercept: bool = True,
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
        self.criterion = criterion
        self.fit_intercept = fit_intercept
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def formulate(self, y: Floats, bounds: Floats) -> DualProblem:
        """The offsets are b + ε and b − ε; without b there is one, ε."""
        return nu_svr(y, bounds, self.nu, fit_intercept=self.fit_intercept)

    def _decode(self, beta: Floats, offsets: Floats) -> tuple[Floats, float]:
        return beta, float(offsets.mean()) if self.fit_intercept else 0.0

    def _from_offsets(self, offsets: Sequence[Floats]) -> dict[str, Any]:
        found = np.array(
            [(each[0] - each[1]) / 2 if len(each) > 1 else each[0] for each in offsets]
        )
        return {"epsilon_": found if len(found) > 1 else float(found[0])}
