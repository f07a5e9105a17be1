"""The state of a solve over partitions: the rows that the driver holds, and what all rows report.

All rows with β ≠ 0 are held by the driver, so that it knows β, the gradients of the held rows, the
offsets and every constraint; what only all rows together know (loss, worst violation) is joined
from the reports of a round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from maxmargin.gram import Gram
from maxmargin.kernels import Kernel
from maxmargin.problem import DualProblem, Solution, Values
from maxmargin.problem.dual import Terms
from maxmargin.resources.arrays import Floats, Numbers, RealType
from maxmargin.resources.memory import available_memory
from maxmargin.scale.partitions import Kept, Partitions
from maxmargin.scale.round import Change, Own, Report, Share, advance, open_problem
from maxmargin.scale.rows import RowSet, bytes_of
from maxmargin.scale.survey import Survey
from maxmargin.solvers.qp.state import nothing_of
from maxmargin.solvers.state import Found, State

# Rows of changes, relative to the support vectors, after which f is computed from these again: a
# worker that is lost costs at most as much, and rounding errors do not add up.
LONGEST = 4
VARIABLES = 128  # bytes of what belongs to a row beside its entries


@dataclass(frozen=True)
class PartitionedProblem:
    """A dual problem of rows in partitions: each makes its share from its own labels.

    Attributes
    ----------
    share : the rows of a block that belong to it, and their `DualProblem`; its sums are the
        block's part of the sums
    """

    share: Share


@dataclass
class PartitionedGram:
    """K over the rows of all partitions, of which only products with few rows are computed.

    Attributes
    ----------
    kernel : Kernel, bound to the data
    partitions, survey : where the rows are, and what is known of them
    cache_size : float or None
        Budget in MB of what the driver holds beside the support vectors: a round of violators,
        as many rows that have just left, and kernel values, which have at least half of it.
    threads : int, of the driver
    evaluations : kernel entries computed so far, by all
    lost : the error by which the cluster was lost, or None
    """

    kernel: Kernel
    partitions: Partitions
    survey: Survey
    cache_size: float | None
    threads: int
    evaluations: int = 0
    lost: ConnectionError | None = None

    @property
    def budget(self) -> int:
        """Bytes that the driver may take beside the support vectors."""
        if self.cache_size is None:
            return available_memory() // 4
        return int(self.cache_size * 2**20)

    @property
    def row_bytes(self) -> float:
        """What a row takes, with its label, β, gradient and bounds."""
        return self.survey.row_bytes + VARIABLES

    @property
    def most_violators(self) -> int:
        """So many violators, and as many rows that have left, take half of the budget."""
        return max(int(self.budget / 4 / self.row_bytes), 2)


class Held(NamedTuple):
    """Rows that the driver holds, their variables, and the problem of these."""

    rows: RowSet
    problem: DualProblem
    beta: Floats  # (copies, rows)
    told: Floats  # the coefficient of each row that partitions know of

    @property
    def coef(self) -> Floats:
        """The coefficient of each row."""
        coef: Floats = self.beta.sum(axis=0)
        return coef


class PartitionedState(State[PartitionedProblem, PartitionedGram]):
    """The rows held, their β and gradients, and the reports of the last round.

    Attributes
    ----------
    held : the support vectors and the violators of a round
    offered : the violators that the last round reported
    violators : how many rows violated KKT in the last round
    rounds, moved : rounds so far, and bytes that went to workers and back
    dtype : of the kernel entries
    """

    def __init__(
        self,
        problem: PartitionedProblem,
        gram: PartitionedGram,
        start: tuple[RowSet, Floats] | None,
        tol: float,
        violators: int,
    ) -> None:
        super().__init__(problem, gram, np.zeros(0))
        self.survey, self.partitions = gram.survey, gram.partitions
        self.rounds = self.moved = self.chain = self.violators = 0
        self.shares = self.survey.lengths / self.survey.rows
        self.ask(violators)
        self.threshold = tol / 2
        self.dtype: RealType = np.float32
        self._open(start)
        self.states: Sequence[Kept] = [None] * self.partitions.count
        self.lost: ConnectionError | None = None
        self.round(fresh=True)
        if self.lost is not None:
            raise self.lost

    def _open(self, start: tuple[RowSet, Floats] | None) -> None:
        """The sums of the whole problem, and the first rows held."""
        openings = self.partitions.map(
            open_problem, self.problem.share, self.survey.starts.tolist()
        )
        there = [each for each in openings if each.rows]
        self.sums = np.sum([each.sums for each in there], axis=0)
        self.size = sum(each.variables for each in there)
        rows = RowSet.joined([each.start for each in there])
        order = np.concatenate([each.start.numbers for each in there]).argsort()
        beta = np.hstack([each.beta for each in there])[:, order]
        if start is not None and len(start[0]):
            rows, beta = start
        self.hold(rows, beta, np.zeros(len(rows)))

    def hold(self, rows: RowSet, beta: Floats, told: Floats) -> None:
        """Hold these rows and no others, with β of their variables, made feasible."""
        members, problem = self.problem.share(rows.y, rows.weights_or_ones)
        if not isinstance(members, slice):  # the share has an order of its own
            rows, beta, told = rows.take(members), beta[:, members], told[members]
        problem = replace(problem, sums=self.sums)
        if problem.size:
            beta = problem.feasible(beta.ravel()).reshape(beta.shape)
        self.held = Held(rows, problem, beta, told)
        self.beta = beta.ravel()
        self.offsets = np.zeros(problem.n_groups)
        self.gradient = problem.linear

    # --- a round --------------------------------------------------------------------------

    def ask(self, violators: int) -> None:
        """Ask for as many violators in the next round, or as many as the budget takes."""
        self.quota = min(violators, self.matrix.most_violators)

    def round(self, *, fresh: bool = False, dtype: RealType | None = None) -> None:
        """Tell all partitions how the coefficients changed; join what they report."""
        rows, _, beta, told = self.held
        coef = self.held.coef
        moved = np.flatnonzero(coef != told)
        support = np.flatnonzero(coef)
        self.chain += len(moved)
        if fresh or len(moved) >= len(support) or self.chain > LONGEST * len(support):
            fresh, moved, told, self.chain = True, support, np.zeros(len(told)), 0
        order = rows.numbers.argsort()
        ends = np.searchsorted(rows.numbers[order], [*self.survey.starts, self.survey.rows])
        change = Change(
            self.problem.share,
            self.matrix.kernel,
            rows.X[moved],
            (coef - told)[moved],
            fresh,
            dtype or self.dtype,
            self.offsets,
            self.threshold,
            self.rounds,
            self.partitions.threads or self.matrix.threads,
        )
        own = [
            Own(
                int(start),
                rows.numbers[order[first:last]] - start,
                beta[:, order[first:last]],
                int(quota),
            )
            for start, first, last, quota in zip(
                self.survey.starts, ends[:-1], ends[1:], self._quotas(), strict=True
            )
        ]
        self.exact = fresh and change.dtype == np.float64
        try:
            self.states, reports = self.partitions.step(advance, change, own, self.states)
        except ConnectionError as lost:
            self._restore(lost)
            return
        self.held = self.held._replace(told=coef)
        self._join(reports)
        self._sure = self.held, self.beta, self.gradient, self.offsets
        sent = bytes_of(change.X) + change.coef.nbytes
        self.moved += sent * self.partitions.workers + beta.nbytes + self.offered.nbytes
        self.rounds += 1
        self.note = (
            f"round {self.rounds}, {len(rows):,} rows held, {self.violators:,} violators, "
            f"{self.moved / 2**20:,.1f} MB moved"
        )

    def _quotas(self) -> Numbers:
        """The quota of each partition: in proportion to its share, rounded at random."""
        ends = np.cumsum(self.quota * self.shares / self.shares.sum())
        ends[-1] = self.quota
        turn = np.random.default_rng(self.rounds).random()
        return np.diff(np.floor(ends + turn), prepend=0.0).astype(np.int64)

    def _restore(self, lost: ConnectionError) -> None:
        """The cluster is lost: the model so far is that of the last round, whose values are known.

        Before the first round there is none.
        """
        self.lost = self.matrix.lost = lost
        if self.rounds:
            self.held, self.beta, self.gradient, self.offsets = self._sure

    def _join(self, reports: list[Report]) -> None:
        self.terms = Terms.joined([report.terms for report in reports])
        self.offered = RowSet.joined([report.rows for report in reports])
        counts = np.array([report.violators for report in reports])
        self.violators = int(counts.sum())
        # A partition that has had violators is asked for as large a share of the next ones.
        self.shares = counts + 0.01 * (1 + counts.mean()) * (self.survey.lengths > 0)
        self.matrix.evaluations += sum(report.evaluations for report in reports)

    # --- the working problem --------------------------------------------------------------

    def gram(self) -> Gram:
        """K of the rows held."""
        idle = len(self.held.rows) - np.count_nonzero(self.held.coef)
        budget = self.matrix.budget
        megabytes = max(budget - idle * self.matrix.row_bytes, budget / 2) / 2**20
        kernel, threads = self.matrix.kernel, self.matrix.threads
        return Gram(kernel, self.held.rows.X, cache_size=megabytes, threads=threads)

    def adopt(self, solution: Solution) -> None:
        """Set β and the gradients of the rows held, and the offsets that they imply."""
        beta = solution.beta.reshape(self.held.beta.shape)
        self.movement += float(np.abs(beta - self.held.beta).sum())
        self.held = self.held._replace(beta=beta)
        self.beta, self.gradient = solution.beta, solution.gradient
        self.offsets = self.held.problem.offsets(self.beta, self.gradient)
        self.matrix.evaluations += solution.kernel_evaluations
        self.steps += solution.n_iter

    def exchange(self) -> None:
        """Hold the rows with a coefficient, the violators of the last round, and some others.

        The others have coefficients that became 0, and violate KKT soonest again: at most as many
        as there were violators.
        """
        rows, problem, beta, told = self.held
        residual = problem.residual(self.gradient, self.offsets)
        slack = np.abs(residual).reshape(beta.shape).min(axis=0)
        slack[beta.any(axis=0)] = -1.0
        count = np.count_nonzero(slack < 0) + self.quota
        kept = slack.argsort(kind="stable")[:count]
        both = RowSet.joined([rows.take(kept), self.offered])
        numbers: Numbers = np.concatenate([rows.numbers[kept], self.offered.numbers])
        order = numbers.argsort()
        more = len(self.offered)
        beta = np.hstack([beta[:, kept], np.zeros((len(beta), more))])[:, order]
        self.hold(both, beta, np.concatenate([told[kept], np.zeros(more)])[order])

    # --- what the driver asks -------------------------------------------------------------

    def values(self) -> Values:
        values, held = self.terms.values(self.offsets), self.held
        if held.problem.linear.any() or not held.beta.any():
            return values
        norms = np.sqrt(np.abs(self.matrix.kernel.diagonal(held.rows.X)))
        return values._replace(nothing=nothing_of(held.coef, norms))

    def found(self) -> Found:
        return Found(self.beta, None, self.gradient)

    def check(self, solver: str) -> None:
        self.held.problem.check_feasible(self.beta, solver)

    def confirm(self, tol: float) -> None:
        """A round over all partitions from the coefficients alone, in float64."""
        self.round(fresh=True, dtype=np.float64)
        if self.values().violation > tol:
            self.dtype = np.float64

    def arrived(self, distance: float, violation: float, tol: float) -> bool:
        return distance <= tol and self.lost is None

    def conclude(self) -> None:
        if self.lost is None:
            self.round(fresh=True, dtype=np.float64)

    def sharpen(self) -> bool:
        if self.dtype == np.float64:
            return False
        self.dtype = np.float64
        self.round(fresh=True)
        return True
