"""Random-pair SMO: sweeps of n/2 random pairs, until the variables stop moving.

    repeat at most `sweeps` times
        movement = 0
        n/2 times
            choose i ≠ j at random
            α_j += y_j (E_i − E_j) / η, clipped to [L, H], and α_i so that y_i α_i + y_j α_j stays
            b so that E_i = 0 if 0 < α_i < C, else E_j = 0 if 0 < α_j < C, else by the mean of both
            movement += |Δα_i| + |Δα_j| + |Δb|
    until movement ≤ ε

b is set at every pair, also at one whose β cannot move. Away from an exact optimum the pairs do
not agree on it: b goes to and fro, and the movement stays far above ε after β itself has come to
rest. So the rule does not end a run early, as one might fear of a criterion of movement; it
hardly ends one at all, and `sweeps` does.

Where this departs from the review: its rule for b tests 0 ≤ α ≤ C, which always holds, so that b
came from i even at a bound; the test must be strict. And the KKT violation decides convergence
here as everywhere: the run ends when it is ≤ tol, and a sweep that hardly moves before that is
`stagnated`, with the true gap.

The review's defaults are ε = 1e-6, 1,000 sweeps, and C = 5 for the machine.

Reference: A review of SVM and SMO (2021), sections 2.2 to 2.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.problem import Ending, Status
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.solver import Solver, require_positive
from maxmargin.solvers.state import Moves
from maxmargin.solvers.textbook.blackboard import Blackboard, take_step, update_b


@dataclass(frozen=True)
class RandomPairSMO(Solver):
    """The review's SMO: no KKT test, pairs at random.

    Parameters
    ----------
    movement : float, default=1e-6
        ε: a sweep with Σ|Δβ| + Σ|Δb| ≤ ε has not moved, and is the last.
    sweeps : int, default=1000
        Most sweeps of n/2 pairs.
    seed : int, default=0
        Of the random choice of pairs.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> machine = SVC(solver=RandomPairSMO(), tol=0.01).fit(X, y)
    >>> machine.certificate_.status.value
    'converged'
    """

    movement: float = 1e-6
    sweeps: int = 1000
    seed: int = 0

    takes_groups: ClassVar[tuple[int, ...]] = (1,)
    takes_infinite_bounds: ClassVar[bool] = False
    # Sweeps in which the random pairs happen to gain nothing are no sign that none could.
    patience: ClassVar[float] = 100

    def __post_init__(self) -> None:
        require_positive(self, "sweeps")

    def iterate(self, state: DualState) -> Moves:
        board, n = Blackboard(state), state.problem.size
        random = np.random.default_rng(self.seed)
        for _ in range(self.sweeps):
            for i in random.integers(n, size=n // 2).tolist():
                j = int(i + random.integers(1, n)) % n
                if not take_step(board, i, j, "both at random"):
                    update_b(board, i, j)
            if state.movement <= self.movement:
                return Ending(Status.STAGNATED, f"a sweep moved β and b by {state.movement:.1g}")
            yield
        return self._out_of_sweeps

    @property
    def _out_of_sweeps(self) -> Ending:
        return Ending(Status.OUT_OF_ITERATIONS, f"{self.sweeps} sweeps made")

    def advice(self, ending: Ending, milder: str = "lower C") -> str:
        """More sweeps if they ran out, and smaller movements if they were too small to go on."""
        other = "of RandomPairSMO, or take solver='second-order'"
        if ending == self._out_of_sweeps:
            return f"raise sweeps={self.sweeps} {other}"
        if ending.status is Status.STAGNATED:
            return f"lower movement={self.movement:g} {other}"
        return super().advice(ending, milder)
