"""Block SMO: the default solver.

    repeat
        W = the free variables and a sample of the violators, q of them, half from each side
        minimise over β_W alone by second-order SMO on the q × q block K[W, W], in cache, as
            exactly as is worth it beside what the worst variable outside of W wants
        G += K[:, W] Δβ_W, computed in tiles and thrown away
    until the violation is ≤ tol

Most steps touch only the small block; the whole data are read once per block. q is near the
number of free support vectors, for then one block settles nearly all of them together.

Where entries lie between 0 and 1 and no variable can move far, K[W, W] has 16 bits for each: half
the memory. Its errors, up to 1/131070 of a move, are those of this block's answer only, for G is
brought along by float32 entries. With bounds so far apart that they would exceed tol/8 it has 32.

Violators are sampled at random among those at least a twentieth as bad as the worst. The worst
alone are much alike: a few of them settle the others too, and the rest of the block was computed
for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import isqrt

import numpy as np

from maxmargin.resources import large_array
from maxmargin.small_matrix import Parts, entire
from maxmargin.solvers._inner import smo_block
from maxmargin.solvers.base import Solver, State
from maxmargin.tiling import whole
from maxmargin.vectors import UNIT

FREE = 0.85  # of a block's variables: the rest is for violators
MANY = 4096  # variables: from there on no more violators than that, for K takes much memory


@dataclass(frozen=True)
class BlockSMO(Solver):
    """A working set solved in cache, the gradient updated once per set.

    Parameters
    ----------
    smallest, largest : int
        Limits of the working set; in between it follows the number of free variables.
    """

    smallest: int = 1024
    largest: int = 6144

    def iterate(self, state: State) -> Iterator[None]:
        if state.problem.rows is None and state.gram.matrix is not None:
            yield from self._whole(state, state.gram.matrix.parts)
        else:
            yield from self._blocks(state)

    def _whole(self, state: State, matrix: Parts) -> Iterator[None]:
        """All variables at once; in blocks after all if many steps are not enough."""
        p, small = state.problem, state.problem.size <= self.smallest
        while True:
            beta, gradient, diagonal = state.beta.copy(), state.gradient, state.gram.diagonal
            bounds = p.lower, p.upper, p.group, p.n_groups
            most = int(min((50 if small else 2) * p.size, state.most_steps - state.steps))
            steps = smo_block(matrix, diagonal, gradient, beta, *bounds, 0.4 * self.tol, most)
            if not steps:
                return
            state.steps += steps
            state.begin_at(beta)
            yield
            if steps == most and not small:
                state.gram.forget_matrix()
                state.dtype = state.gram.precision
                yield from self._blocks(state)
                return

    def _blocks(self, state: State) -> Iterator[None]:
        problem, W = state.problem, np.arange(state.problem.size)
        rng = np.random.default_rng(0) if problem.size > self.smallest else None
        farthest = float((problem.upper - problem.lower).max())
        round_off = state.gram.entries_round and farthest / UNIT <= self.tol / 4
        space = np.empty(0)  # for K, kept from block to block: to touch fresh memory is slow
        while True:
            outside = 0.0
            if rng is not None:
                room = isqrt(state.gram.budget // np.dtype(state.dtype).itemsize)
                size = max(min(self.largest, room), 2)
                W, outside = working_set(state, self.smallest, size, rng)
            aim = 0.4 * self.tol
            if len(W) < problem.size:
                # It will change with the others: no need to be exact beside what they want.
                violation = problem.violation(state.beta, state.gradient)
                aim = max(aim, 0.3 * outside, 0.02 * violation)
            rows = problem.row_of(W)
            rounded = round_off and state.dtype == np.float32 and not state.sharpened
            kind, width = (np.uint16, whole(len(W))) if rounded else (state.dtype, len(W))
            if not space.size or space.dtype != kind:
                space = large_array((whole(min(self.largest, problem.size)) ** 2,), kind)
            K = space[: len(W) * width].reshape(len(W), width)
            K = state.gram.square(rows, state.dtype, out=K)
            diagonal = state.gram.diagonal[rows].astype(state.dtype)
            beta, gradient = state.beta[W], state.gradient[W]
            bounds = problem.lower[W], problem.upper[W], problem.group[W], problem.n_groups
            solve = partial(smo_block, entire(K), diagonal, gradient, beta, *bounds)
            most = int(min(50 * len(W), state.most_steps - state.steps))
            steps = solve(aim, most)
            # K[W, W] took q² entries, a variable that moves takes n: so q²/n of them may as well.
            cheap = min(len(W) ** 2 // problem.size, most)
            if steps < cheap:
                steps += solve(0.4 * self.tol, cheap - steps)
            state.steps += steps
            moved = beta != state.beta[W]
            if not moved.any():
                return
            state.move_to(W[moved], beta[moved])
            yield


def working_set(
    state: State, smallest: int, largest: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """The free variables, as far as there is room, and violators of each side.

    And by how much the worst of the others would like to move: −G − b, or G + b.
    """
    problem, beta = state.problem, state.beta
    can_rise, can_fall = beta < problem.upper, beta > problem.lower
    free = np.flatnonzero(can_rise & can_fall)
    size = min(1.6 * len(free), max(MANY, len(free) / FREE))
    size = min(max(smallest, int(size)), largest, problem.size)
    if size == problem.size:
        return np.arange(size), 0.0
    offsets = problem.offsets(beta, state.gradient)
    residual = state.gradient + (offsets[problem.group] if problem.n_groups else 0.0)
    rise, fall = np.where(can_rise, -residual, 0.0), np.where(can_fall, residual, 0.0)
    groups = range(max(problem.n_groups, 1))
    chosen = np.zeros(problem.size, bool)
    most_free = min(int(FREE * size), size - 2 * len(groups))  # leaves a violator of each side
    chosen[most(np.abs(residual), free, most_free)] = True
    each = (size - int(chosen.sum())) // (2 * len(groups))
    for g in groups:
        for wish, can_move in ((rise, can_rise), (fall, can_fall)):
            candidates = np.flatnonzero(can_move & (problem.group == g) & ~chosen)
            wishes = wish[candidates]
            bad = candidates[wishes > 0.05 * wishes.max(initial=0)]
            if len(bad) > each:
                some = rng.choice(bad, each, replace=False)
                some[:1] = bad[wish[bad].argmax()]  # so that the set violates as much as all do
                chosen[some] = True
            else:
                chosen[most(wish, candidates, each)] = True
    W = np.flatnonzero(chosen)
    others = np.maximum(rise, fall)
    others[W] = 0.0
    return W, float(others.max())


def most(score: np.ndarray, candidates: np.ndarray, count: int) -> np.ndarray:
    """The `count` candidates with the largest score."""
    if len(candidates) <= count:
        return candidates
    return candidates[np.argpartition(-score[candidates], count)[:count]]
