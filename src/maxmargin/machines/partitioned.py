"""Training on partitions: the same problems, of rows that are in files or on a cluster.

A partition is some rows, and the plan of some rows is what every machine makes of labels and
weights anyway; so a partition makes its own share of each problem, and the model is made of the
plan of the support vectors alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from maxmargin.certificate import IndefiniteCertificate
from maxmargin.machines.answers import Answers, Mark
from maxmargin.machines.checkpoint import Checkpoint, Start
from maxmargin.machines.fit import Fit
from maxmargin.machines.partitioned_features import FeatureStage, PartitionedPlan
from maxmargin.machines.support_vectors import SupportVectors
from maxmargin.machines.tasks import Task, TaskState
from maxmargin.machines.validation import warn
from maxmargin.problem import DualProblem, Solution
from maxmargin.resources.arrays import Floats, Labels, Numbers
from maxmargin.resources.memory import available_memory
from maxmargin.resources.threads import thread_count
from maxmargin.scale.chunking import PartitionedChunking, PartitionedSolution, support_of
from maxmargin.scale.partitions import Partitions
from maxmargin.scale.rows import RowSet
from maxmargin.scale.state import PartitionedGram, PartitionedProblem
from maxmargin.scale.survey import Survey, survey
from maxmargin.solvers import Chunking, Progress

Machine: TypeAlias = Any  # a `DualMachine`, which imports this file
Attributes: TypeAlias = dict[str, Any]
Found = tuple[RowSet, Floats, Floats]  # rows with a coefficient, β of their variables, the offsets

MULTIPLICATION = 1e-11  # seconds: e of docs/do/sizing.md


@dataclass(frozen=True)
class ShareOf:
    """The share of some rows in one problem of a machine.

    Attributes
    ----------
    machine : with its parameters and its classes, not fitted
    number : of the problem
    """

    machine: Machine
    number: int

    def __call__(self, y: Labels | None, weights: Floats) -> tuple[Numbers | slice, DualProblem]:
        plan = self.machine._plan_of_rows(y, weights)
        return plan.splits[self.number].rows, plan.problems[self.number]


def fit_partitions(
    machine: Machine, data: Partitions, *, classes: bool = False, labels: bool = True
) -> None:
    """Fit a machine on partitions: survey, formulate, solve, set attributes.

    `classes` says that labels are classes, `labels` that there must be some.
    """
    check_takes(machine)
    if labels and not data.labelled:
        raise ValueError(f"{type(machine).__name__} needs labels: the partitions have none")
    with Fit(machine, data, None) as run:
        found = survey(data, classes=classes, labels=labels)
        _fit(run, machine, data.held(found.rows * found.row_bytes), found)


def _fit(run: Fit, machine: Machine, data: Partitions, found: Survey) -> None:
    known = machine._known_of(found) | {"n_features_in_": found.columns}
    names = data.columns if data.columns is not None else found.names
    if names is not None:
        known["feature_names_in_"] = np.asarray(names, dtype=object)
    planner = clone(machine)
    vars(planner).update(known)
    kernel = machine._kernel().with_gamma(found.gamma)
    few = planner._plan_of_rows(found.classes[:0], np.zeros(0))
    shares = [(split.name, ShareOf(planner, number)) for number, split in enumerate(few.splits)]
    exact = getattr(machine, "approximation", None) is None
    kind = ExactStage if exact else FeatureStage
    stage = kind(PartitionedPlan(machine, planner, shares, data, found, kernel))

    def model(states: Sequence[TaskState]) -> Attributes:
        return {**known, **stage.attributes(states)}

    machine._forget_last_fit()
    solutions = run.solve(stage.tasks, model, in_parallel=data.workers > 1)
    machine.__dict__.pop("feature_names_in_", None)
    certificate = stage.form.certificate
    if why := stage.indefinite(solutions, run.halted):
        certificate = partial(IndefiniteCertificate.of_values, why)
        run.warn_of_indefinite_kernel(why)
    run.end(solutions, certificate)
    if stage.gram.lost is not None:
        machine._ended_by = stage.gram.lost
    elif exact and slower(data, found, solutions):
        warn(
            f"one process is faster than the cluster here: {found.rows:,} rows fit into its "
            "memory, and a round waits longer for messages than the workers save. Give arrays: "
            "X.compute() and y.compute()"
        )


def slower(data: Partitions, found: Survey, solutions: Sequence[PartitionedSolution]) -> bool:
    """Whether rounds waited longer for messages than workers saved: docs/do/sizing.md.

    With n rows of d columns, S support vectors, r rounds and w workers the maps of a fit take
    L (r + 2) + e n S r (d + 17) / w seconds; in one process, without messages, e n S r (d + 17).
    Problems may be solved at once: of all that wait, only the longest counts.
    """
    if found.rows * found.row_bytes > available_memory() / 2:  # too many for one process
        return False
    rounds = [int(each.history["rounds"][-1]) for each in solutions]
    products = sum(r * len(each.rows) for r, each in zip(rounds, solutions, strict=True))
    alone = MULTIPLICATION * found.rows * (found.columns + 17) * products
    return data.latency * (max(rounds) + 2) > alone * (1 - 1 / data.workers)


class ExactStage:
    """The tasks of an exact fit, and the model that their states give."""

    def __init__(self, known: PartitionedPlan) -> None:
        machine, planner, shares, data, found, kernel = known
        self.planner, self.found, self.form = planner, found, SupportVectors(kernel)
        threads = thread_count(machine.n_jobs)
        gram = self.gram = PartitionedGram(kernel, data, found, machine.cache_size, threads)
        solver, count = chunking(machine, self.form), len(shares)
        solvers, starts = [solver] * count, list[Start | None]([None] * count)
        if (path := getattr(machine, "checkpoint", None)) is not None:
            saved = Checkpoint(Path(path), planner, self.attributes, self._mark, count)
            starts = saved.starts(kernel, data, found)
            solvers = [replace(solver, save=partial(saved.save, k)) for k in range(count)]
        self.tasks = [
            Task(name, PartitionedProblem(share), lambda: gram, solvers[k], start=starts[k])
            for k, (name, share) in enumerate(shares)
        ]

    def attributes(self, states: Sequence[TaskState]) -> Attributes:
        """The support vectors and their coefficients."""
        parts = [None if state is None else support(state) for state in states]
        return attributes(self.planner, self.form, self.found, parts)

    def indefinite(
        self, solutions: Sequence[PartitionedSolution], stopped: Callable[[], object]
    ) -> str:
        """What shows on the support vectors that K is indefinite; "" if nothing does."""
        rows = RowSet.joined([solution.rows for solution in solutions])
        return self.form.indefinite(rows.X, (), (), stopped) if len(rows) else ""

    def _mark(self, solutions: Sequence[PartitionedSolution]) -> Mark:
        """The certificate of the model so far says, too, that a kernel is indefinite."""
        why = self.indefinite(solutions, lambda: None)
        return partial(IndefiniteCertificate.of_values, why) if why else self.form.certificate


def chunking(machine: Machine, form: SupportVectors) -> PartitionedChunking:
    """The solver over partitions: the machine's own solves each working problem."""
    inner = form.solver(machine)
    limits = {"tol": machine.tol, "max_iter": machine.max_iter, "watch": machine._watch}
    if isinstance(inner, Chunking):
        return PartitionedChunking(inner=inner.inner, violators=inner.violators, **limits)
    return PartitionedChunking(inner=inner, **limits)


def attributes(
    planner: Machine, form: SupportVectors, found: Survey, parts: Sequence[Found | None]
) -> Attributes:
    """Fitted attributes: those of a machine that has its support vectors for all its data."""
    every = RowSet.joined([part[0] for part in parts if part is not None])
    numbers, first = np.unique(every.numbers, return_index=True)
    rows = every.take(first)
    plan = planner._plan_of_rows(rows.y, rows.weights_or_ones)
    placed = [
        None if part is None else Placed(split.rows, *part, numbers)
        for split, part in zip(plan.splits, parts, strict=True)
    ]
    made: Attributes = planner._attributes(rows.X, plan, form, Answers(placed))
    del made["_bounds_"]
    chosen = numbers[made["support_"]]
    small = found.rows <= np.iinfo(np.int32).max
    return {
        **made,
        "support_": chosen.astype(np.int32) if small else chosen,
        "shape_fit_": (found.rows, found.columns),
    }


def support(state: Solution | Progress) -> Found:
    """The rows with a coefficient, β of their variables, and the offsets."""
    if isinstance(state, PartitionedSolution):
        return state.rows, state.beta, state.offsets
    if isinstance(state, Progress):
        return *support_of(state.state), state.offsets
    raise TypeError("a solution over partitions is given by its rows")


class Placed:
    """β of all variables of a plan, and the offsets: a solution of some rows among others."""

    def __init__(
        self, members: Numbers | slice, rows: RowSet, beta: Floats, offsets: Floats, every: Numbers
    ) -> None:
        numbers = every[members]
        whole = np.zeros((len(beta), len(numbers)))
        places = numbers.argsort()
        whole[:, places[np.searchsorted(numbers, rows.numbers, sorter=places)]] = beta
        self.beta, self.offsets = whole.ravel(), offsets


def check_takes(machine: Machine) -> None:
    """Raise if this machine, as its parameters are, cannot be trained on partitions."""
    if not machine._takes_partitions:
        raise TypeError(f"{type(machine).__name__} takes all rows at once; SVC takes partitions")
    params = machine.get_params()
    if "nu" in params and not params.get("fit_intercept", True):
        raise ValueError(
            f"{type(machine).__name__}(fit_intercept=False) takes all rows at once; SVR takes "
            "partitions without an offset too"
        )
    if machine.warm_start:
        raise ValueError("warm_start=True is for arrays; on partitions use checkpoint=path")
    if getattr(machine, "refine", False):
        raise ValueError(
            "refine=True is for arrays; on partitions leave out approximation= instead"
        )
    if getattr(machine, "approximation", None) is not None and machine.checkpoint is not None:
        raise ValueError("checkpoint= saves support vectors: leave it out with approximation=")
    if machine._kernel().precomputed:
        raise ValueError(
            "kernel='precomputed' needs all rows at once: partitions are rows, not kernel values"
        )
