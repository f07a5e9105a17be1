"""The one problem.

Every dual machine of this library is

    minimise   ½ βᵀKβ + pᵀβ
    subject to l ≤ β ≤ u   and, for each group g,   Σ_{i∈g} β_i = d_g

in signed variables β, with no group (no offset), one (an offset) or two (the ν machines). With
the gradient G = Kβ + p, β is optimal exactly if every group has an offset b with

    G_i + b ≥ 0 where β_i < u_i     (raising β_i would not help)
    G_i + b ≤ 0 where β_i > l_i     (lowering β_i would not help)

so the worst violation is the largest −G_i of a variable that can rise minus the smallest −G_j of
one that can fall, inside one group. Without a group b is 0.

For any β in the box with its sums and any offsets b,

    dual    D = −(½ βᵀKβ + pᵀβ)
    primal  P = ½ βᵀKβ + Σ_i max_{l_i ≤ t ≤ u_i} −(G_i + b) t + Σ_g b_g d_g

satisfy D ≤ optimum ≤ P whenever K is positive semidefinite; both are equal exactly at the
optimum. For a C-SVC the sum is Σ C_i max(0, 1 − y_i f(x_i)), the hinge loss; for a regressor it
is the ε-insensitive loss: one formula for every machine. Where a bound is infinite (the hard
margin) a primal point must satisfy its constraint exactly, so w and b are scaled up until it
does. Scaling does not help a regressor: what exceeds its tube costs twice the largest |β_i|, and
D and P enclose the optimum of the machine with that C. The multipliers are below it, so that the
constraint C = ∞ has the same optimum.

A ν machine without an offset has one sum, of |β|. With the sign s_i of each variable it is
Σ s_i β_i = d; in α = s β it is a sum as above, and K_ij is s_i s_j K_ij (`reflected`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from maxmargin.core import native
from maxmargin.problem.constraints import rounding_of_sum, with_sum, zero_of_steps
from maxmargin.problem.solution import Values
from maxmargin.resources.arrays import Floats, Mask, Numbers

SIDES = 3  # lines of `sides`: max −G that can rise, min −G that can fall, b


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
    signs : s, ndarray of +1 and −1 of shape (m,), or None
        The sums are of s_i β_i; None if they are of β_i.

    Examples
    --------
    >>> problem = DualProblem(
    ...     linear=np.array([1.0, -1.0]), lower=np.array([-5.0, 0.0]), upper=np.array([0.0, 5.0])
    ... )
    >>> beta, K = np.array([-0.5, 0.5]), np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> values = problem.values(beta, K @ beta + problem.linear)
    >>> values.dual, values.primal, values.violation
    (0.5, 0.5, 0.0)
    """

    linear: Floats
    lower: Floats
    upper: Floats
    sums: Floats = field(default_factory=lambda: np.zeros(1))
    group: Numbers = field(default_factory=lambda: np.zeros(0, np.int8))
    rows: Numbers | None = None
    signs: Floats | None = None

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

    @cached_property
    def reflected(self) -> DualProblem:
        """The same problem in α = s β: variable i has row i of `Gram.reflected`, and no sign."""
        if self.signs is None:
            return self
        ends = self.signs * self.lower, self.signs * self.upper
        return DualProblem(
            linear=self.signs * self.linear,
            lower=np.minimum(*ends) + 0.0,  # no −0
            upper=np.maximum(*ends) + 0.0,
            sums=self.sums,
            group=self.group,
        )

    def row_of(self, variables: Numbers) -> Numbers:
        """Data rows behind the given variables."""
        return variables if self.rows is None else self.rows[variables]

    def on_variables(self, values: Floats) -> Floats:
        """A vector over data rows as a vector over variables."""
        return values if self.rows is None else values[self.rows]

    def on_rows(self, beta: Floats) -> Floats:
        """A vector over variables summed over the variables of each data row."""
        return beta if self.rows is None else np.bincount(self.rows, beta).astype(float, copy=False)

    def feasible(self, beta: Floats | None = None) -> Floats:
        """A feasible point near `beta` (near 0 by default): clipped to the box, sums repaired.

        A sum is corrected by the free variables first, then by those that are not zero, then by
        all: variables stay at their bounds where possible, and a sparse point stays sparse. A
        variable within rounding of a bound is set to it.
        """
        if self.signs is not None:
            alpha = self.reflected.feasible(None if beta is None else self.signs * beta)
            return self.signs * alpha + 0.0
        if beta is None:
            beta = np.minimum(np.maximum(self.lower, 0.0), self.upper)
            if not np.count_nonzero(beta) and not np.count_nonzero(self.sums):
                return beta
        else:
            beta = np.clip(np.asarray(beta, float), self.lower, self.upper)
            with np.errstate(invalid="ignore"):  # ∞ − ∞
                for bound in (self.lower, self.upper):
                    beta = np.where(np.abs(beta - bound) <= 1e-14 * np.abs(beta), bound, beta)
        for g, total in enumerate(self.sums):
            inside = self.group == g
            part, lower, upper = beta[inside], self.lower[inside], self.upper[inside]
            free = (lower < part) & (part < upper)
            beta[inside] = with_sum(
                part, lower, upper, total, (free, part != 0, np.ones_like(free))
            )
        return beta

    def check_feasible(self, beta: Floats, solver: str) -> None:
        """Raise if β is outside the box or has other sums: no bound holds for it."""
        if self.signs is not None:
            self.reflected.check_feasible(self.signs * beta, solver)
            return
        inside = (self.lower <= beta) & (beta <= self.upper)
        if not inside.all():
            i = int(inside.argmin())
            raise ValueError(
                f"{solver} left the box: β_{i} = {beta[i]:.6g} is not in "
                f"[{self.lower[i]:.6g}, {self.upper[i]:.6g}]; clip each step to the bounds"
            )
        for g, total in enumerate(self.sums):
            members = slice(None) if self.n_groups == 1 else self.group == g
            part = beta[members]
            rounding = rounding_of_sum(part, (self.upper - self.lower)[members], total)
            if abs(part.sum() - total) > rounding:
                raise ValueError(
                    f"{solver} changed a sum that is fixed: Σβ of group {g} is {part.sum():.6g} "
                    f"instead of {total:.6g}; move variables of a group in opposite directions"
                )

    def free(self, beta: Floats) -> Mask:
        """Which variables are free: l < β < u."""
        return (self.lower < beta) & (beta < self.upper)

    def residual(self, gradient: Floats, offsets: Floats) -> Floats:
        """G + b: at the optimum ≥ 0 where β can rise, ≤ 0 where it can fall."""
        return gradient + (offsets[self.group] if self.n_groups else 0.0)

    def objective(self, beta: Floats, gradient: Floats) -> float:
        """½ βᵀKβ + pᵀβ = ½ βᵀ(G + p)."""
        return 0.5 * float(np.sum(beta * (gradient + self.linear)))

    def violation(self, beta: Floats, gradient: Floats) -> float:
        """Worst KKT violation over all groups; 0 at an optimum."""
        return self._measured(beta, gradient)[0][-1]

    def values(
        self,
        beta: Floats,
        gradient: Floats,
        offsets: Floats | None = None,
        quadratic: tuple[float, float] | None = None,
    ) -> Values:
        """D, P and the worst violation, with these offsets or those that β implies.

        `quadratic` is (½‖w‖², ½βᵀKβ) for a model w that differs from Σ β_i φ(x_i) by rounding or
        tolerance; the gradient is then that of w.
        """
        found, _, b = self._measured(beta, gradient, offsets)
        slope, of_beta, loss, margin, violation = found
        of_model, of_beta = (of_beta, of_beta) if quadratic is None else quadratic
        return Values(-(of_beta + slope), primal_of(of_model, loss, margin), violation, b)

    def terms(self, beta: Floats, gradient: Floats, offsets: Floats) -> Terms:
        """What the values are made of; `sums` are the share of these variables in the sums."""
        (slope, quadratic, loss, margin, _), sides, _ = self._measured(beta, gradient, offsets)
        return Terms(slope, quadratic, loss, margin, sides[0], sides[1])

    def best_offset(self, gradient: Floats) -> float:
        """The b that makes P smallest, for a problem of one group.

        The slope of P in b is d − Σ_i (u_i where G_i + b < 0, else l_i): it begins at d − Σu and
        rises by u_i − l_i at b = −G_i.
        """
        start = float(self.sums[0] - self.upper.sum())
        return zero_of_steps(-gradient, self.upper - self.lower, start)

    def contenders(self, beta: Floats, gradient: Floats, margin: float) -> Numbers:
        """The variables that violate KKT or have an extreme −G, if G may be off by `margin`."""
        up, down, b = self.sides(beta, gradient)
        if not self.n_groups:
            b = np.zeros(1)
        from_here_up = (np.minimum(up, b) - margin)[self.group]
        from_here_down = (np.maximum(down, b) + margin)[self.group]
        rises = (beta < self.upper) & (-gradient >= from_here_up)
        falls = (beta > self.lower) & (-gradient <= from_here_down)
        return np.flatnonzero(rises | falls)

    def offsets(self, beta: Floats, gradient: Floats) -> Floats:
        """b of each group: the mean −G over free variables, or the middle of what KKT allows."""
        return self.sides(beta, gradient)[-1, : self.n_groups]

    def sides(self, beta: Floats, gradient: Floats) -> Floats:
        """Per group: the largest −G that can rise, the smallest that can fall, the offset b.

        Of all variables together if there is no group.
        """
        return self._measured(beta, gradient)[1]

    def _measured(
        self, beta: Floats, gradient: Floats, offsets: Floats | None = None
    ) -> tuple[tuple[float, float, float, float, float], Floats, Floats]:
        """What `values_of` gives, `sides`, and the offsets: these, or those that β implies."""
        if self.signs is not None:
            return self.reflected._measured(self.signs * beta, self.signs * gradient, offsets)
        sides = np.empty((SIDES, max(self.n_groups, 1)))
        b = sides[-1, : self.n_groups] if offsets is None else offsets
        found = native.values_of(
            beta, gradient, self.linear, self.lower, self.upper, self.group, self.sums, sides, b
        )
        return found, sides, b


class Terms(NamedTuple):
    """Sums and extremes over some of the variables: those of all variables are the values.

    Attributes
    ----------
    slope, quadratic, loss : pᵀβ, ½βᵀKβ and Σ max −(G_i + b) t, with b d of these variables
    margin : the least y_i f(x_i) where a bound is infinite
    up, down : per group the largest −G that can rise, and the smallest that can fall
    """

    slope: float
    quadratic: float
    loss: float
    margin: float
    up: Floats
    down: Floats

    @classmethod
    def joined(cls, parts: Sequence[Terms]) -> Terms:
        """The terms of all variables from those of their parts."""
        slope, quadratic, loss, margin, up, down = zip(*parts, strict=True)
        return cls(
            sum(slope), sum(quadratic), sum(loss), min(margin), np.max(up, 0), np.min(down, 0)
        )

    def values(self, offsets: Floats) -> Values:
        """D, P and the worst violation."""
        worst = self.up - self.down if len(offsets) else np.maximum(self.up, -self.down)
        primal = primal_of(self.quadratic, self.loss, self.margin)
        dual = -(self.quadratic + self.slope)
        return Values(dual, primal, max(float(worst.max()), 0.0), offsets)


def primal_of(quadratic: float, loss: float, margin: float) -> float:
    """P from ½‖w‖², the loss, and the least margin of a row whose bound is infinite."""
    if margin == np.inf:
        return quadratic + loss
    return quadratic / margin**2 if margin > 0 else np.inf
