"""`SVCCV`: the classifier that chooses C and γ, with calibrated probabilities."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from maxmargin.conventions import StrOptions, exists_if, fitting
from maxmargin.kernels import Gamma, Kernel, KernelFunction
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.machines.svc import SVC
from maxmargin.machines.validation import checked_weights
from maxmargin.resources.arrays import Data, Floats, Labels
from maxmargin.selection.calibration import CALIBRATIONS, agreeing, calibrated
from maxmargin.selection.grid import Range
from maxmargin.selection.scoring import Scoring
from maxmargin.selection.tune import Refit
from maxmargin.selection.tuned_machine import TunedMachine
from maxmargin.solvers import Solver


def _calibrates(machine: SVCCV) -> bool:
    if machine.calibration is None:
        raise AttributeError("predict_proba is not available when calibration=None")
    return True


class SVCCV(ClassifierMixin, TunedMachine):
    """Support vector classifier that chooses C and γ by cross-validation.

    The machine with the best mean score is fitted to all rows. Its probabilities are calibrated on
    the decision values of rows that were held out during the search, without a further fit.

    Parameters
    ----------
    Cs, gammas, cv, scoring, n_jobs, refine, early, max_time, verbose, client : see `tune`
        A client stays with the process: copies that are pickled or stored have None.
    refit : bool, str or callable, default=True
        False only searches. Of several scores, the name of the one that counts. A function of
        `cv_results_` returns the number of the cell that is taken as the best.
    calibration : "sigmoid", "isotonic", "temperature" or None, default="sigmoid"
        How decision values become probabilities. With "temperature" the likeliest class is always
        the predicted one, at the cost of wrong probabilities where the decision 0 is not even odds:
        with class weights, or classes of unequal size.
    kernel, degree, gamma, coef0, tol, cache_size, class_weight, decision_function_shape,
    break_ties, solver, fit_intercept, multiclass : see `SVC`; γ is `gamma` only if gammas=None

    Attributes
    ----------
    best_estimator_ : SVC, fitted to all rows
    best_params_, best_score_, cv_results_, C_ : of the search
    search_ : Search, with everything it found
    classes_ : the classes
    certificate_ : that of `best_estimator_`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SVCCV(Cs=[0.1, 1, 10], gammas=3).fit(X, y)
    >>> clf.best_score_ > 0.95, clf.certificate_.status.value
    (True, 'converged')
    >>> clf.predict_proba(X[:1]).argmax() == clf.predict(X[:1])[0]
    np.True_
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TunedMachine._parameter_constraints,
        "calibration": [StrOptions({*CALIBRATIONS}), None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "multiclass": [StrOptions({"ovo", "ovr"})],
    }

    classes_: Labels

    def __init__(
        self,
        *,
        Cs: Range = 10,
        gammas: Range = 10,
        cv: Any = 5,
        scoring: Scoring = None,
        n_jobs: int | None = None,
        refit: Refit = True,
        refine: bool = False,
        early: Literal["racing", "halving"] | None = None,
        max_time: float | None = None,
        verbose: int | bool = 0,
        calibration: Literal["sigmoid", "isotonic", "temperature"] | None = "sigmoid",
        kernel: str | Kernel | KernelFunction = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        solver: str | Solver = "block",
        fit_intercept: bool = True,
        multiclass: Literal["ovo", "ovr"] = "ovo",
        client: Any = None,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.refine = refine
        self.early = early
        self.max_time = max_time
        self.verbose = verbose
        self.calibration = calibration
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.multiclass = multiclass
        self.client = client

    def _kind(self) -> type[DualMachine]:
        return SVC

    @fitting
    def fit(
        self,
        X: Data,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose C and γ, and train on the rows of X with the labels y.

        Parameters
        ----------
        X, y, sample_weight : as for `SVC.fit`
        groups : array of shape (n_samples,), default=None
            For splitters that need them.

        Returns
        -------
        self
        """
        search = self._tune(X, y, sample_weight, groups)
        target: Any = search.target
        self.classes_ = target.classes
        if self.calibration is not None:
            weights = None if sample_weight is None else checked_weights(sample_weight, X)
            self._calibration = calibrated(
                self.calibration,
                search.decisions(),
                target.labels,
                target.splits,
                weights,
                target.scheme,
            )
        return self

    def score(self, X: Data, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The score by which the search chose, on other rows: accuracy if `scoring` is None."""
        return self._scored(super().score, X, y, sample_weight)

    def decision_function(self, X: Data) -> Floats:
        """Decision values of the refitted machine, as `SVC.decision_function`."""
        values: Floats = self._fitted().decision_function(X)
        return values

    @exists_if(_calibrates)
    def predict_proba(self, X: Data) -> Floats:
        """Probability of each class, calibrated on the decisions of held-out rows.

        Without class weights the likeliest class is the one that `predict` returns.
        """
        best = self._fitted()
        decisions, scheme = best._decisions(X), best._scheme()
        p = self._calibration.probabilities(decisions, scheme)
        return agreeing(p, decisions, scheme) if self.class_weight is None else p

    @exists_if(_calibrates)
    def predict_log_proba(self, X: Data) -> Floats:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
