"""Coordinate descent: one variable at a time, for machines without an offset.

    G = Kβ + p
    repeat
        for every i: δ_i = clip(β_i − G_i / K_ii, l_i, u_i) − β_i, the best step of β_i alone
        p = argmax of −δ_i (½ δ_i K_ii + G_i), the decrease of the objective
        β_p += δ_p
        G += δ_p K_p
    until |G_i| ≤ tol wherever β_i can move against G_i

Without an offset there is no sum to keep, so that one variable can move alone, and the best one
is found exactly: the decrease of each is known from G and the diagonal.

Reference: I. Steinwart, D. Hush, C. Scovel, Training SVMs without offset, JMLR 12 (2011),
141–202.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from maxmargin.solvers.qp.pair_step import best_single
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.solver import STRIDE, Solver
from maxmargin.solvers.state import Moves
from maxmargin.solvers.textbook.blackboard import Blackboard, take_single_step


@dataclass(frozen=True)
class CoordinateDescent(Solver):
    """Steinwart, Hush and Scovel's greedy descent: one kernel row per step.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> SVC(solver=CoordinateDescent(), fit_intercept=False).fit(X, y).certificate_.status.value
    'converged'
    """

    takes_groups: ClassVar[tuple[int, ...]] = (0,)

    def iterate(self, state: DualState) -> Moves:
        board, p = Blackboard(state), state.problem
        while True:
            for _ in range(STRIDE):
                i = best_single(
                    state.diagonal, state.gradient, state.beta, p.lower, p.upper, state.aim
                )
                if i < 0:
                    return
                take_single_step(board, i, "largest decrease of the objective")
            yield
