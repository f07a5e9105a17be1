"""Machines on features over partitions: proximal Newton that needs only sums over partitions.

The method is that of `solvers.features.proximal_newton`, with three maps in the place of matrices:
`measure` gives ∇ψ and ẐᵀẐ at a point, `follow` the slope of ψ along a direction, and `prove` the
primal and dual value, in float64, from w and β alone. Where to begin is found on a sample of the
rows that the driver holds, C being raised by as much as the rows are fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np

from maxmargin.features.feature_gram import Transformer, mixing_of
from maxmargin.problem import Ending, Status, Values
from maxmargin.problem.dual import Terms
from maxmargin.problem.solution import relative_gap
from maxmargin.resources.arrays import Floats, Reals
from maxmargin.resources.threads import one_blas_thread
from maxmargin.scale.feature_round import LENGTHS, NewtonPoint, Sums, follow, measure, prove
from maxmargin.scale.partitions import Kept
from maxmargin.scale.round import Opening, open_problem
from maxmargin.scale.state import PartitionedGram, PartitionedProblem
from maxmargin.solvers.driver import CLOCK
from maxmargin.solvers.features.newton import NEAR
from maxmargin.solvers.features.proximal_newton import INNER, ROUNDING, SHRINK, solved
from maxmargin.solvers.progress import Criterion
from maxmargin.solvers.solver import Solver
from maxmargin.solvers.state import Found, Moves, State

Start: TypeAlias = Any  # w and b
MOST_STEPS = 500  # of Newton's method, so that nothing hangs


@dataclass
class PartitionedFeatures(PartitionedGram):
    """K̂ over the rows of all partitions.

    Attributes
    ----------
    features : φ, fitted
    """

    features: Transformer = field(kw_only=True)

    @property
    def mixing(self) -> Reals | None:
        """M; None if φ is v itself."""
        return mixing_of(self.features)


class FeatureNewtonState(State[PartitionedProblem, PartitionedFeatures]):
    """w, b, δ and the sums at this point.

    Attributes
    ----------
    coef : w
    offset : b
    proved : the values of the last proof; those of the sums are used until there is one
    lost : the error by which the cluster was lost, or None
    """

    def __init__(
        self, problem: PartitionedProblem, gram: PartitionedFeatures, start: tuple[Floats, float]
    ) -> None:
        super().__init__(problem, gram, np.zeros(0))
        self.partitions = gram.partitions
        shares = self.partitions.map(open_problem, problem.share, gram.survey.starts.tolist())
        opened: list[Opening] = [each for each in shares if each.rows]
        self.sums = np.sum([each.sums for each in opened], axis=0)
        self.size = sum(each.variables for each in opened)
        self.one = 1.0 if len(self.sums) else 0.0
        self.coef, self.offset = start
        self.offset *= self.one
        self.anchor_offset = self.offset
        self.delta = 1.0
        self.proved: Values | None = None
        self.lost: ConnectionError | None = None
        self.support = 0
        self.memory: Sequence[Kept] = [None] * self.partitions.count

    def measure(self, *, move: float = 0.0, settle: float = 0.0) -> None:
        """The sums at the present w, b and δ, after a move along the direction."""
        self.memory, sums = self.partitions.step(
            measure, self._point(move, settle), [None] * self.partitions.count, self.memory
        )
        whole = Sums(*(sum(each) for each in zip(*sums, strict=True)))
        self.at = whole._replace(image=self._mixed(whole.image))
        self.proved = None
        d = float(self.sums.sum())
        self.excess = self.one * (self.at.total - d)
        self.primal = 0.5 * float(self.coef @ self.coef) + self.at.loss + self.offset * d
        shift = self.one * (self.offset - self.anchor_offset)
        self.gradient = np.append(self.coef - self.at.image, shift - self.excess)
        self._sure = self.coef, self.offset

    def restore(self, lost: ConnectionError) -> None:
        """The cluster is lost: the model so far is that of the last sums."""
        self.lost = self.matrix.lost = lost
        self.coef, self.offset = self._sure

    def _point(self, move: float = 0.0, settle: float = 0.0) -> NewtonPoint:
        mixing, gram = self.matrix.mixing, self.matrix
        weights = self.coef if mixing is None else mixing @ self.coef
        threads = self.partitions.threads or gram.threads
        return NewtonPoint(
            self.problem.share,
            gram.features,
            weights,
            self.offset,
            self.delta,
            move,
            settle,
            threads,
        )

    def _mixed(self, values: Floats) -> Floats:
        mixing = self.matrix.mixing
        return values if mixing is None else mixing.T @ values

    # --- steps ------------------------------------------------------------------------------

    @property
    def gap(self) -> float:
        """P − D + b (Σβ − d), relative: D of a feasible β nearby, to first order; ≥ 0."""
        image = self.at.image
        dual = -self.at.slope - 0.5 * float(image @ image) - self.excess * self.offset
        return relative_gap(self.primal, dual)

    @property
    def is_settled(self) -> bool:
        """Whether the proximal step is solved well enough."""
        enough = max(INNER * self.gap, ROUNDING) * abs(self.primal)
        return bool(self.gradient @ self.gradient <= enough)

    def settle(self) -> None:
        """The next proximal step begins here: β⁰ = β, b⁰ = b, δ a little smaller."""
        before, self.anchor_offset = self.delta, self.offset
        self.delta *= SHRINK
        self.measure(settle=before)

    def step(self) -> None:
        """One step of Newton's method."""
        size = len(self.gradient)
        H = np.zeros((size, size), order="F")
        H[:-1, :-1], H[-1, :-1], H[-1, -1] = self.at.square, self.at.line, self.at.free
        H[-1] *= self.one
        H[np.diag_indices(size)] += self.delta
        with one_blas_thread():
            move = -solved(H, self.delta * self.gradient)
        change, by = move[:-1], self.one * float(move[-1])
        mixing = self.matrix.mixing
        told = np.append(change if mixing is None else mixing @ change, by)
        self.memory, slopes = self.partitions.step(
            follow, self._point(), [told] * self.partitions.count, self.memory
        )
        here = np.append(self.coef, self.one * (self.offset - self.anchor_offset))
        linear = float(here @ move) + by * float(self.sums.sum())
        rising = linear + LENGTHS * float(move @ move) + self.delta * np.sum(slopes, axis=0)
        t = float(np.interp(0.0, np.maximum.accumulate(rising), LENGTHS))  # where it is zero
        self.coef, self.offset = self.coef + t * change, self.offset + t * by
        self.steps += 1
        self.measure(move=t)

    # --- what the driver asks ---------------------------------------------------------------

    def values(self) -> Values:
        if self.proved is not None:
            return self.proved
        dual = self.primal - self.gap * max(abs(self.primal), 1e-300)
        offsets = np.full(len(self.sums), self.offset)
        return Values(dual, self.primal, float(np.abs(self.gradient).max()), offsets)

    def found(self) -> Found:
        return Found(self.beta, self.coef, np.zeros(0))

    def confirm(self, tol: float) -> None:
        """Primal and dual value from w and β alone, in float64, β being made feasible."""
        missing, whose, share = -self.excess, 0, 0.0
        if missing:
            side = 0 if missing > 0 else 1
            whose = next((k for k in range(3) if self.at.rooms[k, side] >= abs(missing)), 2)
            share = missing / max(float(self.at.rooms[whose, side]), abs(missing))
        try:
            self.memory, parts = self.partitions.step(
                prove, (self._point(), share, whose), [None] * self.partitions.count, self.memory
            )
        except ConnectionError as lost:
            self.restore(lost)
            return
        terms, slopes, images, support = zip(*parts, strict=True)
        image = self._mixed(np.sum(images, axis=0))
        whole = Terms.joined(terms)
        dual = -sum(slopes) - 0.5 * float(image @ image)
        primal = 0.5 * float(self.coef @ self.coef) + whole.loss
        violation = whole.values(np.zeros(len(self.sums))).violation
        offsets = np.full(len(self.sums), self.offset)
        self.proved = Values(dual, primal, violation, offsets)
        self.support, self.exact = sum(support), True

    def arrived(self, distance: float, violation: float, tol: float) -> bool:
        return distance <= tol and self.lost is None

    def conclude(self) -> None:
        if self.lost is None:
            self.confirm(0.0)


@dataclass(frozen=True)
class PartitionedNewton(Solver):
    """Proximal Newton steps on features, by sums over partitions.

    Parameters
    ----------
    tol : relative duality gap to reach
    max_iter : most steps of Newton's method; −1 for 500
    max_time : most seconds to take, or None
    length : mean length of the boxes, which scales δ
    """

    length: float = 1.0

    criterion: Criterion = Criterion.GAP
    takes: ClassVar[tuple[type, type]] = (PartitionedProblem, PartitionedFeatures)
    resume: ClassVar[str] = "fit again"

    def check(self, problem: PartitionedProblem, matrix: PartitionedFeatures) -> None:
        self.check_family(problem, matrix)

    def begin(
        self, problem: PartitionedProblem, matrix: PartitionedFeatures, start: Start
    ) -> FeatureNewtonState:
        state = FeatureNewtonState(problem, matrix, start)
        state.delta = NEAR / self.length
        state.measure()
        return state

    def most_steps(self, problem: PartitionedProblem) -> float:
        return MOST_STEPS

    def iterate(self, state: FeatureNewtonState) -> Moves:
        try:
            while state.lost is None:
                while not state.is_settled and state.gap > self.tol:
                    state.step()
                    yield CLOCK
                yield
                if state.is_settled:
                    state.settle()
                else:
                    state.step()
        except ConnectionError as lost:
            state.restore(lost)
        return Ending(Status.INTERRUPTED, str(state.lost))
