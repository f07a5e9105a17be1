"""Linear machines on partitions: a first w from a sample of the rows, then steps on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from maxmargin.gram import DataMatrix
from maxmargin.kernels.centre import centre_of, moved
from maxmargin.machines.fit import Fit
from maxmargin.machines.linear_machine import far
from maxmargin.machines.tasks import Task
from maxmargin.problem import LinearProblem
from maxmargin.resources.arrays import Floats, Labels, Mask
from maxmargin.resources.memory import available_memory
from maxmargin.scale.feature_round import draw
from maxmargin.scale.linear import PartitionedLinear, PartitionedLinearProblem, PartitionedRows
from maxmargin.scale.partitions import Partitions
from maxmargin.scale.rows import RowSet
from maxmargin.scale.survey import Survey
from maxmargin.solvers import AUTOMATIC

Machine: TypeAlias = Any  # a `LinearMachine`, which imports this file
SAMPLE = 20_000  # rows that the driver holds, to begin with
MATRICES = 3  # of d × d numbers: the sums, those of a partition, and their factor
KNOWN = ("classes_", "class_weight_")  # of a classifier
ROUGH = 0.02  # relative gap of that beginning: the other rows change it anyway


@dataclass(frozen=True)
class LinearShareOf:
    """The share of some rows in one problem of a linear machine.

    Attributes
    ----------
    machine : with its parameters and its classes, not fitted
    number : of the problem
    """

    machine: Machine
    number: int

    def __call__(self, y: Labels | None, weights: Floats) -> tuple[Mask, LinearProblem]:
        targets, weights = self.machine._targets_of_rows(self.number, np.asarray(y), weights)
        present = weights > 0
        problem = self.machine._problem(targets[present], self.machine.C * weights[present])
        return present, problem


def check_streams(machine: Machine, data: Partitions) -> None:
    """Raise if this machine, as its parameters are, cannot be trained on these partitions."""
    if not data.labelled:
        raise ValueError(f"{type(machine).__name__} needs labels: the partitions have none")
    if machine._kind is not LinearProblem:
        raise ValueError(
            "penalty='l1' and multi_class='crammer_singer' need all rows at once; on partitions "
            "take penalty='l2' and multi_class='ovr'"
        )
    if machine.solver != "auto":
        raise ValueError(
            f"solver={machine.solver!r} needs all rows at once; on partitions there is one method: "
            "leave solver='auto'"
        )


def fit_linear(machine: Machine, data: Partitions, found: Survey, names: Sequence[str]) -> None:
    """Fit a linear machine; `names` are those of its problems."""
    d = found.columns
    if MATRICES * 8 * d * d > available_memory():
        raise MemoryError(
            f"a linear machine on partitions needs matrices of {d:,} × {d:,}: more than is free; "
            "give all rows at once, or fewer columns"
        )
    data = data.held(found.rows * found.row_bytes)
    machine.__dict__.pop("feature_names_in_", None)
    machine.n_features_in_ = d
    columns = data.columns if data.columns is not None else found.names
    if columns is not None:
        machine.feature_names_in_ = np.asarray(columns, dtype=object)
    planner = clone(machine)
    vars(planner).update({name: vars(machine)[name] for name in KNOWN if name in vars(machine)})
    share = min(1.0, SAMPLE / found.rows)
    sample = RowSet.joined(data.map(draw, share, found.starts.tolist()))
    away = not sp.issparse(sample.X) and machine.fit_intercept and far(sample.X)
    rows = PartitionedRows(data, centre_of(sample.X) if away else np.zeros(d))
    solver = PartitionedLinear(tol=machine.tol, max_iter=machine.max_iter)
    tasks = []
    for number, name in enumerate(names):
        own = LinearShareOf(planner, number)
        start, length = beginning(own, sample, found.rows / len(sample), rows.centre)
        smooth = machine._loss().kappa > 0
        problem = PartitionedLinearProblem(own, machine.fit_intercept, smooth, length)
        tasks.append(Task(name, problem, lambda: rows, solver, start=start))
    with Fit(machine, data, None) as run:
        in_parallel = data.workers > 1 and len(tasks) > 1
        run.end(run.solve(tasks, partial(machine._model, rows.centre), in_parallel=in_parallel))
    if rows.lost is not None:
        machine._ended_by = rows.lost


def beginning(
    share: LinearShareOf, sample: RowSet, more: float, centre: Floats
) -> tuple[tuple[Floats, float], float]:
    """w and b of a sample of rows, each of which stands for several; and their mean cost."""
    present, problem = share(sample.y, sample.weights_or_ones)
    if not present.any():
        return (np.zeros(sample.X.shape[1]), 0.0), 1.0
    X = sample.X[present]
    first = AUTOMATIC[LinearProblem](tol=ROUGH).solve(
        replace(problem, cost=more * problem.cost), DataMatrix(moved(X, centre))
    )
    offset = float(first.offsets[0]) if len(first.offsets) else 0.0
    coef = np.zeros(X.shape[1]) if first.coef is None else first.coef
    return (coef, offset), float(problem.cost.mean())
