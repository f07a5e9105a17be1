"""What the linear machines share: the model wᵀx + b, its problem, its solvers, online learning."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.linear_model._base import SparseCoefMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.losses import PiecewiseLoss
from maxmargin.machines.certified import CertifiedMachine
from maxmargin.machines.validation import checked_data
from maxmargin.primal import PrimalProblem
from maxmargin.rows import Rows
from maxmargin.solvers import LINEAR_SOLVERS, SGD, LinearProgress, LinearSolution, LinearSolver
from maxmargin.solvers.sgd import Descent

LinearStanding = LinearSolution | LinearProgress | None


@dataclass(frozen=True)
class LinearTask:
    """One linear problem of a fit."""

    name: str
    problem: PrimalProblem
    matrix: Callable[[], Rows]
    start: None = None
    watch: None = None

    def model(self, where: LinearStanding, columns: int) -> tuple[np.ndarray, float]:
        """w and b of a task that is done, under way, or not yet begun."""
        if where is None:
            return np.zeros(columns), 0.0
        point = where.point if isinstance(where, LinearSolution) else where.state.best
        return point.coef, point.offset

    def certificate(self, solution: LinearSolution) -> Certificate:
        """From the point's own primal and dual values."""
        return Certificate.from_values(
            primal=solution.point.primal,
            dual=solution.point.dual,
            kkt_violation=solution.point.violation,
            status=solution.status,
            n_iter=solution.n_iter,
            kernel_evaluations=0,
            seconds=solution.seconds,
        )


class LinearMachine(SparseCoefMixin, CertifiedMachine):
    """Base of LinearSVC and LinearSVR."""

    _criterion: str = "relative duality gap"
    _solvers: ClassVar[dict] = LINEAR_SOLVERS
    _parameter_constraints: ClassVar[dict] = {
        **CertifiedMachine._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "random_state": ["random_state"],
        "solver": [StrOptions(set(LINEAR_SOLVERS)), HasMethods("solve")],
    }

    @abstractmethod
    def _loss(self) -> PiecewiseLoss:
        """The loss of one row."""

    def _cost(self, weights: np.ndarray) -> np.ndarray:
        """c of each row; C = ∞ has no linear machine."""
        if not np.isfinite(self.C):
            raise ValueError(
                "C must be finite here; SVC(kernel='linear', C=inf) is the hard margin"
            )
        return self.C * weights

    def _seed(self) -> int:
        """A fixed one for random_state=None: the same data give the same model."""
        if self.random_state is None:
            return 0
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _solver(self, time_left: float | None, matrix: Any) -> LinearSolver:
        solver = super()._solver(time_left, matrix)
        return replace(solver, seed=self._seed()) if isinstance(self.solver, str) else solver

    def _problem(self, y: np.ndarray, cost: np.ndarray) -> PrimalProblem:
        return PrimalProblem(y, cost, self._loss(), self.fit_intercept)

    def _train(
        self, X: Any, targets: dict[str, np.ndarray], weights: np.ndarray, data: tuple[Any, Any]
    ) -> list[LinearSolution]:
        """Solve a problem for each line of targets; rows without weight are left out."""
        cost = self._cost(weights)
        present = cost > 0
        if not present.all():
            X, cost = X[present], cost[present]
            targets = {name: y[present] for name, y in targets.items()}
        rows = Rows(X)
        tasks = [
            LinearTask(name, self._problem(y, cost), lambda: rows) for name, y in targets.items()
        ]
        model = partial(self._model, tasks, rows.d)
        self.__dict__.pop("_descents", None)
        solutions = self._solve(tasks, in_parallel=len(tasks) > 1, data=data, model=model)
        self.n_iter_ = max(solution.n_iter for solution in solutions)
        return solutions

    def _model(
        self, tasks: list[LinearTask], columns: int, standing: list[LinearStanding]
    ) -> dict[str, Any]:
        """Fitted attributes from where each problem stands."""
        models = [task.model(where, columns) for task, where in zip(tasks, standing, strict=True)]
        return self._attributes(*map(np.array, zip(*models, strict=True)))

    def _attributes(self, coef: np.ndarray, intercept: np.ndarray) -> dict[str, Any]:
        return {"coef_": coef, "intercept_": intercept}

    def _learn(self, X: Any, targets: list[np.ndarray], weights: np.ndarray) -> None:
        """One epoch of stochastic gradient descent on these rows, from where the last one ended."""
        solver = self.solver if isinstance(self.solver, SGD) else SGD(seed=self._seed())
        cost = self._cost(weights)
        rows = Rows(X[cost > 0])
        problems = [self._problem(y[cost > 0], cost[cost > 0]) for y in targets]
        if not hasattr(self, "_descents"):
            self._random = np.random.default_rng(solver.seed)
            self._descents = [solver.begin(problem, rows) for problem in problems]
            if hasattr(self, "coef_"):
                for k, descent in enumerate(self._descents):
                    descent.begin_at(np.atleast_2d(self.coef_)[k], float(self.intercept_[k]))
        order = self._random.permutation(rows.n)
        for descent, problem in zip(self._descents, problems, strict=True):
            descent.total_cost += float(problem.cost.sum())
            for _ in solver.epoch(descent, problem, rows, order):
                pass
        self._set(self._descents)

    def _set(self, descents: list[Descent]) -> None:
        coef = np.array([descent.mean_coef for descent in descents])
        intercept = np.array([descent.mean_offset for descent in descents])
        for name, value in self._attributes(coef, intercept).items():
            setattr(self, name, value)

    def _scores(self, X: Any) -> np.ndarray:
        """wᵀx + b, one column per line of `coef_`."""
        check_is_fitted(self)
        X = checked_data(self, X, reset=False)
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def online(machine: LinearMachine) -> bool:
    """Whether `partial_fit` is there: only stochastic gradient descent learns from a stream."""
    if machine.solver != "sgd" and not isinstance(machine.solver, SGD):
        raise AttributeError(f"partial_fit needs solver='sgd', not {machine.solver!r}")
    return True
