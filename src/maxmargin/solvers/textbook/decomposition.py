"""Decomposition: a quadratic program of constant size.

    repeat
        W = the q/2 variables that violate KKT most, and q/2 of the last working set: first its
            free variables, then the rest
        minimise over β_W, the others being fixed where they are, by another solver
    until nothing violates KKT by more than tol

Unlike chunking, the others need not be zero: memory stays q² however many support vectors there
are. Osuna, Freund and Girosi exchange any violators and show that each exchange lowers the
objective; the worst pair must be among them for this to converge (Keerthi and Gilbert 2002), and
here it is. SMO is the case q = 2; block SMO is the case of large q with SMO inside.

Reference: E. Osuna, R. Freund, F. Girosi, An improved training algorithm for support vector
machines, IEEE NNSP (1997), 276–285.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from maxmargin.gram import Gram
from maxmargin.problem import DualProblem
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.qp.working_set import improve, worst_violators
from maxmargin.solvers.solver import Solver
from maxmargin.solvers.state import Moves
from maxmargin.solvers.textbook.second_order_smo import SecondOrderSMO


@dataclass(frozen=True)
class Decomposition(Solver):
    """Osuna's decomposition with any solver inside.

    Parameters
    ----------
    inner : Solver
        Of each working set; its `tol` and `max_time` are set by this one.
    size : int, default=200
        q: the variables of a working set.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> SVC(solver=Decomposition(size=30)).fit(X, y).certificate_.status.value
    'converged'
    """

    inner: Solver = field(default_factory=SecondOrderSMO)
    size: int = 200

    def __post_init__(self) -> None:
        if self.size < 4:
            raise ValueError(f"Decomposition: size must be at least 4, got {self.size!r}")

    def check(self, problem: DualProblem, gram: Gram) -> None:
        super().check(problem, gram)
        Solver.check(self.inner, problem, gram)

    def iterate(self, state: DualState) -> Moves:
        p, W = state.problem, np.arange(state.problem.size)
        while True:
            worst = worst_violators(state, self.size // 2, state.aim)
            if not len(worst):
                return None
            free = p.free(state.beta)[W]
            candidates = np.concatenate([worst, W[free], W])
            W = np.array(list(dict.fromkeys(candidates.tolist())))[: self.size]
            improve(state, W, self.inner, state.aim)
            yield
