"""The default solver of the linear machines: coordinate descent, then a second-order method.

Coordinate descent is faster on most data, but its sweeps grow in number with C and the rows. Steps
of second-order methods do not, but one costs the square of the columns: Newton's method on P if the
loss has quadratic pieces, interior point if it has kinks. Coordinate descent runs for the time
that the other is estimated to take; if at its rate the gap would not close in as much time again,
the other takes over. The second-order method goes first where it costs at most CHEAP sweeps, and on
small data, where it reaches the last digits. Where one gives up
before the gap is closed (where C and the rows span more magnitudes than float64 has digits), the
next one goes on from the best point: interior point in principal axes, then coordinate descent.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from maxmargin.gram.data_matrix import DataMatrix, dot
from maxmargin.problem import LinearProblem
from maxmargin.solvers.driver import CLOCK
from maxmargin.solvers.linear.dual_coordinate_descent import DualCoordinateDescent
from maxmargin.solvers.linear.interior_point import LinearInteriorPoint
from maxmargin.solvers.linear.newton import Newton
from maxmargin.solvers.linear.solver import LinearSolver
from maxmargin.solvers.linear.state import SMALL, LinearState
from maxmargin.solvers.state import Moves

# Sweeps up to which the second-order method goes first (docs/how-it-works/speed.md, ablation).
CHEAP = 10
DENSE = 10_000_000  # numbers of a dense copy of the rows, for their principal axes: 80 MB
FEW = 200  # columns up to which it goes first on small data: its cost grows as n d² + d³


@dataclass(frozen=True)
class Automatic(LinearSolver):
    """`DualCoordinateDescent`; with few columns `Newton` or `LinearInteriorPoint`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from maxmargin import LinearSVC
    >>> X, y = make_classification(200, 5, flip_y=0.1, random_state=0)
    >>> LinearSVC(solver=Automatic()).fit(X, y).certificate_.status.value
    'converged'
    """

    def iterate(self, state: LinearState) -> Moves:
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        quadratic = bool(state.problem.loss.kappa)
        second = (Newton if quadratic else LinearInteriorPoint)(**options)
        budget = cost_in_passes(state.problem, state.rows)
        descent = DualCoordinateDescent(**options)
        last: tuple[LinearSolver, ...] = (descent,)
        if state.rows.d <= FEW and state.rows.n * state.rows.d <= DENSE:
            last = LinearInteriorPoint(**options, principal=True), descent
        small = state.rows.stored <= SMALL and state.rows.d <= FEW
        if small or budget <= CHEAP:
            return (yield from in_turn(state, second, *last))
        passes, gap = 0.0, 1.0
        for pause in descent.iterate(state):
            yield pause
            if pause == CLOCK:
                continue
            speed = np.log(gap / state.best.values.relative_gap) / (state.steps - passes)
            passes, gap = state.steps, state.best.values.relative_gap
            if passes >= budget and np.log(gap / state.aim) > speed * budget:
                break
        else:
            return None
        return (yield from in_turn(state, second, *last))


def in_turn(state: LinearState, *solvers: LinearSolver) -> Moves:
    """One solver after the other, each from the best point so far, until the driver is content."""
    for number, solver in enumerate(solvers):
        if number:
            state.beta, state.coef, state.offset = state.best.beta, None, None
            state.gather()
        yield from solver.iterate(state)


def cost_in_passes(problem: LinearProblem, rows: DataMatrix) -> float:
    """The cost of the second-order method in sweeps; steps, passes and `blas` were measured.

    A multiplication in BLAS is `blas` times faster than one in a sweep.
    """
    steps, passes, blas = (4, 1, 64) if problem.loss.kappa else (20, 7, 16)
    if rows.sparse:
        lengths = np.diff(rows.X.indptr).astype(float)
        products, sweep = dot(lengths, lengths) / 2, 6 * rows.stored
    else:
        products, sweep = rows.n * rows.d**2 / blas, rows.stored
    step = products + rows.d**3 / blas + passes * rows.stored
    return float(steps * step / max(sweep, 1))
