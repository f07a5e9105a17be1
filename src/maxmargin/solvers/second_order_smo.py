"""Second-order SMO over all variables: the reference solver.

    repeat
        i = argmax of −G over the variables that can go up
        j = argmax of (G_j − G_i)² / (K_ii + K_jj − 2K_ij) over those of i's group that can go
            down and have G_j > G_i
        move β_i up and β_j down by (G_j − G_i) / (K_ii + K_jj − 2K_ij), cut at the bounds
        G += t (K_i − K_j)
    until the largest −G that can go up exceeds the smallest that can go down by ≤ tol

Without a sum constraint i alone moves, chosen by the largest decrease.

Reference: R.-E. Fan, P.-H. Chen, C.-J. Lin, Working set selection using second order
information for training support vector machines, JMLR 6 (2005), 1889–1918.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from maxmargin.solvers.base import Solver, State
from maxmargin.solvers.pair import (
    best_partner,
    best_single,
    curvature,
    single_step,
    take_pair,
    worst_up,
)


@dataclass(frozen=True)
class SecondOrderSMO(Solver):
    """Fan, Chen and Lin's SMO: two kernel rows per step, every variable a candidate."""

    def iterate(self, state: State) -> Iterator[None]:
        step = self._pair if state.problem.n_groups else self._single
        while step(state):
            state.steps += 1
            if state.steps % 1000 == 0:
                yield
        yield

    def _pair(self, state: State) -> bool:
        p, beta, G = state.problem, state.beta, state.gradient
        i = worst_up(G, beta, p.lower, p.upper, p.group, p.n_groups, self.tol)
        if i < 0:
            return False
        row, diagonal = state.row(i), state.diagonal
        j = best_partner(i, row, diagonal, G, beta, p.lower, p.group)
        a = curvature(diagonal[i], diagonal[j], row[j])
        t = take_pair(i, j, a, G, beta, p.lower, p.upper)
        G += t * (row - state.row(j))
        return True

    def _single(self, state: State) -> bool:
        p, beta, G = state.problem, state.beta, state.gradient
        i = best_single(state.diagonal, G, beta, p.lower, p.upper, self.tol)
        if i < 0:
            return False
        t = single_step(i, state.diagonal, G, beta, p.lower, p.upper)
        beta[i] += t
        G += t * state.row(i)
        return True
