"""Base of the linear machines: the model wᵀx + b, its problem, its solvers, online learning."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.conventions import (
    CallbackSupportMixin,
    HasMethods,
    Interval,
    StrOptions,
    densify,
    sparsify,
    validate_parameters,
)
from maxmargin.gram import DataMatrix
from maxmargin.kernels.centre import centre_of, moved
from maxmargin.losses import PiecewiseLoss
from maxmargin.machines.fit import Fit
from maxmargin.machines.tasks import Task, TaskState, history_of
from maxmargin.machines.validation import checked_data
from maxmargin.problem import LinearProblem
from maxmargin.resources.arrays import Data, Floats
from maxmargin.solvers import AUTOMATIC, LINEAR_SOLVERS, SGD, Solver, as_solver

SAMPLE = 100  # rows
FAR = 1e4  # the square of a distance of 100 standard deviations: four digits are lost


class LinearMachine(CallbackSupportMixin, BaseEstimator):
    """Base of LinearSVC and LinearSVR."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "verbose": ["verbose"],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "dual": ["boolean", StrOptions({"auto"})],
        "random_state": ["random_state"],
        "solver": [StrOptions(set(LINEAR_SOLVERS)), HasMethods("solve")],
    }
    _milder: ClassVar[str] = "lower C"

    coef_: Floats
    intercept_: Floats
    certificates_: list[Certificate]
    _validate_params = validate_parameters

    def sparsify(self) -> Self:
        """Make `coef_` a sparse matrix, which is smaller if most of its entries are 0."""
        sparsify(self)
        return self

    def densify(self) -> Self:
        """Make `coef_` an array again, which it is after `fit`."""
        densify(self)
        return self

    @abstractmethod
    def _loss(self) -> PiecewiseLoss:
        """The loss of one row."""

    def _seed(self) -> int:
        """A fixed one for random_state=None: the same data give the same model."""
        if self.random_state is None:
            return 0
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _solver(self) -> Solver:
        """The solver named or given; `tol` and `max_iter` are the machine's."""
        limits = {"tol": self.tol, "max_iter": self.max_iter}
        if isinstance(self.solver, str):
            kinds = {**LINEAR_SOLVERS, "auto": AUTOMATIC[self._kind]}
            return kinds[self.solver](**limits, seed=self._seed())
        return replace(as_solver(self.solver, LINEAR_SOLVERS), **limits)

    @property
    def _kind(self) -> type:
        """The class of the problems that this machine solves."""
        return LinearProblem

    def _problem(self, y: Floats, cost: Floats) -> Any:
        return LinearProblem(y, cost, self._loss(), self.fit_intercept)

    def _train(
        self, X: Data, targets: dict[str, Floats], weights: Floats, data: tuple[Any, Any]
    ) -> None:
        """Solve a problem for each line of targets; rows without weight are left out."""
        cost = self.C * weights
        present = cost > 0
        if not present.all():
            X, cost = X[present], cost[present]
            targets = {name: y[present] for name, y in targets.items()}
        # With a free offset rows may be moved: wᵀ(x − m) + b is wᵀx + (b − wᵀm).
        centre = centre_of(X) if self.fit_intercept and far(X) else np.zeros(X.shape[1])
        rows, solver = DataMatrix(moved(X, centre) if centre.any() else X), self._solver()
        tasks = [
            Task(name, self._problem(y, cost), lambda: rows, solver) for name, y in targets.items()
        ]
        self.__dict__.pop("_descents", None)
        model = partial(self._model, centre)
        with Fit(self, *data) as run:
            run.end(run.solve(tasks, model, in_parallel=len(tasks) > 1))

    def _model(self, centre: Floats, states: Sequence[TaskState]) -> dict[str, Any]:
        """Fitted attributes from each task's Solution, Progress or None, on rows x − centre."""
        nothing = np.zeros(len(centre))
        lines: list[Any] = [nothing if each is None else each.coef for each in states]
        coef = np.vstack(lines)
        offsets = [
            np.zeros(int(self.fit_intercept)) if each is None else each.offsets for each in states
        ]
        intercept = np.concatenate(offsets) if self.fit_intercept else np.zeros(len(coef))
        return self._attributes(coef, intercept - coef @ centre)

    history_ = property(history_of)

    @property
    def n_iter_(self) -> int:
        """Most passes over the data that a problem took."""
        return max(proof.n_iter for proof in self.certificates_)

    def _attributes(self, coef: Floats, intercept: Floats) -> dict[str, Any]:
        return {"coef_": coef, "intercept_": intercept}

    def _learn(self, X: Data, targets: list[Floats], weights: Floats) -> None:
        """One epoch of stochastic gradient descent on these rows, from where the last one ended."""
        solver = self.solver if isinstance(self.solver, SGD) else SGD(seed=self._seed())
        cost = self.C * weights
        rows = DataMatrix(X[cost > 0])
        problems = [self._problem(y[cost > 0], cost[cost > 0]) for y in targets]
        if not hasattr(self, "_descents"):
            self._random = np.random.default_rng(solver.seed)
            self._descents = [solver.first_state(problem, rows) for problem in problems]
            if hasattr(self, "coef_"):
                for k, descent in enumerate(self._descents):
                    descent.begin_at(np.atleast_2d(self.coef_)[k], float(self.intercept_[k]))
        order = self._random.permutation(rows.n)
        for descent, problem in zip(self._descents, problems, strict=True):
            descent.total_cost += float(problem.cost.sum())
            for _ in solver.epoch(descent, problem, rows, order):
                pass
        coef = np.array([descent.mean_coef for descent in self._descents])
        intercept = np.array([descent.intercept for descent in self._descents])
        self.__dict__.update(self._attributes(coef, intercept))

    def _scores(self, X: Data) -> Floats:
        """wᵀx + b, one column per line of `coef_`."""
        check_is_fitted(self)
        X = checked_data(self, X, reset=False)
        products: Floats = safe_sparse_dot(X, self.coef_.T, dense_output=True)
        return products + self.intercept_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def far(X: Data) -> bool:
    """Whether the rows are far from the origin beside their distances, by a sample of them.

    Then the leading digits of X'X cancel, and no method converges before the rows are moved.
    """
    some = X[:: max(1, X.shape[0] // SAMPLE)]
    if sp.issparse(some):
        some = some.toarray()
    mean = some.mean(axis=0, dtype=np.float64)
    return bool(mean @ mean > FAR * np.mean(np.sum((some - mean) ** 2, axis=1)))


def online(machine: LinearMachine) -> bool:
    """Whether `partial_fit` exists: only stochastic gradient descent learns from a stream."""
    if machine.solver != "sgd" and not isinstance(machine.solver, SGD):
        raise AttributeError(f"partial_fit needs solver='sgd', not {machine.solver!r}")
    if machine._kind is not LinearProblem:
        raise AttributeError("partial_fit needs penalty='l2' and multi_class='ovr'")
    return True


DUALS = {  # what LIBLINEAR, and so scikit-learn, has: values of `dual` by penalty and loss
    ("l2", "hinge"): (True,),
    ("l2", "squared_hinge"): (True, False),
    ("l1", "squared_hinge"): (False,),
    ("l2", "epsilon_insensitive"): (True,),
    ("l2", "squared_epsilon_insensitive"): (True, False),
}


def check_combination(penalty: str, loss: str, dual: bool | str) -> None:
    """Refuse what scikit-learn refuses, in its words."""
    duals: tuple[bool, ...] = DUALS.get((penalty, loss), ())
    if duals and (dual == "auto" or bool(dual) in duals):
        return
    wrong = f"The combination of penalty='{penalty}' and loss='{loss}'"
    wrong += f" are not supported when dual={dual}" if duals else " is not supported"
    raise ValueError(
        f"Unsupported set of arguments: {wrong}, Parameters: penalty={penalty!r}, loss={loss!r}, "
        f"dual={dual!r}"
    )
