"""One round of chunking, as each partition computes it.

A partition holds f(x) = Σ β_j k(x_j, x) of its rows. It is given the change of the support vectors
since the last round, and updates f; from f follow the gradients G of its variables, its share in
the primal and dual value, and which of its rows violate KKT. The worst of these it returns.

Everything a partition needs is in its arguments, so that a round can be computed anywhere, and
computed again if a result is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from maxmargin.gram import Cross
from maxmargin.kernels import Kernel
from maxmargin.problem import DualProblem
from maxmargin.problem.dual import Terms
from maxmargin.resources.arrays import Data, Floats, Labels, Mask, Numbers, RealType
from maxmargin.scale.partitions import Block
from maxmargin.scale.rows import RowSet

# The rows of some labels and weights that belong to a problem, and the problem of these rows:
# of c variables for each row, those of the first copy of all rows first.
Share = Callable[[Labels | None, Floats], tuple[Numbers | slice, DualProblem]]

NEGLIGIBLE = 0.05  # of the worst violation: rows below it are left for later rounds


class Change(NamedTuple):
    """What all partitions are told.

    Attributes
    ----------
    share : which rows and which variables the problem has
    kernel : bound to the data
    X, coef : the rows whose coefficients changed, and by how much
    fresh : whether they are all rows with a coefficient, and f begins at 0
    dtype : of the kernel entries
    offsets : b of each group
    threshold : violation below which a row is not reported
    number : of the round
    threads : that a partition may use
    """

    share: Share
    kernel: Kernel
    X: Data
    coef: Floats
    fresh: bool
    dtype: RealType
    offsets: Floats
    threshold: float
    number: int
    threads: int | None


class Own(NamedTuple):
    """What one partition is told.

    Attributes
    ----------
    start : the number of its first row
    held : its rows that the driver holds, counted from its first
    beta : (copies, held), their variables
    quota : how many violators to return
    """

    start: int
    held: Numbers
    beta: Floats
    quota: int


class Report(NamedTuple):
    """What a partition answers: its share in the values, and its violators, the worst of them."""

    terms: Terms
    violators: int
    rows: RowSet
    evaluations: int


def advance(block: Block, change: Change, own: Own, state: Floats | None) -> tuple[Floats, Report]:
    """One round of one partition; the state is f of the rows that belong to the problem."""
    members, problem = change.share(block.y, block.weights_or_ones)
    X = block.X[members]
    numbers = np.arange(block.X.shape[0])[members]
    f = np.zeros(len(numbers))
    if len(change.coef) and len(numbers):
        cross = Cross(change.kernel, change.X, change.threads)
        f = cross.dot(X, change.coef[None], dtype=change.dtype)[:, 0]
    if state is not None and not change.fresh:
        f = state + f
    places, beta = np.zeros(len(numbers), bool), np.zeros((copies(problem, numbers), len(numbers)))
    if len(own.held):
        where = np.searchsorted(own.held, numbers).clip(max=len(own.held) - 1)
        places = own.held[where] == numbers
        beta[:, places] = own.beta[:, where[places]]
    gradient = problem.on_variables(f) + problem.linear
    terms = problem.terms(beta.ravel(), gradient, change.offsets)
    count, chosen = violators(problem, beta.ravel(), gradient, places, change, own)
    rows = fetch(block, None, (own.start, numbers[chosen]))
    return f, Report(terms, count, rows, len(f) * len(change.coef))


def copies(problem: DualProblem, numbers: Numbers) -> int:
    """Variables of each row."""
    return problem.size // len(numbers) if len(numbers) else 1


def violators(
    problem: DualProblem, beta: Floats, gradient: Floats, held: Mask, change: Change, own: Own
) -> tuple[int, Numbers]:
    """How many rows violate KKT, apart from those held; and `quota` of them, by their places.

    Half of them can rise, half can fall, in each group: at random among those that violate it by
    a twentieth of the worst or more, and the worst itself. The worst alone are much alike: once a
    few have moved, the others no longer violate.
    """
    row_of = problem.row_of(np.arange(problem.size))
    residual = problem.residual(gradient, change.offsets)
    rise = np.where(beta < problem.upper, -residual, 0.0)
    fall = np.where(beta > problem.lower, residual, 0.0)
    rng = np.random.default_rng([change.number, own.start])
    sides, n_groups = [], max(problem.n_groups, 1)
    bad = (np.maximum(rise, fall) > change.threshold) & ~held[row_of]
    count = len(np.unique(row_of[bad]))
    # The quota is halved, and what remains goes to one side or the other at random.
    counts = (own.quota + rng.permutation(2 * n_groups)) // (2 * n_groups)
    for side, most in enumerate(counts.tolist()):
        violation = (rise, fall)[side % 2]
        mine = bad & (problem.group == side // 2) & (violation > change.threshold)
        candidates = np.flatnonzero(mine)
        sides.append(row_of[sampled(violation[candidates], candidates, most, rng)])
    return count, np.unique(np.concatenate(sides))


def sampled(
    violation: Floats, candidates: Numbers, count: int, rng: np.random.Generator
) -> Numbers:
    """`count` of the candidates: the worst, and others that violate enough, at random."""
    if len(candidates) <= count:
        return candidates
    enough = np.flatnonzero(violation >= NEGLIGIBLE * violation.max())
    if len(enough) <= count:
        worst: Numbers = candidates[np.argpartition(-violation, count)[:count]]
        return worst
    chosen: Numbers = rng.choice(enough, count, replace=False)
    if count:
        chosen[0] = violation.argmax()
    picked: Numbers = candidates[chosen]
    return picked


def fetch(block: Block, nothing: None, own: tuple[int, Numbers]) -> RowSet:
    """Rows of a partition by their numbers: that of its first row, and theirs counted from it."""
    start, some = own
    y, weights = (None if v is None else v[some] for v in (block.y, block.weights))
    return RowSet(start + some, block.X[some], y, weights)


class Opening(NamedTuple):
    """What a partition says before the first round: its variables, sums, and a start."""

    rows: int
    variables: int
    sums: Floats
    start: RowSet
    beta: Floats


def open_problem(block: Block, share: Share, start: int) -> Opening:
    """Size and sums of a partition's share, and a sparse point that has these sums.

    A machine whose sums are not 0 (the one-class machine, ν-SVR) begins with as few rows as can
    have them, each at its bound: rows at random.
    """
    members, problem = share(block.y, block.weights_or_ones)
    numbers = np.arange(block.X.shape[0])[members]
    beta = np.zeros(problem.size)
    if problem.sums.any():
        order = np.random.default_rng(start).permutation(problem.size)
        for g, total in enumerate(problem.sums):
            some = order[problem.group[order] == g]
            bound = (problem.upper if total > 0 else problem.lower)[some]
            before = np.concatenate([[0.0], np.cumsum(bound)[:-1]])
            left = (total - before) * np.sign(total)
            beta[some] = np.sign(total) * np.clip(left, 0.0, np.abs(bound))
    table = beta.reshape(copies(problem, numbers), len(numbers))
    used = np.flatnonzero(table.any(axis=0))
    rows = fetch(block, None, (start, numbers[used]))
    return Opening(len(numbers), problem.size, problem.sums, rows, table[:, used])
