"""Platt's SMO: both multipliers chosen by heuristics.

    while a sweep over all variables moves any
        while a sweep over the free variables moves any: repeat

    sweep: for each i whose E_i = f(x_i) − y_i violates KKT, move it with the first j that can:
        1. of the free variables, the one with the largest |E_i − E_j|
        2. the other free variables, from a random one on
        3. all variables, from a random one on

    step: α_j += y_j (E_i − E_j) / η, clipped to [L, H]; where η = K_ii + K_jj − 2K_ij is not
        positive the best α_j is the better end of [L, H]
    b so that E_i = 0 if 0 < α_i < C, else E_j = 0 if 0 < α_j < C, else by the mean of both

The free variables (0 < α < C) change most often; passes over all are rare. The error cache is the
gradient G: E = G + b, and each step updates all of G.

A pass over all that changes nothing proves the result: of two variables that violate as a pair
by more than tol, one has |E| > ½ tol whatever b is, and it was tried with every other.

Reference: J. Platt, Fast training of support vector machines using sequential minimal
optimization, in Advances in Kernel Methods, MIT Press (1999), 185–208.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.resources.arrays import Numbers
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.solver import Solver
from maxmargin.solvers.state import Moves
from maxmargin.solvers.textbook.blackboard import Blackboard, take_step, violates


@dataclass(frozen=True)
class PlattSMO(Solver):
    """Platt's original SMO, with its error cache and both heuristics.

    Parameters
    ----------
    seed : int, default=0
        Of the random places where the passes over j begin.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> SVC(solver=PlattSMO(seed=1)).fit(X, y).certificate_.status.value
    'converged'
    """

    seed: int = 0

    takes_groups: ClassVar[tuple[int, ...]] = (1,)
    takes_infinite_bounds: ClassVar[bool] = False
    # Sweeps over the free variables run until these are within tol, however little the dual rises.
    patience: ClassVar[int] = 1000

    def iterate(self, state: DualState) -> Moves:
        board, random = Blackboard(state), np.random.default_rng(self.seed)
        while self.sweep(board, range(board.n), random, "i: violator among all"):
            yield
            while self.sweep(board, free(board).tolist(), random, "i: violator among the free"):
                yield

    def sweep(
        self, board: Blackboard, variables: Iterable[int], random: np.random.Generator, why: str
    ) -> int:
        """Examine each variable; returns how many moved."""
        moved = 0
        for i in variables:
            if violates(board, i, board.state.aim / 2):
                moved += self.examine(board, i, random, why)
        return moved

    def examine(self, board: Blackboard, i: int, random: np.random.Generator, why: str) -> bool:
        """Move i with the first partner that makes a difference."""
        for j, second in partners(board, i, random):
            if j != i and take_step(board, i, j, f"{why}, {second}"):
                return True
        return False


def partners(board: Blackboard, i: int, random: np.random.Generator) -> Iterator[tuple[int, str]]:
    """Second multipliers for i, the most promising first."""
    inside, G = free(board), board.state.gradient
    if len(inside) > 1:
        j = int(inside[np.abs(G[inside] - G[i]).argmax()])
        yield j, "j: largest |E_i − E_j| of the free"
        yield from ((j, "j: next free variable") for j in rotated(inside, random))
    everything = np.arange(board.n)
    yield from ((j, "j: next of all variables") for j in rotated(everything, random))


def free(board: Blackboard) -> Numbers:
    """The variables with 0 < α < C."""
    return np.flatnonzero(board.state.problem.free(board.state.beta))


def rotated(variables: Numbers, random: np.random.Generator) -> list[int]:
    """The same variables, beginning with a random one."""
    order: list[int] = np.roll(variables, random.integers(len(variables))).tolist()
    return order
