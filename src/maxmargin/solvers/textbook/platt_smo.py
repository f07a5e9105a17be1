"""Platt's SMO: both multipliers chosen by heuristics.

    while a sweep over all variables moves any
        while a sweep over the free variables moves any: repeat

    sweep: for each i whose E_i = G_i + b violates KKT, move it with the first j that can:
        1. of the free variables, the one with the largest |E_i − E_j|
        2. the other free variables, from a random one on
        3. all variables, from a random one on

    step: t = (E_j − E_i) / (K_ii + K_jj − 2K_ij) clipped to [L, H]; where the curvature is not
        positive the best t is the better end of [L, H]
    b = −G_i if β_i is strictly inside its bounds, else −G_j if β_j is, else their mean

The free variables (strictly inside their bounds) change most often; passes over all are rare.
The error cache is G: E_i = G_i + b, and each step updates all of G.

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

from maxmargin.hardware.arrays import Numbers
from maxmargin.solvers.qp.pair_step import step_pair, violates
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.solver import Solver
from maxmargin.solvers.state import Moves


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
        random = np.random.default_rng(self.seed)
        while self.sweep(state, range(state.problem.size), random, "i: violator among all"):
            yield
            while self.sweep(state, free(state).tolist(), random, "i: violator among the free"):
                yield

    def sweep(
        self, state: DualState, variables: Iterable[int], random: np.random.Generator, why: str
    ) -> int:
        """Examine each variable; returns how many moved."""
        return sum(
            self.examine(state, i, random, why)
            for i in variables
            if violates(state, i, state.aim / 2)
        )

    def examine(self, state: DualState, i: int, random: np.random.Generator, why: str) -> bool:
        """Move i with the first partner that makes a difference."""
        return any(
            j != i and step_pair(state, i, j, f"{why}, {second}")
            for j, second in partners(state, i, random)
        )


def partners(state: DualState, i: int, random: np.random.Generator) -> Iterator[tuple[int, str]]:
    """Second multipliers for i, the most promising first."""
    inside = free(state)
    if len(inside) > 1:
        errors = state.gradient[inside] - state.gradient[i]
        yield int(inside[np.abs(errors).argmax()]), "j: largest |E_i − E_j| of the free"
        yield from ((j, "j: next free variable") for j in rotated(inside, random))
    everything = np.arange(state.problem.size)
    yield from ((j, "j: next of all variables") for j in rotated(everything, random))


def free(state: DualState) -> Numbers:
    """The variables strictly inside their bounds."""
    return np.flatnonzero(state.problem.free(state.beta))


def rotated(variables: Numbers, random: np.random.Generator) -> list[int]:
    """The same variables, beginning with a random one."""
    order: list[int] = np.roll(variables, random.integers(len(variables))).tolist()
    return order
