"""Chunking: a quadratic program over all non-zero multipliers, which grows as they do.

    repeat
        W = { i : β_i ≠ 0 } and the M variables that violate KKT most, the worst pair among them
        minimise over β_W, the others being 0, by another solver
    until nothing violates KKT by more than tol

A variable violates KKT by |G_i + b| if it can move against G_i + b. If all M could only rise, the
fixed sum would let none of them move: so the worst pair, one that can rise and one that can fall,
is always in W.

Removing the rows and columns of zero multipliers does not change the optimum, so the chunk ends
as the problem over the support vectors alone. It must fit in memory: with many support vectors
use decomposition, whose working set keeps its size.

Reference: B. Boser, I. Guyon, V. Vapnik, A training algorithm for optimal margin classifiers,
COLT (1992), 144–152; V. Vapnik, Estimation of Dependences Based on Empirical Data (1982).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from maxmargin.gram import Gram
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Numbers
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.qp.working_set import improve
from maxmargin.solvers.solver import Solver, require_positive
from maxmargin.solvers.state import Moves
from maxmargin.solvers.textbook.second_order_smo import SecondOrderSMO


@dataclass(frozen=True)
class Chunking(Solver):
    """Vapnik's chunking with any solver inside.

    Parameters
    ----------
    inner : Solver
        Of each chunk; its `tol` and `max_time` are set by this one.
    violators : int, default=200
        M: how many violators join at each iteration.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> SVC(solver=Chunking(violators=20)).fit(X, y).certificate_.status.value
    'converged'
    """

    inner: Solver = field(default_factory=SecondOrderSMO)
    violators: int = 200

    def __post_init__(self) -> None:
        require_positive(self, "violators")

    def check(self, problem: DualProblem, gram: Gram) -> None:
        super().check(problem, gram)
        Solver.check(self.inner, problem, gram)

    def iterate(self, state: DualState) -> Moves:
        while True:
            worst = most_violating(state, self.violators, state.aim)
            if not len(worst):
                return None
            W = np.union1d(np.flatnonzero(state.beta), worst)
            improve(state, W, self.inner, state.aim)
            yield


def most_violating(state: DualState, M: int, tol: float) -> Numbers:
    """The M variables that violate KKT most, with the worst pair of each group among them.

    None if no pair violates by more than `tol`.
    """
    p, beta, G = state.problem, state.beta, state.gradient
    if p.violation(beta, G) <= tol:
        return np.empty(0, np.int64)
    force = p.residual(G, p.offsets(beta, G))  # G + b
    rises = np.where(beta < p.upper, -force, -np.inf)
    falls = np.where(beta > p.lower, force, -np.inf)
    violation = np.maximum(rises, falls)
    for g in range(p.n_groups):
        inside = p.group == g
        for side in (rises, falls):
            violation[np.argmax(np.where(inside, side, -np.inf))] = np.inf
    worst = np.argsort(-violation, kind="stable")[: max(M, 2 * p.n_groups)]
    return worst[violation[worst] > 0]
