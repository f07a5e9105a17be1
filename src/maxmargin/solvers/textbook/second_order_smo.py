"""Second-order SMO over all variables: the reference solver.

    repeat
        i = argmax of −G over the variables that can rise
        j = argmax of (G_j − G_i)² / (K_ii + K_jj − 2K_ij) over those of i's group that can
            fall and have G_j > G_i
        raise β_i and lower β_j by (G_j − G_i) / (K_ii + K_jj − 2K_ij), cut at the bounds
        G += t (K_i − K_j)
    until the largest −G that can rise exceeds the smallest that can fall by ≤ tol

Without a sum constraint this is coordinate descent: i alone moves, chosen by the largest decrease.

Reference: R.-E. Fan, P.-H. Chen, C.-J. Lin, Working set selection using second order
information for training support vector machines, JMLR 6 (2005), 1889–1918.
"""

from __future__ import annotations

from dataclasses import dataclass

from maxmargin.solvers.qp.pair_step import best_partner, worst_up
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.solver import STRIDE, Solver
from maxmargin.solvers.state import Moves
from maxmargin.solvers.textbook.blackboard import Blackboard, take_step
from maxmargin.solvers.textbook.coordinate_descent import CoordinateDescent


@dataclass(frozen=True)
class SecondOrderSMO(Solver):
    """Fan, Chen and Lin's SMO: two kernel rows per step, every variable a candidate.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> SVC(solver=SecondOrderSMO()).fit(X, y).certificate_.status.value
    'converged'
    """

    def iterate(self, state: DualState) -> Moves:
        board, p = Blackboard(state), state.problem
        if p.n_groups == 0:
            yield from CoordinateDescent().iterate(state)
            return
        while True:
            for _ in range(STRIDE):
                beta, G = state.beta, state.gradient
                i = worst_up(G, beta, p.lower, p.upper, p.group, p.n_groups, state.aim)
                if i < 0:
                    return
                j = best_partner(i, state.row(i), state.diagonal, G, beta, p.lower, p.group)
                take_step(board, i, j, "i: worst violator, j: largest gain with i")
            yield
