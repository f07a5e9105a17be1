"""When SMO hands over to the second-order method: as soon as that is predicted to end sooner.

SMO's violation and gap fall by about the same factor for the same work, ever less so as the kernel
matrix is worse conditioned; the second-order method takes about the same work whatever the matrix
is. So, after each block,

    far   = log(violation / tol) + log(relative gap / tol): often the one falls, then the other
    left  = far / (fall of far per operation, over the later half); or by the number of variables
            that are free or violate KKT, where that ends sooner: of many rows every block settles
            as many, and the largest violation stays what it is until the last
    whole = the operations of the second-order method: Cholesky factorisations of its blocks, more
            blocks the more variables are free or violate KKT, but no more than those of all rows

and SMO hands over where 3 left > whole (it gets ever slower), once it has done a part of that work
itself: then the two together never take much longer than the faster one alone. It also does where
SMO uses up the steps of one block after another and has most of the gap left. And where the free
variables have settled, they are solved for now and then: they may be the right ones. All
this is counted, not timed, so that a fit is the same on a busy machine and on an idle one.
"""

from __future__ import annotations

from math import prod

import numpy as np

from maxmargin.solvers.qp.block_interior_point import (
    ROUNDS,
    BlockInteriorPoint,
    possibly_free,
)
from maxmargin.solvers.qp.state import DualState

# In units of a multiplication and addition inside a Cholesky factorisation (docs/any-C.md):
STEP = 15  # an SMO step, per variable of its block
ENTRY, COLUMN = 20.0, 0.5  # a kernel entry, and each of its columns: more than they cost, since SMO
# that crawls is to be left early
FACTORISATIONS, PASSES = 20, 3400  # for a block of m rows, of m³/6 and of m²
TRIAL = 4  # factorisations over the free variables that it takes to solve for them, about: with 2,
# covtype at C = 10, γ = 1 was solved for two blocks before the end, 0.19 s instead of 0.07
EARLY = 0.5  # of the work of a trial: what SMO has done before the first
AGAIN = 1.5  # times SMO's work at the last trial, before the next
SETTLED = 0.1  # of the free variables: if fewer come and go in a block, or violate KKT at a bound
# (93,000 rows of covtype, C = 10: two trials in vain took as long as SMO)
SLOWER = 3  # times that SMO takes longer than predicted: it gets ever slower
PART = 0.1  # of the work of the second-order method that SMO does at least; more in its first ten
# blocks, from which little can be told (cover_adbench, C = 100: 0.3 s by SMO alone, 1.8 s by both)
SEVERAL = 2  # blocks full of variables that are free or violate KKT: while there are more, or one
# block settles them all, it is their number that tells how far SMO is. Else it would keep SMO too
# long (california, C = 10⁶, γ = .001: 24 blocks instead of 13, 1.3 s instead of 0.8)
FARTHEST = 1e12  # times tol: a hard margin begins with an infinite gap
CRAWLS, FAR = 2, 0.5  # blocks in a row that used up their steps, and a relative gap: SMO does not
# even solve its blocks, and frees ever more variables that are at a bound in the end
STALLED = 3  # blocks without progress, after which it does not matter how much that is


class Forecast:
    """What SMO has done and how far it came, block by block."""

    def __init__(self, state: DualState, tol: float) -> None:
        self.tol = tol
        columns = 0 if state.gram.kernel.precomputed else prod(state.gram.X.shape[1:])
        self.entry = ENTRY + COLUMN * columns
        self.done, self.far = [0.0], [np.inf]
        self.tried, self.free = 0.0, np.empty(0, bool)
        self.exact = False, state.dtype == np.float64
        self.farthest = 0.0
        self.counted, self.moving = [0.0], [np.inf]  # the work done, and how many may still move

    def note(self, state: DualState) -> None:
        """After a block that was measured."""
        exact = state.sharpened, state.dtype == np.float64
        if exact > self.exact:  # what float32 sums measured was wrong
            self.done, self.far = self.done[-1:], [np.inf]
        self.exact = exact
        self.done.append(STEP * state.work + self.entry * state.kernel_evaluations)
        values = state.measured
        both = np.array([values.violation, values.relative_gap]) / self.tol
        self.far.append(min(self.far[-1], float(np.log(np.clip(both, 1.0, FARTHEST)).sum())))
        self.farthest = max(self.farthest, self.far[-1])

    @property
    def left(self) -> float:
        """The work that SMO still has to do."""
        return work_left(self.done, self.far)

    def prefers(self, finish: BlockInteriorPoint, state: DualState) -> bool:
        """Whether the second-order method is predicted to be faster from here on."""
        if len(self.done) < 3:
            return False
        if state.idle >= STALLED:
            return True
        if state.unfinished >= CRAWLS and state.measured.relative_gap > FAR:
            return True
        m, n = finish.size(state), state.gram.n
        block, part = self.work(min(m, n), n), max(PART, 1 / len(self.done))
        if self.done[-1] <= part * block:
            return False
        moving = len(possibly_free(state.problem, state.beta, state.gradient, -self.tol))
        whole = min((1 + ROUNDS * moving / m) * block, self.work(n, n))
        by_number, last = self.count(moving), self.done[-1] - self.done[-2]
        left = by_number if moving > SEVERAL * m or by_number < last else np.inf
        left = min(left, self.left)
        return bool(self.done[-1] > part * whole and SLOWER * left > whole)

    def count(self, moving: int) -> float:
        """The work left until no variable is free or violates KKT, by how their number fell."""
        self.counted.append(self.done[-1])
        self.moving.append(moving)
        return work_left(self.counted, self.moving)

    def work(self, m: int, n: int) -> float:
        """To solve a block of m rows out of n."""
        return FACTORISATIONS * m**3 / 6 + PASSES * m**2 + self.entry * m * (m + n)

    def trusts_face(self, finish: BlockInteriorPoint, state: DualState) -> bool:
        """Whether the free variables have settled, and to solve for them is little work by now.

        That few come and go in a block is not enough, for of many rows a block moves few: few at a
        bound may violate KKT. If SMO gains nothing at the moment, the mean of its gains counts.
        """
        p, before, self.free = state.problem, self.free, state.problem.free(state.beta)
        if len(self.done) < 3 or len(before) < len(self.free):
            return False
        count, rows = np.count_nonzero(self.free), min(finish.size(state), state.gram.n)
        entries = rows**2 + state.gram.n * np.count_nonzero(state.beta)
        work = TRIAL * count**3 / 6 + 2 * self.entry * entries
        left, gained = self.left, self.farthest - self.far[-1]
        if left == np.inf and gained > 0:
            left = self.done[-1] * self.far[-1] / gained
        if self.done[-1] < max(EARLY * work, AGAIN * self.tried) or SLOWER * left < work:
            return False
        moving = p.row_of(possibly_free(p, state.beta, state.gradient, -self.tol))
        violate = len(np.unique(moving)) - count  # a row's other variable is no other row
        settled = max(np.count_nonzero(before != self.free), violate) <= SETTLED * count
        self.tried = self.done[-1] if settled else self.tried
        return bool(settled)


def work_left(done: list[float], far: list[float]) -> float:
    """Until `far` is 0, if it goes on falling as it did over the later half of the work done."""
    if len(done) < 3:
        return np.inf
    half = max(1, int(np.searchsorted(done, done[-1] / 2)))
    half = min(half, len(done) - 2)
    fall, work = far[half] - far[-1], done[-1] - done[half]
    return float(work * far[-1] / fall) if fall > 0 else np.inf
