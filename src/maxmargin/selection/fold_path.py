"""The solutions of one problem on one kernel matrix, C after C.

Each C begins at the solution of the one before, as it is or times the ratio of the two, whichever
has the lower objective: where most are at their bounds they stay there, where none is the solution
stays, and f = Kβ only has to be scaled. Block SMO on the matrix in memory (`held_smo`) goes on from
there. A problem of another kind (no offset, an infinite bound, few rows, K not in memory, another
solver) is solved by the machine's own solver, from the same start.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from maxmargin.gram import Gram
from maxmargin.gram.matrix import HELD_ROWS
from maxmargin.problem import DualProblem, Solution
from maxmargin.resources.arrays import Floats
from maxmargin.solvers import BlockSMO, Solver
from maxmargin.solvers.qp.held_smo import HeldSMO, of_rows


class FoldPath:
    """One problem for one C after another.

    Parameters
    ----------
    gram : K
    room : rows of a path, or of an interior point, at most
    stop : whether to end now
    """

    def __init__(
        self, gram: Gram, room: float = np.inf, stop: Callable[[], bool] = lambda: False
    ) -> None:
        self.gram, self._held = gram, HeldSMO(gram, room, stop)
        self._known: dict[float, tuple[DualProblem, Floats, Floats]] = {}
        self._last = np.nan

    def solve(self, problem: DualProblem, C: float, solver: Solver) -> Solution:
        """The solution for this C, as exact as the solver says."""
        beta, f = self._start(problem, C)
        p, is_held = problem, self.gram.matrix is not None
        finite = np.isfinite(p.lower).all() and np.isfinite(p.upper).all()
        balanced = p.n_groups == 1 and not p.sums.any()
        large = self.gram.n > HELD_ROWS  # of fewer rows the machine's solver finds the last digits
        if is_held and type(solver) is BlockSMO and finite and balanced and large:
            solution = self._held.solve(p, beta, f, solver)
        else:
            solution = self._held.by(solver, p, beta)
        known = problem, solution.beta, of_rows(problem, solution)
        self._known[C], self._last = known, C
        return solution

    def _start(self, problem: DualProblem, C: float) -> tuple[Floats, Floats]:
        """β and f = Kβ: of the same C if there is one (of another ε), else from the last one."""
        if not self._known or not np.isfinite(C):
            return np.zeros(problem.size), np.zeros(self.gram.n)
        last = C if C in self._known else self._last
        before, beta, f = self._known[last]
        slope, bend = problem.linear @ beta, f @ problem.on_rows(beta)
        ratio = C / last
        if ratio > 1 and slope + 0.5 * bend < ratio * slope + 0.5 * ratio**2 * bend:
            return beta.copy(), f.copy()
        scaled = np.where(beta == before.upper, problem.upper, ratio * beta)
        scaled = np.where(beta == before.lower, problem.lower, scaled)
        return np.clip(scaled, problem.lower, problem.upper), ratio * f
