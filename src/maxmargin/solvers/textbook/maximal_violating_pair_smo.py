"""SMO on the maximal violating pair: Keerthi's first-order selection.

    repeat
        i = argmax of −G over the variables that can rise
        j = argmin of −G over those of i's group that can fall
        raise β_i and lower β_j by (G_j − G_i) / (K_ii + K_jj − 2K_ij), cut at the bounds
        G += t (K_i − K_j)
    until −G_i exceeds −G_j by ≤ tol

−G_i and −G_j are the two thresholds b_up and b_low of Keerthi et al.: β is optimal exactly if
b_up ≤ b_low, whatever b is. Choosing the pair that contradicts this most converges for every
tol > 0 (Keerthi and Gilbert 2002). It looks at slopes only; second-order SMO also weighs the
curvature and needs fewer steps.

Reference: S. S. Keerthi, S. K. Shevade, C. Bhattacharyya, K. R. K. Murthy, Improvements to
Platt's SMO algorithm for SVM classifier design, Neural Computation 13 (2001), 637–649.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.solvers.qp.pair_step import worst_up
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.solver import STRIDE, Solver
from maxmargin.solvers.state import Moves
from maxmargin.solvers.textbook.blackboard import Blackboard, take_step


@dataclass(frozen=True)
class MaximalViolatingPairSMO(Solver):
    """Keerthi's SMO: the two variables that contradict optimality most.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> SVC(solver=MaximalViolatingPairSMO()).fit(X, y).certificate_.status.value
    'converged'
    """

    takes_groups: ClassVar[tuple[int, ...]] = (1, 2)

    def iterate(self, state: DualState) -> Moves:
        board, p = Blackboard(state), state.problem
        while True:
            for _ in range(STRIDE):
                beta, G = state.beta, state.gradient
                i = worst_up(G, beta, p.lower, p.upper, p.group, p.n_groups, state.aim)
                if i < 0:
                    return
                can_fall = (beta > p.lower) & (p.group == p.group[i])
                j = int(np.where(can_fall, G, -np.inf).argmax())
                take_step(board, i, j, "the pair that violates KKT most")
            yield
