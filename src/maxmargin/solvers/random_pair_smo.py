"""Random-pair SMO: sweeps of n/2 random pairs, until the variables stop moving.

    repeat at most `sweeps` times
        movement = 0
        n/2 times
            choose i ≠ j at random
            t = (E_j − E_i) / (K_ii + K_jj − 2K_ij), clipped to [L, H]
            β_i += t, β_j −= t, G += t (K_i − K_j)
            b = −G_i if β_i is strictly inside its bounds, else −G_j if β_j is, else their mean
            movement += |Δβ_i| + |Δβ_j| + |Δb|
    until movement ≤ ε in `max_passes` sweeps running

Where this departs from the review: its rule for b tests 0 ≤ α ≤ C, which always holds, so that b
came from i even at a bound; the test must be strict. And that β stopped moving does not make it
optimal: the KKT violation decides convergence here as everywhere, and a sweep that hardly moves
before that is `stagnated`, with the true gap.

The review's defaults are ε = 1e-6, one such sweep, 1,000 sweeps, and C = 5 for the machine.

Reference: A review of SVM and SMO (2021), sections 2.2 to 2.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.problem import Status
from maxmargin.solvers.base import Ending, Moves, Solver, State, require_positive
from maxmargin.solvers.pair import step_pair


@dataclass(frozen=True)
class RandomPairSMO(Solver):
    """The review's SMO: no KKT test, pairs at random.

    Parameters
    ----------
    movement : ε, a sweep that moves less in all has not moved
    max_passes : sweeps running that have not moved, after which it gives up
    sweeps : most sweeps of n/2 pairs
    seed : of the random choice of pairs
    """

    movement: float = 1e-6
    max_passes: int = 1
    sweeps: int = 1000
    seed: int = 0

    takes_groups: ClassVar[tuple[int, ...]] = (1,)
    takes_infinite_bounds: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_positive(self, "max_passes", "sweeps")

    def iterate(self, state: State) -> Moves:
        random, n = np.random.default_rng(self.seed), state.problem.size
        passes = 0
        for _ in range(self.sweeps):
            for i in random.integers(n, size=n // 2).tolist():
                j = int(i + random.integers(1, n)) % n
                step_pair(state, i, j, "both at random")
            passes = 0 if state.movement > self.movement else passes + 1
            if passes == self.max_passes:
                return Ending(Status.STAGNATED, f"a sweep moved β by {state.movement:.1g}")
            yield
        return Ending(Status.OUT_OF_ITERATIONS, f"{self.sweeps} sweeps made")
