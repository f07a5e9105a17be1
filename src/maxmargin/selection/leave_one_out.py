"""Exact leave-one-out: every row predicted by a machine that was trained without it.

A row that is not a support vector can be left out without changing the solution, so it keeps its
prediction. A support vector is removed from the full solution (see `removal`): on one matrix K, all
that changes is the box of one variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from threading import Event
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from maxmargin.certificate import Certificate
from maxmargin.gram.held import HeldGram
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.machines.support_vectors import SupportVectors
from maxmargin.machines.tasks import run_threads
from maxmargin.machines.validation import checked_weights
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Data, Floats, Labels, Mask, Numbers
from maxmargin.resources.threads import one_blas_thread, thread_count
from maxmargin.results import Result
from maxmargin.selection.bounds import Estimate, bounds_of, span, timed
from maxmargin.selection.matrices import budget_of
from maxmargin.selection.removal import Removal, Removed
from maxmargin.selection.target import RealTarget, Target, check_sums, target_of, validated
from maxmargin.solvers.qp.path import CHUNK, SNAP, units

FEWEST, MOST = 16, 256  # rows removed at a time: more take more memory, and fewer more rounds
LINES = 8  # of numbers over all rows for each row removed: β, f, and what is made of them
TABLEAU = 16  # bytes for each entry of a tableau: itself, and what it is made of


@dataclass(frozen=True, repr=False)
class LeaveOneOut(Result):
    """What `leave_one_out` found.

    Attributes
    ----------
    predictions : ndarray of shape (n,), of each row by the machine trained without it
    decisions : ndarray of shape (n, n_problems), its decision values; one column for two classes
        and for numbers, one for each pair of classes (or class) otherwise
    error : share of wrong predictions, or the mean squared error of a regressor, by weight
    certificates : one for each row, of the retraining without it
    bounds : by name, what the error is at most, known without retraining, and what that cost
    span : an estimate of the error without retraining, which may be less than it
    retrained : mask of the rows that are support vectors: only they were retrained
    models : coefficients and offset of each row's machine, of a regressor
    seconds : of everything
    """

    predictions: Labels
    decisions: Floats
    error: float
    certificates: list[Certificate]
    bounds: dict[str, Estimate]
    span: Estimate
    retrained: Mask
    models: list[tuple[Floats, float]]
    seconds: float


def leave_one_out(
    machine: DualMachine,
    X: Data,
    y: ArrayLike,
    *,
    n_jobs: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> LeaveOneOut:
    """Predict every row by the machine that is trained without it: exactly, and quickly.

    Parameters
    ----------
    machine : SVC, NuSVC, SVR or NuSVR; it is cloned. A rule for γ is applied to all rows once.
        A pipeline is refused: its transformers would be fitted again without each row. If they may
        be fitted once, to all rows, give `pipeline[-1]` and `pipeline[:-1].fit_transform(X, y)`.
    X, y : rows and targets
    n_jobs : int, default=None
        Threads; None uses every core.
    sample_weight : array, default=None
        Multiplies C row by row, and weights the error and its bounds.

    Returns
    -------
    LeaveOneOut

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> left = leave_one_out(SVC(), X, y)
    >>> round(left.error, 3), left.error <= left.bounds["support vectors"].value
    (0.033, True)
    >>> all(proof.kkt_violation <= 1e-3 for proof in left.certificates)
    True
    """
    with one_blas_thread():  # set once: its own would spin beside these threads
        return left_out(machine, X, y, n_jobs, sample_weight)


def left_out(
    machine: DualMachine,
    X: Data,
    y: ArrayLike,
    n_jobs: int | None,
    sample_weight: ArrayLike | None,
) -> LeaveOneOut:
    """`leave_one_out` with one thread of BLAS."""
    began, machine = perf_counter(), clone(machine)
    check_machine(machine)
    X, y = validated(machine, X, y)
    target, given = target_of(machine, y), checked_weights(sample_weight, X)
    weights = np.ones(target.n) if given is None else given
    target.check(np.flatnonzero(weights > 0), "leave-one-out")
    problems, threads = target.problems(machine, weights), thread_count(n_jobs)
    spare = room_beside(machine.cache_size, target, problems, threads)
    at_once = min(FEWEST + spare // (8 * target.n * LINES * threads), MOST)
    gram, solver = held(machine, X, given), SupportVectors(machine._kernel()).solver(machine)
    full = []
    for problem, split in zip(problems, target.splits, strict=True):
        room = (spare + TABLEAU * units(problem) ** 2) / 2**20  # there is no tableau yet
        part = HeldGram(gram.take(split.rows).K, cache_size=room)
        full.append(Removal(machine, problem, part, solver))
    decisions = whole_decisions(target, gram, full)
    alike = [only_its_box(machine, target, k, each, weights) for k, each in enumerate(full)]
    bounds = bounds_of(target, full, decisions, weights, alike=all(alike))
    estimate = timed(lambda: span(target, full, decisions, weights))
    jobs = [
        (number, batch)
        for number, removal in enumerate(full)
        for batch in batches(
            affected(target, number, removal, weights, alike=alike[number]), threads, at_once
        )
    ]

    kept = [removal.certificate for removal in full]
    proofs: dict[int, list[Certificate]] = {}
    models = [full[0].model for _ in range(target.n)] if isinstance(target, RealTarget) else []
    stop = Event()

    def work(k: int) -> list[Removed]:
        if stop.is_set():
            return []
        number, local = jobs[k]
        rows, others = rows_of(target, number), None
        if not alike[number]:
            others = [without(machine, target, number, weights, rows[i]) for i in local]
        found = full[number].remove(local, others)
        if "ξα" in bounds and not b_stays_unique(full[0].problem, found):
            bounds.pop("ξα", None)
        return found if models else [each._replace(coef=np.empty(0)) for each in found]

    found = run_threads(work, len(jobs), threads, stop.set)
    if stop.is_set():
        raise KeyboardInterrupt("leave-one-out was interrupted; it has no result before its end")
    for (number, local), results in zip(jobs, found, strict=True):
        for row, result in zip(rows_of(target, number)[local].tolist(), results, strict=True):
            decisions[row, number] = result.decision
            proofs.setdefault(row, kept.copy())[number] = result.certificate
            if models:
                models[row] = result.coef, result.offset
    for number, removal in enumerate(full):
        beyond = np.setdiff1d(np.flatnonzero(weights > 0), rows_of(target, number))
        if alike[number] or not len(beyond):
            continue
        # Its weights, if balanced, count these rows too, each alike: one problem is that of all.
        problem = without(machine, target, number, weights, beyond[0])
        if all(np.array_equal(a, b) for a, b in p_bounds(removal.problem, problem)):
            continue
        other = Removal(machine, problem, removal.gram, solver)
        K = gram.K[np.ix_(beyond, rows_of(target, number))]
        decisions[beyond, number] = K @ other.model[0] + other.model[1]
        for row in beyond.tolist():
            proofs.setdefault(row, kept.copy())[number] = other.certificate
    certificates = [together(kept)] * target.n
    retrained = np.zeros(target.n, bool)
    for row, parts in proofs.items():
        certificates[row], retrained[row] = together(parts), True
    predictions = target.predictions(decisions)
    return LeaveOneOut(
        predictions=predictions,
        decisions=decisions,
        error=target.error(predictions, weights),
        certificates=certificates,
        bounds=bounds,
        span=estimate,
        retrained=retrained,
        models=models,
        seconds=perf_counter() - began,
    )


def b_stays_unique(problem: DualProblem, found: Sequence[Removed]) -> bool:
    """Whether every machine without a row has a free support vector, if it has a b at all."""
    coef = np.array([each.coef for each in found]).reshape(-1, problem.size)
    width = np.minimum(problem.upper - problem.lower, np.abs(coef).max(initial=0.0))
    inside = (problem.lower + SNAP * width < coef) & (coef < problem.upper - SNAP * width)
    return not problem.n_groups or bool(inside.any(axis=1).all())


def together(proofs: Sequence[Certificate]) -> Certificate:
    """The certificate of a machine of several problems."""
    return Certificate.total(proofs, sum([each.seconds for each in proofs]))


def check_machine(machine: Any) -> None:
    """Raise if rows cannot be left out of this machine."""
    if isinstance(machine, Pipeline):
        raise TypeError(
            "leave_one_out takes a machine: the transformers of a pipeline would have to be fitted "
            "again without each row, as cross_val_predict(pipeline, X, y, cv=LeaveOneOut()) does. "
            "With transformers that are fitted once, to all rows: leave_one_out(pipeline[-1], "
            "pipeline[:-1].fit_transform(X, y), y)"
        )
    if not isinstance(machine, DualMachine):
        raise TypeError(
            f"leave_one_out takes an SVC, NuSVC, SVR or NuSVR, not {machine!r}; "
            "cross_val_predict(cv=LeaveOneOut()) takes any estimator"
        )
    machine._validate_params()
    params = machine.get_params()
    if params.get("approximation") is not None:
        raise ValueError("leave_one_out works on the kernel itself: use approximation=None")
    if "nu" in params and params.get("class_weight") is not None:
        raise ValueError(
            "leave_one_out cannot take a NuSVC with class_weight, which is two fits in one: use "
            "an SVC with class_weight, or class_weight=None"
        )
    check_sums(machine, "leave_one_out", "cross_val_predict(cv=LeaveOneOut())")


def room_beside(
    cache_size: float | None, target: Target, problems: Sequence[DualProblem], threads: int
) -> int:
    """Bytes of the budget that K, tableaus, models and batches leave; raise if it is too small."""
    n, budget = target.n, budget_of(cache_size)
    lines = threads * (LINES * FEWEST + CHUNK)
    needs = 8 * n * (n + lines + n * isinstance(target, RealTarget))
    for problem, split in zip(problems, target.splits, strict=True):
        m = units(problem)
        own = 0 if isinstance(split.rows, slice) and m == n else 8
        needs += (TABLEAU + own) * m**2
    if needs > budget:
        raise ValueError(
            f"leave-one-out holds the kernel matrix of {n:,} rows and its tableaus in memory, and "
            f"may use {budget / 2**20:,.3g} MB: set cache_size={ceil(needs / 2**20):,} or more, "
            "or use fewer rows"
        )
    return budget - needs


def held(machine: DualMachine, X: Data, weights: Floats | None) -> HeldGram:
    """K in float64."""
    gram = machine._gram(machine._kernel().bind(X, weights), X)
    return HeldGram(gram.square(np.arange(gram.n)))


def whole_decisions(target: Target, gram: HeldGram, full: Sequence[Removal]) -> Floats:
    """Decision values of every row by the machine of all rows."""
    models = [removal.model for removal in full]
    coef = target.scheme.scatter(target.splits, [c for c, _ in models], target.n)
    (values,) = target.decide(gram, np.arange(target.n), [coef])
    return np.asarray(values + np.array([b for _, b in models]))


def rows_of(target: Target, number: int) -> Numbers:
    """The numbers of a problem's rows."""
    return np.arange(target.n)[target.splits[number].rows]


def without(
    machine: DualMachine, target: Target, number: int, weights: Floats, row: int
) -> DualProblem:
    """A problem with one row held out."""
    left = weights.copy()
    left[row] = 0.0
    try:
        return target.problem(machine, number, left)
    except ValueError as error:  # too few rows of its class for ν
        raise ValueError(
            f"leave-one-out without row {row}, of class {target.y[row].item()!r}: {error}. Use "
            "an SVC, a smaller nu, or data without classes of so few rows"
        ) from error


def only_its_box(
    machine: DualMachine, target: Target, number: int, removal: Removal, weights: Floats
) -> bool:
    """Whether a row that is taken out changes nothing else in the problem.

    It does where the problem depends on how many rows there are: through ν, or through balanced
    class weights.
    """
    rows = rows_of(target, number)
    row = int(np.flatnonzero(weights[rows] > 0)[0])
    p, q = removal.problem, without(machine, target, number, weights, rows[row])
    others = p.row_of(np.arange(p.size)) != row
    same = [(p.sums, q.sums), *((a[others], b[others]) for a, b in p_bounds(p, q))]
    return all(np.array_equal(a, b) for a, b in same)


def affected(
    target: Target, number: int, removal: Removal, weights: Floats, *, alike: bool
) -> Numbers:
    """The rows of a problem whose removal changes its solution: those with β ≠ 0, or all.

    All where no unit is free: the ends between which b may lie can be those of rows with β = 0.
    """
    there = weights[rows_of(target, number)] > 0
    return np.flatnonzero(
        there & (removal.of_row != 0) if alike and removal.path.one_offset else there
    )


def p_bounds(p: DualProblem, q: DualProblem) -> list[tuple[Floats, Floats]]:
    """The bounds of two problems side by side."""
    return [(p.lower, q.lower), (p.upper, q.upper)]


def batches(rows: Numbers, threads: int, most: int) -> list[Numbers]:
    """Some rows at a time, as many parts for each thread."""
    parts = threads * ceil(len(rows) / (threads * most))
    return [part for part in np.array_split(rows, parts) if len(part)] if parts else []
