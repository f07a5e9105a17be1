"""The one-class machine: where the data are dense."""

from __future__ import annotations

from numbers import Real
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OutlierMixin

from maxmargin.conventions import Interval, exists_if, fitting
from maxmargin.formulations import one_class
from maxmargin.kernels import Gamma, Kernel, KernelFunction
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.machines.fit import Fit
from maxmargin.machines.partitioned import fit_partitions
from maxmargin.machines.plan import Plan
from maxmargin.machines.probability import normal_share
from maxmargin.machines.validation import checked_weights
from maxmargin.resources.arrays import Data, Floats, Labels
from maxmargin.scale.kinds import as_partitions, by_block
from maxmargin.solvers import Solver


class OneClassSVM(OutlierMixin, DualMachine):
    """Unsupervised outlier detection: the smallest region that holds a share 1 − ν of the rows.

    f(x) = Σ β_i k(x_i, x) − ρ has no offset beside ρ, and with ρ = 0 the best w is 0: it is the one
    machine without `fit_intercept`. Every parameter and attribute of `sklearn.svm.OneClassSVM` is
    here; the rest is that of `maxmargin.SVC`.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, solver, criterion,
    max_time, warm_start, n_jobs, checkpoint : see `SVC`
    nu : float in (0, 1], default=0.5
        Upper bound on the share of outliers, lower bound on the share of support vectors.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        ρ: the decision value is `score_samples` − ρ.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, fit_status_, n_iter_,
    shape_fit_ : as in `sklearn.svm.OneClassSVM`
    density_marks_ : ndarray of shape (10,)
        Between the bins of `predict_proba`. `fit` does not set it: it comes with a model of LIBSVM
        (`maxmargin svm-train -b 1`, `maxmargin.io.load_libsvm`) and stays in our model files.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.2], [0.15], [5.0]])
    >>> OneClassSVM(nu=0.5, gamma=1.0).fit_predict(X)
    array([ 1,  1,  1,  1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DualMachine._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }
    _milder: ClassVar[str] = "lower nu"

    def __init__(
        self,
        *,
        kernel: str | Kernel | KernelFunction = "rbf",
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
        criterion: Literal["both", "kkt"] = "both",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        checkpoint: str | PathLike[str] | None = None,
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
        self.criterion = criterion
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    @fitting
    def fit(
        self, X: Data, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find the region where the rows of X are dense.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features), or (n_samples, n_samples) for
            kernel="precomputed"; or rows in partitions: `maxmargin.scale`, or a collection of Dask
        y : ignored
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        if (data := as_partitions(X, None, sample_weight)) is not None:
            fit_partitions(self, data, labels=False)
            return self
        X = self._validate(X)
        sample_weight = checked_weights(sample_weight, X)
        plan = self._plan_of_rows(
            None, np.ones(X.shape[0]) if sample_weight is None else sample_weight
        )
        with Fit(self, X, y) as run:
            self._train(run, X, plan, sample_weight)
        return self

    def _plan_of_rows(self, y: Labels | None, weights: Floats) -> Plan:
        return self._of_all_rows([one_class(weights, self.nu)], weights)

    @property
    def offset_(self) -> Floats:
        """ρ, minus the intercept."""
        return -self.intercept_

    @by_block
    def decision_function(self, X: Data) -> Floats:
        """Signed distance to the region's border: positive inside, 0 on it.

        A row is on the border if it is within what the fit leaves open: its KKT violation, at most
        `tol`, and rounding.
        """
        values = self._decisions(X)[:, 0]
        return np.where(np.abs(values) <= self._border(), 0.0, values)

    def _border(self) -> float:
        """How far from 0 the decision value of a row on the border may be."""
        rounding = 1e-9 * float(np.abs(self.offset_[0]))
        proof = getattr(self, "certificate_", None)  # a machine of LIBSVM's has none
        return rounding + (0.0 if proof is None else min(proof.kkt_violation, self.tol))

    @by_block
    def score_samples(self, X: Data) -> Floats:
        """The density score Σ β_i k(x_i, x): the decision value before ρ is taken off."""
        return self.decision_function(X) + self.offset_

    @by_block
    def predict(self, X: Data) -> Labels:
        """+1 inside the region or on its border, −1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    @exists_if(lambda machine: hasattr(machine, "density_marks_"))
    @by_block
    def predict_proba(self, X: Data) -> Floats:
        """Probabilities of −1 and of +1, in steps of a tenth; with `density_marks_` only."""
        normal = normal_share(self.decision_function(X), self.density_marks_)
        return np.column_stack([1 - normal, normal])
