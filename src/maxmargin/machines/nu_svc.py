"""The ν-classifier."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from maxmargin.formulations import c_svc, nu_svc
from maxmargin.gram import Gram
from maxmargin.kernels import Gamma, Kernel
from maxmargin.machines.classifier import KernelClassifier
from maxmargin.machines.multiclass import Split
from maxmargin.machines.tasks import Standing, Task
from maxmargin.machines.validation import warn
from maxmargin.problem import DualProblem, Status
from maxmargin.solvers import Solver


class NuSVC(KernelClassifier):
    """Support vector classifier whose parameter is a share of the rows.

    ν is an upper bound on the share of margin errors and a lower bound on the share of support
    vectors. Every parameter, attribute and sign of `sklearn.svm.NuSVC` is here; the rest is that
    of `maxmargin.SVC`. An infeasible ν is an error that names the largest feasible one.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
    class_weight : dict or "balanced"
        ν finds C = 1/ρ on the unweighted classes; the weights then multiply C as in `SVC`. (In
        the ν problem itself both classes have the same total, so weights could not act.)
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, verbose, max_iter,
    decision_function_shape, break_ties, random_state, solver, max_time, warm_start, n_jobs,
    multiclass : see `SVC`

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_,
    class_weight_, fit_status_, n_iter_, shape_fit_, certificate_, certificates_, history_ : see
        `SVC`. The certificate is that of the ν problem, before its rescaling to margin one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = NuSVC(nu=0.1).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **KernelClassifier._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: str | Kernel | Callable = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: dict | Literal["balanced"] | None = None,
        verbose: int | bool = False,
        max_iter: int = -1,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        solver: str | Solver = "block",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        multiclass: Literal["ovo", "ovr"] = "ovo",
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.multiclass = multiclass

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NuSVC:
        """Train on the rows of X with the labels y; see `SVC.fit`."""
        self._penalties: np.ndarray | None = None
        if self.class_weight is not None:
            unweighted = clone(self).set_params(class_weight=None, probability=False)
            unweighted.set_callbacks().fit(X, y, sample_weight)
            self._penalties = np.array([1 / unit(rho) for rho in unweighted._rho_])
        super().fit(X, y, sample_weight)
        self._check_margins()
        return self

    def _check_margins(self) -> None:
        """Warn if the classes' reduced hulls meet: then w = 0, and no direction parts them."""
        rounding = 1e-12 * self.nu * self._bounds_.sum() * self._largest_
        for rho, proof in zip(self._rho_, self.certificates_, strict=True):
            if proof.status is Status.CONVERGED and rho <= max(proof.kkt_violation, rounding):
                warn(
                    f"there is no margin at nu={self.nu}: ρ = {rho:.3g}, with a KKT violation of "
                    f"{proof.kkt_violation:.3g}. The predictions mean nothing: raise nu if the "
                    "classes overlap; scale the data or lower tol if they are merely small"
                )

    def _tasks(
        self, gram: Gram, splits: list[Split], bounds: np.ndarray, counts: np.ndarray
    ) -> list[Task]:
        self._largest_ = float(gram.diagonal.max())
        return super()._tasks(gram, splits, bounds, counts)

    def _bounds(self, weights: np.ndarray) -> np.ndarray:
        return weights

    def _formulate(
        self, number: int, signs: np.ndarray, bounds: np.ndarray, counts: np.ndarray
    ) -> DualProblem:
        if self._penalties is None:
            return nu_svc(signs, bounds, self.nu, counts.sum())
        return c_svc(signs, self._penalties[number] * bounds)

    def _encode(self, number: int, coef: np.ndarray) -> np.ndarray:
        return unit(self._rho_[number]) * coef

    def _decode(self, beta: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, float]:
        """Rescaled by ρ, so that the margin is where |f| = 1."""
        rho = unit(margin_of(offsets))
        return beta / rho, float(offsets.mean() / rho)

    def _model(
        self,
        X: Any,
        labels: np.ndarray,
        bounds: np.ndarray,
        splits: list[Split],
        tasks: list[Task],
        standing: list[Standing],
    ) -> dict[str, Any]:
        model = super()._model(X, labels, bounds, splits, tasks, standing)
        offsets = [task.coefficients(where)[1] for task, where in zip(tasks, standing, strict=True)]
        return {**model, "_rho_": np.array([margin_of(pair) for pair in offsets])}


def margin_of(offsets: np.ndarray) -> float:
    """ρ from the offsets b − ρ and b + ρ; 1 for a C-SVC, which has one offset only."""
    return float(offsets[1] - offsets[0]) / 2 if len(offsets) == 2 else 1.0


def unit(rho: float) -> float:
    """What the decision values are measured in: ρ, or 1 as long as a fit has found no margin."""
    return rho if rho > 0 else 1.0
