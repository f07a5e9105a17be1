"""The linear support vector regressor."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from maxmargin.conventions import Interval, StrOptions, exists_if, fitting
from maxmargin.losses import EpsilonInsensitive, PiecewiseLoss, SquaredEpsilonInsensitive
from maxmargin.machines.linear_machine import LinearMachine, check_combination, online
from maxmargin.machines.partitioned_linear import check_streams, fit_linear
from maxmargin.machines.validation import checked_data, checked_weights, targets_of
from maxmargin.resources.arrays import Data, Floats, Labels, RandomState
from maxmargin.scale.kinds import as_partitions, by_block, without_names
from maxmargin.scale.scores import r2
from maxmargin.scale.survey import survey
from maxmargin.solvers import LinearSolver

LOSSES: dict[str, type[EpsilonInsensitive]] = {
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
}


class LinearSVR(RegressorMixin, LinearMachine):
    """Linear support vector regressor, with an offset that is not regularised.

    Minimises ½‖w‖² + Σ C_i L(y_i, wᵀx_i + b) with L(y, f) = max(0, |y − f| − ε) or its square.
    `sklearn.svm.LinearSVR`, by LIBLINEAR, adds ½b² to this; here b is free, so the model does not
    change when all rows, or all targets, are shifted.

    Parameters
    ----------
    epsilon : float, default=0.0
    tol : float, default=1e-6
        Relative duality gap to reach: the objective is at most this much above its minimum.
    C : float, default=1.0
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        Has no effect: there is nothing to scale in an offset that is not regularised.
    dual : bool or "auto", default="auto"
        Has no effect on the answer, which comes with both values. What LIBLINEAR does not have
        (dual=False with the linear loss) is refused in scikit-learn's words; `solver` says how.
    verbose : int
        1 shows a bar of the gap falling toward `tol`.
    random_state : seeds the order in which rows are visited; None is a fixed seed
    max_iter : int, default=1000
        Most passes over the data; −1 for no limit.
    solver, max_time, n_jobs : new, as in `LinearSVC`

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,), or (n_targets, n_features) of several targets
    intercept_ : ndarray of shape (n_targets,)
    n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
    certificate_ : Certificate
        Primal, dual, gap, worst KKT violation, cost.
    history_ : structured array
        Dual value, gap and violation each time the gap was computed.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(10.0)[:, None]
    >>> reg = LinearSVR(epsilon=0.1, C=100).fit(X, 2 * X[:, 0] + 100)
    >>> reg.predict([[20.0]]).round(1)
    array([139.7])
    >>> reg.certificate_.relative_gap <= 1e-6
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearMachine._parameter_constraints,
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "loss": [StrOptions(set(LOSSES))],
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-6,
        C: float = 1.0,
        loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: bool | Literal["auto"] = "auto",
        verbose: int | bool = 0,
        random_state: RandomState = None,
        max_iter: int = 1000,
        solver: str | LinearSolver = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.max_time = max_time
        self.n_jobs = n_jobs

    def _loss(self) -> PiecewiseLoss:
        return LOSSES[self.loss](self.epsilon)

    @fitting
    def fit(
        self, X: Data, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on the rows of X with the targets y.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features); float32 is not copied to float64. Or rows
            in partitions: `maxmargin.scale`, or a collection of Dask.
        y : array of shape (n_samples,) or (n_samples, n_targets); None if the partitions have it
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C row by row.

        Returns
        -------
        self
        """
        check_combination("l2", self.loss, self.dual)
        if (data := as_partitions(X, y, sample_weight)) is not None:
            check_streams(self, data)
            fit_linear(self, data, survey(data, classes=False), ["target 0"])
            return self
        X, y, weights = self._checked(X, y, sample_weight, reset=True)
        targets = {f"target {k}": target for k, target in enumerate(np.atleast_2d(y.T))}
        self._train(X, targets, weights, (X, y))
        return self

    def _targets_of_rows(self, number: int, y: Labels, weights: Floats) -> tuple[Floats, Floats]:
        """The targets of some rows, and their weights."""
        return y.astype(float), weights

    @exists_if(online)
    @fitting
    def partial_fit(self, X: Data, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """One epoch of stochastic gradient descent on these rows; needs solver="sgd"."""
        first = not hasattr(self, "coef_")
        X, y, weights = self._checked(X, y, sample_weight, reset=first)
        self._learn(X, list(np.atleast_2d(y.T)), weights)
        return self

    def _checked(
        self, X: Data, y: ArrayLike | None, sample_weight: ArrayLike | None, *, reset: bool
    ) -> tuple[Data, Floats, Floats]:
        X, y = checked_data(self, X, y, reset=reset, y_numeric=True, multi_output=True)
        weights = checked_weights(sample_weight, X)
        targets = targets_of(y)
        return X, targets, np.ones(len(targets)) if weights is None else weights

    def _attributes(self, coef: Floats, intercept: Floats) -> dict[str, Any]:
        return {"coef_": coef[0] if len(coef) == 1 else coef, "intercept_": intercept}

    def _targets_of(self, y: ArrayLike) -> tuple[list[Floats], Floats]:
        """The targets, and the cost of each row."""
        targets = targets_of(y)
        return list(np.atleast_2d(targets.T)), np.full(len(targets), float(self.C))

    @by_block
    def predict(self, X: Data) -> Labels:
        """wᵀx + b for the rows of X; a column for each of several targets."""
        values = self._scores(X)
        return values.ravel() if len(self.intercept_) == 1 else values

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
