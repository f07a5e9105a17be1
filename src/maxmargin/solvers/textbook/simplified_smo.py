"""Simplified SMO, as taught: sweep over i, choose j at random.

    passes = 0
    while passes < max_passes
        for i in 1, …, n, if E_i = f(x_i) − y_i violates KKT by more than ½ tol:
            choose j ≠ i at random
            η = K_ii + K_jj − 2K_ij;                   if η is not positive, skip j
            α_j += y_j (E_i − E_j) / η, clipped to [L, H];  if it hardly moves, leave all as it was
            α_i so that y_i α_i + y_j α_j stays
            b so that E_i = 0 if 0 < α_i < C, else E_j = 0 if 0 < α_j < C, else by the mean of both
        passes = 0 if anything moved, else passes + 1

The KKT test: y_i E_i < −½ tol though α_i < C, or y_i E_i > ½ tol though α_i > 0; a bound counts as
reached within ½ tol, taken as a share of C. The lecture tests with tol itself. Two variables
that pass its test can violate as a pair by 2 tol; with the half of it no pair violates by more than
tol, which is what `tol` means here for every solver. For the lecture's run give twice its tol.

A sweep in which no random j allowed a step counts as one without change, so this can stop early,
`out of iterations` with its true gap; raise `max_passes` then.

Reference: M. Straka, NPFL129 lecture 7 (2022), after A. Ng, CS229 (2009), after J. Platt (1998).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.problem import Ending, Status
from maxmargin.solvers.qp.pair_step import CURVATURE
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.solver import Solver, require_positive
from maxmargin.solvers.state import Moves
from maxmargin.solvers.textbook.blackboard import Blackboard, take_step, violates

WHY = "i: next violator of the sweep, j: random"


@dataclass(frozen=True)
class SimplifiedSMO(Solver):
    """The lectures' SMO: no heuristics, and no promise to end at the optimum.

    Parameters
    ----------
    max_passes : int, default=10
        Sweeps running without a change, after which it gives up.
    smallest_step : float, default=1e-8
        A step of α_j shorter than this share of C is not taken.
    seed : int, default=0
        Of the random choice of j.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> machine = SVC(solver=SimplifiedSMO(max_passes=50), tol=0.01).fit(X, y)
    >>> machine.certificate_.status.value
    'converged'
    """

    max_passes: int = 10
    smallest_step: float = 1e-8
    seed: int = 0

    takes_groups: ClassVar[tuple[int, ...]] = (1,)
    takes_infinite_bounds: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_positive(self, "max_passes")

    def iterate(self, state: DualState) -> Moves:
        board = Blackboard(state)
        n, C, K = board.n, board.C, board.K
        random = np.random.default_rng(self.seed)
        passes = 0
        while passes < self.max_passes:
            tol, changed = state.aim / 2, 0
            for i in range(n):
                if violates(board, i, tol, slack=tol * C[i]):
                    j = int(i + random.integers(1, n)) % n
                    if K(i, i) + K(j, j) - 2 * K(i, j) > CURVATURE:
                        changed += take_step(board, i, j, WHY, self.smallest_step * C[i])
            passes = 0 if changed else passes + 1
            yield
        return self._gave_up

    @property
    def _gave_up(self) -> Ending:
        why = f"{self.max_passes} sweeps found no j that moves"
        return Ending(Status.OUT_OF_ITERATIONS, why)

    def advice(self, ending: Ending, milder: str = "lower C") -> str:
        """More sweeps without a change, unless the steps themselves ran out."""
        if ending == self._gave_up:
            return f"raise max_passes={self.max_passes} of SimplifiedSMO, or take solver='platt'"
        return super().advice(ending, milder)
