"""The machine on features: a rough solution of few rows, then proximal Newton steps on all.

See `proximal_newton` for the steps. A few of the rows give the first w and b; eight times as many
the next, and so on up to all. After every proximal step β is made feasible, and

    P(w, b) − D(β),   P = ½‖w‖² + the loss,   D = −pᵀβ − ½‖Zᵀβ‖²

is the gap. w = Zᵀβ holds in the limit only, and a negligible w − Zᵀβ still changes a sum over 10⁶
rows. So P is that of w itself, and D that of β. Once the gap is small enough, both are recomputed
from w and β alone, in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.features.feature_gram import FeatureGram
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Floats, Numbers
from maxmargin.solvers.driver import CLOCK
from maxmargin.solvers.features.proximal_newton import WIDTH, ProximalNewton
from maxmargin.solvers.features.state import FeatureState
from maxmargin.solvers.progress import Criterion
from maxmargin.solvers.qp.working_set import restricted
from maxmargin.solvers.solver import Solver
from maxmargin.solvers.state import Moves

# Each against its absence: docs/how-it-works/speed.md, ablation.
MOST_STEPS = 1000  # Newton steps on all rows for max_iter=-1, so that nothing hangs
NEAR = 0.2  # δC where w is nearly right: wide takes more proximal steps, narrow more Newton steps
FEWEST = 500  # rows of the first set: fewer say little about w, more cost as much as the next set
LEVEL = 8  # rows of the next set, relative: all smaller sets together cost a seventh of it
ROUGH = 0.1  # relative gap on fewer rows: more exact is lost on the next set


@dataclass(frozen=True)
class FeatureNewton(Solver):
    """Proximal Newton steps in the space of the features, on a few rows first.

    Parameters
    ----------
    tol : relative duality gap to reach
    max_iter : most steps of Newton's method on all rows; −1 for 1,000
    max_time : most seconds to take, or None

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> machine = SVC(approximation="rff", n_components=50, random_state=0).fit(X, y)
    >>> machine.certificate_.status.value  # it was trained by FeatureNewton
    'converged'
    """

    criterion: Criterion = Criterion.GAP
    takes: ClassVar[tuple[type, type]] = (DualProblem, FeatureGram)
    takes_groups: ClassVar[tuple[int, ...]] = (0, 1)
    takes_infinite_bounds: ClassVar[bool] = False
    holds_blas: ClassVar[bool] = True

    def begin(
        self, problem: DualProblem, matrix: FeatureGram, start: Floats | None
    ) -> FeatureState:
        return FeatureState(problem, matrix, start)

    def most_steps(self, problem: DualProblem) -> float:
        return MOST_STEPS

    def iterate(self, state: FeatureState) -> Moves:
        problem, gram = state.problem, state.matrix
        if state.beta.any():
            offsets = state.values().offsets
            b = float(offsets[0]) if problem.n_groups else 0.0
            newton = ProximalNewton(problem, gram, state.coef, b, NEAR, state.beta)
        else:
            newton = ProximalNewton(problem, gram, *from_fewer_rows(state))
        state.newton = newton
        for done in newton.rounds():
            yield None if done or (newton.gap <= self.tol and not state.small) else CLOCK
            state.steps += 1
        return None


def from_fewer_rows(state: FeatureState) -> tuple[Floats, float, float]:
    """The first w, b and width, from the solutions of ever larger samples of the rows."""
    problem, gram = state.problem, state.matrix
    w, b, width = np.zeros(gram.columns), 0.0, WIDTH
    sizes = [gram.n]
    while sizes[-1] >= LEVEL * FEWEST:
        sizes.append(sizes[-1] // LEVEL)
    for size in sizes[:0:-1]:
        rows = gram.sample(size)
        newton = ProximalNewton(part(problem, rows), gram.take(rows, gram.threads), w, b, width)
        for _ in newton.rounds():
            if newton.gap <= ROUGH or state.limit() is not None:
                break
        w, b, width = newton.w, newton.b, NEAR
    return w, b, width


def part(problem: DualProblem, rows: Numbers) -> DualProblem:
    """The same problem of some of the rows."""
    variables, renumbered = rows, None
    if problem.rows is not None:
        variables = np.flatnonzero(np.isin(problem.rows, rows))
        renumbered = np.searchsorted(rows, problem.rows[variables])
    linear = problem.linear[variables]
    return restricted(problem, variables, linear, problem.sums, renumbered)
