"""Second-order SMO over all variables: the reference solver.

    repeat
        i = argmax of −G over the variables that can go up
        j = argmax of (G_j − G_i)² / (K_ii + K_jj − 2K_ij) over those of i's group that can go
            down and have G_j > G_i
        move β_i up and β_j down by (G_j − G_i) / (K_ii + K_jj − 2K_ij), cut at the bounds
        G += t (K_i − K_j)
    until the largest −G that can go up exceeds the smallest that can go down by ≤ tol

Without a sum constraint this is coordinate descent: i alone moves, chosen by the largest decrease.

Reference: R.-E. Fan, P.-H. Chen, C.-J. Lin, Working set selection using second order
information for training support vector machines, JMLR 6 (2005), 1889–1918.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from maxmargin.solvers.base import STRIDE, Solver, State
from maxmargin.solvers.coordinate_descent import CoordinateDescent
from maxmargin.solvers.pair import best_partner, step_pair, worst_up


@dataclass(frozen=True)
class SecondOrderSMO(Solver):
    """Fan, Chen and Lin's SMO: two kernel rows per step, every variable a candidate."""

    def iterate(self, state: State) -> Iterator[None]:
        p = state.problem
        if p.n_groups == 0:
            yield from CoordinateDescent(self.tol).iterate(state)
            return
        while True:
            for _ in range(STRIDE):
                beta, G = state.beta, state.gradient
                i = worst_up(G, beta, p.lower, p.upper, p.group, p.n_groups, self.tol)
                if i < 0:
                    return
                j = best_partner(i, state.row(i), state.diagonal, G, beta, p.lower, p.group)
                step_pair(state, i, j, "i: worst violator, j: largest gain with i")
            yield
