"""The model so far, saved as a model file after each round: a fit that was killed continues there.

The file is a model as any other: `maxmargin.load` reads it, and it predicts. A fit begins from its
support vectors as a warm start does from those of an array: by the numbers of their rows, which are
fetched from the partitions again, with their labels and weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from importlib import import_module
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels import Kernel
from maxmargin.machines.answers import Answers, Mark
from maxmargin.problem import Status
from maxmargin.resources.arrays import Data, Floats, Numbers
from maxmargin.scale.chunking import PartitionedSolution
from maxmargin.scale.partitions import Partitions
from maxmargin.scale.round import fetch
from maxmargin.scale.rows import RowSet
from maxmargin.scale.survey import Survey

Machine: TypeAlias = Any  # a `DualMachine`, which imports this file
Start = tuple[RowSet, Floats]  # rows, and β of their variables


class Checkpoint:
    """Where the model so far is saved.

    Parameters
    ----------
    path : of the file
    planner : the machine, which knows its parameters and its classes
    attributes : the fitted attributes, from what was found of each problem so far
    mark : from solutions, what makes a certificate that of the machine's form
    count : number of problems
    """

    def __init__(
        self,
        path: Path,
        planner: Machine,
        attributes: Callable[[Sequence[PartitionedSolution | None]], dict[str, Any]],
        mark: Callable[[Sequence[PartitionedSolution]], Mark],
        count: int,
    ) -> None:
        self.path, self.planner = path, planner
        self.attributes, self.mark, self.began = attributes, mark, perf_counter()
        self.parts: list[PartitionedSolution | None] = [None] * count
        self._lock = Lock()
        # It describes all machines, and so stands above them: it is called by its name.
        self.files: Any = import_module("maxmargin.io")

    def starts(self, kernel: Kernel, data: Partitions, found: Survey) -> list[Start | None]:
        """Where each problem begins: at the model of the file, None if there is no file.

        Raises an error if the model is that of another fit, or not whole.
        """
        if not self.path.exists():
            return [None] * len(self.parts)
        own = self.planner.kernel if callable(self.planner.kernel) else None
        try:
            model = self.files.load(self.path, own)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"checkpoint {self.path} cannot be read ({error}): delete it to begin anew"
            ) from error
        order = model.support_.argsort()
        rows = self._rows(model, order, data, found) if self._agrees(model, kernel, found) else None
        if rows is None:
            raise ValueError(
                f"checkpoint {self.path} is of another fit: a {type(model).__name__} with "
                f"{model.kernel_!r} on {model.shape_fit_[0]:,} rows of {model.shape_fit_[1]} "
                "columns, or on other rows. Give another path, or delete it to begin anew"
            )
        plan = self.planner._plan_of_rows(rows.y, rows.weights_or_ones)
        coefs = plan.scheme.gather(plan.splits, model._dense_dual_coef()[:, order])
        return [
            started(rows.take(np.arange(len(rows))[split.rows]), problem.on_variables(coef))
            for split, problem, coef in zip(plan.splits, plan.problems, coefs, strict=True)
        ]

    def _agrees(self, model: Machine, kernel: Kernel, found: Survey) -> bool:
        same = type(model) is type(self.planner) and repr(model.kernel_) == repr(kernel)
        return same and model.shape_fit_ == (found.rows, found.columns)

    def _rows(
        self, model: Machine, order: Numbers, data: Partitions, found: Survey
    ) -> RowSet | None:
        """The support vectors of a model, from the partitions; None if they are not these rows."""
        numbers = model.support_[order].astype(np.int64)
        ends = np.searchsorted(numbers, [*found.starts, found.rows])
        own = [
            (int(start), numbers[first:last] - start)
            for start, first, last in zip(found.starts, ends[:-1], ends[1:], strict=True)
        ]
        rows = RowSet.joined(data.map(fetch, None, own))
        return rows if equal(rows.X, model.support_vectors_[order]) else None

    def save(self, number: int, solution: PartitionedSolution) -> None:
        """Save the model so far, of which a problem has changed; warn if it cannot be.

        It has a certificate as soon as every problem has values.
        """
        with self._lock:
            self.parts[number] = solution
            model = copy(self.planner).set_params(checkpoint=None)
            vars(model).update(self.attributes(self.parts))
            known = [part for part in self.parts if part is not None]
            if len(known) == len(self.parts):
                seconds = perf_counter() - self.began
                Answers(known).proofs(self.mark(known), seconds).set_on(model)
                model.fit_status_ = int(model.certificate_.status is not Status.CONVERGED)
            try:
                self.files.save(model, self.path)
            except OSError as error:
                warnings.warn(
                    f"the checkpoint of this round was not saved, and the fit goes on: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )


def started(rows: RowSet, beta: Floats) -> Start | None:
    """The rows that have a coefficient, and β of their variables; None if there are none."""
    table = beta.reshape(-1, len(rows)) if len(rows) else beta[None]
    some = np.flatnonzero(table.any(axis=0))
    return (rows.take(some), table[:, some]) if len(some) else None


def equal(A: Data, B: Data) -> bool:
    """Whether two tables have the same entries."""
    if A.shape != B.shape:
        return False
    return bool((A != B).nnz == 0 if sp.issparse(A) else (A == B).all())
