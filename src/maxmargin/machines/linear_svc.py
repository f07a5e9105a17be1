"""The linear support vector classifier."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from maxmargin.conventions import StrOptions, exists_if, fitting
from maxmargin.losses import Hinge, PiecewiseLoss, SquaredHinge
from maxmargin.machines.linear_machine import LinearMachine, check_combination, online
from maxmargin.machines.multiclass import class_of, scheme_of
from maxmargin.machines.partitioned_linear import check_streams, fit_linear
from maxmargin.machines.validation import (
    check_two_classes,
    checked_data,
    checked_weights,
    class_numbers,
    class_weights,
    declared_classes,
    known_labels,
)
from maxmargin.problem import CrammerSingerProblem, L1Problem, LinearProblem
from maxmargin.resources.arrays import Data, Floats, Labels, Numbers, RandomState
from maxmargin.scale.kinds import as_partitions, by_block, without_names
from maxmargin.scale.partitions import Partitions
from maxmargin.scale.scores import accuracy
from maxmargin.scale.survey import survey
from maxmargin.solvers import LinearSolver

LOSSES: dict[str, type[PiecewiseLoss]] = {"hinge": Hinge, "squared_hinge": SquaredHinge}


class LinearSVC(ClassifierMixin, LinearMachine):
    """Linear support vector classifier, with an offset that is not regularised.

    Minimises ½‖w‖² + Σ C_i L(y_i, wᵀx_i + b) with L(y, f) = max(0, 1 − y f) or its square, one
    class against the rest if there are more than two; with penalty="l1", which leaves most w_j at
    zero, ‖w‖₁ + Σ C_i L(y_i, wᵀx_i + b); with multi_class="crammer_singer" all classes at once,
    ½ Σ_m ‖w_m‖² + Σ C_i max_m (1 − [m = y_i] + w_mᵀx_i + b_m − w_{y_i}ᵀx_i − b_{y_i}).

    A program for `sklearn.svm.LinearSVC` runs as it is. On purpose these differ:

    ===================  ==========================  ==============================================
    .                    scikit-learn (LIBLINEAR)    here
    ===================  ==========================  ==============================================
    offset               adds ½b² or abs(b) to the   free, as in `SVC(kernel="linear")`: the model
                         objective                   does not change when all rows are shifted
    `intercept_scaling`  makes that term smaller     no effect
    `tol`                1e-4, of a criterion that   1e-6, of the relative duality gap: the
                         depends on the solver       objective is at most this much above its
                                                     minimum
    `dual`               chooses the solver          no effect: `solver` does; what LIBLINEAR
                                                     does not have is refused in the same words
    `random_state=None`  a new order in every fit    a fixed order: the same data, the same model
    ===================  ==========================  ==============================================

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        ½‖w‖² or ‖w‖₁, the latter for the squared hinge.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    dual : bool or "auto", default="auto"
        See the table.
    tol : float, default=1e-6
        Relative duality gap to reach: the objective is at most this much above its minimum.
    C : float, default=1.0
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        One class against the rest; or all at once, for which `penalty`, `loss` and `dual` are not
        used.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        See the table.
    class_weight : dict or "balanced"
    verbose : int
        1 shows a bar of the gap falling toward `tol`.
    random_state : seeds the order in which rows are visited; None is a fixed seed
    max_iter : int, default=1000
        Most passes over the data; −1 for no limit.
    solver : {"auto", "dual", "interior-point", "newton", "sgd"} or LinearSolver, default="auto"
        New. "dual": coordinate descent. "interior-point", and for the squared hinge "newton": for
        few columns; their speed does not depend on C. "auto": the one that is faster on the data;
        penalty="l1" and multi_class="crammer_singer" have one each. "sgd": stochastic gradient
        descent, rough and online.
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

    Few columns, chosen by the ℓ₁ penalty, and all classes at once:

    >>> from sklearn.feature_selection import SelectFromModel
    >>> SelectFromModel(LinearSVC(penalty="l1", dual=False, C=0.02)).fit_transform(X, y).shape
    (150, 2)
    >>> LinearSVC(multi_class="crammer_singer").fit(X, y).score(X, y)
    0.98...
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearMachine._parameter_constraints,
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions(set(LOSSES))],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    classes_: Labels
    class_weight_: Floats

    def __init__(
        self,
        penalty: Literal["l2", "l1"] = "l2",
        loss: Literal["squared_hinge", "hinge"] = "squared_hinge",
        *,
        dual: bool | Literal["auto"] = "auto",
        tol: float = 1e-6,
        C: float = 1.0,
        multi_class: Literal["ovr", "crammer_singer"] = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        verbose: int | bool = 0,
        random_state: RandomState = None,
        max_iter: int = 1000,
        solver: str | LinearSolver = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.max_time = max_time
        self.n_jobs = n_jobs

    def _loss(self) -> PiecewiseLoss:
        return LOSSES[self.loss]()

    @property
    def _kind(self) -> type:
        if self.multi_class == "crammer_singer":
            return CrammerSingerProblem
        return L1Problem if self.penalty == "l1" else LinearProblem

    def _problem(self, y: Floats, cost: Floats) -> Any:
        if self.multi_class == "crammer_singer":
            labels: Numbers = y.astype(np.intp)
            return CrammerSingerProblem(labels, cost, len(self.classes_), self.fit_intercept)
        return self._kind(y, cost, self._loss(), self.fit_intercept)

    def _attributes(self, coef: Floats, intercept: Floats) -> dict[str, Any]:
        if len(coef) == len(self.classes_) == 2:
            coef, intercept = np.diff(coef, axis=0), np.diff(intercept)
        return super()._attributes(coef, intercept)

    @fitting
    def fit(
        self, X: Data, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on the rows of X with the labels y.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features); float32 is not copied to float64. Or rows
            in partitions: `maxmargin.scale`, or a collection of Dask.
        y : array of shape (n_samples,); None if the partitions have labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C row by row.

        Returns
        -------
        self
        """
        if self.multi_class == "ovr":
            check_combination(self.penalty, self.loss, self.dual)
        if (data := as_partitions(X, y, sample_weight)) is not None:
            self._fit_partitions(data)
            return self
        X, y = checked_data(self, X, y)
        sample_weight = checked_weights(sample_weight, X)
        self.classes_, labels = class_numbers(y)
        self.class_weight_ = class_weights(self.class_weight, self.classes_, labels, sample_weight)
        check_two_classes(labels, self.class_weight_, sample_weight)
        self._train(X, self._targets(labels), self._weights(labels, sample_weight), (X, y))
        return self

    def _fit_partitions(self, data: Partitions) -> None:
        check_streams(self, data)
        found = survey(data, classes=True)
        one_each = np.arange(len(found.classes))
        self.classes_ = found.classes
        self.class_weight_ = class_weights(self.class_weight, found.classes, one_each, found.masses)
        fit_linear(self, data, found, list(self._targets(one_each)))

    def _targets_of_rows(self, number: int, y: Labels, weights: Floats) -> tuple[Floats, Floats]:
        """±1 of some rows in one binary problem, and their weights."""
        labels = known_labels(self.classes_, y)
        return list(self._targets(labels).values())[number], self._weights(labels, weights)

    @exists_if(online)
    @fitting
    def partial_fit(
        self,
        X: Data,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """One epoch of stochastic gradient descent on these rows; needs solver="sgd".

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array, needed in the first call: all labels that will ever come
        """
        X, y = checked_data(self, X, y, reset=not hasattr(self, "classes_"))
        self.classes_, self.class_weight_ = declared_classes(self, classes)
        labels = known_labels(self.classes_, y)
        weights = self._weights(labels, checked_weights(sample_weight, X))
        self._learn(X, list(self._targets(labels).values()), weights)
        return self

    def _weights(self, labels: Numbers, sample_weight: Floats | None) -> Floats:
        weights = self.class_weight_[labels]
        return weights if sample_weight is None else weights * sample_weight

    def _targets(self, labels: Numbers) -> dict[str, Floats]:
        """±1 for every binary problem; for all classes at once, the number of the class."""
        if self.multi_class == "crammer_singer":
            return {"all classes": labels.astype(float)}
        splits = scheme_of("ovr", self.classes_).splits(labels)
        return {split.name: split.signs for split in splits}

    def _targets_of(self, y: ArrayLike) -> tuple[list[Floats], Floats]:
        """±1 of every binary problem, and the cost of each row."""
        if self.multi_class == "crammer_singer":
            raise ValueError("the proof of multi_class='crammer_singer' is not computed again")
        labels = known_labels(self.classes_, y)
        return list(self._targets(labels).values()), self.C * self._weights(labels, None)

    @by_block
    def decision_function(self, X: Data) -> Floats:
        """wᵀx + b for the rows of X.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, positive for `classes_[1]`; for more, one
        column per class
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @by_block
    def predict(self, X: Data) -> Labels:
        """The class of each row of X: by sign, or the largest decision value."""
        scores = self.decision_function(X)  # raises if it is not fitted, before `classes_` does
        return class_of(self.classes_, scores)

    def score(
        self, X: Data, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """The share of rows of X whose label is predicted."""
        if (data := as_partitions(X, y, sample_weight)) is not None:
            share: float = accuracy(data, without_names(self).predict)
            return share
        plain: float = super().score(X, y, sample_weight)
        return plain
