"""Coordinate descent: one variable at a time, for machines without an offset.

    G = Kβ + p
    repeat
        for every i: δ_i = clip(β_i − G_i / K_ii, l_i, u_i) − β_i, the best step of β_i alone
        p = argmax of −δ_i (½ δ_i K_ii + G_i), the decrease of the objective
        β_p += δ_p
        G += δ_p K_p
    until no G_i that β_i could follow is larger than tol

Without an offset there is no sum to keep, so that one variable can move alone, and the best one
is found exactly: the decrease of each is known from G and the diagonal.

Reference: I. Steinwart, D. Hush, C. Scovel, Training SVMs without offset, JMLR 12 (2011),
141–202.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from maxmargin.solvers.base import STRIDE, Solver, State
from maxmargin.solvers.pair import best_single, step_single


@dataclass(frozen=True)
class CoordinateDescent(Solver):
    """Steinwart, Hush and Scovel's greedy descent: one kernel row per step."""

    takes_groups: ClassVar[tuple[int, ...]] = (0,)

    def iterate(self, state: State) -> Iterator[None]:
        p = state.problem
        while True:
            for _ in range(STRIDE):
                i = best_single(
                    state.diagonal, state.gradient, state.beta, p.lower, p.upper, self.tol
                )
                if i < 0:
                    return
                step_single(state, i, "largest decrease of the objective")
            yield
