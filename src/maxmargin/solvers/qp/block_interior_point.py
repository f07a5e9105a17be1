"""Block interior point: the second-order method, for problems on which SMO crawls.

SMO takes ever more steps as C grows and the kernel gets smoother: a step sees a few entries of K,
and a smooth kernel with wide bounds is an ill-conditioned valley. An interior point takes eight
to twenty steps on any such problem, of m³/3 operations for m variables each. So

    repeat
        W = the free variables and about as many that violate KKT; of a regressor both variables of
            their rows
        if Newton's method on the face of the present β_W does not find the optimum over W
            follow an interior point on the block W; as soon as its relative gap is a few percent
                try Newton's method on the face that it suggests
        G += K[:, W] Δβ_W
    until nothing violates KKT

These are the blocks of block SMO, solved exactly whatever C and K are: it is only the first block
whose free variables are unknown. Ten blocks or so are enough, and W is never much larger
than the set of free variables, however many rows there are. The result is exact: violations of 1e-8
where β is a million, as far as a gradient can be known. The dual rises with every block.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import chain, pairwise
from math import isqrt
from typing import TypeVar

import numpy as np

from maxmargin.gram import Gram
from maxmargin.problem import DualProblem, Ending, Status
from maxmargin.resources.arrays import Floats, Numbers
from maxmargin.resources.threads import one_blas_thread
from maxmargin.solvers.driver import CLOCK
from maxmargin.solvers.qp.face_newton import face_of, face_optimum
from maxmargin.solvers.qp.interior_block import (
    DualBlock,
    InnerPoint,
    gap_of,
    harmless,
    interior_points,
)
from maxmargin.solvers.qp.newton_system import QUARTER, rank_of
from maxmargin.solvers.qp.state import DualState, exact_gradient
from maxmargin.solvers.qp.work import EXACT, factorisation, passes
from maxmargin.solvers.qp.working_set import restricted, working_set
from maxmargin.solvers.solver import Solver, require_positive
from maxmargin.solvers.state import LimitReached, Moves

FREE = 0.6  # share of free variables in a block
NEAR = 3e-2  # relative gap from which on it is tried to tell which variables are at a bound
SURE = 0.3  # of the shrinking of a multiplier: if the distance shrinks to less, it is at the bound
PART = 0.5  # of a block's rows: a part that has more costs as much as the block
GROWTH = 1.5  # of a part: if it lacked more than that, it was a guess
AGAIN = 0.3  # of the last gap at which a part was tried in vain: then the next one is
COARSE = 0.1  # of the smallest D: how far off K may be in a Newton system
PIVOTED = 2  # times the work of a factorisation, for one with pivots
SYSTEMS = 12  # that an interior point solves for a block, about
PASSES, FACES = 12, 20  # over the matrix of a block, for each system; and to try a face
ROUNDS = 3  # times that each variable that is free or violates KKT is in a block, about
MORE = 1.5  # times the rank of a quarter of the rows: that of all (covtype: 1.25 to 1.6)
WORST = 1e-3  # of the worst violation: who violates more joins a part
PARTS = 10  # most that are solved from one interior point
ITERATIONS = 150  # most on one block: 10 to 20, but 50 to 120 of low rank, which are cheap
SOLVED = 0.4  # of tol: how exactly a block is solved
ROUNDING = 1e-17  # of the terms that are summed: what a dual may be off by
NEARLY = 0.8  # of all rows: two blocks of so many are as much work as one of all
BYTES = 28  # for each entry of a block: K, the factor of an interior point, that of a face, and a
# few columns of its border
LOOSE = 0.3  # of the worst violation outside of a block: exactness beyond it is wasted

Result = TypeVar("Result")
Work = Generator[str | None, None, Result]  # yields after each iteration; returns what it found


@dataclass(frozen=True)
class BlockInteriorPoint(Solver):
    """Blocks of free variables and violators, solved by an interior point and Newton's method.

    Parameters
    ----------
    smallest : int
        Variables of a block; it has more if there are many free ones.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> SVC(solver=BlockInteriorPoint(), C=1e4).fit(X, y).certificate_.status.value
    'converged'
    """

    smallest: int = 1024

    def __post_init__(self) -> None:
        require_positive(self, "smallest")

    def iterate(self, state: DualState) -> Moves:
        p, rng = state.problem, np.random.default_rng(0)
        state.conclude()
        whole, done = self.work_of_all(state), 0.0
        smooth = whole <= self.work_of_blocks(state)
        while True:
            state.dtype = np.float64
            if not state.exact:
                state.refresh()
            most = p.size if smooth else self.size(state)
            W, outside = of_whole_rows(state, *working_set(state, most, FREE, rng))
            W = W[p.lower[W] < p.upper[W]]
            block, rest = block_of(state, W)
            before, exact, began = state.beta[W], SOLVED * self.tol, state.steps
            state.method = "second order"
            highest = highest_objective(block, before)
            for aim in (max(exact, LOOSE * outside), exact):
                work = optimum(block, before.copy(), aim, rest)
                beta = yield from counted(state, work)
                moved = beta != before
                if moved.any() and block.objective(beta) <= highest:
                    break
            else:
                return Ending(Status.STAGNATED, "rounding lets the interior point come no closer")
            state.move_to(W[moved], beta[moved], "interior point", steps=0)
            if outside <= exact:  # it may be the end: a sum of changes is not exact at β = 10¹²
                state.refresh()
            yield
            done = 0.0 if smooth else done + (state.steps - began) * len(block.K) ** 3 / 3
            smooth = done >= whole  # blocks that were predicted to be less work are not

    def tries_face(self, state: DualState) -> bool:
        """Whether nearly all present free variables are right: then they are solved for.

        With gradients in float64: at C = 10⁶ float32 sums have another optimum.
        """
        state.refresh()
        W, _ = working_set(state, self.size(state), FREE, np.random.default_rng(0))
        W = W[state.problem.lower[W] < state.problem.upper[W]]
        block, rest = block_of(state, W)
        beta, exact = state.beta[W], SOLVED * self.tol
        with one_blas_thread():
            scale = abs(rest - block.objective(beta))
            found, least = face_optimum(block, (beta, block.problem.free(beta)), exact, scale)
            if least > exact or block.objective(found) > highest_objective(block, beta):
                return False
        better = state.beta.copy()
        better[W] = found
        state.settle(better, exact_gradient(state.problem, state.gram, better), "face")
        state.exact = True
        return not np.array_equal(found, beta)

    def price_of_face(self, state: DualState) -> float:
        """The work of `tries_face`, at least: an exact gradient, the entries, one factorisation."""
        n, free = state.gram.n, int(np.count_nonzero(state.problem.free(state.beta)))
        rows = min(self.size(state), n)
        entries = 2 * n * np.count_nonzero(state.beta) + rows**2 / 2
        return EXACT * state.entry * entries + 2 * factorisation(free) + passes(rows, FACES)

    def price(self, state: DualState) -> float:
        """The work of the next block: its entries, the systems of an interior point, the update."""
        n, rows = state.gram.n, min(self.size(state), state.gram.n)
        entries = rows**2 / 2 + n * rows
        if not state.exact:
            entries += n * np.count_nonzero(state.beta)
        system = factorisation(rows) + passes(rows, PASSES)
        return EXACT * state.entry * entries + SYSTEMS * system

    def price_of_rank(self, state: DualState) -> float:
        """The work of finding out whether K is of low rank, by a quarter of its rows."""
        rows = state.gram.n / 4
        return EXACT * state.entry * rows**2 / 2 + PIVOTED * factorisation(rows)

    def price_of_all(self, state: DualState) -> float:
        """The work of one block of all rows if K is of low rank, else ∞."""
        return EXACT * state.entry * state.gram.n**2 / 2 + self.work_of_all(state)

    def size(self, state: DualState) -> int:
        """Variables of the next block: the matrix of their rows and its factor fit the budget."""
        size = int(np.count_nonzero(state.problem.free(state.beta)) / FREE)
        return min(max(self.smallest, size), most_rows(state.gram), state.problem.size)

    def work_of_all(self, state: DualState) -> float:
        """The operations of a block of all variables with systems of low rank; ∞ if it is not low.

        All n rows have up to MORE times the rank r of a quarter of them: n r² for a system.
        """
        p, gram, rows = state.problem, state.gram, np.arange(0, state.gram.n, 4)
        if gram.n > most_rows(gram) or gram.n < 1000:
            return np.inf
        coarse = coarseness(p, abs(p.objective(state.beta, state.gradient)))
        state.spend(PIVOTED * factorisation(len(rows)))
        with one_blas_thread():
            rank = rank_of(gram.square(rows), coarse)
        return SYSTEMS * gram.n * (MORE * rank) ** 2 if rank <= QUARTER * gram.n else np.inf

    def work_of_blocks(self, state: DualState) -> float:
        """The operations of blocks of m variables, m³/3 for a system, as far as can be told."""
        m = self.size(state)
        moving = len(possibly_free(state.problem, state.beta, state.gradient, -self.tol))
        return SYSTEMS * (1 + ROUNDS * moving / m) * m**3 / 3


def of_whole_rows(state: DualState, W: Numbers, outside: float) -> tuple[Numbers, float]:
    """W and all other variables of its rows, which add nothing to a factorisation.

    A block of nearly all rows has all variables: then no other block follows.
    """
    p, every = state.problem, np.arange(state.problem.size)
    chosen = np.zeros(state.gram.n, bool)
    chosen[p.row_of(W)] = True
    if chosen.mean() >= NEARLY and len(chosen) <= most_rows(state.gram):
        return every, 0.0
    return every[chosen[p.row_of(every)]], outside


def highest_objective(block: DualBlock, beta: Floats) -> float:
    """The objective of β, and what rounding may add to it."""
    terms = float(np.diagonal(block.K).max(initial=0)) * np.abs(beta).sum() ** 2
    return float(block.objective(beta) + ROUNDING * terms)


def most_rows(gram: Gram) -> int:
    """Most rows of a block: what is left of the budget holds its matrices."""
    return max(2, isqrt(gram.left // BYTES))


def counted(state: DualState, work: Work[Floats]) -> Work[Floats]:
    """Run `work`, and add its iterations to the steps; `LimitReached` at the last one allowed."""
    count = 0
    try:
        while True:
            with one_blas_thread():
                next(work)
            count += 1
            if state.steps + count >= state.most_steps:
                raise LimitReached
            yield CLOCK
    except StopIteration as end:
        beta: Floats = end.value
        return beta
    finally:
        state.steps += count


def optimum(block: DualBlock, beta: Floats, tol: float, rest: float) -> Work[Floats]:
    """β of the block, of a violation and a relative gap ≤ tol if rounding allows.

    It may be that the free variables of the present β are right already; if not, this tells how
    large β is. `rest` is what the other variables add to the dual.
    """
    p = block.problem
    start = block.start(beta)
    scale = abs(rest - block.objective(beta))
    best, least = face_optimum(block, (beta, p.free(beta)), tol, scale)
    yield None
    if least <= tol:
        return best
    last = tried = np.inf
    points = pairwise(chain([start], interior_points(block, start, coarseness(p, scale))))
    for count, (before, point) in enumerate(points):
        yield None
        gap = gap_of(p, point.beta, point.gradient, point.offsets)
        scale = abs(rest - p.objective(point.beta, point.gradient))
        if gap <= min(NEAR * scale, AGAIN * tried):
            tried = gap
            found = [(best, least), face_optimum(block, face_of(block, point, before), tol, scale)]
            unsure = np.flatnonzero(face_of(block, point, before, SURE)[1])
            if found[-1][1] > tol and 0 < block.count_rows(unsure) <= PART * len(block.K):
                found.append((yield from optimum_of_part(block, point, unsure, tol, scale)))
            inside = p.feasible(point.beta)  # where all multipliers are small, it violates little
            found.append((inside, block.distance(inside, block.gradient(inside), scale)))
            best, least = min(found, key=lambda one: one[1])
            if least <= tol:
                break
        if count == ITERATIONS or gap > last:
            break
        last = gap if gap <= NEAR * scale else np.inf
    return best


def optimum_of_part(
    block: DualBlock, point: InnerPoint, V: Numbers, tol: float, scale: float
) -> Work[tuple[Floats, float]]:
    """β of the block if all but V and a few are at the bounds that the multipliers say.

    And the larger of its violation and its gap over `scale`.
    """
    p, distance = block.problem, np.inf
    least = harmless(p, tol, scale)
    beta = np.where(point.lower > point.upper, p.lower, p.upper)
    beta[V] = point.beta[V]
    for _ in range(PARTS):
        part = part_of(block, V, beta)
        start = point.on(V)
        for k, (before, inner) in enumerate(pairwise(chain([start], interior_points(part, start)))):
            yield None
            near = gap_of(part.problem, inner.beta, inner.gradient, inner.offsets) <= NEAR * scale
            if near:
                beta[V], distance = face_optimum(part, face_of(part, inner, before), tol, scale)
            if distance <= tol or k == ITERATIONS:
                break
        repaired = p.feasible(beta)
        gradient = block.gradient(repaired)
        distance = block.distance(repaired, gradient, scale)
        if distance <= tol:
            break
        wrong = max(least, WORST * p.violation(repaired, gradient))
        more = np.union1d(V, possibly_free(p, repaired, gradient, -wrong))
        if len(more) == len(V) or len(more) > GROWTH * len(V):
            break
        if block.count_rows(more) > PART * len(block.K):
            break
        V = more
    return repaired, distance


def part_of(block: DualBlock, V: Numbers, beta: Floats) -> DualBlock:
    """The problem over β_V, the others fixed."""
    p, others = block.problem, beta.copy()
    others[V] = 0.0
    rows, row_of = np.unique(block.rows[V], return_inverse=True)
    linear, sums = block.gradient(others)[V], p.sums - block.members() @ others
    part = restricted(p, V, linear, sums, None if p.rows is None else row_of)
    return DualBlock(part, block.K[np.ix_(rows, rows)], block.threads, block.spend)


def coarseness(p: DualProblem, scale: float) -> float:
    """How far off K may be in Newton's systems until the gap is NEAR times `scale`.

    COARSE times the D of a variable in the middle of the widest box by then, or about that.
    """
    width = float((p.upper - p.lower).max())  # divided by twice: its square may be 0 or infinite
    return COARSE * NEAR * scale / p.size / width / width


def block_of(state: DualState, W: Numbers) -> tuple[DualBlock, float]:
    """The problem over β_W, the others fixed; and what these add to the dual."""
    p, gram, beta, gradient = state.problem, state.gram, state.beta, state.gradient
    rows, row_of = np.unique(p.row_of(W), return_inverse=True)
    K = gram.square(rows)
    fixed = np.ones(p.size, bool)
    fixed[W] = False
    sums = p.sums - np.array([beta[fixed & (p.group == g)].sum() for g in range(p.n_groups)])
    linear = gradient[W] - (K @ np.bincount(row_of, beta[W], len(K)))[row_of]
    part = restricted(p, W, linear, sums, None if p.rows is None else row_of)
    rest = part.objective(beta[W], gradient[W]) - p.objective(beta, gradient)
    return DualBlock(part, K, gram.threads, state.spend), rest


def possibly_free(p: DualProblem, beta: Floats, gradient: Floats, margin: float) -> Numbers:
    """The variables that are free, or would be if the gradient were off by `margin`."""
    force = p.residual(gradient, p.offsets(beta, gradient))
    rises, falls = (beta < p.upper) & (force < margin), (beta > p.lower) & (force > -margin)
    return np.flatnonzero((p.lower < p.upper) & (p.free(beta) | rises | falls))
