"""Quantile regression: curves that given shares of the targets lie below."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.conventions import Interval
from maxmargin.formulations import quantile
from maxmargin.kernels import Gamma, Kernel, KernelFunction
from maxmargin.machines.plan import Plan
from maxmargin.machines.svr import DualRegressor
from maxmargin.machines.validation import targets_of
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Data, Floats, Labels
from maxmargin.scale.kinds import as_partitions, by_block
from maxmargin.solvers import Solver


class QuantileSVR(DualRegressor):
    """Kernel quantile regression, exact and certified: one level or several from one matrix.

    Minimises ½‖w‖² + Σ C_i ρ_q(y_i − f(x_i)) for each level q, with the pinball loss
    ρ_q(r) = max(q r, (q − 1) r). On the training rows the share below f is at most q and, with the
    rows on f, at least q. The levels share the kernel matrix, and the solution of a level is the
    start of the next.

    Parameters
    ----------
    quantiles : float or sequence of floats in (0, 1), in increasing order, default=0.5
    noncrossing : bool, default=False
        Whether the values of a row are put in increasing order (rearrangement: Chernozhukov,
        Fernández-Val and Galichon, Econometrica 2010), which never increases the sum of the pinball
        losses. Certificates are those of the functions before it.
    C, kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, solver,
    criterion, fit_intercept, max_time, warm_start, n_jobs : see `SVR`

    Attributes
    ----------
    dual_coef_, intercept_ : a line for each level of each target
    support_, support_vectors_, n_support_, coef_, fit_status_, n_iter_, shape_fit_ : see `SVR`
    certificate_, certificates_, history_ : see `SVC`; one certificate for each level

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, size=(200, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * (1 + X[:, 0]) * rng.normal(size=200)
    >>> reg = QuantileSVR(quantiles=(0.1, 0.5, 0.9), C=10, gamma=0.5).fit(X, y)
    >>> reg.predict(X).shape
    (200, 3)
    >>> (y[:, None] < reg.predict(X)).mean(axis=0).round(1)
    array([0.1, 0.5, 0.9])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DualRegressor._parameter_constraints,
        "quantiles": [Interval(Real, 0.0, 1.0, closed="neither"), "array-like"],
        "noncrossing": ["boolean"],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        *,
        quantiles: float | Sequence[float] = 0.5,
        noncrossing: bool = False,
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
        self.quantiles = quantiles
        self.noncrossing = noncrossing
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

    def _levels(self) -> Floats:
        """The levels as an array, or an error that names the wrong one."""
        levels = np.atleast_1d(np.asarray(self.quantiles, np.float64))
        if levels.ndim != 1 or not len(levels):
            raise ValueError(f"quantiles={self.quantiles!r} must be a number or a list of numbers")
        for q in levels.tolist():
            if not 0 < q < 1:
                raise ValueError(f"quantiles has {q:g}: a level is between 0 and 1")
        if (np.diff(levels) <= 0).any():
            raise ValueError(f"quantiles={levels.tolist()} must increase")
        return levels

    def formulate(self, y: Floats, bounds: Floats) -> DualProblem:
        return quantile(y, bounds, float(self._levels()[0]), fit_intercept=self.fit_intercept)

    def _problems(self, y: Floats, bounds: Floats) -> list[DualProblem]:
        """A problem for each level of each target."""
        return [
            quantile(target, bounds, q, fit_intercept=self.fit_intercept)
            for target in np.atleast_2d(y.T)
            for q in self._levels().tolist()
        ]

    def _start_after(self, plan: Plan, number: int, states: Sequence[Any]) -> Floats | None:
        """The solution of the level before, with rows at a bound at the same bound of this one."""
        if number % len(self._levels()) == 0:
            return None
        before, now, beta = (
            plan.problems[number - 1],
            plan.problems[number],
            states[number - 1].beta,
        )
        beta = np.where(beta == before.upper, now.upper, beta)
        moved: Floats = np.where(beta == before.lower, now.lower, beta)
        return moved

    @by_block
    def predict(self, X: Data) -> Labels:
        """Quantiles of the target at the rows of X.

        Returns
        -------
        ndarray of shape (n_samples,) if `quantiles` is a number, else (n_samples, n_levels); of
        several targets (n_samples, n_targets) or (n_samples, n_targets, n_levels)
        """
        values = self._values(X)
        values = np.sort(values, axis=2) if self.noncrossing else values
        one_target, one_level = values.shape[1] == 1, np.ndim(self.quantiles) == 0
        return values[:, 0 if one_target else slice(None), 0 if one_level else slice(None)]

    def _values(self, X: Data) -> Floats:
        """The functions: of shape (rows, targets, levels)."""
        decisions = self._decisions(X)
        return decisions.reshape(len(decisions), -1, len(self._levels()))

    def crossings(self, X: Data) -> float:
        """Share of the rows of X at which a curve is below that of a lower level."""
        falls = np.diff(self._values(X), axis=2) < 0
        return float(falls.any(axis=(1, 2)).mean())

    def score(
        self, X: Data, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Share of the pinball loss of constant quantiles that the machine saves, mean over levels.

        It is `sklearn.metrics.d2_pinball_score`: 1 is best, 0 is that of the constants.
        """
        from sklearn.metrics import d2_pinball_score  # slow to import

        if as_partitions(X) is not None:
            raise TypeError("the score of quantiles takes all rows at once: compute them first")
        values, targets = self._values(X), targets_of(np.asarray(y))
        targets = targets.reshape(len(targets), -1)
        scores = [
            d2_pinball_score(targets, values[:, :, k], sample_weight=sample_weight, alpha=q)
            for k, q in enumerate(self._levels().tolist())
        ]
        return float(np.mean(scores))
