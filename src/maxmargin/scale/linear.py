"""Linear machines over partitions: Newton's method that needs only sums over partitions.

    minimise over w and b   ½‖w‖² + Σ c_i L(y_i, wᵀx_i + b)

For a loss of quadratic pieces the steps are those of `solvers.linear.newton`. One of linear pieces
has kinks: proximal steps in β smooth them, of which each is solved by Newton's method, as in
`solvers.features.proximal_newton`. What travels are w, b and, from each partition, sums as large as
XᵀX. Primal and dual value are computed from w, b and β, made feasible, in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from maxmargin.problem import Ending, Status, Values
from maxmargin.resources.arrays import Floats
from maxmargin.resources.threads import one_blas_thread
from maxmargin.scale.linear_round import (
    LENGTHS,
    LinearPoint,
    LinearShare,
    LinearSums,
    dual_at,
    slopes_along,
    sums_at,
    violation_at,
)
from maxmargin.scale.partitions import Kept, Partitions
from maxmargin.solvers.driver import CLOCK
from maxmargin.solvers.features.newton import NEAR
from maxmargin.solvers.features.proximal_newton import INNER, ROUNDING, SHRINK, solved
from maxmargin.solvers.progress import Criterion
from maxmargin.solvers.solver import Solver
from maxmargin.solvers.state import Found, Moves, State

Start: TypeAlias = Any  # w and b
MOST_STEPS = 500  # of Newton's method, so that nothing hangs


@dataclass(frozen=True)
class PartitionedLinearProblem:
    """A linear machine's problem of rows in partitions.

    Attributes
    ----------
    share : makes the problem of a block from its labels and weights
    fit_intercept : whether there is an offset
    smooth : whether the loss has no kinks
    length : mean cost of a row, which scales δ
    """

    share: LinearShare
    fit_intercept: bool
    smooth: bool
    length: float


@dataclass
class PartitionedRows:
    """X, of which only sums over partitions are computed.

    Attributes
    ----------
    partitions : where the rows are
    centre : what is subtracted from each
    lost : the error by which the cluster was lost, or None
    """

    partitions: Partitions
    centre: Floats
    evaluations: int = 0
    lost: ConnectionError | None = None


class LinearNewtonState(State[PartitionedLinearProblem, PartitionedRows]):
    """w, b, δ and the sums at this point."""

    unit: ClassVar[str] = "steps of Newton's method"

    def __init__(
        self, problem: PartitionedLinearProblem, rows: PartitionedRows, start: Start
    ) -> None:
        super().__init__(problem, rows, np.zeros(0))
        self.coef, self.offset = start
        self.one = float(problem.fit_intercept)
        self.delta = 0.0 if problem.smooth else NEAR / problem.length
        self.anchor_offset = self.offset
        self.memory: Sequence[Kept] = [None] * rows.partitions.count
        self.proved: Values | None = None
        self.lost: ConnectionError | None = None
        self.moved = 0.0
        self.measure()

    def _point(self, settle: float = 0.0) -> LinearPoint:
        return LinearPoint(
            self.problem.share, self.matrix.centre, self.coef, self.offset, self.delta, settle
        )

    def _map(self, function: Any, shared: Any, own: Any = None) -> list[Any]:
        """A function over all partitions, with β⁰ of each."""
        partitions = self.matrix.partitions
        owns = [own] * partitions.count
        with one_blas_thread():
            self.memory, results = partitions.step(function, shared, owns, self.memory)
        return results

    def measure(self, settle: float = 0.0) -> None:
        """The sums at the present w, b and δ."""
        parts = self._map(sums_at, self._point(settle))
        self.at = LinearSums(*(sum(each) for each in zip(*parts, strict=True)))
        self.proved = None
        self.excess = self.one * (self.at.above + self.at.below)
        self.primal = 0.5 * float(self.coef @ self.coef) + self.at.loss
        shift = self.delta * self.one * (self.offset - self.anchor_offset)
        self.gradient = np.append(self.coef - self.at.image, shift - self.excess)
        self._sure = self.coef, self.offset

    def restore(self, lost: ConnectionError) -> None:
        """The cluster is lost: the model so far is that of the last sums."""
        self.lost = self.matrix.lost = lost
        self.coef, self.offset = self._sure

    @property
    def gap(self) -> float:
        """P − D + b Σβ: that of β as it is, whose sum need not be 0."""
        image = self.at.image
        own = self.primal + self.at.conjugate + 0.5 * float(image @ image)
        return float(own + self.offset * self.excess)

    @property
    def is_settled(self) -> bool:
        """Whether the gradient is as small as the gap, or rounding, asks for."""
        enough = max(INNER * self.gap, ROUNDING * abs(self.primal))
        return bool(self.gradient @ self.gradient <= enough)

    def settle(self) -> None:
        """The next proximal step begins here."""
        before, self.anchor_offset = self.delta, self.offset
        self.delta *= SHRINK
        self.measure(before)

    def step(self) -> bool:
        """One step of Newton's method; returns whether it moved."""
        d = len(self.coef)
        H = np.zeros((d + 1, d + 1), order="F")
        H[:d, :d], H[d, :d] = self.at.square, self.one * self.at.line
        H[np.diag_indices(d)] += 1.0
        H[d, d] = self.one * (self.at.total + self.delta) or 1.0
        with one_blas_thread():
            move = -solved(H, self.gradient)
        change, by = move[:d], self.one * float(move[d])
        slopes = np.sum(self._map(slopes_along, self._point(), (change, by)), axis=0)
        shift = self.delta * self.one * (self.offset - self.anchor_offset)
        linear = float(self.coef @ change) + shift * by
        square = float(change @ change) + self.delta * by * by
        rising = linear + LENGTHS * square - slopes
        t = float(np.interp(0.0, np.maximum.accumulate(rising), LENGTHS))  # where it is zero
        self.coef, self.offset = self.coef + t * change, self.offset + t * by
        self.steps += 1
        self.movement += t * float(np.abs(change).sum())
        self.measure()
        return t > 0

    # --- what the driver asks ---------------------------------------------------------------

    def values(self) -> Values:
        """Primal and dual value from w, b and β alone, β being made feasible."""
        if self.proved is None:
            self._prove()
        assert self.proved is not None
        return self.proved

    def _prove(self) -> None:
        above, below = self.at.above, -self.at.below
        smaller = min(above, below) if self.one else None
        shares = [1.0 if smaller is None or not each else smaller / each for each in (above, below)]
        shared = (self._point(), *shares)
        linear, images = zip(*self._map(dual_at, shared), strict=True)
        image = np.sum(images, axis=0)
        ends = np.array(self._map(violation_at, shared, image))
        rise, fall = ends[:, 0].max(), ends[:, 1].min()
        violation = max(rise - fall if self.one else max(rise, -fall), 0.0)
        dual = float(np.sum(linear)) - 0.5 * float(image @ image)
        offsets = np.full(int(self.one), self.offset)
        self.proved = Values(dual, self.primal, float(violation), offsets)

    def gather(self) -> None:
        self.exact = True

    def found(self) -> Found:
        return Found(self.beta, self.coef, np.zeros(0))

    def confirm(self, tol: float) -> None:
        self.exact = True

    def arrived(self, distance: float, violation: float, tol: float) -> bool:
        return distance <= tol and self.lost is None

    def conclude(self) -> None:
        self.exact = True


@dataclass(frozen=True)
class PartitionedLinear(Solver):
    """Newton's method by sums over partitions, with proximal steps where the loss has kinks.

    Parameters
    ----------
    tol : relative duality gap to reach
    max_iter : most steps of Newton's method; −1 for 500
    max_time : most seconds to take, or None
    """

    criterion: Criterion = Criterion.GAP
    takes: ClassVar[tuple[type, type]] = (PartitionedLinearProblem, PartitionedRows)
    resume: ClassVar[str] = "fit again"

    def check(self, problem: PartitionedLinearProblem, matrix: PartitionedRows) -> None:
        self.check_family(problem, matrix)

    def begin(
        self, problem: PartitionedLinearProblem, matrix: PartitionedRows, start: Start
    ) -> LinearNewtonState:
        return LinearNewtonState(problem, matrix, start)

    def most_steps(self, problem: PartitionedLinearProblem) -> float:
        return MOST_STEPS

    def iterate(self, state: LinearNewtonState) -> Moves:
        smooth = state.problem.smooth
        try:
            while state.lost is None:
                while state.gap > self.tol * abs(state.primal) and not state.is_settled:
                    if not state.step():
                        return None
                    yield CLOCK
                yield None
                if state.is_settled and not smooth:
                    state.settle()
                elif not state.step():
                    return None
        except ConnectionError as lost:
            state.restore(lost)
        return Ending(Status.INTERRUPTED, str(state.lost))
