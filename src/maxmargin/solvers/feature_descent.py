"""Dual coordinate descent over blocks of explicit features, which need not all be in memory.

The one dual problem with K̂ = ZZᵀ, Z = φ(X). As in `dual_coordinate`, w = Zᵀβ makes a step cost
two passes over one row of Z; here the rows come in blocks, and a block is swept several times
while its features are there.

    repeat
        for every block of rows
            look:   G = Z w₀ + p on the block, w₀ being the w at the start of this pass
            sweep the block's β a few times; w follows
        b += ρ Σβ, the multiplier of Σβ = 0; then what Σβ lacks is taken from the last block
        the looks together prove how good the β at the start of the pass was
    until its duality gap, relative to the primal value, is ≤ tol

So the proof costs no pass of its own, and the answer is the β that was proven, not the one after.
With all rows in one block this is plain dual coordinate descent; with several, their rows must be
mixed anew in every pass.

References: H.-F. Yu, C.-J. Hsieh, K.-W. Chang, C.-J. Lin, Large linear classification when data
cannot fit in memory, KDD 2010; and those of `dual_coordinate`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from maxmargin.certificate import best_offset, values
from maxmargin.problem import DualProblem, Solution, Status
from maxmargin.rows import square_rows
from maxmargin.solvers.base import STOPPED, Ending
from maxmargin.solvers.dual_coordinate import MEMORY, PENALTY, VARIABLE, sweeps
from maxmargin.solvers.progress import HISTORY, Observer, Progress
from maxmargin.solvers.state import State

SAMPLE = 1000  # rows whose mean is the centre
MOST_PASSES = 1000
VISITS = 4  # sweeps of a block while it is there


class Descent:
    """What moves when a block is swept, besides its β: w, Σβ and the multiplier of Σβ = 0.

    Parameters
    ----------
    sample : ndarray of features, of rows that are like the others
    epsilon : half the width of the tube of a regressor, 0 for a classifier
    fit_intercept : whether Σβ = 0 is wanted
    """

    def __init__(
        self, sample: np.ndarray, *, epsilon: float = 0.0, fit_intercept: bool = True
    ) -> None:
        sample = sample.astype(np.float64)
        self.epsilon = epsilon
        self.centre = sample.mean(axis=0) if fit_intercept else np.zeros(sample.shape[1])
        self.w = np.zeros(sample.shape[1])
        spread = float(((sample - self.centre) ** 2).sum(axis=1).mean())
        self.penalty = (PENALTY * spread or 1.0) if fit_intercept else 0.0
        self.memory = np.zeros(1, MEMORY)
        self.memory["random"] = np.uint64(0x9E3779B97F4A7C15)

    def place(self, w: np.ndarray, total: float) -> None:
        """Begin at w = Zᵀβ and Σβ."""
        self.w = w
        self.memory["total"], self.memory["mean_score"] = total, self.centre @ w

    def resume(self, w: np.ndarray, b: float) -> None:
        """Begin at a model of rows whose β sum to zero."""
        self.place(w.copy(), 0.0)
        self.memory["offset"] = b + self.centre @ w

    def model(self) -> tuple[np.ndarray, float]:
        """w and b as they stand, with Σβ ≠ 0: those of the centred rows, undone.

        (z − m)ᵀ(w − m Σβ) + b_multiplier + ρ Σβ, as a function of z.
        """
        m, total = self.memory[0], self.memory[0]["total"]
        square = float(self.centre @ self.centre)
        offset = m["offset"] + self.penalty * total + square * total - m["mean_score"]
        return self.w - total * self.centre, float(offset)

    def table(self, Z: np.ndarray, lines: np.ndarray, **columns: Any) -> np.ndarray:
        """The variables of a block: one record per line of Z, set on its `lines`."""
        table = np.zeros(len(Z), VARIABLE)
        for name, column in columns.items():
            table[name][lines] = column
        return table

    def sweep(self, Z: np.ndarray, lines: np.ndarray, table: np.ndarray, times: int) -> None:
        """Sweep the lines; β in the table, w and Σβ follow, the multiplier rests."""
        memory, order, none = self.memory, lines.copy(), np.empty(0, np.int32)
        memory["active"], memory["highest"], memory["lowest"] = len(lines), np.inf, -np.inf
        square = float(self.centre @ self.centre)
        multiplier = memory["offset"].copy()
        for _ in range(times):
            variables = (table, self.epsilon, self.penalty, square)
            sweeps(Z, none, none, *variables, self.w, order, memory, 0.0, 1)
            memory["offset"] = multiplier

    def balance(self, beta: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """The multiplier's step, b += ρ Σβ; returns changes of these β that make Σβ = 0.

        Free variables change first, for it costs them least. If there is no room, there is none.
        """
        total = float(self.memory["total"][0])
        self.memory["offset"] += self.penalty * total
        new = beta
        free = (beta > lower) & (beta < upper) & (beta != 0)
        for among in (free, np.ones_like(free)):
            lacking = -total - float((new - beta).sum())
            room = np.abs((upper if lacking > 0 else lower) - new) * among
            room = np.minimum(room, abs(lacking))
            if room.sum() > 0:
                move = np.sign(lacking) * room * min(1.0, abs(lacking) / room.sum())
                new = np.clip(new + move, lower, upper)
        return new - beta


class Walk:
    """β of a problem on its way, pass by pass, and the last β of which the gap is known.

    The two copies of a regressor's rows are one signed variable here, with ε|β| in the objective.
    A `descent` that is given goes on from other rows, which are not seen again.
    """

    def __init__(
        self,
        problem: DualProblem,
        gram: Any,
        start: np.ndarray | None = None,
        descent: Descent | None = None,
    ) -> None:
        n = gram.n
        self.problem, self.gram = problem, gram
        self.y = -(problem.linear[:n] + problem.linear[-n:]) / 2
        self.lower, self.upper = problem.lower[-n:], problem.upper[:n]
        beta = problem.feasible(start)
        self.beta = beta if problem.rows is None else beta[:n] + beta[n:]
        # Of every centred row, when first met: z_iᵀ centre and ‖z_i − centre‖².
        self.shift, self.square, self.known = np.zeros(n), np.zeros(n), np.zeros(n, bool)
        self.descent = descent or Descent(
            gram.sample(SAMPLE),
            epsilon=float(problem.linear[0] - problem.linear[-n]) / 2,
            fit_intercept=problem.n_groups > 0,
        )
        self.state = State(problem, gram, problem.feasible(), problem.linear.copy(), np.float64)
        if self.beta.any():
            self.descent.place(gram.weights(self.beta), self.beta.sum())

    def go(self, times: int) -> None:
        """Look at every block, and sweep it so many times."""
        before, w = self.beta.copy(), self.descent.w.copy()
        scores = np.zeros(self.gram.n)
        for block in self.gram.blocks():
            if w.any():
                scores[block.rows] = self.gram.scores(block, w)
            if times:
                self.sweep(block, times)
        if times and self.problem.n_groups:
            self._balance(block)
        self._look(before, scores)

    def sweep(self, block: Any, times: int) -> None:
        """Sweep a block; β and the descent follow."""
        rows, Z, lines = block
        centre = self.descent.centre
        if not self.known[rows].all():
            square = np.empty(len(rows))
            square_rows(Z, lines, square)
            self.shift[rows] = self.gram.scores(block, centre)
            square += centre @ centre - 2 * self.shift[rows]
            self.square[rows] = np.maximum(square, 0.0)
            self.known[rows] = True
        table = self.descent.table(
            Z,
            lines,
            beta=self.beta[rows],
            y=self.y[rows],
            lower=self.lower[rows],
            upper=self.upper[rows],
            square=self.square[rows],
            shift=self.shift[rows],
        )
        self.descent.sweep(Z, lines, table, times)
        self.beta[rows] = table["beta"][lines]

    def _balance(self, block: Any) -> None:
        """Σβ = 0, by the rows of the last block: their features are still there."""
        rows = block.rows
        change = self.descent.balance(self.beta[rows], self.lower[rows], self.upper[rows])
        self.beta[rows] += change
        self.descent.place(self.descent.w + self.gram.combine(block, change), self.beta.sum())

    def _look(self, beta: np.ndarray, scores: np.ndarray) -> None:
        """What is known of β, whose w gave the scores."""
        problem = self.problem
        if problem.rows is not None:
            beta = np.concatenate([np.maximum(beta, 0.0), np.minimum(beta, 0.0)])
        self.state.beta = beta
        self.state.gradient = problem.on_variables(scores) + problem.linear


@dataclass(frozen=True)
class FeatureProgress(Progress):
    """What an observer is told after each pass; here the relative duality gap is what counts."""

    measure: ClassVar[str] = "relative duality gap"

    @property
    def distance(self) -> float:
        scale = max(abs(self.objective), abs(self.objective + self.gap))
        return self.gap / scale if 0 < scale < np.inf else self.gap

    @classmethod
    def of(cls, state: State, tol: float, step: Any = None) -> Progress:
        """With the best offset there is: on the way, the one that β implies can be far off."""
        problem, beta, gradient = state.problem, state.beta, state.gradient
        grouped = problem.n_groups > 0
        offsets = np.array([best_offset(problem, gradient)] if grouped else [])
        balanced = not grouped or abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
        known = values(problem, beta, gradient, offsets)
        dual = known.dual if balanced else -np.inf
        gap = known.primal - dual
        return replace(super().of(state, tol), objective=dual, gap=gap, offsets=offsets)


@dataclass(frozen=True)
class FeatureDescent:
    """Sweeps over blocks of features, with the proof coming along.

    Parameters
    ----------
    tol : float
        Relative duality gap to reach.
    max_iter : int
        Most passes over the blocks; −1 for 1,000.
    max_time : float or None
    visits : int
        Sweeps of a block in a pass.
    """

    tol: float = 1e-3
    max_iter: int = -1
    max_time: float | None = None
    visits: int = VISITS

    def solve(
        self,
        problem: DualProblem,
        gram: Any,
        *,
        start: np.ndarray | None = None,
        observe: Observer | None = None,
    ) -> Solution:
        """Minimise the dual of a `FeatureGram`; otherwise as `Solver.solve`."""
        walk = Walk(problem, gram, start)
        history: list[tuple] = []
        try:
            status, why = self._drive(walk, history, observe)
        except KeyboardInterrupt:
            status, why = STOPPED
            if not history:
                walk.go(0)
        state = walk.state
        return Solution(
            beta=state.beta,
            gradient=state.gradient,
            offsets=FeatureProgress.of(state, self.tol).offsets,
            status=status,
            n_iter=state.steps,
            kernel_evaluations=state.kernel_evaluations,
            seconds=state.seconds,
            history=np.array(history, HISTORY),
            why=why,
        )

    def _drive(self, walk: Walk, history: list[tuple], observe: Observer | None) -> Ending:
        state, limit = walk.state, MOST_PASSES if self.max_iter < 0 else self.max_iter
        while True:
            late = self.max_time is not None and state.seconds >= self.max_time
            full = state.steps >= limit
            walk.go(0 if late or full else self.visits)
            progress = FeatureProgress.of(state, self.tol)
            history.append(progress.record())
            stop = observe is not None and observe(progress)
            if progress.distance <= self.tol:
                return Ending(Status.CONVERGED, "relative duality gap ≤ tol")
            if stop:
                return STOPPED
            if late:
                return Ending(Status.OUT_OF_TIME, "max_time is over")
            if full:
                return Ending(Status.OUT_OF_ITERATIONS, "max_iter passes are done")
            state.steps += 1
