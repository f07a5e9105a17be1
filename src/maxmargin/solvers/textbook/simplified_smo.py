"""Simplified SMO, as taught: sweep over i, choose j at random.

    passes = 0
    while passes < max_passes
        for i in 1, …, n, if E_i = f(x_i) − y_i = G_i + b violates KKT by more than ½ tol:
            choose j ≠ i at random
            t = (E_j − E_i) / (K_ii + K_jj − 2K_ij);   if the curvature is not positive, skip j
            clip t to [L, H];                          if |t| is too small, leave all as it was
            β_i += t, β_j −= t, G += t (K_i − K_j)
            b = −G_i if β_i is strictly inside its bounds, else −G_j if β_j is, else their mean
        passes = 0 if anything moved, else passes + 1

The KKT test: E_i < −½ tol though β_i can rise, or E_i > ½ tol though it can fall; a bound counts
as reached within ½ tol, taken as a share of C. The lecture tests with tol itself. Two variables
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
from maxmargin.solvers.qp.pair_step import CURVATURE, pair_curvature, step_pair, violates
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.solver import Solver, require_positive
from maxmargin.solvers.state import Moves


@dataclass(frozen=True)
class SimplifiedSMO(Solver):
    """The lectures' SMO: no heuristics, and no promise to end at the optimum.

    Parameters
    ----------
    max_passes : int, default=10
        Sweeps running without a change, after which it gives up.
    smallest_step : float, default=1e-8
        A step |t| shorter than this share of u_i − l_i is not taken.
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
        n, width = state.problem.size, state.problem.upper - state.problem.lower
        random, why = np.random.default_rng(self.seed), "i: next violator of the sweep, j: random"
        passes = 0
        while passes < self.max_passes:
            tol, before = state.aim / 2, state.steps
            for i in range(n):
                if violates(state, i, tol, slack=tol * width[i]):
                    j = int(i + random.integers(1, n)) % n
                    if pair_curvature(state, i, j) > CURVATURE:
                        step_pair(state, i, j, why, smallest=self.smallest_step * width[i])
            passes = 0 if state.steps > before else passes + 1
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
