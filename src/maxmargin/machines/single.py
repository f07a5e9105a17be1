"""What regressors and the one-class machine share: one dual problem, one line of coefficients."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.machines.base import KernelMachine
from maxmargin.machines.tasks import Standing, Task
from maxmargin.machines.validation import checked_weights
from maxmargin.problem import DualProblem


class SingleMachine(KernelMachine):
    """Base of SVR, NuSVR and OneClassSVM."""

    @abstractmethod
    def _bounds(self, weights: np.ndarray) -> np.ndarray:
        """The largest |β| of each row, from its weight."""

    @abstractmethod
    def _formulate(self, y: np.ndarray, bounds: np.ndarray) -> DualProblem:
        """The dual problem."""

    @abstractmethod
    def _intercept(self, offsets: np.ndarray) -> float:
        """b of the decision function, from the offsets of the groups."""

    def _fit(self, X: Any, y: np.ndarray, sample_weight: Any) -> None:
        sample_weight = checked_weights(sample_weight, X)
        bounds = self._bounds(np.ones(X.shape[0]) if sample_weight is None else sample_weight)
        gram = self._gram(X, sample_weight)
        self._kernel_ = gram.kernel
        problem = self._formulate(y, bounds)
        task = Task(type(self).__name__, problem, lambda: gram, self._start(problem, bounds))
        model = partial(self._model, X, bounds, task)
        (solution,) = self._solve([task], in_parallel=False, data=(X, y), model=model)
        self.n_iter_ = solution.n_iter

    def _start(self, problem: DualProblem, bounds: np.ndarray) -> np.ndarray | None:
        last = self._last_coefficients(bounds)
        if last is None or problem.rows is None:
            return None if last is None else last[0]
        return np.concatenate([np.maximum(last[0], 0.0), np.minimum(last[0], 0.0)])

    def _model(
        self, X: Any, bounds: np.ndarray, task: Task, standing: list[Standing]
    ) -> dict[str, Any]:
        """Fitted attributes from where the problem stands."""
        beta, offsets = task.coefficients(standing[0])
        coef = beta if task.problem.rows is None else np.bincount(task.problem.rows, beta)
        support = np.flatnonzero(coef)
        return {
            **self._kept(X, support, coef[None]),
            "n_support_": np.array([len(support)], np.int32),
            "intercept_": np.array([self._intercept(offsets)]),
            "_bounds_": bounds,
        }

    def _values(self, X: Any) -> np.ndarray:
        """f(x) = Σ β_i k(x_i, x) + b for the rows of X."""
        check_is_fitted(self)
        X = self._validate_for_prediction(X)
        return self._line(X) + self.intercept_[0]

    def _linear_coef(self) -> Any:
        return np.asarray(self._dense_dual_coef() @ self.support_vectors_)
