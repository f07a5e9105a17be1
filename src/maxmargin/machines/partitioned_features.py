"""Machines on features over partitions: φ and a first w from a sample, then steps on all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from maxmargin.kernels import Kernel
from maxmargin.machines.feature_map import FeatureMap
from maxmargin.machines.tasks import Task, TaskState
from maxmargin.resources.arrays import Floats
from maxmargin.resources.threads import thread_count
from maxmargin.scale.feature_round import draw
from maxmargin.scale.features import PartitionedFeatures, PartitionedNewton
from maxmargin.scale.partitions import Partitions
from maxmargin.scale.round import Share
from maxmargin.scale.rows import RowSet
from maxmargin.scale.state import PartitionedProblem
from maxmargin.scale.survey import Survey
from maxmargin.solvers import FeatureNewton
from maxmargin.solvers.features.proximal_newton import mean_length

Machine: TypeAlias = Any  # an `SVC` or `SVR`
SAMPLE = 20_000  # rows that the driver holds, to draw φ from and to begin with
ROUGH = 0.02  # relative gap of that beginning: the other rows change it anyway


class PartitionedPlan(NamedTuple):
    """What is known before the first round of a fit over partitions.

    Attributes
    ----------
    machine : the estimator
    planner : a copy that knows its classes
    shares : of each problem, its name and what makes the share of some rows
    data, found : the partitions, and what is known of them
    kernel : bound to the data
    """

    machine: Machine
    planner: Machine
    shares: Sequence[tuple[str, Share]]
    data: Partitions
    found: Survey
    kernel: Kernel


class FeatureStage:
    """The tasks of a fit on features, and the model that their states give."""

    def __init__(self, known: PartitionedPlan) -> None:
        machine, planner, shares, data, found, kernel = known
        self.found, self.planner = found, planner
        share = min(1.0, SAMPLE / found.rows)
        rows = RowSet.joined(data.map(draw, share, found.starts.tolist()))
        self.form = FeatureMap.fitted(machine, kernel, rows.X, rows.weights, machine.tol)
        gram = self.gram = PartitionedFeatures(
            kernel,
            data,
            found,
            machine.cache_size,
            thread_count(machine.n_jobs),
            features=self.form.features,
        )
        more = found.rows / max(len(rows), 1)  # rows that each of the sample stands for
        plan = planner._plan_of_rows(rows.y, rows.weights_or_ones * more)
        small = self.form.gram(machine, rows.X, shared=len(plan.problems) > 1)
        limits = {"tol": machine.tol, "max_iter": machine.max_iter}
        self.tasks = []
        for (name, own), split, problem in zip(shares, plan.splits, plan.problems, strict=True):
            first = FeatureNewton(tol=ROUGH).solve(problem, small.take(split.rows))
            start = first.coef, float(first.offsets[0]) if len(first.offsets) else 0.0
            solver = PartitionedNewton(length=mean_length(problem) / more, **limits)
            self.tasks.append(
                Task(name, PartitionedProblem(own), lambda: gram, solver, start=start)
            )

    def attributes(self, states: Sequence[TaskState]) -> dict[str, Any]:
        """φ, w and b. What belongs to single rows, β, stays with them."""
        nothing: Floats = np.zeros(self.form.columns)
        offsets = [np.zeros(0) if state is None else state.offsets for state in states]
        return {
            **self.form.fitted_attributes,
            "feature_coef_": np.array([nothing if s is None else s.coef for s in states]),
            "intercept_": np.array([self.planner._decode(nothing, b)[1] for b in offsets]),
            "shape_fit_": (self.found.rows, self.found.columns),
        }

    def indefinite(self, solutions: Sequence[TaskState], stopped: Callable[[], object]) -> str:
        """Nothing: K̂ is a matrix of inner products."""
        return ""
