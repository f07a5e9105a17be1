"""What the solvers of the linear machines share: the problem they take, and the finish.

The duality gap is recomputed from β (and w, b) in float64 after every outer iteration; the solve
ends when it is ≤ tol relative to the objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.gram import DataMatrix
from maxmargin.problem import LinearProblem
from maxmargin.resources.arrays import Floats
from maxmargin.solvers.linear.conjugate_gradients import minimise_on_face
from maxmargin.solvers.linear.state import SMALL, LinearState
from maxmargin.solvers.progress import Criterion
from maxmargin.solvers.solver import Solver


@dataclass(frozen=True)
class LinearSolver(Solver):
    """A solver of ½‖w‖² + Σ c_i L(y_i, x_iᵀw + b), given the rows.

    Parameters
    ----------
    tol : float, default=1e-6
        Relative duality gap (P − D) / max(|P|, |D|) to reach.
    max_iter : int, default=1000
        Most passes over the data; −1 for no limit.
    max_time : float or None, default=None
        Most seconds to take.
    seed : int, default=0
        Of the order of rows and of samples.
    """

    tol: float = 1e-6
    max_iter: int = 1000
    seed: int = 0

    criterion: Criterion = Criterion.GAP
    takes: ClassVar[tuple[type, type]] = (LinearProblem, DataMatrix)
    patience: ClassVar[float] = np.inf  # each has a stopping rule of its own
    resume: ClassVar[str] = "fit again"
    holds_blas: ClassVar[bool] = True

    def begin(
        self, problem: LinearProblem, matrix: DataMatrix, start: Floats | None
    ) -> LinearState:
        return LinearState(problem, matrix, start, self.tol)

    def most_steps(self, problem: LinearProblem) -> float:
        return np.inf

    def check(self, problem: LinearProblem, gram: DataMatrix) -> None:
        if isinstance(gram, self.takes[1]) and type(problem) is not self.takes[0]:
            raise ValueError(
                f"{type(self).__name__} takes {self.takes[0].__name__}, not "
                f"{type(problem).__name__}; solver='auto' chooses the solver by the problem"
            )
        self.check_family(problem, gram)
        if len(problem.y) != gram.n:
            raise ValueError(f"the problem has {len(problem.y)} targets but the data {gram.n} rows")

    def polish(self, state: LinearState) -> None:
        """Solve for the free variables of a small problem, if that lowers its KKT violation."""
        if state.rows.stored > SMALL:
            return
        best, problem, rows = state.best, state.problem, state.rows
        beta = minimise_on_face(problem, rows, best.beta, remaining=1e-14)
        point = problem.point(rows, beta)
        close = point.values.primal <= best.values.primal * (1 + 1e-9)
        if close and point.values.violation < best.values.violation:
            state.movement = float(np.abs(point.beta - best.beta).sum())
            state.best = point
