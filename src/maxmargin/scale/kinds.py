"""Which data are rows in partitions, and what a machine answers for them."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial, wraps
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.resources.arrays import Data
from maxmargin.scale.partitions import Partitions

Machine = TypeVar("Machine")
Result = TypeVar("Result")


def as_partitions(
    X: Data, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> Partitions | None:
    """X with its labels and weights as partitions; None if X is not of such a kind."""
    if isinstance(X, Partitions):
        if y is not None or sample_weight is not None:
            raise ValueError(
                f"labels and weights belong to the partitions: give them to {type(X).__name__}, "
                "and the partitions alone to fit"
            )
        return X
    if is_dask(X[0] if isinstance(X, list | tuple) and len(X) else X):
        from maxmargin.scale.on_dask import DaskPartitions

        return DaskPartitions(X, y, sample_weight)
    return None


def is_dask(X: Data) -> bool:
    """Whether X is a collection of Dask, without importing it."""
    return type(X).__module__.partition(".")[0] == "dask"


def by_block(method: Callable[[Machine, Data], Result]) -> Callable[[Machine, Data], Result]:
    """A method that answers row by row: for partitions block by block, lazily on Dask."""

    @wraps(method)
    def answer(machine: Machine, X: Data) -> Result:
        data = as_partitions(X)
        if data is None:
            return method(machine, X)
        named = getattr(machine, "feature_names_in_", None)
        if data.columns is not None and named is not None and list(named) != list(data.columns):
            raise ValueError(
                f"the columns are {', '.join(data.columns)}, but {type(machine).__name__} was "
                f"fitted on {', '.join(named)}"
            )
        ask = partial(method, without_names(machine))
        columns: int = vars(machine).get("n_features_in_", 1)
        answers: Result = data.answers(ask, ask(np.zeros((1, columns))))
        return answers

    return answer


def without_names(machine: Machine) -> Machine:
    """A copy that is asked for blocks, which are arrays: their columns have no names."""
    plain = copy(machine)
    vars(plain).pop("feature_names_in_", None)
    return plain
