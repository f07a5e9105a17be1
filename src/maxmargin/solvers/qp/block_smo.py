"""Block SMO: the default solver.

    repeat
        W = the free variables and a sample of the violators, q of them, half from each side
            (`working_set`)
        minimise over β_W alone by second-order SMO on the q × q block K[W, W], in cache, to 0.3
            of the worst violation outside of W
        G += K[:, W] Δβ_W, computed in tiles that are not stored
    until the violation is ≤ tol

Most steps touch only the small block; the whole data are read once per block. q is near the
number of free support vectors: one block then brings nearly all of them to their optimum together.

Where entries lie in [0, 1] and the boxes are short, K[W, W] has 16 bits per entry: half the memory.
Its errors, up to 1/131070 of a move, affect this block's β only, since G is updated with float32
entries. Where they could exceed tol/8, K[W, W] has 32 bits; and 64 once steps have not come to an
end or a block has gained nothing, and their aim is less than what float32 makes of the largest β.

Steps see differences of gradients only. So b is added to them before they are rounded to float32:
G + b of a free variable is near 0, and float32 resolves violations far below the size of G.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from math import isqrt
from typing import Any

import numpy as np

from maxmargin.core import native
from maxmargin.gram import Gram
from maxmargin.gram.matrix import HELD_ROWS
from maxmargin.gram.on_demand import RowsOnDemand
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Entries, Floats, Numbers
from maxmargin.resources.memory import large_array
from maxmargin.solvers.qp.active_set import polished
from maxmargin.solvers.qp.block_interior_point import BlockInteriorPoint
from maxmargin.solvers.qp.smo_block import smo_block
from maxmargin.solvers.qp.smo_shrinking import smo_shrinking
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.qp.switch import take_turns
from maxmargin.solvers.qp.work import STEP
from maxmargin.solvers.qp.working_set import apart, working_set
from maxmargin.solvers.solver import Solver
from maxmargin.solvers.state import Moves, State

# docs/how-it-works/speed.md, "A block as large as the free support vectors":
FREE = 0.85  # share of free variables in a block: fewer are solved over and over, more leave no
# room for violators
FEW = 256  # rows up to which steps by a matrix of 64 bits take as long as by one of 32
COARSE = 5e-7  # of a move: float32 has half of that; steps then take half the time up to C = 100
ROUNDED = 3  # steps for each variable in a block of all that float32 cannot end: 64 bits take two
MANY = 4096  # variables beyond which a block has no more than these violators: half the memory


@dataclass(frozen=True)
class BlockSMO(Solver):
    """A working set solved in cache, the gradient updated once per set.

    Parameters
    ----------
    smallest, largest : int
        Limits of the working set; in between it follows the number of free variables.
    whole : int
        Variables up to which all are one working set, where entries are cheap.
    finish : BlockInteriorPoint or None
        Takes turns with SMO (`switch`); None is SMO alone.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> SVC(solver=BlockSMO()).fit(X, y).certificate_.status.value
    'converged'
    """

    smallest: int = 1024
    largest: int = 6144
    whole: int = 3072
    finish: BlockInteriorPoint | None = field(default_factory=BlockInteriorPoint)

    def iterate(self, state: DualState) -> Moves:
        small = self._is_small(state.problem, state.gram)
        smo = self._whole if small else self._blocks
        if self.finish is None:
            return (yield from smo(state))
        finish = replace(self.finish, tol=self.tol)
        return (yield from take_turns(state, smo, finish))

    def begin(self, problem: DualProblem, matrix: Gram, start: Floats | None) -> State[Any, Any]:
        """Of a small problem K is held, from which G of a start is read, too."""
        if start is not None and self._is_small(problem, matrix):
            matrix.held(matrix.precision)
        return super().begin(problem, matrix, start)

    def _is_small(self, problem: DualProblem, gram: Gram) -> bool:
        """Whether all variables are one working set, whose matrix is held."""
        most = self.whole if gram.is_cheap else self.smallest
        return problem.size <= most and gram.has_room_for(problem.size)

    def polish(self, state: DualState) -> None:
        """Solve for the free variables of a small problem: exact to the last digits.

        At C = 10¹² a dual that rises by its last digit can have a wider gap.
        """
        better = polished(state.problem, state.gram, state.beta, state.gradient)
        if better[0] is state.beta:
            return
        if self.criterion.of(state.problem.values(*better)) <= self.tol:
            state.settle(*better, "active set")

    def _whole(self, state: DualState) -> Moves:
        """All variables at once: K is computed once, and G from β alone after each round."""
        p, coarse = state.problem, FEW < state.gram.n <= HELD_ROWS
        rows: RowsOnDemand | None = None
        while True:
            coarse = coarse and self._is_coarse(state)
            dtype = np.float32 if coarse else state.dtype
            if rows is None or rows.K.dtype != dtype:
                rows = state.gram.on_demand(dtype)
                if p.rows is not None:
                    rows.complete()
                    rows = rows.take(p.rows)
                diagonal = state.diagonal.astype(dtype)
            beta, gradient = state.beta.copy(), state.gradient.copy()
            bounds = p.lower, p.upper, p.group, p.n_groups
            most = int(min(50 * p.size, state.most_steps - state.steps))
            steps = smo_shrinking(rows, diagonal, gradient, beta, *bounds, 0.4 * state.aim, most)
            state.spend(STEP * rows.K.itemsize / 4 * steps * p.size)
            beta = apart(p, beta)
            if not np.array_equal(beta, state.beta):
                state.begin_at(beta, steps=steps)
                yield
                continue
            state.steps += steps
            if not coarse:
                return None
            coarse = False

    def _is_coarse(self, state: DualState) -> bool:
        """Whether float32 is exact enough to choose steps by, of a matrix that has 64 bits.

        G is then wrong by some roundings of the longest move.
        """
        p = state.problem
        longest = float((p.upper - p.lower).max() * np.abs(state.gram.diagonal).max())
        return state.idle == 0 and COARSE * longest <= state.aim

    def _rounds(self, state: DualState) -> bool:
        """Whether entries in 16 bits are good enough to choose steps by."""
        farthest = float((state.problem.upper - state.problem.lower).max())
        return state.gram.entries_round and farthest / native.UNIT <= state.aim / 4

    def _size(self, state: DualState) -> int:
        """Variables of the next block: all of them if a block of another machine had all."""
        p, gram = state.problem, state.gram
        if p.rows is None and gram.is_held:
            return p.size
        room = isqrt(gram.budget // 3 // np.dtype(state.dtype).itemsize)
        free = np.count_nonzero(p.free(state.beta))
        size = max(self.smallest, int(min(1.6 * free, max(MANY, free / FREE))))
        return min(size, max(min(self.largest, room), 2))

    def _blocks(self, state: DualState) -> Moves:
        problem, memory = state.problem, BlockMemory(min(self.largest, state.problem.size))
        rng = np.random.default_rng(0)
        round_off = self._rounds(state)
        while True:
            W, outside = working_set(state, self._size(state), FREE, rng)
            aim = 0.4 * state.aim
            if len(W) < problem.size:
                # β_W changes again with the others: exactness beyond their violation is wasted.
                violation = problem.violation(state.beta, state.gradient)
                aim = max(aim, 0.3 * outside, 0.02 * violation)
            round_off = round_off and state.idle == 0 and not state.sharpened
            beta, steps = self._solved(state, W, aim, memory.matrix(state, W, round_off))
            values = state.beta.copy()
            values[W] = beta
            values = apart(problem, values)
            moved = np.flatnonzero(values != state.beta)
            if not len(moved):
                state.steps += steps
                return None
            state.move_to(moved, values[moved], steps=steps)
            if (state.unfinished or state.idle) and aim <= state.rounding:  # by rounding alone
                state.restart()
            yield

    def _solved(self, state: DualState, W: Numbers, aim: float, K: Entries) -> tuple[Floats, int]:
        """β_W after the steps on K[W, W], and their number."""
        p, beta, gradient = state.problem, state.beta[W], state.residual()[W]
        diagonal = state.gram.diagonal[p.row_of(W)].astype(state.dtype)
        bounds = p.lower[W], p.upper[W], p.group[W], p.n_groups
        solve = partial(smo_block, K, diagonal, gradient, beta, *bounds)
        each = ROUNDED if len(W) == p.size and aim <= state.rounding else 50
        most = int(min(each * len(W), state.most_steps - state.steps))
        steps = solve(aim, most)
        # K[W, W] took q² entries, a moved variable takes n: q²/n more of them cost as much.
        cheap = min(len(W) ** 2 // p.size, most)
        if steps < cheap:
            steps += solve(0.4 * state.aim, cheap - steps)
        state.spend(STEP * K.itemsize / 4 * steps * len(W))
        state.unfinished = state.unfinished + 1 if steps == most else 0
        return beta, steps


class BlockMemory:
    """Memory of K[W, W], used again from block to block: fresh memory is slow.

    Parameters
    ----------
    most : int
        Variables of a block, at most.
    """

    def __init__(self, most: int) -> None:
        self.most, self.space = most, np.empty(0)

    def matrix(self, state: DualState, W: Numbers, round_off: bool) -> Entries:
        """K[W, W], in 16 bits if it may be rounded off; that of all rows is kept by the Gram."""
        gram, rows = state.gram, state.problem.row_of(W)
        if len(W) == gram.n and state.problem.rows is None:
            self.space = np.empty(0)  # which the Gram may have
            return gram.held(state.dtype)
        kind = np.uint16 if round_off and state.dtype == np.float32 else state.dtype
        if not self.space.size or self.space.dtype != kind:
            self.space = large_array((self.most**2,), kind)
        K = self.space[: len(W) ** 2].reshape(len(W), len(W))
        return gram.square(rows, state.dtype, out=K)
