"""Base of the kernel classifiers: labels, weights, the binary problems, votes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from maxmargin.conventions import StrOptions, exists_if, fitting
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.machines.fit import Fit
from maxmargin.machines.libsvm_votes import LibsvmVotes
from maxmargin.machines.multiclass import OneVersusOne, OneVersusRest, class_of, scheme_of
from maxmargin.machines.partitioned import fit_partitions
from maxmargin.machines.partitioned_probability import calibrated
from maxmargin.machines.plan import Plan, Problems
from maxmargin.machines.probability import SHARE_OF_MODEL, Calibration
from maxmargin.machines.validation import (
    check_two_classes,
    checked_weights,
    class_numbers,
    class_weights,
)
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Data, Floats, Labels, Mask, Numbers
from maxmargin.scale.kinds import as_partitions, by_block, without_names
from maxmargin.scale.scores import accuracy
from maxmargin.scale.survey import Survey

ClassScheme = OneVersusOne | OneVersusRest


def _calibrated(machine: KernelClassifier) -> bool:
    if not machine._calibrates:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class KernelClassifier(ClassifierMixin, DualMachine):
    """Base of SVC and NuSVC: binary machines, combined over pairs of classes or over classes."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DualMachine._parameter_constraints,
        "probability": ["boolean", StrOptions({"deprecated"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "random_state": ["random_state"],
        "multiclass": [StrOptions({"ovo", "ovr"})],
    }

    classes_: Labels
    class_weight_: Floats

    @abstractmethod
    def _bounds(self, weights: Floats) -> Floats:
        """The largest |β| of each row, from its weight."""

    @abstractmethod
    def _problem(self, number: int, signs: Floats, bounds: Floats, counts: Floats) -> DualProblem:
        """The dual problem of a binary machine; a row of sample weight two counts twice."""

    def _is_c_svc(self) -> bool:
        """Whether the binary problems are those of a C-SVC with an offset and finite C."""
        return False

    @fitting
    def fit(
        self, X: Data, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on the rows of X with the labels y.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features), or (n_samples, n_samples) for
            kernel="precomputed". float32 stays float32. Or rows in partitions: `maxmargin.scale`,
            or a collection of Dask.
        y : array of shape (n_samples,); None if the partitions have labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C row by row.

        Returns
        -------
        self
        """
        if (data := as_partitions(X, y, sample_weight)) is not None:
            fit_partitions(self, data, classes=True)
            self._calibration = calibrated(self, data) if self._calibrates else Calibration.none()
            return self
        X, y = self._validate(X, y)
        sample_weight = checked_weights(sample_weight, X)
        with Fit(self, X, y) as run:
            with run.within(SHARE_OF_MODEL if self._calibrates else 1.0):
                self._fit_model(run, X, y, sample_weight)
            self._calibration = Calibration.none()
            if self._calibrates:
                self._calibration = Calibration.cross_validated(run, X, y, sample_weight)
        return self

    def _fit_model(self, run: Fit, X: Data, y: ArrayLike, sample_weight: Floats | None) -> None:
        """The machine without probabilities."""
        self._train(run, X, self._plan(y, sample_weight), sample_weight)

    @property
    def _calibrates(self) -> bool:
        """Whether `probability` asks for probabilities: scikit-learn 1.9's default does not."""
        return bool(self.probability) and self.probability != "deprecated"

    def _plan(self, y: ArrayLike, sample_weight: Floats | None) -> Plan:
        """The binary problems of the classes in y."""
        classes, labels = class_numbers(y)
        before = getattr(self, "classes_", None)
        if self.warm_start and before is not None and not np.array_equal(classes, before):
            raise ValueError(
                f"warm_start=True needs the same classes as before: had {before.tolist()}, "
                f"got {classes.tolist()}"
            )
        counts = np.ones(len(labels)) if sample_weight is None else sample_weight
        weight = class_weights(self.class_weight, classes, labels, counts > 0)
        check_two_classes(labels, weight, sample_weight)
        scheme = scheme_of(self.multiclass, classes)
        return self._plan_of(scheme, labels, weight, counts)

    def _plan_of(
        self, scheme: ClassScheme, labels: Numbers, class_weight: Floats, counts: Floats
    ) -> Plan:
        bounds, splits = self._bounds(class_weight[labels] * counts), scheme.splits(labels)
        problems = Problems(self._problem, splits, bounds, counts)
        known = {"classes_": scheme.classes, "class_weight_": class_weight}
        pairs = self._is_c_svc() and len(splits) > 1 and scheme.in_pairs
        return Plan(scheme, splits, problems, bounds, labels, known, pairs)

    def _known_of(self, found: Survey) -> dict[str, Any]:
        one_each = np.arange(len(found.classes))
        weight = class_weights(self.class_weight, found.classes, one_each, found.counts)
        return {"classes_": found.classes, "class_weight_": weight}

    def _plan_of_rows(self, y: Labels | None, weights: Floats) -> Plan:
        labels = np.searchsorted(self.classes_, np.asarray(y))
        return self._plan_of(self._scheme(), labels, self.class_weight_, weights)

    @property
    def n_iter_(self) -> Floats:
        """Steps taken, for each binary problem."""
        return np.array([proof.n_iter for proof in self.certificates_], np.int32)

    @property
    def probA_(self) -> Floats:
        """A of every binary machine's 1 / (1 + exp(A f + B)); empty without `probability`."""
        return self._calibration.slopes

    @property
    def probB_(self) -> Floats:
        """B of every binary machine's 1 / (1 + exp(A f + B)); empty without `probability`."""
        return self._calibration.shifts

    def _scheme(self) -> ClassScheme:
        if hasattr(self, "label_order_"):
            return LibsvmVotes(self.classes_, self.label_order_)
        return scheme_of(self.multiclass, self.classes_)

    @by_block
    def decision_function(self, X: Data) -> Floats:
        """Decision values of the rows of X.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes: positive for `classes_[1]`. For more, one
        column per class, or per pair of classes if `decision_function_shape="ovo"` and the
        machine is one-versus-one: positive for the first class of the pair.
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return self._decisions(X)[:, 0]
        if self.decision_function_shape == "ovo" and self.multiclass == "ovo":
            return self._decisions(X, of=np.array)  # the memory of the values is used again
        return self._decisions(X, of=self._scheme().confidence)

    @by_block
    def predict(self, X: Data) -> Labels:
        """The class of each row of X: by votes, ties in votes by the summed decision values.

        A machine of a LIBSVM file breaks ties as LIBSVM does: the class that is first in the file.
        """
        if not hasattr(self, "_form_"):
            check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        if len(self.classes_) == 2 and not hasattr(self, "label_order_"):
            return self.classes_.take(self._form_.positive(self, X))
        return class_of(self.classes_, self._decisions(X, of=self._scheme().confidence))

    @by_block
    def ambiguous(self, X: Data) -> Mask:
        """Whether the binary machines disagree about each row of X.

        One-versus-one: several classes share the most votes. One-versus-rest: no machine claims
        the row, or more than one does. `predict` decides there by the decision values of machines
        that never met. With two classes there is one machine, and no row is ambiguous.
        """
        check_is_fitted(self)
        return self._scheme().ambiguous(self._decisions(X))

    def score(
        self, X: Data, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """The share of rows of X whose label is predicted."""
        if (data := as_partitions(X, y, sample_weight)) is not None:
            share: float = accuracy(data, without_names(self).predict)
            return share
        plain: float = super().score(X, y, sample_weight)
        return plain

    @exists_if(_calibrated)
    @by_block
    def predict_proba(self, X: Data) -> Floats:
        """Probability of each class, calibrated on held-out decisions.

        Class weights move `predict`, not the probabilities: near the boundary the likeliest class
        need not be the predicted one.
        """
        decisions = self._decisions(X)
        if not len(self._calibration.slopes):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False, or when the "
                f"fit ended before its folds (this one: {self.certificate_.status.value}): fit "
                "again, with probability=True"
            )
        return self._calibration.probabilities(decisions, self._scheme())

    @exists_if(_calibrated)
    @by_block
    def predict_log_proba(self, X: Data) -> Floats:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
