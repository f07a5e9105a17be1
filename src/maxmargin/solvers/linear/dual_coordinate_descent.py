"""Dual coordinate descent: the default solver of the linear machines with many columns.

One β_i at a time is set to its best value; w = Xᵀβ makes that cost two passes over one row. An
offset that is not regularised brings the constraint Σβ = 0, which no single coordinate can move
along. The method of multipliers takes it into the objective,

    −D(β) + b Σβ + ½ρ (Σβ)²,        b += ρ Σβ after every sweep,

which is again a quadratic in a box. In the primal it reads: minimise P(w, b) + (b − b_last)²/2ρ,
a regularised offset, but regularised toward its last value instead of toward zero.

Since Σβ = 0 in the end, K may be replaced by that of the rows minus their mean m, which is better
conditioned the farther the data are from the origin. It costs one number per row, p_i = x_iᵀm:

    (x_i − m)ᵀ(x_j − m) = x_iᵀx_j − p_i − p_j + ‖m‖².

    repeat
        for the active i in random order, some neighbours at a time
            G = x_iᵀw − mᵀw − (p_i − ‖m‖² − ρ) Σβ + b − y_i + q_i β_i     the slope without ε|β|
            shrink i if β_i is at a bound and its outward gradient exceeds ¼ of the last sweep's
                worst violation
            β_i = the minimiser of the quadratic with this slope and ε|β|, cut at the bounds
            w, mᵀw and Σβ follow
        b += ρ Σβ
    until the gap as estimated during the sweep is small; then compute it, and the active set, from
        all slopes

With f_i = x_iᵀw + b the gap is a sum over the rows,

    P(w, b) − D(β) = Σ_i  c_i L(y_i, f_i) + c_i L*(y_i, −β_i / c_i) + β_i f_i,

each the most that β_i alone gains at a fixed w. A sweep adds up the terms of the active rows;
those of the others are zero.

Where sweeps are slow, conjugate gradients solve for the free variables (`conjugate_gradients`).

References: C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan, A dual coordinate
descent method for large-scale linear SVM, ICML 2008. R. T. Rockafellar, Augmented Lagrangians and
applications of the proximal point algorithm, Math. of OR 1 (1976), 97–116.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.core import native
from maxmargin.gram.data_matrix import dot
from maxmargin.problem import LinearProblem
from maxmargin.resources.arrays import Floats, Numbers, Records
from maxmargin.solvers.driver import CLOCK
from maxmargin.solvers.linear.conjugate_gradients import minimise_on_face
from maxmargin.solvers.linear.solver import LinearSolver
from maxmargin.solvers.linear.state import LinearState
from maxmargin.solvers.state import Moves

# Each against its absence: docs/how-it-works/speed.md, ablation.
CHUNK = 20_000_000  # numbers of X visited between two checks of the limits: some ten milliseconds
ROUGH = 3e-3  # relative gap of the first stage, a tenth if κ > 0: then the active set is known
PASSES = 20  # most passes between two computations of the gap, which cost two passes
SETTLED = 1e-2  # relative gap below which most variables at a bound stay there
FEW_PASSES = 3  # below it, for a loss with kinks, before conjugate gradients: sweeps are slow there
PENALTY = 0.1  # ρ relative to the mean ‖x − m‖²: less makes Σβ = 0 slower, more slows the rest

# All numbers that a step reads of its variable, together in memory.
VARIABLE = np.dtype(
    [(name, float) for name in ("beta", "y", "lower", "upper", "curvature", "square", "shift")]
)


@dataclass(frozen=True)
class DualCoordinateDescent(LinearSolver):
    """Random sweeps with shrinking; exact offset by the method of multipliers.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from maxmargin import LinearSVC
    >>> X, y = make_classification(200, 5, flip_y=0.1, random_state=0)
    >>> LinearSVC(solver=DualCoordinateDescent()).fit(X, y).certificate_.status.value
    'converged'
    """

    def iterate(self, state: LinearState) -> Moves:
        problem, rows = state.problem, state.rows
        mean, variables = self._variables(state)
        penalty = 0.0
        if problem.fit_intercept:
            penalty = PENALTY * float(variables["square"].mean()) or 1.0
        memory = native.SweepState()
        memory.active, memory.random = rows.n, 0x9E3779B97F4A7C15 ^ self.seed
        memory.highest, memory.lowest = np.inf, -np.inf
        memory.offset = state.now.offset + dot(mean, state.now.coef)  # of centred rows
        order = np.arange(rows.n)
        chunk = max(CHUNK * rows.n // max(rows.stored, 1), 1)  # rows
        rough, target = ROUGH / 10 if problem.loss.kappa else ROUGH, 0.0
        while True:
            w, visited = state.now.coef.copy(), 0
            remaining = self.max_iter - state.steps if self.max_iter >= 0 else np.inf
            settled = state.best.values.relative_gap < SETTLED
            passes = FEW_PASSES if settled and not problem.loss.kappa else PASSES
            most = int(min(passes, max(remaining, 1)) * rows.n)
            memory.total, memory.mean_score = state.beta.sum(), dot(mean, w)
            while True:
                visited += native.sweep(
                    rows.core,
                    variables.view(float).reshape(rows.n, -1),
                    (problem.loss.epsilon, penalty, dot(mean, mean)),
                    w,
                    order,
                    memory,
                    target,
                    min(chunk, most - visited) if target else 1,
                )
                gap = memory.gap
                if target == 0.0:  # after the first sweep
                    value = abs(problem.value(variables["beta"], w))
                    target = value * (state.aim if state.aim > rough / 4 else rough)
                if gap <= target or visited >= most:
                    break
                yield CLOCK
            state.steps += visited / rows.n
            state.beta = problem.feasible(variables["beta"])
            if gap > target and settled:
                state.beta = minimise_on_face(problem, rows, state.beta)
            variables["beta"] = state.beta
            memory.offset += penalty * memory.total
            yield
            if memory.violation == 0:
                return None
            scores = state.now.scores - dot(mean, state.now.coef) + memory.offset
            active = unpinned(problem, state.beta, scores, memory)
            order[: len(active)], memory.active = active, len(active)
            target = gap * min(max(0.5 * state.aim / state.best.values.relative_gap, 0.1), 0.3)

    def _variables(self, state: LinearState) -> tuple[Floats, Records]:
        """m and the table of the variables; without an offset the rows are not centred."""
        problem, rows = state.problem, state.rows
        variables = np.empty(rows.n, VARIABLE)
        variables["beta"], variables["y"] = state.beta, problem.y
        variables["lower"], variables["upper"] = problem.bounds
        variables["curvature"] = problem.curvature
        mean, variables["shift"], variables["square"] = rows.centred(problem.fit_intercept)
        return mean, variables


def unpinned(
    problem: LinearProblem, beta: Floats, scores: Floats, memory: native.SweepState
) -> Numbers:
    """The variables that a sweep would not shrink."""
    (lower, upper), (right, left) = problem.bounds, problem.slopes(beta, scores)
    stays_below = (right > memory.highest) | (beta >= upper)
    stays_above = (left < memory.lowest) | (beta <= lower)
    return np.flatnonzero(~(stays_below & stays_above))
