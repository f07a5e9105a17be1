"""A fitted estimator as displays need it: its machine, its rows, and whether they belong together.

A machine may be the last step of a pipeline, and either may be the best of a search. The picture
is in the units of X; the machine's own space is what the steps before it make of X.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from maxmargin.resources.arrays import Data, Floats


@dataclass(frozen=True)
class FittedMachine:
    """A fitted machine and the steps before it.

    Attributes
    ----------
    estimator : takes X as it is
    machine : its last step
    own_space : what the steps before make of rows, as an array
    """

    estimator: Any
    machine: Any
    own_space: Callable[[Data], Floats]

    @classmethod
    def of(cls, estimator: Any) -> FittedMachine:
        """Of a machine, a pipeline that ends in one, or a fitted search over either."""
        check_is_fitted(estimator)
        estimator = getattr(estimator, "best_estimator_", estimator)
        if not isinstance(estimator, Pipeline):
            return cls(estimator, estimator, dense)
        steps = estimator[:-1]
        return cls(estimator, estimator[-1], lambda X: dense(steps.transform(X)))

    def check_rows(self, X: Data, caller: str) -> None:
        """Raise if X is not what the machine was fitted on, as far as it remembers that."""
        if not hasattr(self.machine, "support_") or not hasattr(self.machine, "shape_fit_"):
            return
        remembered, rows = self.machine.shape_fit_[0], len(X)
        if rows != remembered:
            raise ValueError(
                f"{caller} marks the support vectors of the training data: X has {rows} rows, but "
                f"the machine was fitted on {remembered}. Give the X and y it was fitted on."
            )
        vectors = dense(self.machine.support_vectors_)
        if not np.allclose(self.own_space(X)[self.machine.support_], vectors):
            raise ValueError(
                f"{caller} marks the support vectors of the training data, and those of this "
                "machine are not among the rows of X: give the X and y it was fitted on."
            )

    def check_labels(self, X: Data, y: Any, caller: str) -> NDArray[Any]:
        """The labels as an array, or an error that names one the machine does not know."""
        labels: NDArray[Any] = column_or_1d(y)
        check_consistent_length(X, labels)
        classes = self.machine.classes_
        strange = ~np.isin(labels, classes)
        if strange.any():
            row = int(strange.argmax())
            raise ValueError(
                f"{caller}: row {row} has the label {labels.tolist()[row]!r}, but the machine "
                f"knows {', '.join(map(repr, classes.tolist()))} only"
            )
        return labels


def dense(X: Data) -> Floats:
    """X as an array."""
    values: Floats = X.toarray() if sp.issparse(X) else np.asarray(X)
    return values


def table(X: Any) -> Any:
    """X as an array; a frame stays a frame."""
    return X if hasattr(X, "iloc") else np.asarray(X)
