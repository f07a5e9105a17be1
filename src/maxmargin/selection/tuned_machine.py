"""What `SVCCV` and `SVRCV` share: they choose their own C and γ when they are fitted.

They are named and shaped after scikit-learn's `LogisticRegressionCV`. All the work is `tune`'s.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.conventions import HasMethods, Interval, StrOptions
from maxmargin.kernels import Kernel, KernelFunction
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.machines.kernel_machine import KERNEL_NAMES
from maxmargin.resources.arrays import Data, Labels
from maxmargin.selection.grid import Point
from maxmargin.selection.search import Search
from maxmargin.selection.tune import Refit, tune
from maxmargin.solvers import SOLVERS

# Parameters of the search; all others are the machine's.
OF_THE_SEARCH = (
    "Cs",
    "gammas",
    "epsilons",
    "cv",
    "scoring",
    "n_jobs",
    "refine",
    "early",
    "max_time",
    "verbose",
    "client",
)


class TunedMachine(BaseEstimator):
    """What SVCCV and SVRCV share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "gammas": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "cv": ["cv_object"],
        "scoring": [str, callable, list, tuple, dict, None],
        "n_jobs": [Integral, None],
        "refit": ["boolean", str, callable],
        "refine": ["boolean"],
        "early": [StrOptions({"racing", "halving"}), None],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
        "verbose": ["verbose"],
        "client": [HasMethods(["cancel", "compute", "nthreads"]), None],
        "kernel": [StrOptions(KERNEL_NAMES), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="neither"), None],
        "solver": [StrOptions(set(SOLVERS)), HasMethods("solve")],
        "fit_intercept": ["boolean"],
    }

    kernel: str | Kernel | KernelFunction
    client: Any
    n_jobs: int | None
    refit: Refit
    best_estimator_: DualMachine
    search_: Search
    n_features_in_: int

    @abstractmethod
    def _kind(self) -> type[DualMachine]:
        """The machine that is tuned."""

    def _tune(
        self, X: Data, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> Search:
        """Run the search and set the attributes that both kinds have."""
        own, names = self.get_params(deep=False), self._kind()._get_param_names()
        machine = self._kind()(
            **{name: own[name] for name in own if name in names and name not in OF_THE_SEARCH},
            n_jobs=self.n_jobs,
        )
        search = tune(
            machine,
            X,
            y,
            refit=self.refit,
            sample_weight=sample_weight,
            groups=groups,
            **{name: own[name] for name in own if name in OF_THE_SEARCH},
        )
        self.search_, self.n_features_in_ = search, search.machine.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.pop("best_estimator_", None)
        if hasattr(search.machine, "feature_names_in_"):
            self.feature_names_in_ = search.machine.feature_names_in_
        if self.refit:
            self.best_estimator_ = search.best_estimator_
        if search.status == "interrupted":
            self._interrupted = True  # for `conventions.fitting`
        return search

    def _fitted(self) -> Any:
        """The machine that was refitted."""
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"{type(self).__name__}(refit=False) has chosen parameters but fitted no machine: "
                "use refit=True to predict"
            )
        return self.best_estimator_

    def __getstate__(self) -> dict[str, Any]:
        """The machine without its client, which is a connection of this process."""
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Self:
        """A clone with the same client, which cannot be copied."""
        alone = copy(self)  # by `__getstate__`
        cloned: Self = super(TunedMachine, alone).__sklearn_clone__()
        cloned.client = self.client
        return cloned

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "search_")

    @property
    def cv_results_(self) -> dict[str, Any]:
        """Every cell with its scores, as in `GridSearchCV`."""
        return self.search_.cv_results_

    @property
    def best_params_(self) -> Point:
        """The parameters of the best cell."""
        return self.search_.best_params_

    @property
    def best_score_(self) -> float:
        """Its mean score over the folds."""
        return self.search_.best_score_

    @property
    def C_(self) -> float:
        """The C that was chosen."""
        C: float = self.search_.best_params_["C"]
        return C

    @property
    def certificate_(self) -> Certificate:
        """The certificate of the refitted machine."""
        proof: Certificate = self._fitted().certificate_
        return proof

    def _scored(
        self, own: Callable[..., float], X: Data, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> float:
        """The score that decided the search; `own` if it is the machine's own."""
        check_is_fitted(self)
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        scorer = self.search_.scorer_[self.search_.metric]
        return own(X, y, **options) if scorer is None else float(scorer(self, X, y, **options))

    def predict(self, X: Data) -> Labels:
        """What the refitted machine predicts."""
        predicted: Labels = self._fitted().predict(X)
        return predicted

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        own = self._kind()(kernel=self.kernel).__sklearn_tags__().input_tags
        tags.input_tags.pairwise, tags.input_tags.sparse = own.pairwise, own.sparse
        return tags
