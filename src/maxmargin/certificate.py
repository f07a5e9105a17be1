"""The proof that comes with every fit.

For any β in the box with its sums, G = Kβ + p and any offsets b,

    dual    D = −(½ βᵀKβ + pᵀβ)
    primal  P = ½ βᵀKβ + Σ_i max_{l_i ≤ t ≤ u_i} −(G_i + b) t + Σ_g b_g d_g

satisfy D ≤ optimum ≤ P whenever K is positive semidefinite; both are equal exactly at the
optimum. For a C-SVC the sum is Σ C_i max(0, 1 − y_i f(x_i)), the hinge loss; for a regressor it
is the ε-insensitive loss: one formula for every machine. Where a bound is infinite (the hard
margin) a primal point must satisfy its constraint exactly, so w and b are scaled up until it
does.

Sums are in float64. Kernel entries are so too, or float32 where `State.confirm` found on a sample
that no G_i is off by more than a twentieth of `tol`: then D and P are off by less than that times
Σ|β|, and in fact by much less, for rounding errors cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from maxmargin.compiled import compiled
from maxmargin.problem import SIDES, DualProblem, Solution, Status, survey


class Values(NamedTuple):
    """D, P at w = Σ β_i φ(x_i) and these offsets, and the worst KKT violation of β."""

    dual: float
    primal: float
    violation: float
    offsets: np.ndarray


def values(
    problem: DualProblem,
    beta: np.ndarray,
    gradient: np.ndarray,
    offsets: np.ndarray | None = None,
    quadratic: tuple[float, float] | None = None,
) -> Values:
    """What β and its gradient are worth, with these offsets or those that they imply.

    `quadratic` is ½‖w‖² of the model and ½βᵀKβ where w is not Σ β_i φ(x_i) to the last digit; the
    gradient is then that of w.
    """
    p, sides = problem, np.empty((SIDES, max(problem.n_groups, 1)))
    b = sides[-1, : p.n_groups] if offsets is None else offsets
    slope, of_beta, loss, margin, violation = _values(
        beta, gradient, p.linear, p.lower, p.upper, p.group, p.sums, sides, b
    )
    of_model, of_beta = (of_beta, of_beta) if quadratic is None else quadratic
    primal = of_model + loss
    if margin < np.inf:
        primal = of_model / margin**2 if margin > 0 else np.inf
    return Values(-(of_beta + slope), primal, violation, b)


@compiled()
def _values(beta, gradient, linear, lower, upper, group, sums, sides, offsets):
    """pᵀβ, ½βᵀKβ, the loss, the least y_i f(x_i) where a bound is infinite, the violation."""
    n_groups = len(sums)
    violation = survey(beta, gradient, lower, upper, group, n_groups, sides)
    quadratic, slope, loss, margin = 0.0, 0.0, 0.0, np.inf
    for i in range(len(beta)):
        residual = gradient[i] + (offsets[group[i]] if n_groups else 0.0)
        quadratic += 0.5 * beta[i] * (gradient[i] - linear[i])
        slope += beta[i] * linear[i]
        if lower[i] == -np.inf or upper[i] == np.inf:
            here = 1.0 - residual / linear[i]
            margin = here if here < margin else margin
        else:
            loss -= residual * (upper[i] if residual < 0 else lower[i])
    for g in range(n_groups):
        loss += offsets[g] * sums[g]
    return slope, quadratic, loss, margin, violation


def best_offset(problem: DualProblem, gradient: np.ndarray) -> float:
    """The b that makes P smallest, for a problem of one group.

    The slope of P in b is d − Σ_i (u_i where G_i + b < 0, else l_i): it rises by u_i − l_i at
    b = −G_i, and its zero is at one of these kinks, or between two of them: then in the middle.
    """
    order = np.argsort(-gradient)
    kinks, rises = -gradient[order], (problem.upper - problem.lower)[order]
    slope = np.cumsum(rises) - problem.upper.sum() + problem.sums[0]
    rounding = 1e-13 * np.abs(slope).max()
    first = min(int(np.searchsorted(slope, -rounding)), len(kinks) - 1)
    last = first + 1 if first + 1 < len(kinks) and slope[first] <= rounding else first
    return float(0.5 * (kinks[first] + kinks[last]))


@dataclass(frozen=True)
class Certificate:
    """Primal and dual value of a fitted machine, and how far from optimal it can be.

    Attributes
    ----------
    primal : value of the regularised loss at the fitted model
    dual : Σα − ½ΣΣ ααyyK, or its like: no model can have a smaller primal value than this
    gap : primal − dual, ≥ 0 up to rounding
    relative_gap : gap / max(|primal|, |dual|)
    kkt_violation : worst violation of the optimality conditions, what `tol` bounds
    status : how the solver ended
    n_iter, kernel_evaluations, seconds : what it cost
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    kkt_violation: float
    status: Status
    n_iter: int
    kernel_evaluations: int
    seconds: float

    @classmethod
    def of(cls, problem: DualProblem, solution: Solution) -> Certificate:
        """From the final coefficients and their float64 gradient; nothing is carried along."""
        dual, primal, violation, _ = values(
            problem, solution.beta, solution.gradient, solution.offsets, solution.quadratic
        )
        return cls.from_values(
            primal=primal,
            dual=dual,
            kkt_violation=violation,
            status=solution.status,
            n_iter=solution.n_iter,
            kernel_evaluations=solution.kernel_evaluations,
            seconds=solution.seconds,
        )

    @classmethod
    def total(cls, parts: Sequence[Certificate], seconds: float) -> Certificate:
        """Of several binary problems together: values summed, the worst violation and status."""
        if len(parts) == 1:
            return parts[0]
        worst = max(parts, key=lambda part: (part.status is not Status.CONVERGED, part.gap))
        return cls.from_values(
            primal=sum(part.primal for part in parts),
            dual=sum(part.dual for part in parts),
            kkt_violation=max(part.kkt_violation for part in parts),
            status=worst.status,
            n_iter=sum(part.n_iter for part in parts),
            kernel_evaluations=sum(part.kernel_evaluations for part in parts),
            seconds=seconds,
        )

    @classmethod
    def from_values(cls, primal: float, dual: float, **rest: Any) -> Certificate:
        """With the gap that a primal and a dual value leave."""
        gap = primal - dual
        scale = max(abs(primal), abs(dual))
        relative = gap / scale if 0 < scale < np.inf else gap
        return cls(primal=primal, dual=dual, gap=gap, relative_gap=relative, **rest)

    def _rows(self) -> list[tuple[str, str]]:
        return [(f.name.replace("_", " "), _show(getattr(self, f.name))) for f in fields(self)]

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self._rows())
        return "\n".join(f"{name:<{width}}  {value}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        cells = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in self._rows())
        return f"<table>{cells}</table>"


@dataclass(frozen=True)
class ApproximateCertificate(Certificate):
    """The certificate of a machine whose kernel was replaced by features.

    What it proves holds for K̂, not for K; how far they are apart is measured, not proven.

    Attributes
    ----------
    holds_for : which problem the values above are of
    kernel_error : √mean (K − K̂)² over all pairs of a sample of the rows
    """

    holds_for: str
    kernel_error: float


def _show(value: float | int | str | Status) -> str:
    if isinstance(value, Status):
        return value.value
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
