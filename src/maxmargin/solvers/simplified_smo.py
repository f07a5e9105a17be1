"""Simplified SMO, as taught: sweep over i, choose j at random.

    passes = 0
    while passes < max_passes
        for i in 1, …, n, if E_i = f(x_i) − y_i = G_i + b violates KKT:
            choose j ≠ i at random
            t = (E_j − E_i) / (K_ii + K_jj − 2K_ij);   if the curvature is not positive, skip j
            clip t to [L, H];                          if |t| is too small, leave all as it was
            β_i += t, β_j −= t, G += t (K_i − K_j)
            b = −G_i if β_i is strictly inside its bounds, else −G_j if β_j is, else their mean
        passes = 0 if anything moved, else passes + 1

A bound counts as reached within the tolerance of the KKT test, taken as a share of C. Nothing
makes a random j a good one: a sweep in which every j was useless looks like the end. So this can
stop early, `out of iterations` with its true gap; raise `max_passes` then.

Reference: M. Straka, NPFL129 lecture 7 (2022), after A. Ng, CS229 (2009), after J. Platt (1998).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.problem import Status
from maxmargin.solvers.base import Ending, Moves, Solver, State, require_positive
from maxmargin.solvers.pair import CURVATURE, pair_curvature, step_pair, violates


@dataclass(frozen=True)
class SimplifiedSMO(Solver):
    """The lectures' SMO: no heuristics, and no promise to end at the optimum.

    Parameters
    ----------
    max_passes : sweeps without a change after which it gives up
    smallest_step : a step shorter than this share of the bounds' distance is not taken
    seed : of the random choice of j
    """

    max_passes: int = 10
    smallest_step: float = 1e-8
    seed: int = 0

    takes_groups: ClassVar[tuple[int, ...]] = (1,)
    takes_infinite_bounds: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_positive(self, "max_passes")

    def iterate(self, state: State) -> Moves:
        n, width = state.problem.size, state.problem.upper - state.problem.lower
        random, why = np.random.default_rng(self.seed), "i: next violator of the sweep, j: random"
        tol, passes = self.tol / 2, 0
        while passes < self.max_passes:
            before = state.steps
            for i in range(n):
                if violates(state, i, tol, slack=tol * width[i]):
                    j = int(i + random.integers(1, n)) % n
                    if pair_curvature(state, i, j) > CURVATURE:
                        step_pair(state, i, j, why, smallest=self.smallest_step * width[i])
            passes = 0 if state.steps > before else passes + 1
            yield
        return Ending(Status.OUT_OF_ITERATIONS, f"{self.max_passes} sweeps found no j that moves")
