"""What the kernel classifiers share: labels, weights, the binary problems, votes."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.cross import cross_signs
from maxmargin.gram import WHOLE_MATRIX_ROWS, Gram
from maxmargin.kernels import Precomputed
from maxmargin.machines.base import KernelMachine
from maxmargin.machines.multiclass import OneVersusOne, OneVersusRest, Split
from maxmargin.machines.probability import Calibration
from maxmargin.machines.tasks import Standing, Task
from maxmargin.machines.validation import (
    check_two_classes,
    checked_weights,
    class_numbers,
    class_weights,
)
from maxmargin.problem import DualProblem
from maxmargin.resources import thread_count
from maxmargin.solvers import Progress


def _calibrated(machine: KernelClassifier) -> bool:
    if not machine.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class KernelClassifier(ClassifierMixin, KernelMachine):
    """Base of SVC and NuSVC: binary machines, combined over pairs of classes or over classes."""

    _parameter_constraints: ClassVar[dict] = {
        **KernelMachine._parameter_constraints,
        "probability": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "random_state": ["random_state"],
        "multiclass": [StrOptions({"ovo", "ovr"})],
    }

    @abstractmethod
    def _bounds(self, weights: np.ndarray) -> np.ndarray:
        """The largest |β| of each row, from its weight."""

    @abstractmethod
    def _formulate(
        self, number: int, signs: np.ndarray, bounds: np.ndarray, counts: np.ndarray
    ) -> DualProblem:
        """The dual problem of a binary machine; a row of sample weight two counts twice."""

    def _encode(self, number: int, coef: np.ndarray) -> np.ndarray:
        """Undo `_decode` for problem `number` of the last fit: where a warm start begins."""
        return coef

    def _decode(self, beta: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, float]:
        """Coefficients and offset of the decision function, from the dual variables."""
        return beta, float(offsets[0]) if len(offsets) else 0.0

    def _watch(self, progress: Progress) -> None:
        """Look at each outer iteration; raise to end the fit."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelClassifier:
        """Train on the rows of X with the labels y.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features), or (n_samples, n_samples) for
            kernel="precomputed". float32 stays float32.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C row by row.

        Returns
        -------
        self
        """
        X, labels, sample_weight = self._validate_training(X, y, sample_weight)
        bounds = self._bounds(self._weights(labels, sample_weight))
        counts = np.ones(len(labels)) if sample_weight is None else sample_weight
        scheme = self._scheme()
        splits = scheme.splits(labels)
        tasks = self._tasks(self._gram(X, sample_weight), splits, bounds, counts)
        model = partial(self._model, X, labels, bounds, splits, tasks)
        # Pairs of few rows are mostly Python, of which only one thread runs at a time; and threads
        # must not share a matrix in the making.
        pairs = isinstance(scheme, OneVersusOne) and len(tasks) > 1
        many = 2 * len(labels) > WHOLE_MATRIX_ROWS * len(self.classes_)
        solutions = self._solve(tasks, in_parallel=pairs and many, data=(X, y), model=model)
        self.n_iter_ = np.array([solution.n_iter for solution in solutions], np.int32)
        self._calibration = Calibration.none()
        if self.probability:
            self._calibration = Calibration.cross_validated(self, X, labels, sample_weight)
        return self

    @property
    def probA_(self) -> np.ndarray:
        """A of every binary machine's 1 / (1 + exp(A f + B)); empty without `probability`."""
        return self._calibration.slopes

    @property
    def probB_(self) -> np.ndarray:
        """B of every binary machine's 1 / (1 + exp(A f + B)); empty without `probability`."""
        return self._calibration.shifts

    def _validate_training(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        X, y = self._validate(X, y)
        classes, labels = class_numbers(y)
        previous = getattr(self, "classes_", None)
        if self.warm_start and previous is not None and not np.array_equal(classes, previous):
            raise ValueError(
                f"warm_start=True needs the same classes as before: had {previous.tolist()}, "
                f"got {classes.tolist()}"
            )
        self.classes_ = classes
        self.class_weight_ = class_weights(self.class_weight, classes, y)
        return X, labels, checked_weights(sample_weight, X)

    def _weights(self, labels: np.ndarray, sample_weight: np.ndarray | None) -> np.ndarray:
        """The weight of each row: its class's times its own."""
        weights = self.class_weight_[labels]
        check_two_classes(labels, sample_weight)
        return weights if sample_weight is None else weights * sample_weight

    def _scheme(self) -> OneVersusOne | OneVersusRest:
        if self.multiclass == "ovr" and len(self.classes_) > 2:
            return OneVersusRest(self.classes_)
        return OneVersusOne(self.classes_)

    def _tasks(
        self, gram: Gram, splits: list[Split], bounds: np.ndarray, counts: np.ndarray
    ) -> list[Task]:
        last = self._last_coefficients(bounds)
        starts: list[np.ndarray | None] = [None] * len(splits)
        if last is not None:
            starts = [
                self._encode(*part) for part in enumerate(self._scheme().gather(splits, last))
            ]
        self._kernel_ = gram.kernel
        return [
            Task(
                split.name,
                self._formulate(number, split.signs, bounds[split.rows], counts[split.rows]),
                partial(gram.take, split.rows),
                start,
                self._watch,
            )
            for number, (split, start) in enumerate(zip(splits, starts, strict=True))
        ]

    def _model(
        self,
        X: Any,
        labels: np.ndarray,
        bounds: np.ndarray,
        splits: list[Split],
        tasks: list[Task],
        standing: list[Standing],
    ) -> dict[str, Any]:
        """Fitted attributes from where each binary problem stands."""
        decoded = [
            self._decode(*task.coefficients(where))
            for task, where in zip(tasks, standing, strict=True)
        ]
        coef = self._scheme().scatter(splits, [beta for beta, _ in decoded], len(labels))
        support = np.flatnonzero(coef.any(axis=0))
        support = support[labels[support].argsort(kind="stable")]
        n_support = np.bincount(labels[support], minlength=len(self.classes_))
        return {
            **self._kept(X, support, coef),
            "n_support_": n_support.astype(np.int32),
            "intercept_": np.array([b for _, b in decoded]),
            "_bounds_": bounds,
        }

    def _decisions(self, X: Any) -> np.ndarray:
        """One column of decision values per binary machine."""
        check_is_fitted(self)
        X = self._validate_for_prediction(X)
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        products = partial(self._products, X)
        values = self._scheme().decide(self._dense_dual_coef(), ends, products)
        return values + self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values of the rows of X.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes: positive for `classes_[1]`. For more, one
        column per class, or per pair of classes if `decision_function_shape="ovo"` and the
        machine is one-versus-one: positive for the first class of the pair.
        """
        decisions = self._decisions(X)
        if len(self.classes_) == 2:
            return decisions[:, 0]
        if self.decision_function_shape == "ovo" and self.multiclass == "ovo":
            return decisions
        return self._scheme().confidence(decisions)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row of X: by votes, ties in votes by the summed decision values."""
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        if len(self.classes_) == 2:
            return self.classes_[self._positive(X).astype(int)]
        return self.classes_[self._scheme().confidence(self._decisions(X)).argmax(axis=1)]

    def _positive(self, X: Any) -> np.ndarray:
        """Which rows of X are of the second of two classes."""
        if isinstance(self._kernel_, Precomputed):
            return self._decisions(X)[:, 0] > 0
        return cross_signs(
            self._kernel_,
            self._validate_for_prediction(X),
            self.support_vectors_,
            self._dense_dual_coef()[0],
            float(self.intercept_[0]),
            thread_count(self.n_jobs),
        )

    @available_if(_calibrated)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, calibrated on held-out decisions.

        The largest is always that of the class `predict` returns.
        """
        decisions = self._decisions(X)
        scheme = self._scheme()
        return self._calibration.probabilities(decisions, scheme)

    @available_if(_calibrated)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _linear_coef(self) -> Any:
        """w of every binary machine."""
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])

        def products(coef: np.ndarray, ends: np.ndarray) -> list[np.ndarray]:
            vectors = self.support_vectors_
            return [np.asarray(vectors[a:b].T @ coef[:, a:b].T) for a, b in pairwise(ends)]

        return self._scheme().decide(self._dense_dual_coef(), ends, products).T
