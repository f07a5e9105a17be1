"""Dual coordinate descent, a row at a time: the solver of multi_class="crammer_singer".

The k variables α_i of a row are set to their best values together; w_m = Σ_i α_im x_i makes that
cost two passes over the row for each class. With G_m = ∂(−D)/∂α_im, s = ‖x_i‖² and the own class y,

    minimise over a   ½ s ‖a − α_i‖² + Gᵀ(a − α_i),   a_y ≤ c_i,  a_m ≤ 0 for m ≠ y,  Σ_m a_m = 0

has the solution a_m = min(its bound, α_im + (τ − G_m) / s) with the τ that makes the sum 0. Let
D_m = G_m − s α_im, plus s c_i for the own class: then Σ_m max(0, D_m − τ) = s c_i, a projection
onto a simplex. Michelot's rule finds τ: solve for it over some classes, leave out those with
D_m ≤ τ, and solve again until none is left out. It begins with the classes of D_m > max D − s c_i,
a bound of τ from below: few of many.

Offsets that are not regularised bring the constraints Σ_i α_im = 0, one for each class, which no
single row can move along. As in `dual_coordinate_descent` the method of multipliers takes them
into the objective, Σ_m b_m S_m + ½ρ Σ_m S_m² with S_m = Σ_i α_im, and b_m += ρ S_m after every
sweep: each row's problem stays what it was, with s + ρ for s. In the primal it regularises each
offset toward its last value instead of toward zero, so the limit is exact. And as there, since
S = 0 in the end, rows minus their mean do as well as the rows, and are better conditioned.

    repeat
        for the active rows in random order
            G_m = x_iᵀw_m + b_m + ρ S_m + e_im of its live classes m, for the centred rows
            drop the row if only one α_im can rise, and G of all others is far below that one
            drop its classes with α_im = 0 and G_m far below all that can rise
            α_i = the solution of the problem above; w and S follow
        b += ρ S
    until the gap seen in passing is small; then compute it

The gap is a sum over the rows of c_i (max_m G_m − G_y) + Σ_m α_im G_m.

References: S. S. Keerthi, S. Sundararajan, K.-W. Chang, C.-J. Hsieh, C.-J. Lin, A sequential dual
method for large scale multi-class linear SVMs, KDD 2008. C. Michelot, A finite algorithm for
finding the projection of a point onto the canonical simplex of Rⁿ, JOTA 50 (1986), 195–200.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.core import native
from maxmargin.gram.data_matrix import DataMatrix, dot
from maxmargin.problem import CrammerSingerProblem
from maxmargin.problem.crammer_singer import ROUNDING
from maxmargin.resources.arrays import Floats
from maxmargin.solvers.driver import CLOCK
from maxmargin.solvers.linear.crammer_singer_face import solve_free_entries
from maxmargin.solvers.linear.solver import LinearSolver
from maxmargin.solvers.linear.state import SMALL, LinearState
from maxmargin.solvers.state import Moves

CHUNK = 20_000_000  # products of a stored number and a class between two looks at the clock
PASSES = 50  # most passes between two computations of the gap
PENALTY = 0.1  # ρ, relative to the mean squared norm of the centred rows
FIRST = 0.1  # of the objective: the gap at which it is computed first

ROW = np.dtype([(name, float) for name in ("cost", "square", "shift")])
CLASS = np.dtype([(name, float) for name in ("offset", "total", "mean_score")])


@dataclass(frozen=True)
class CrammerSingerDescent(LinearSolver):
    """Random sweeps over rows with shrinking; takes a `CrammerSingerProblem`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> machine = LinearSVC(multi_class="crammer_singer").fit(*load_iris(return_X_y=True))
    >>> machine.certificate_.status.value  # it was trained by CrammerSingerDescent
    'converged'
    """

    takes: ClassVar[tuple[type, type]] = (CrammerSingerProblem, DataMatrix)

    def begin(self, problem: Any, matrix: DataMatrix, start: Floats | None) -> LinearState:
        zero = np.zeros((matrix.n, problem.classes))
        state = LinearState(problem, matrix, zero if start is None else start, self.tol)
        state.aim = self.tol
        return state

    def polish(self, state: Any) -> None:
        """Solve for the free entries of a small problem, if that makes it better."""
        if state.rows.stored > SMALL:
            return
        point = solve_free_entries(state.problem, state.rows, state.best)
        if point.values.gap < state.best.values.gap:
            state.movement = float(np.abs(point.beta - state.best.beta).sum())
            state.best = point

    def iterate(self, state: Any) -> Moves:
        problem: CrammerSingerProblem = state.problem
        rows: DataMatrix = state.rows
        # What a step must know of each row; rows are not centred without offsets.
        table = np.empty(rows.n, ROW)
        table["cost"], live_count = problem.cost, np.full(rows.n, problem.classes)
        mean, table["shift"], table["square"] = rows.centred(problem.fit_intercept)
        penalty = PENALTY * (float(table["square"].mean()) or 1.0) * problem.fit_intercept
        memory, classes = native.ClassesState(), np.zeros(problem.classes, CLASS)
        memory.random = 0x9E3779B97F4A7C15 ^ self.seed
        order, alpha = np.arange(rows.n), state.now.beta.copy()
        live = np.tile(np.arange(problem.classes, dtype=np.int32), (rows.n, 1))
        live[:, 0], live[order, problem.labels] = problem.labels, 0  # the own class is the first
        chunk = max(CHUNK * rows.n // max(rows.stored * problem.classes, 1), 1)  # rows
        classes["offset"] = state.now.offset + state.now.coef @ mean
        target = FIRST * abs(state.now.values.primal)
        while True:
            # Columns of a class lie together for dense rows, classes of a column for sparse ones.
            W = state.now.coef.T.copy("C" if rows.sparse else "F")
            classes["total"], classes["mean_score"] = alpha.sum(axis=0), mean @ W
            memory.active, memory.drift, visited = rows.n, 0.0, 0
            memory.pinned = memory.distant = np.inf
            order[:], live_count[:] = np.arange(rows.n), problem.classes
            remaining = self.max_iter - state.steps if self.max_iter >= 0 else np.inf
            most = int(min(PASSES, max(remaining, 1)) * rows.n)
            while visited < most:
                visited += native.sweep_classes(
                    rows.core,
                    alpha,
                    live,
                    live_count,
                    table.view(float).reshape(rows.n, -1),
                    classes.view(float).reshape(problem.classes, -1),
                    (penalty, dot(mean, mean), ROUNDING),
                    W,
                    order,
                    memory,
                    target,
                    min(chunk, most - visited),
                )
                if memory.gap <= target:
                    break
                yield CLOCK
            state.steps += visited / rows.n
            state.beta, state.offset = alpha, classes["offset"] - mean @ W
            yield
            if memory.violation == 0:
                return None
            alpha = state.now.beta.copy()
            target = min(target, memory.gap)
            target *= min(max(0.5 * state.aim / state.best.values.relative_gap, 0.1), 0.5)
