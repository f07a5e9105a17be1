"""Stochastic gradient descent on the primal: the lectures' form of the linear machine, averaged.

With λ = 1/Σc and μ the mean of the rows, the objective is P/Σc = ½λ‖w‖² + Σ (c_i/Σc) L(y_i, f_i)
with f_i = (x_i − μ)ᵀw + b, and

    for batches B of a random permutation, t = 0, 1, 2, …
        s_i = L'(y_i, f_i)                            for i in B
        g_i = (n/|B|) (c_i/Σc) s_i
        w = w − η (λw + Σ_B g_i (x_i − μ)),   b = b − η Σ_B g_i,   η = η₀ / (1 + λη₀t)

η is Pegasos's 1/(λt), which a λ-strongly convex objective asks for, begun at t = 1/(λη₀) instead of
at 1: its first steps, of length Σc, would be too long to recover from. Without μ a step of w would
change all answers at once, as a step of b does, and the two would work against each other.

The model is a weighted average of all w and b, later ones weighing more. In the long run the mean
step is zero, so w ≈ Σ β_i x_i with β_i = −c_i · (the mean of s_i): a dual point, which gives a gap
as for other solvers. It falls slowly: use this solver for a rough answer on very many rows, or on a
stream, where Σc grows with t and η stays as it is.

References: S. Shalev-Shwartz, Y. Singer, N. Srebro, Pegasos, ICML 2007. L. Bottou, Stochastic
gradient descent tricks, 2012. O. Shamir, T. Zhang, Stochastic gradient descent for non-smooth
optimization: convergence results and optimal averaging schemes, ICML 2013.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from maxmargin.gram import DataMatrix
from maxmargin.gram.data_matrix import dot
from maxmargin.problem import Ending, LinearProblem, Status
from maxmargin.resources.arrays import Floats, Numbers
from maxmargin.solvers.driver import CLOCK
from maxmargin.solvers.linear.solver import LinearSolver
from maxmargin.solvers.linear.state import LinearState
from maxmargin.solvers.state import Moves

PATIENCE = 20  # epochs in which P must fall by 0.1 %: fewer end at noise, more only take longer
POWER_STEPS = 10  # passes for ν: a rate needs a rough one only
DIVERGED = 1e50  # |w| that no convergent run reaches, and whose square is still finite


def share(t: int) -> float:
    """Weight of the t-th value in an average in which earlier ones weigh (early/t)³."""
    return 4 / (t + 3)


@dataclass
class SGDState:
    """The iterate of stochastic gradient descent; it can continue with other rows.

    Attributes
    ----------
    centre : μ
    coef, offset : w and b, of the rows x − μ
    mean_coef, mean_offset : their averages
    rate : η₀
    total_cost : Σc of all rows seen
    """

    centre: Floats
    coef: Floats
    mean_coef: Floats
    rate: float
    offset: float = 0.0
    mean_offset: float = 0.0
    steps: int = 0
    total_cost: float = 0.0

    def begin_at(self, coef: Floats, intercept: float) -> None:
        """Start from a model instead of from zero."""
        self.coef, self.offset = coef.copy(), intercept + dot(self.centre, coef)
        self.mean_coef, self.mean_offset = coef.copy(), self.offset

    @property
    def intercept(self) -> float:
        """The model's offset, of the rows x as they are."""
        return self.mean_offset - dot(self.centre, self.mean_coef)

    def step(self, problem: LinearProblem, rows: DataMatrix, batch: Numbers) -> Floats:
        """Take the step of one batch, and return the slopes s."""
        scores = rows.scores_of(batch, self.coef) + (self.offset - dot(self.centre, self.coef))
        slopes = problem.loss.derivative(problem.y[batch], scores)
        rate = self.rate / (1 + self.rate * self.steps / self.total_cost)
        move = -rate * rows.n / len(batch) / self.total_cost * problem.cost[batch] * slopes
        total = float(move.sum())
        self.coef *= 1 - min(rate / self.total_cost, 1.0)
        rows.add(batch, move, self.coef)
        self.coef -= total * self.centre
        if problem.fit_intercept:
            self.offset += total
        self.steps += 1
        self.mean_coef += share(self.steps) * (self.coef - self.mean_coef)
        self.mean_offset += share(self.steps) * (self.offset - self.mean_offset)
        return slopes


@dataclass(frozen=True)
class SGD(LinearSolver):
    """Averaged stochastic gradient descent with batches.

    Parameters
    ----------
    batch_size : int, default=32
    learning_rate : float or None, default=None
        η₀; None for the largest stable one (`stable_rate`).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from maxmargin import LinearSVC
    >>> X, y = make_classification(200, 5, flip_y=0.1, random_state=0)
    >>> LinearSVC(solver=SGD(batch_size=16), tol=0.05).fit(X, y).certificate_.status.value
    'converged'
    """

    batch_size: int = 32
    learning_rate: float | None = None

    def advice(self, ending: Ending, milder: str = "lower C") -> str:
        if ending.status is Status.STAGNATED:
            return "take solver='auto', or raise tol: stochastic steps come no closer than this"
        return super().advice(ending, milder)

    def first_state(self, problem: LinearProblem, rows: DataMatrix) -> SGDState:
        """The state before the first step."""
        centre = centre_of(problem, rows)
        rate = self.learning_rate or stable_rate(problem, rows, self.batch_size, centre)
        return SGDState(centre, np.zeros(rows.d), np.zeros(rows.d), rate)

    def epoch(
        self, descent: SGDState, problem: LinearProblem, rows: DataMatrix, order: Numbers
    ) -> Iterator[tuple[Numbers, Floats]]:
        """All rows once, in the given order; yields each batch with its slopes."""
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, rows.n, self.batch_size):
                batch = order[start : start + self.batch_size]
                yield batch, descent.step(problem, rows, batch)
        if not np.abs(np.append(descent.coef, descent.offset)).max() < DIVERGED:
            stable = stable_rate(problem, rows, self.batch_size, descent.centre)
            raise ValueError(
                f"stochastic gradient descent diverged with learning_rate={self.learning_rate}; "
                f"the data and the loss allow about {stable:.3g}"
            )

    def iterate(self, state: LinearState) -> Moves:
        problem, rows = state.problem, state.rows
        random = np.random.default_rng(self.seed)
        descent, slopes = self.first_state(problem, rows), np.zeros(rows.n)
        descent.total_cost = float(problem.cost.sum())
        best = [np.inf] * PATIENCE
        while state.best.values.primal < 0.999 * best[-PATIENCE]:
            best.append(state.best.values.primal)
            order = random.permutation(rows.n)
            for batch, now in self.epoch(descent, problem, rows, order):
                slopes[batch] += share(int(state.steps) + 1) * (now - slopes[batch])
                if descent.steps % 1000 == 0:
                    yield CLOCK
            state.steps += 1
            state.coef, state.offset = descent.mean_coef.copy(), descent.intercept
            state.beta = problem.best_multiple(rows, -problem.cost * slopes)
            yield
        return None


def centre_of(problem: LinearProblem, rows: DataMatrix) -> Floats:
    """μ: the mean row by cost; 0 without an offset, which could not make up for it."""
    if not problem.fit_intercept:
        return np.zeros(rows.d)
    return rows.combine(problem.cost) / float(problem.cost.sum())


def stable_rate(problem: LinearProblem, rows: DataMatrix, batch_size: int, centre: Floats) -> float:
    """The largest η with which the mean over a batch does not overshoot.

    For one row z = (x − μ, 1) that is κ/‖z‖², for the mean over all rows κ/ν with ν the largest
    eigenvalue of the mean of zzᵀ (by the power method); a batch is in between. Linear pieces,
    which have no curvature, are given κ = 1.
    """
    squares = rows.squared_norms() - 2 * rows.scores(centre) + dot(centre, centre)
    largest = max(float(squares.max(initial=0)), 0.0) + 1
    v = np.ones(rows.d + 1)
    nu = largest
    for _ in range(POWER_STEPS):
        v /= np.linalg.norm(v)
        scores = rows.scores(v[1:]) + (v[0] - dot(centre, v[1:]))
        total = float(scores.sum())
        v = np.concatenate([[total], rows.combine(scores) - total * centre]) / rows.n
        nu = float(np.linalg.norm(v))
    within = min(batch_size, rows.n)
    smoothness = largest / within + nu * (within - 1) / within
    return float((problem.loss.kappa or 1.0) / smoothness)
