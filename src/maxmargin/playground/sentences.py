"""A step of a solver in a plain sentence, and as the box that it happens in.

A step moves β_i up and β_j down by t, which the bounds keep in [L, H]; the best t without them is
(E_j − E_i) / (K_ii + K_jj − 2K_ij) with E = G + b. The page shows α = |β|, as textbooks do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.hardware.arrays import Floats
from maxmargin.playground.message import Message, finite
from maxmargin.problem import DualProblem
from maxmargin.solvers import DualState, Step


@dataclass(frozen=True)
class Before:
    """What a step began from: copies, for the solver goes on."""

    beta: Floats
    gradient: Floats
    offsets: Floats

    @classmethod
    def of(cls, state: DualState) -> Before:
        """As the state is now."""
        return cls(state.beta.copy(), state.gradient.copy(), state.offsets.copy())

    def violation(self, problem: DualProblem, i: int) -> float:
        """By how much variable i violates KKT: E_i < 0 though it can rise, or > 0 and can fall."""
        error = problem.residual(self.gradient, self.offsets)[i]
        rises, falls = self.beta[i] < problem.upper[i], self.beta[i] > problem.lower[i]
        return float(max(-error if rises else 0.0, error if falls else 0.0, 0.0))


def side(problem: DualProblem, i: int) -> float:
    """+1 or −1: the sign that turns β_i into α_i ≥ 0."""
    return -1.0 if problem.lower[i] < 0 else 1.0


def name(problem: DualProblem, i: int) -> str:
    """The point behind a variable; a regressor has two for each."""
    if problem.rows is None:
        return str(i)
    return f"{problem.rows[i]}{'⁺' if problem.lower[i] >= 0 else '⁻'}"


def sentence(problem: DualProblem, before: Before, state: DualState, step: Step) -> str:
    """What happened, and why."""
    if len(step.indices) == 0:
        return f"Nothing moved ({step.why})."
    if not np.isfinite(step.clipped):
        count = len(step.indices)
        noun = "point was" if count == 1 else "points were"
        return f"{count} {noun} moved together ({step.why})."
    violations = " and ".join(_violation(problem, before, i) for i in step.indices)
    what = f"{violations} ({step.why})"
    if len(step.indices) == 2:
        i, j = step.indices
        apart = abs(before.gradient[i] - before.gradient[j])
        what += f"; their errors differ by |Eᵢ − Eⱼ| = {apart:.2g}"
    return f"{what}. {_taken(problem, state, step)}"


def _violation(problem: DualProblem, before: Before, i: int) -> str:
    by = before.violation(problem, i)
    return f"{name(problem, i)} {f'violates KKT by {by:.2g}' if by > 0 else 'satisfies KKT'}"


def _taken(problem: DualProblem, state: DualState, step: Step) -> str:
    best, taken = f"{step.unclipped:.2g}", f"{step.clipped:.2g}"
    if step.clipped == step.unclipped or best == taken:
        return f"The best step t = {best} is inside [L, H], so it was taken whole."
    end = "H" if step.clipped > 0 else "L"
    reached = [
        f"α{_small(name(problem, i))} reached {_bound(state, i)}"
        for i in step.indices
        if state.beta[i] in (problem.lower[i], problem.upper[i])
    ]
    why = f": {' and '.join(reached)}" if reached else ""
    return f"The best step t = {best} was clipped at {end} = {taken}{why}."


def _bound(state: DualState, i: int) -> str:
    return "0" if state.beta[i] == 0 else f"C = {abs(state.beta[i]):.3g}"


def _small(text: str) -> str:
    return text.translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def box(problem: DualProblem, before: Before, step: Step) -> Message | None:
    """The step in the plane of its two α; a single variable moves along one axis.

    `along` has the places at t = 0, L, H, the unclipped and the clipped t.
    """
    if len(step.indices) not in (1, 2) or not np.isfinite(step.clipped):
        return None
    signs = [1.0, -1.0][: len(step.indices)]

    def place(t: float) -> list[float]:
        return [
            side(problem, i) * (before.beta[i] + sign * t)
            for i, sign in zip(step.indices, signs, strict=True)
        ]

    ts = {"start": 0.0, "low": step.low, "high": step.high}
    ts |= {"unclipped": step.unclipped, "clipped": step.clipped}
    ends = [max(abs(problem.lower[i]), abs(problem.upper[i])) for i in step.indices]
    return {
        "names": [name(problem, i) for i in step.indices],
        "rows": [int(problem.rows[i] if problem.rows is not None else i) for i in step.indices],
        "bounds": [finite(float(end)) for end in ends],
        "t": {key: finite(float(t)) for key, t in ts.items()},
        "along": {key: place(t) for key, t in ts.items() if np.isfinite(t)},
    }
