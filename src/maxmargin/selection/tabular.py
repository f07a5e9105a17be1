"""`TabularSVC` and `TabularSVR`: a table as it comes, prepared, searched, fitted, certified.

The machine is a pipeline that cross-validation chooses: how columns are prepared, the kernel, the
rounds of a learned metric, C and γ. Every step is fitted without the fold that scores it.

    1. each preparation with each kernel, all columns scaled alike: one of them is the plain search;
    2. for the best preparation of each kernel and each power, rounds of the metric while they help;
    3. a finer grid of C and γ for the best of all of these.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, check_array, check_consistent_length, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from maxmargin.certificate import Certificate
from maxmargin.conventions import Interval, StrOptions, fitting
from maxmargin.machines.expansion import expansion_of
from maxmargin.machines.svc import SVC
from maxmargin.machines.svr import SVR
from maxmargin.resources.arrays import Data, Floats, Labels, Numbers
from maxmargin.selection.learned_metric import PROBES, LearnedMetric
from maxmargin.selection.svc_cv import SVCCV
from maxmargin.selection.svr_cv import SVRCV
from maxmargin.selection.table_columns import PREPARATIONS, TableCodes, origins, preparation
from maxmargin.selection.tune import tune

KernelName: TypeAlias = Literal["rbf", "laplacian"]
KERNELS: tuple[KernelName, ...] = ("rbf", "laplacian")
POWERS = (0.5, 0.25)
# The grid is coarse, for it is searched for some fifteen pipelines; a finer one comes last.
CS = np.logspace(-1, 3, 5)
GAMMAS = np.array([0.03, 0.1, 0.3, 1.0, 3.0])  # for rows whose median distance is 1
FINER = np.array([0.5, 1.0, 2.0])  # times the best C and γ


@dataclass(frozen=True)
class TableRecipe:
    """A pipeline to try.

    Attributes
    ----------
    preparation, kernel, power : of the columns, of every machine, of the metric
    rounds : C and γ of the machine of each round of the metric
    """

    preparation: str
    kernel: KernelName
    power: float = POWERS[0]
    rounds: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Trial:
    """A recipe with the C and γ that suit it best, and its mean score over the folds."""

    recipe: TableRecipe
    C: float
    gamma: float
    score: float

    def deeper(self, power: float) -> TableRecipe:
        """The recipe with one more round, by this machine."""
        rounds = (*self.recipe.rounds, (self.C, self.gamma))
        return replace(self.recipe, power=power, rounds=rounds)


@dataclass(frozen=True)
class Workshop:
    """Makes pipelines and tries them.

    Attributes
    ----------
    machine : SVC or SVR, of which C, γ and the kernel are chosen
    X, y : the rows to choose by, X as `TableCodes` gives it
    categories : the columns that are categories
    folds : train and test rows of each
    """

    machine: SVC | SVR
    X: Floats
    y: Labels
    categories: Sequence[int]
    folds: Sequence[tuple[Numbers, Numbers]]

    def front(self, recipe: TableRecipe, rows: int) -> list[tuple[str, BaseEstimator]]:
        """The steps before the machine, for so many rows."""
        columns = preparation(recipe.preparation, self.categories, self.X.shape[1], rows)
        machines = [self.of(recipe, C=C, gamma=gamma) for C, gamma in recipe.rounds]
        metric = LearnedMetric(machines, recipe.power, recipe.kernel)
        return [("columns", columns), ("metric", metric)]

    def of(self, recipe: TableRecipe, **given: float) -> SVC | SVR:
        """The machine with a recipe's kernel."""
        machine: SVC | SVR = clone(self.machine).set_params(kernel=recipe.kernel, **given)
        return machine

    def tried(self, recipe: TableRecipe, Cs: Floats = CS, gammas: Floats = GAMMAS) -> Trial:
        """The best C and γ for a recipe, by the mean score over the folds."""
        rows = min(len(train) for train, _ in self.folds)
        search = tune(
            Pipeline([*self.front(recipe, rows), ("machine", self.of(recipe))]),
            self.X,
            self.y,
            Cs=Cs,
            gammas=gammas,
            cv=self.folds,
            refit=False,
            n_jobs=self.machine.n_jobs,
        )
        if search.status == "interrupted":
            raise KeyboardInterrupt
        machine = search.best_cell.machine
        return Trial(recipe, machine.C, float(machine.gamma), search.best_score_)

    def trials(self, powers: Sequence[float], rounds: int) -> Iterator[Trial]:
        """Everything that is tried, one after the other."""
        best: dict[str, Trial] = {}
        for how, kernel in product(PREPARATIONS, KERNELS):
            if how != "standardised" and len(self.categories) == self.X.shape[1]:
                continue  # no numbers to rank
            trial = self.tried(TableRecipe(how, kernel))
            best[kernel] = max(best.get(kernel, trial), trial, key=score_of)
            yield trial
        whole = max(best.values(), key=score_of)
        for start, power in product(best.values(), powers):
            before = start
            for _ in range(rounds):
                trial = self.tried(before.deeper(power))
                whole = max(whole, trial, key=score_of)
                yield trial
                if trial.score <= before.score:
                    break
                before = trial
        yield self.tried(whole.recipe, whole.C * FINER, whole.gamma * FINER)


def score_of(trial: Trial) -> float:
    """What a trial is judged by."""
    return trial.score


class TabularMachine(BaseEstimator):
    """What TabularSVC and TabularSVR share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "categorical": [StrOptions({"from_dtype"}), "array-like"],
        "powers": ["array-like"],
        "rounds": [Interval(Integral, 0, None, closed="left")],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "search_rows": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    n_features_in_: int
    feature_importances_: Floats
    trials_: list[Trial]
    best_estimator_: Pipeline

    def __init__(
        self,
        *,
        categorical: Literal["from_dtype"] | Sequence[str | int] = "from_dtype",
        powers: Sequence[float] = POWERS,
        rounds: int = 3,
        cv: int = 3,
        search_rows: int | None = 2000,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.categorical = categorical
        self.powers = powers
        self.rounds = rounds
        self.cv = cv
        self.search_rows = search_rows
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    @abstractmethod
    def _machine(self) -> SVC | SVR:
        """The machine whose C, γ and kernel are chosen."""

    @abstractmethod
    def _last(self, trial: Trial, y: Labels) -> SVCCV | SVRCV:
        """The last step of the pipeline: the machine of a trial, and how sure it is."""

    @abstractmethod
    def _folds(self, y: Labels) -> list[tuple[Numbers, Numbers]]:
        """Train and test rows of each fold, of rows in random order."""

    def _fit(self, X: Data, y: Labels) -> None:
        """Choose the pipeline and fit it to all rows."""
        table = TableCodes(self.categorical).fit(X)
        coded = table.transform(X)
        check_consistent_length(coded, y)
        if len(coded) < 2 * self.cv:
            raise ValueError(
                f"n_samples={len(coded)} is too few for cv={self.cv}: give at least "
                f"{2 * self.cv} rows"
            )
        self.n_features_in_ = table.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(table, "feature_names_in_"):
            self.feature_names_in_ = table.feature_names_in_
        random = check_random_state(self.random_state)
        order = random.permutation(len(y))  # folds are then parts in a row
        coded, y = coded[order], y[order]
        some = slice(self.search_rows)
        shop = Workshop(
            *(self._machine(), coded[some], y[some], sorted(table.categories_)),
            folds=self._folds(y[some]),
        )
        self.trials_ = list(shop.trials(self.powers, self.rounds))
        best = max(self.trials_, key=score_of)
        front = Pipeline(shop.front(best.recipe, len(y)))
        Z = front.fit(coded, y).transform(coded)
        last = self._last(best, y).fit(Z, y)
        self.best_estimator_ = Pipeline([("table", table), *front.steps, ("machine", last)])
        self.feature_importances_ = importances(front, last, Z)

    @property
    def best_score_(self) -> float:
        """The mean score of the chosen pipeline on rows that it was not fitted to."""
        return max(trial.score for trial in self.trials_)

    @property
    def certificate_(self) -> Certificate:
        """The certificate of the chosen machine."""
        check_is_fitted(self)
        proof: Certificate = self.best_estimator_[-1].certificate_
        return proof

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")

    def _prepared(self, X: Data) -> tuple[BaseEstimator, Floats]:
        """The last machine, and the rows as it takes them."""
        check_is_fitted(self)
        return self.best_estimator_[-1], self.best_estimator_[:-1].transform(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def importances(front: Pipeline, last: BaseEstimator, Z: Floats) -> Floats:
    """Share of each column in the sum of mean squared gradients times variances."""
    columns = front["columns"]
    probes = Z[np.unique(np.linspace(0, len(Z) - 1, PROBES).astype(int))]
    steep = expansion_of(last.best_estimator_).mean_squared_gradient(probes) * Z.var(axis=0)
    whole = np.bincount(
        origins(columns, columns.n_features_in_), steep, minlength=columns.n_features_in_
    )
    return whole / (whole.sum() or 1.0)


class TabularSVC(ClassifierMixin, TabularMachine):
    """Support vector classifier for a table as it comes: numbers, categories, missing values.

    Cross-validation chooses how columns are prepared (standardised, ranked or both), the kernel
    (RBF or Laplacian), the metric between rows (see `LearnedMetric`), C and γ. The machine is
    exact and certified; its probabilities are calibrated. A model file holds it. It takes tables in
    memory, not partitions or Dask; ONNX has no operator for its quantiles.

    Parameters
    ----------
    categorical : "from_dtype", or a list of names or numbers of columns, default="from_dtype"
        Columns that are categories though they hold numbers; columns of anything else always are.
    powers : list of float, default=(0.5, 0.25)
        Of the learned metric, each tried.
    rounds : int, default=3
        Of the metric, at most. 0 scales all columns alike.
    cv : int, default=3
        Folds that score what is tried.
    search_rows : int or None, default=2000
        Rows to choose by, at most; the chosen machine is fitted to all rows.
    tol : float, default=1e-3
    n_jobs : int, default=None
        Threads; None uses every core.
    random_state : int, RandomState or None, default=None
        Of the folds.

    Attributes
    ----------
    best_estimator_ : Pipeline, with the steps "table", "columns", "metric" and "machine"
    trials_ : list of what was tried, each with its recipe, C, γ and score
    best_score_ : mean accuracy of the chosen pipeline on rows that it was not fitted to
    feature_importances_ : ndarray of shape (n_features,), with the sum 1
        How much the decision function changes along each column: the mean square of its gradient,
        times the variance of the column as it was prepared.
    classes_ : the classes
    certificate_ : of the machine

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = TabularSVC(rounds=1, random_state=0).fit(X, y)
    >>> clf.best_score_ > 0.95, clf.certificate_.status.value
    (True, 'converged')
    >>> X.columns[clf.feature_importances_.argmax()]
    'petal length (cm)'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TabularMachine._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    classes_: Labels

    def __init__(
        self,
        *,
        categorical: Literal["from_dtype"] | Sequence[str | int] = "from_dtype",
        powers: Sequence[float] = POWERS,
        rounds: int = 3,
        cv: int = 3,
        search_rows: int | None = 2000,
        class_weight: dict[int | str, float] | Literal["balanced"] | None = None,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            categorical=categorical,
            powers=powers,
            rounds=rounds,
            cv=cv,
            search_rows=search_rows,
            tol=tol,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def _machine(self) -> SVC:
        return SVC(class_weight=self.class_weight, tol=self.tol, n_jobs=self.n_jobs)

    def _last(self, trial: Trial, y: Labels) -> SVCCV:
        rare = np.unique(y, return_counts=True)[1].min() < self.cv
        return SVCCV(
            Cs=[trial.C],
            gammas=[trial.gamma],
            cv=self._folds(y) if rare else self.cv,
            kernel=trial.recipe.kernel,
            class_weight=self.class_weight,
            tol=self.tol,
            n_jobs=self.n_jobs,
        )

    def _folds(self, y: Labels) -> list[tuple[Numbers, Numbers]]:
        """Stratified; classes of fewer rows than there are folds are never held out."""
        classes, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
        common = np.flatnonzero(counts[numbers] >= self.cv)
        if not len(common):
            raise ValueError(
                f"every class has fewer rows than cv={self.cv} folds (n_samples={len(y)}, "
                f"{len(classes)} classes): lower cv, or give more rows"
            )
        parts = StratifiedKFold(self.cv).split(common, y[common])
        return [(np.setdiff1d(np.arange(len(y)), common[out]), common[out]) for _, out in parts]

    @fitting
    def fit(self, X: Data, y: ArrayLike) -> Self:
        """Choose a pipeline, and fit it to the rows of X with the labels y.

        Parameters
        ----------
        X : DataFrame of pandas or polars, or array, of shape (n_samples, n_features)
        y : labels, array of shape (n_samples,)

        Returns
        -------
        self
        """
        y = given(self, y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class only, {y[0]!r}: there is nothing to tell apart")
        self._fit(X, y)
        return self

    def predict(self, X: Data) -> Labels:
        """The class of each row of X."""
        machine, rows = self._prepared(X)
        predicted: Labels = machine.predict(rows)
        return predicted

    def decision_function(self, X: Data) -> Floats:
        """Decision values, as `SVC.decision_function`."""
        machine, rows = self._prepared(X)
        values: Floats = machine.decision_function(rows)
        return values

    def predict_proba(self, X: Data) -> Floats:
        """Probability of each class, calibrated on the decisions of held-out rows."""
        machine, rows = self._prepared(X)
        values: Floats = machine.predict_proba(rows)
        return values


class TabularSVR(RegressorMixin, TabularMachine):
    """Support vector regression for a table as it comes: numbers, categories, missing values.

    As `TabularSVC`. Targets are standardised, so that ε is a share of their standard deviation.

    Parameters
    ----------
    epsilon : float, default=0.05
        Half the width of the tube, in standard deviations of y.
    categorical, powers, rounds, cv, search_rows, tol, n_jobs, random_state : see `TabularSVC`

    Attributes
    ----------
    best_estimator_, trials_, feature_importances_, certificate_ : as of `TabularSVC`
    best_score_ : mean R² of the chosen pipeline on rows that it was not fitted to

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> reg = TabularSVR(rounds=1, random_state=0).fit(X, y)
    >>> reg.best_score_ > 0.45, reg.certificate_.status.value
    (True, 'converged')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TabularMachine._parameter_constraints,
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        categorical: Literal["from_dtype"] | Sequence[str | int] = "from_dtype",
        powers: Sequence[float] = POWERS,
        rounds: int = 3,
        cv: int = 3,
        search_rows: int | None = 2000,
        epsilon: float = 0.05,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            categorical=categorical,
            powers=powers,
            rounds=rounds,
            cv=cv,
            search_rows=search_rows,
            tol=tol,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.epsilon = epsilon

    def _machine(self) -> SVR:
        return SVR(epsilon=self.epsilon, tol=self.tol, n_jobs=self.n_jobs)

    def _last(self, trial: Trial, y: Labels) -> SVRCV:
        return SVRCV(
            Cs=[trial.C],
            gammas=[trial.gamma],
            cv=self.cv,
            kernel=trial.recipe.kernel,
            epsilon=self.epsilon,
            tol=self.tol,
            n_jobs=self.n_jobs,
        )

    def _folds(self, y: Labels) -> list[tuple[Numbers, Numbers]]:
        return list(KFold(self.cv).split(y))

    @fitting
    def fit(self, X: Data, y: ArrayLike) -> Self:
        """Choose a pipeline, and fit it to the rows of X with the targets y.

        Parameters
        ----------
        X : DataFrame of pandas or polars, or array, of shape (n_samples, n_features)
        y : numbers, array of shape (n_samples,)

        Returns
        -------
        self
        """
        y = given(self, y).astype(np.float64)
        self.target_mean_, spread = float(y.mean()), float(y.std())
        self.target_scale_ = spread or 1.0
        self._fit(X, (y - self.target_mean_) / self.target_scale_)
        return self

    def predict(self, X: Data) -> Floats:
        """The target of each row of X."""
        machine, rows = self._prepared(X)
        predicted: Floats = self.target_mean_ + self.target_scale_ * machine.predict(rows)
        return predicted

    def predict_interval(self, X: Data, coverage: float = 0.9) -> Floats:
        """An interval for each row of X that holds its target with probability `coverage`."""
        machine, rows = self._prepared(X)
        ends: Floats = machine.predict_interval(rows, coverage)
        return self.target_mean_ + self.target_scale_ * ends


def given(machine: BaseEstimator, y: ArrayLike | None) -> Labels:
    """y as one line of finite values, or an error that says what is wrong."""
    if y is None:
        raise ValueError(
            f"{type(machine).__name__} requires y to be passed, but the target y is None"
        )
    line = column_or_1d(y, warn=True)
    numeric = isinstance(machine, RegressorMixin)
    checked: Labels = check_array(
        line,
        ensure_2d=False,
        dtype=np.float64 if numeric else None,
        input_name="y",
        estimator=machine,
    )
    return checked
