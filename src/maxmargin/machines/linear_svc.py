"""The linear support vector classifier."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if

from maxmargin.losses import Hinge, PiecewiseLoss, SquaredHinge
from maxmargin.machines.linear import LinearMachine, online
from maxmargin.machines.multiclass import OneVersusOne, OneVersusRest
from maxmargin.machines.validation import (
    check_two_classes,
    checked_data,
    checked_weights,
    class_numbers,
    class_weights,
    refuse_balanced,
)
from maxmargin.solvers import LinearSolver

LOSSES: dict[str, type[PiecewiseLoss]] = {"hinge": Hinge, "squared_hinge": SquaredHinge}


class LinearSVC(ClassifierMixin, LinearMachine):
    """Linear support vector classifier, with an offset that is not regularised.

    Minimises ½‖w‖² + Σ C_i L(y_i, wᵀx_i + b) with L(y, f) = max(0, 1 − y f) or its square, one
    class against the rest if there are more than two. `sklearn.svm.LinearSVC`, by LIBLINEAR, adds
    ½b² to this; here b is free, as in `SVC(kernel="linear")`, so the model does not change when
    all rows are shifted.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    tol : float, default=1e-6
        Relative duality gap to reach: the objective is at most this much above its minimum.
    C : float, default=1.0
    multi_class : "ovr"
        One class against the rest is what there is.
    fit_intercept : bool, default=True
    class_weight : dict or "balanced"
    verbose : int
        1 shows a bar of the gap falling toward `tol`.
    random_state : seeds the order in which rows are visited; None is a fixed seed
    max_iter : int, default=1000
        Most passes over the data; −1 for no limit.
    solver : {"auto", "dual", "interior-point", "newton", "sgd"} or LinearSolver, default="auto"
        New. "dual": coordinate descent. "interior-point", and for the squared hinge "newton": for
        few columns; their speed does not depend on C. "auto": the one that is faster on the data.
        "sgd": stochastic gradient descent, rough and online.
    max_time : float or None
        New. Seconds after which the fit ends with the model so far.
    n_jobs : int or None
        New. Threads for several classes; None is all cores. The result does not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features)
    intercept_ : ndarray of shape (1,), or (n_classes,)
    classes_, class_weight_, n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
    certificate_ : Certificate
        Primal, dual, gap, worst KKT violation, cost. Summed over the binary problems.
    certificates_ : list of Certificate, one per binary problem
    history_ : structured array
        Dual value, gap and violation each time the gap was computed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LinearSVC(loss="hinge").fit(X, y)
    >>> clf.score(X, y)
    0.96...
    >>> clf.certificate_.relative_gap <= 1e-6
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **LinearMachine._parameter_constraints,
        "loss": [StrOptions(set(LOSSES))],
        "multi_class": [StrOptions({"ovr"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self,
        *,
        loss: Literal["squared_hinge", "hinge"] = "squared_hinge",
        tol: float = 1e-6,
        C: float = 1.0,
        multi_class: Literal["ovr"] = "ovr",
        fit_intercept: bool = True,
        class_weight: dict | Literal["balanced"] | None = None,
        verbose: int | bool = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        solver: str | LinearSolver = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.max_time = max_time
        self.n_jobs = n_jobs

    def _loss(self) -> PiecewiseLoss:
        return LOSSES[self.loss]()

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVC:
        """Train on the rows of X with the labels y.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features); float32 is not copied to float64
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C row by row.

        Returns
        -------
        self
        """
        X, y = checked_data(self, X, y)
        sample_weight = checked_weights(sample_weight, X)
        self.classes_, labels = class_numbers(y)
        self.class_weight_ = class_weights(self.class_weight, self.classes_, y)
        check_two_classes(labels, sample_weight)
        self._train(X, self._targets(labels), self._weights(labels, sample_weight), (X, y))
        return self

    @available_if(online)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> LinearSVC:
        """One epoch of stochastic gradient descent on these rows; needs solver="sgd".

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array, needed in the first call: all labels that will ever come
        """
        first = not hasattr(self, "classes_")
        X, y = checked_data(self, X, y, reset=first)
        if first:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self.classes_, _ = class_numbers(classes)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={classes!r} are not those of the first call, {self.classes_.tolist()}"
            )
        refuse_balanced(self.class_weight)
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            row = int(np.flatnonzero(unknown)[0])
            raise ValueError(f"label {y[row]} of row {row} is not in {self.classes_.tolist()}")
        self.class_weight_ = class_weights(self.class_weight, self.classes_, y)
        labels = np.searchsorted(self.classes_, y)
        weights = self._weights(labels, checked_weights(sample_weight, X))
        self._learn(X, list(self._targets(labels).values()), weights)
        return self

    def _weights(self, labels: np.ndarray, sample_weight: np.ndarray | None) -> np.ndarray:
        weights = self.class_weight_[labels]
        return weights if sample_weight is None else weights * sample_weight

    def _targets(self, labels: np.ndarray) -> dict[str, np.ndarray]:
        """±1 for every binary problem."""
        scheme = OneVersusOne if len(self.classes_) == 2 else OneVersusRest
        return {split.name: split.signs for split in scheme(self.classes_).splits(labels)}

    def decision_function(self, X: Any) -> np.ndarray:
        """wᵀx + b for the rows of X.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, positive for `classes_[1]`; for more, one
        column per class
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row of X: by sign, or the largest decision value."""
        scores = self.decision_function(X)
        if len(self.classes_) == 2:
            return self.classes_[(scores > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]
