"""The one problem, and the answer to it.

Every dual machine of this library is

    minimise   ½ βᵀKβ + pᵀβ
    subject to l ≤ β ≤ u   and, for each group g,   Σ_{i∈g} β_i = d_g

in signed variables β, with no group (no offset), one (an offset) or two (the ν machines). With
the gradient G = Kβ + p, β is optimal exactly if every group has an offset b with

    G_i + b ≥ 0 where β_i < u_i     ("cannot usefully go up")
    G_i + b ≤ 0 where β_i > l_i     ("cannot usefully go down")

so the worst violation is the largest −G_i that can go up minus the smallest −G_j that can go
down, inside one group. Without a group b is 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from maxmargin.compiled import compiled


class Status(Enum):
    """How a solver ended. It never says converged unless the true KKT violation is ≤ tol."""

    CONVERGED = "converged"
    OUT_OF_ITERATIONS = "out of iterations"
    OUT_OF_TIME = "out of time"
    INTERRUPTED = "interrupted"
    STAGNATED = "stagnated"

    @property
    def advice(self) -> str:
        """What to do about it."""
        return {
            "converged": "nothing to do",
            "out of iterations": "raise max_iter, scale the data to similar ranges, or lower C",
            "out of time": "raise max_time, scale the data to similar ranges, or lower C",
            "interrupted": "fit again, or with warm_start=True to continue from here",
            "stagnated": "scale the data to similar ranges, lower C, or raise tol: rounding "
            "errors are as large as the steps",
        }[self.value]


@dataclass(frozen=True)
class DualProblem:
    """½ βᵀKβ + pᵀβ over a box, with fixed sums over groups of variables.

    Parameters
    ----------
    linear : p, ndarray of shape (m,)
    lower, upper : l and u, ndarrays of shape (m,); infinite bounds are allowed
    sums : d, ndarray of shape (n_groups,); empty for a machine without offset
    group : ndarray of shape (m,), the group of each variable; empty if there is one
    rows : ndarray of shape (m,) or None
        The row of the data behind each variable; None if variable i is row i. The two copies
        of a regressor share their kernel rows this way.
    """

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    sums: np.ndarray = field(default_factory=lambda: np.zeros(1))
    group: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int8))
    rows: np.ndarray | None = None

    def __post_init__(self) -> None:
        if len(self.group) == 0:
            object.__setattr__(self, "group", np.zeros(self.size, np.int8))

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.linear)

    @property
    def n_groups(self) -> int:
        """Number of sum constraints."""
        return len(self.sums)

    def row_of(self, variables: np.ndarray) -> np.ndarray:
        """Data rows behind the given variables."""
        return variables if self.rows is None else self.rows[variables]

    def on_variables(self, values: np.ndarray) -> np.ndarray:
        """A vector over data rows as a vector over variables."""
        return values if self.rows is None else values[self.rows]

    def feasible(self, beta: np.ndarray | None = None) -> np.ndarray:
        """A feasible point near `beta` (near 0 by default): clipped to the box, sums repaired.

        A missing sum is spread first over the free variables, then over those that are not zero,
        then over all, in proportion to the room each has: what is at a bound stays there if it
        can, and a sparse point stays sparse. What is less than the rounding of the sum is left,
        and what is within rounding of a bound is at it.
        """
        if beta is None:
            beta = np.minimum(np.maximum(self.lower, 0.0), self.upper)
            if not np.count_nonzero(beta) and not np.count_nonzero(self.sums):
                return beta
        else:
            beta = np.clip(np.asarray(beta, float), self.lower, self.upper)
            for bound in (self.lower, self.upper):
                beta = np.where(np.isclose(beta, bound, rtol=1e-14, atol=0), bound, beta)
        for g, total in enumerate(self.sums):
            inside = self.group == g
            free = inside & (self.lower < beta) & (beta < self.upper)
            for among in (free, inside & (beta != 0), inside):
                missing = total - beta[inside].sum()
                bound = self.upper if missing > 0 else self.lower
                room = np.where(among, np.minimum(np.abs(bound - beta), abs(missing)), 0.0)
                if abs(missing) <= np.finfo(float).eps * np.abs(beta[inside]).sum():
                    break
                if room.sum() > 0:
                    move = np.sign(missing) * room * min(1.0, abs(missing) / room.sum())
                    beta = np.clip(beta + move, self.lower, self.upper)
                if room.sum() >= abs(missing):
                    break
        return beta

    def objective(self, beta: np.ndarray, gradient: np.ndarray) -> float:
        """½ βᵀKβ + pᵀβ = ½ βᵀ(G + p)."""
        return 0.5 * float(np.sum(beta * (gradient + self.linear)))

    def violation(self, beta: np.ndarray, gradient: np.ndarray) -> float:
        """Worst KKT violation over all groups; 0 at an optimum."""
        return self._survey(beta, gradient)[0]

    def contenders(self, beta: np.ndarray, gradient: np.ndarray, margin: float) -> np.ndarray:
        """The variables that violate or are extreme, or might with gradients off by `margin`."""
        up, down, b = self.sides(beta, gradient)
        if not self.n_groups:
            b = np.zeros(1)
        raise_from = (np.minimum(up, b) - margin)[self.group]
        lower_from = (np.maximum(down, b) + margin)[self.group]
        wants_up = (beta < self.upper) & (-gradient >= raise_from)
        wants_down = (beta > self.lower) & (-gradient <= lower_from)
        return np.flatnonzero(wants_up | wants_down)

    def offsets(self, beta: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """b of each group: the mean −G over free variables, or the middle of what KKT allows."""
        return self.sides(beta, gradient)[-1, : self.n_groups]

    def sides(self, beta: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """What each group wants, as `survey` tells; of all together if there is none."""
        return self._survey(beta, gradient)[1]

    def _survey(self, beta: np.ndarray, gradient: np.ndarray) -> tuple[float, np.ndarray]:
        sides = np.empty((SIDES, max(self.n_groups, 1)))
        bounds = self.lower, self.upper, self.group, self.n_groups
        return survey(beta, gradient, *bounds, sides), sides


SIDES = 3


@compiled()
def survey(beta, gradient, lower, upper, group, n_groups, sides):
    """The worst violation; and what each group wants.

    `sides` has the largest −G that can go up, the smallest that can go down, and b: the mean of
    those that can do either, or else the middle of the two extremes, if there are any. A group
    violates by the distance of its extremes, variables without groups by theirs from 0.
    """
    worst = 0.0
    for g in range(sides.shape[1]):
        up, down, total, count = -np.inf, np.inf, 0.0, 0.0
        for i in range(len(beta)):
            if group[i] == g:
                wish, rises, falls = -gradient[i], beta[i] < upper[i], beta[i] > lower[i]
                if rises and wish > up:
                    up = wish
                if falls and wish < down:
                    down = wish
                if rises and falls:
                    total += wish
                    count += 1.0
        sides[0, g], sides[1, g] = up, down
        gap = up - down if n_groups else (up if up > -down else -down)
        if gap > worst:
            worst = gap
        if not count:
            total += up if abs(up) < np.inf else 0.0
            total += down if abs(down) < np.inf else 0.0
            count = 2.0 if abs(up) < np.inf and abs(down) < np.inf else 1.0
        sides[2, g] = total / count
    return worst


@dataclass(frozen=True)
class Solution:
    """What a solver found, with everything a certificate needs.

    Attributes
    ----------
    beta : ndarray, feasible whatever the status
    gradient : ndarray, G = Kβ + p recomputed in float64 from the final β (or of the model's w)
    offsets : ndarray, b of each group
    status : Status
    n_iter : int, steps taken
    kernel_evaluations : int
    seconds : float
    history : structured ndarray with one record per outer iteration (see `solvers.progress`)
    why : str, what ended it
    quadratic : ½‖w‖² of the model and ½βᵀKβ, if the model's w is not Σ β_i φ(x_i) to the last digit
    """

    beta: np.ndarray
    gradient: np.ndarray
    offsets: np.ndarray
    status: Status
    n_iter: int
    kernel_evaluations: int
    seconds: float
    history: np.ndarray
    why: str
    quadratic: tuple[float, float] | None = None
