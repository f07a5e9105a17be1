"""A solve as a table: what it did, sweep by sweep or step by step."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from maxmargin.gram import Gram
from maxmargin.problem import DualProblem
from maxmargin.solvers import Progress, Solver


def trace(
    solver: Solver,
    problem: DualProblem,
    gram: Gram,
    *,
    every: Literal["iteration", "step"] = "iteration",
) -> Any:
    """Solve, and return how it went as a pandas table.

    Parameters
    ----------
    solver : Solver
    problem : DualProblem
    gram : Gram
    every : {"iteration", "step"}
        One line for each outer iteration (a sweep, a block), or one for each step, which says
        also what variables were chosen and why, the step t before and after it was clipped to
        [low, high], and the offset.

    Returns
    -------
    pandas.DataFrame
        `accuracy` is the share of rows on their own side of the boundary (NaN for a regressor,
        which has no sides), `loss` the primal value without ½‖w‖², `movement` Σ|Δβ| + Σ|Δb|
        since the sweep began; `objective`, `gap` and `violation` are as in the certificate.

    Examples
    --------
    >>> from maxmargin.formulations import c_svc
    >>> from maxmargin.kernels import Linear
    >>> from maxmargin.solvers import MaximalViolatingPairSMO
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])
    >>> problem, gram = c_svc(y, C=5.0), Gram(Linear(), X)
    >>> table = trace(MaximalViolatingPairSMO(), problem, gram)
    >>> table[["steps", "accuracy", "loss", "movement", "gap"]].round(3)
       steps  accuracy  loss  movement   gap
    0      0       0.5  20.0     0.000  20.0
    1      3       1.0   0.0     3.444   0.0
    >>> table = trace(MaximalViolatingPairSMO(), problem, gram, every="step")
    >>> table[["indices", "unclipped", "clipped", "low", "high", "offset"]].round(3)
      indices  unclipped  clipped    low   high  offset
    0  (2, 0)      0.222    0.222  0.000  5.000  -1.000
    1  (0, 1)      0.667    0.222  0.000  0.222  -1.444
    2  (2, 1)      0.278    0.278 -0.222  4.778  -2.000
    """
    recorder = _Recorder(every)
    solver.solve(problem, gram, observe=recorder)
    return table(recorder.lines)


@dataclass
class _Recorder:
    """An observer that writes down all it is told."""

    every: str
    lines: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, now: Progress) -> None:
        if self.every == "iteration" or now.step is not None:
            self.lines.append(line(now))


def line(now: Progress) -> dict[str, Any]:
    """One line of the table."""
    state, problem = now.state, now.state.problem
    norm = 0.5 * float(state.beta @ (state.gradient - problem.linear))
    return {
        "steps": now.steps,
        **(asdict(now.step) if now.step else {}),
        "accuracy": accuracy(now),
        "loss": now.objective + now.gap - norm,
        "movement": now.movement,
        "objective": now.objective,
        "gap": now.gap,
        "violation": now.violation,
        "kernel_evaluations": now.kernel_evaluations,
        "seconds": now.seconds,
    }


def accuracy(now: Progress) -> float:
    """Share of variables whose decision value has the sign of their bounds.

    A classifier's β_i lies in [0, C] or [−C, 0] by its label; a one-class machine's rows are all
    on the positive side. A row without weight has no side and does not count.
    """
    state, problem = now.state, now.state.problem
    if problem.rows is not None:
        return float("nan")
    side = np.sign(problem.lower + problem.upper)
    decision = state.gradient - problem.linear + (now.offsets.mean() if problem.n_groups else 0.0)
    return float(np.mean((decision > 0)[side != 0] == (side > 0)[side != 0]))


def table(lines: list[dict[str, Any]]) -> Any:
    """A pandas table, or how to get pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("this table needs pandas: pip install pandas") from error
    return pd.DataFrame(lines)
