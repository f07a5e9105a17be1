"""Block interior point: the second-order method, for problems on which SMO crawls.

SMO takes ever more steps as C grows and the kernel gets smoother: a step sees a few entries of K,
and a smooth kernel with wide bounds is an ill-conditioned valley. An interior point takes ten to
twenty steps on any such problem, of m³/3 operations for m rows each, and then knows which variables
are at a bound. So

    W = all variables that might be free (all there are if little is known)
    follow the interior point on the block W; as soon as its relative gap is a few percent
        try the face that it suggests; if that is not right
        V = the variables of W of which the last two points do not say for sure at which bound
        repeat
            the others at their bounds, follow the interior point on V, from where it is, until
                Newton's method on the face it suggests finds the exact optimum over V
            V = V and those of the others that now violate KKT
        until nothing in W violates; or if V grows too large, go on with W
    W = W and what violates outside of it; again, if there is anything

Blocks V have hardly more rows than there are free variables, and cost little beside one iteration
on W. Nothing rests on the guess: what was fixed by mistake comes back, or W is followed to its end.
The result is exact: violations of 1e-8 where β is a million, as far as a gradient can be known.

W begins with the free variables and those whose G + b is within `margin` times the worst violation
of changing sign: a good start makes a small block. β is given to the state only when it is better
than what is there: the dual never falls.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import chain, pairwise
from math import isqrt
from typing import TypeVar

import numpy as np

from maxmargin.gram import Gram
from maxmargin.hardware.arrays import Floats, Numbers
from maxmargin.problem import DualProblem, Ending, Status
from maxmargin.solvers.driver import CLOCK
from maxmargin.solvers.dual.face_newton import face_of, face_optimum
from maxmargin.solvers.dual.interior_block import Block, Point, gap_of, harmless, interior_points
from maxmargin.solvers.dual.state import DualState, exact_gradient
from maxmargin.solvers.solver import Solver, require_positive
from maxmargin.solvers.state import LimitReached, Moves

NEAR = 3e-2  # relative gap from which on it is tried to tell which variables are at a bound
SURE = 0.3  # of the shrinking of a multiplier: if the distance shrinks to less, it is at the bound
SHARE = 0.8  # of all variables: if a block has more, it may as well have all
PART = 0.5  # of a block: a part that is larger costs as much as the block
GROWTH = 1.5  # of a part: if it lacked more than that, it was a guess
AGAIN = 0.3  # of the last gap at which a part was tried in vain: then the next one is
COARSE = 0.03  # of the smallest D: how far off K may be in a Newton system
BLOCKS = 20  # most that are solved
WORST = 1e-3  # of the worst violation: who violates more joins a part
PARTS = 10  # most that are solved from one interior point
ITERATIONS = 60  # most on one block
EXACT = 0.4  # of tol: how exactly a block is solved

Result = TypeVar("Result")
Work = Generator[str | None, None, Result]  # yields after each iteration; returns what it found


@dataclass(frozen=True)
class BlockInteriorPoint(Solver):
    """Blocks of all variables that might be free, solved by an interior point and Newton's method.

    Parameters
    ----------
    margin : float
        A variable at its bound is in the first block if its G + b is within this many times the
        worst violation of changing sign.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> SVC(solver=BlockInteriorPoint(), C=1e4).fit(X, y).certificate_.status.value
    'converged'
    """

    margin: float = 3.0

    def __post_init__(self) -> None:
        require_positive(self, "margin")

    def iterate(self, state: DualState) -> Moves:
        p = state.problem
        state.refresh()
        state.dtype = np.float64
        beta, gradient = state.beta.copy(), state.gradient
        W = self.first_block(state)
        for _ in range(BLOCKS):
            block, rest = block_of(p, state.gram, W, beta, gradient)
            work = optimum(block, beta[W], EXACT * self.tol, rest)
            beta[W] = yield from counted(state, work)
            beta = p.feasible(beta)
            gradient = exact_gradient(p, state.gram, beta)
            if p.objective(beta, gradient) <= p.objective(state.beta, state.gradient):
                state.settle(beta.copy(), gradient, "interior point")
                state.exact = True
            yield
            least = harmless(p, self.tol, abs(p.objective(beta, gradient)))
            more = np.union1d(W, possibly_free(p, beta, gradient, -least))
            if len(more) == len(W):
                break
            W = more
        return Ending(Status.STAGNATED, "rounding lets the interior point come no closer")

    def first_block(self, state: DualState) -> Numbers:
        """The variables that might be free."""
        p, beta, gradient = state.problem, state.beta, state.gradient
        return possibly_free(p, beta, gradient, self.margin * p.violation(beta, gradient))


def most_rows(gram: Gram) -> int:
    """So many that their matrix, its factor and a part of it are within the budget."""
    return isqrt(gram.budget // 24)


def counted(state: DualState, work: Work[Floats]) -> Work[Floats]:
    """The same; its iterations count as steps when it is done, or no more are allowed."""
    count = 0
    try:
        while True:
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


def optimum(block: Block, beta: Floats, tol: float, rest: float) -> Work[Floats]:
    """β of the block, of a violation and a relative gap ≤ tol if rounding allows.

    It may be that the free variables of the present β are right already; if not, this tells how
    large β is. `rest` is what the other variables add to the dual.
    """
    p = block.problem

    def dual(beta: Floats, gradient: Floats) -> float:
        return rest - p.objective(beta, gradient)

    scale = abs(dual(beta, block.gradient(beta)))
    best, least = face_optimum(block, (beta, (p.lower < beta) & (beta < p.upper)), tol, scale)
    yield None
    if least <= tol and block.distance(best, abs(dual(best, block.gradient(best)))) <= tol:
        return best
    start = block.start(float(np.abs(beta).max()) or np.inf)
    least = last = tried = np.inf
    # D of a variable in the middle of the widest box when the gap is NEAR, or what is about that.
    middle = NEAR * scale / (p.size * float((p.upper - p.lower).max()) ** 2)
    points = pairwise(chain([start], interior_points(block, start, COARSE * middle)))
    for count, (before, point) in enumerate(points):
        yield None
        gap = gap_of(p, point.beta, point.gradient, point.offsets)
        scale = abs(dual(point.beta, point.gradient))
        if gap <= min(NEAR * scale, AGAIN * tried):
            tried = gap
            found = [(best, least), face_optimum(block, face_of(block, point, before), tol, scale)]
            unsure = np.flatnonzero(face_of(block, point, before, SURE)[1])
            if found[-1][1] > tol and 0 < len(unsure) <= PART * p.size:
                found.append((yield from optimum_of_part(block, point, unsure, tol, scale)))
            inside = p.feasible(point.beta)  # where all multipliers are small, it violates little
            found.append((inside, block.distance(inside, scale)))
            best, least = min(found, key=lambda one: one[1])
            if least <= tol:
                break
        if count == ITERATIONS or gap > last:
            break
        last = gap if gap <= NEAR * scale else np.inf
    return best


def optimum_of_part(
    block: Block, point: Point, V: Numbers, tol: float, scale: float
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
        distance = block.distance(repaired, scale)
        if distance <= tol:
            break
        gradient = block.gradient(repaired)
        wrong = max(least, WORST * p.violation(repaired, gradient))
        more = np.union1d(V, possibly_free(p, repaired, gradient, -wrong))
        if len(more) == len(V) or len(more) > min(GROWTH * len(V), PART * p.size):
            break
        V = more
    return repaired, distance


def part_of(block: Block, V: Numbers, beta: Floats) -> Block:
    """The problem over β_V, the others fixed."""
    p, others = block.problem, beta.copy()
    others[V] = 0.0
    rows, row_of = np.unique(block.rows[V], return_inverse=True)
    part = DualProblem(
        linear=block.gradient(others)[V],
        lower=p.lower[V],
        upper=p.upper[V],
        sums=p.sums - block.members() @ others,
        group=p.group[V],
        rows=None if p.rows is None else row_of,
    )
    return Block(part, block.K[np.ix_(rows, rows)])


def block_of(
    p: DualProblem, gram: Gram, W: Numbers, beta: Floats, gradient: Floats
) -> tuple[Block, float]:
    """The problem over β_W, the others fixed; and what these add to the dual."""
    rows, row_of = np.unique(p.row_of(W), return_inverse=True)
    K = gram.square(rows)
    fixed = np.ones(p.size, bool)
    fixed[W] = False
    sums = [beta[fixed & (p.group == g)].sum() for g in range(p.n_groups)]
    part = DualProblem(
        linear=gradient[W] - (K @ np.bincount(row_of, beta[W], len(K)))[row_of],
        lower=p.lower[W],
        upper=p.upper[W],
        sums=p.sums - np.array(sums),
        group=p.group[W],
        rows=None if p.rows is None else row_of,
    )
    return Block(part, K), part.objective(beta[W], gradient[W]) - p.objective(beta, gradient)


def possibly_free(p: DualProblem, beta: Floats, gradient: Floats, margin: float) -> Numbers:
    """The variables that are free, or would be if the gradient were off by `margin`.

    All of them if most are, or if one has no bound: it can go anywhere.
    """
    force = gradient + (p.offsets(beta, gradient)[p.group] if p.n_groups else 0.0)
    movable, inside = p.lower < p.upper, (p.lower < beta) & (beta < p.upper)
    rises, falls = (beta < p.upper) & (force < margin), (beta > p.lower) & (force > -margin)
    chosen = movable & (inside | rises | falls)
    unbounded = np.isinf(p.lower).any() or np.isinf(p.upper).any()
    most = np.count_nonzero(chosen) > SHARE * np.count_nonzero(movable)
    return np.flatnonzero(movable if unbounded or most else chosen)
