"""The answer to a problem: β, its primal and dual value, and how the solve ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from maxmargin.resources.arrays import Floats, Records
from maxmargin.results import Result


class Status(Enum):
    """How a solver ended: converged only if the recomputed violation (or gap) is ≤ tol.

    Examples
    --------
    >>> Status.OUT_OF_TIME.advice(milder="raise nu")
    'raise max_time, scale the data to similar ranges, or raise nu'
    """

    CONVERGED = "converged"
    OUT_OF_ITERATIONS = "out of iterations"
    OUT_OF_TIME = "out of time"
    INTERRUPTED = "interrupted"
    STAGNATED = "stagnated"

    def advice(self, milder: str = "lower C") -> str:
        """What to do about it; `milder` is how a machine's problem is made easier."""
        return {
            "converged": "nothing to do",
            "out of iterations": f"raise max_iter, scale the data to similar ranges, or {milder}",
            "out of time": f"raise max_time, scale the data to similar ranges, or {milder}",
            "interrupted": "fit again, or with warm_start=True to continue from here",
            "stagnated": f"scale the data to similar ranges, {milder}, or raise tol: rounding "
            "errors are as large as the steps",
        }[self.value]


class Ending(NamedTuple):
    """How a solve ended, and why."""

    status: Status
    why: str


def relative_gap(primal: float, dual: float, nothing: float = 0.0) -> float:
    """(P − D) / max(|P|, |D|): the share of the objective that could still be gained.

    `nothing` is a value that counts as 0, for problems whose optimum may be 0.
    """
    scale = max(abs(primal), abs(dual), nothing)
    return (primal - dual) / scale if 0 < scale < np.inf else primal - dual


class Values(NamedTuple):
    """D of β, P of the model's w and these offsets, and the worst KKT violation of β.

    Examples
    --------
    >>> values = Values(dual=9.0, primal=10.0, violation=0.1, offsets=np.zeros(1))
    >>> values.gap, values.relative_gap
    (1.0, 0.1)
    """

    dual: float
    primal: float
    violation: float
    offsets: Floats
    nothing: float = 0.0

    @property
    def gap(self) -> float:
        """P − D."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """(P − D) / max(|P|, |D|): the share of the objective that could still be gained."""
        return relative_gap(self.primal, self.dual, self.nothing)


@dataclass(frozen=True, repr=False)
class Solution(Result):
    """What a solver found, with everything a certificate needs.

    Attributes
    ----------
    beta : ndarray, the dual variables, feasible whatever the status
    gradient : ndarray, G = Kβ + p of the model, recomputed in float64 from the coefficients
    coef : ndarray or None, w of a model that is not given by Σ β_i φ(x_i) but by w itself
    values : Values, the primal and dual value, the worst violation, and b of each group
    status : Status
    why : str, what ended it
    n_iter : int, steps taken (of a linear machine: passes over the data)
    kernel_evaluations : int
    seconds : float
    history : structured ndarray with one record per outer iteration (see `solvers.progress`)

    Examples
    --------
    >>> from maxmargin.formulations import c_svc
    >>> from maxmargin.gram import Gram
    >>> from maxmargin.kernels import Linear
    >>> from maxmargin.solvers import PlattSMO
    >>> problem, gram = c_svc(np.array([-1, 1]), C=5.0), Gram(Linear(), np.array([[-1.0], [1.0]]))
    >>> solution = PlattSMO().solve(problem, gram)
    >>> solution.beta, solution.offsets, solution.status.value
    (array([-0.5,  0.5]), array([0.]), 'converged')
    """

    beta: Floats
    gradient: Floats
    coef: Floats | None
    values: Values
    status: Status
    why: str
    n_iter: int
    kernel_evaluations: int
    seconds: float
    history: Records

    @property
    def offsets(self) -> Floats:
        """b of each group."""
        return self.values.offsets


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a solve, raised when what was found so far has been measured.

    Attributes
    ----------
    solution : Solution, with status `interrupted`
    """

    def __init__(self, solution: Solution) -> None:
        super().__init__("interrupted; the exception has the solution so far")
        self.solution = solution
