"""`SVRCV`: the regressor that chooses C, γ and ε, with prediction intervals."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from maxmargin.conventions import Interval, fitting
from maxmargin.kernels import Gamma, Kernel, KernelFunction
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.machines.svr import SVR
from maxmargin.resources.arrays import Data, Floats
from maxmargin.selection.grid import Range
from maxmargin.selection.intervals import FoldModels
from maxmargin.selection.leave_one_out import leave_one_out
from maxmargin.selection.scoring import Scoring
from maxmargin.selection.tune import Refit
from maxmargin.selection.tuned_machine import TunedMachine
from maxmargin.solvers import Solver


class SVRCV(RegressorMixin, TunedMachine):
    """Support vector regression that chooses C, γ and ε by cross-validation.

    Parameters
    ----------
    Cs, gammas, epsilons, cv, scoring, n_jobs, refine, early, max_time, verbose, client : see `tune`
        A client stays with the process: copies that are pickled or stored have None.
    refit : bool, str or callable, default=True
        False only searches. Of several scores, the name of the one that counts. A function of
        `cv_results_` returns the number of the cell that is taken as the best.
    kernel, degree, gamma, coef0, tol, epsilon, cache_size, solver, fit_intercept : see `SVR`; γ is
        `gamma` only if gammas=None, ε is `epsilon` only if epsilons=None

    Attributes
    ----------
    best_estimator_ : SVR, fitted to all rows
    best_params_, best_score_, cv_results_, C_ : of the search
    search_ : Search, with everything it found
    certificate_ : that of `best_estimator_`

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 60)
    >>> from sklearn.model_selection import KFold
    >>> reg = SVRCV(Cs=3, gammas=3, cv=KFold(5, shuffle=True, random_state=0)).fit(X, y)
    >>> low, high = reg.predict_interval([[1.5]], coverage=0.9)[0]
    >>> bool(low < np.sin(1.5) < high)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TunedMachine._parameter_constraints,
        "epsilons": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
    }

    _models: FoldModels
    _left_out: FoldModels | None

    def __init__(
        self,
        *,
        Cs: Range = 10,
        gammas: Range = 10,
        epsilons: Range = None,
        cv: Any = 5,
        scoring: Scoring = None,
        n_jobs: int | None = None,
        refit: Refit = True,
        refine: bool = False,
        early: Literal["racing", "halving"] | None = None,
        max_time: float | None = None,
        verbose: int | bool = 0,
        kernel: str | Kernel | KernelFunction = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        epsilon: float = 0.1,
        cache_size: float | None = None,
        solver: str | Solver = "block",
        fit_intercept: bool = True,
        client: Any = None,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.epsilons = epsilons
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.refine = refine
        self.early = early
        self.max_time = max_time
        self.verbose = verbose
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.epsilon = epsilon
        self.cache_size = cache_size
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.client = client

    def _kind(self) -> type[DualMachine]:
        return SVR

    @fitting
    def fit(
        self,
        X: Data,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose C, γ and ε, and train on the rows of X with the targets y.

        Parameters
        ----------
        X, y, sample_weight : as for `SVR.fit`
        groups : array of shape (n_samples,), default=None
            For splitters that need them.

        Returns
        -------
        self
        """
        search = self._tune(X, y, sample_weight, groups)
        self._models, self._left_out = FoldModels.of(search), None
        return self

    def score(self, X: Data, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The score by which the search chose, on other rows: R² if `scoring` is None."""
        return self._scored(super().score, X, y, sample_weight)

    def predict_interval(
        self, X: Data, coverage: float = 0.9, method: Literal["cv+", "jackknife+"] = "cv+"
    ) -> Floats:
        """An interval for each row of X that holds its target with probability `coverage`.

        Parameters
        ----------
        X : rows
        coverage : float between 0 and 1, default=0.9
        method : "cv+" or "jackknife+", default="cv+"
            From the residuals of the folds of the search, or of every row left out by itself, which
            is computed when it is first asked for. Both promise 1 − 2(1 − coverage) whatever the
            distribution of rows is, and keep `coverage` itself in practice.

        Returns
        -------
        ndarray of shape (n_samples, 2), the lower and the upper end
        """
        best = self._fitted()
        if method not in ("cv+", "jackknife+"):
            raise ValueError(f"method={method!r} is neither 'cv+' nor 'jackknife+'")
        if method == "jackknife+" and self._left_out is None:
            search = self.search_
            left = leave_one_out(best, search.X, search.target.y, sample_weight=search.weights)
            self._left_out = FoldModels.left_out(best, left, search)
        models = self._models if method == "cv+" else self._left_out
        assert models is not None
        return models.interval(best, X, coverage)
