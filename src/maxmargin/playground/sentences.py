"""A step of a solver in a plain sentence, and as the box that it happens in.

The notation is the lectures': 0 ≤ α ≤ C, y = ±1, E = f(x) − y, η = K_ii + K_jj − 2K_ij. A pair step
moves α_j to α_j + y_j (E_i − E_j) / η, clipped to [L, H], and α_i so that y_i α_i + y_j α_j stays.
In the library's signed variables α = |β| and E = G + b; a regressor has two α for each point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.kernels import Kernel
from maxmargin.playground.message import finite
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Floats
from maxmargin.solvers import DualState, Solver, Step


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


def refusal(label: str, solver: Solver, problem: DualProblem) -> str:
    """Why this solver cannot take the problem, and what to switch; "" if it can.

    Examples
    --------
    >>> from maxmargin.formulations import c_svc
    >>> from maxmargin.solvers import CoordinateDescent
    >>> refusal("Coordinate descent", CoordinateDescent(), c_svc(np.array([-1.0, 1.0]), 1.0))
    'Coordinate descent moves one α at a time, which Σ yα = 0 forbids: switch the offset b off.'
    """
    groups, several = problem.n_groups, "Maximal violating pair, Second order or Block"
    if groups in solver.takes_groups and (
        solver.takes_infinite_bounds or np.isfinite([problem.lower, problem.upper]).all()
    ):
        return ""
    if groups == 1 and 0 in solver.takes_groups:
        return f"{label} moves one α at a time, which Σ yα = 0 forbids: switch the offset b off."
    if groups == 0 and groups not in solver.takes_groups:
        instead = "switch the offset b on, or choose Coordinate descent"
        return f"{label} moves two α for the sake of Σ yα = 0: {instead}."
    if groups not in solver.takes_groups:
        return f"{label} keeps one sum, and a ν machine has two: choose {several}."
    return f"{label} needs a finite C to clip its steps: choose SVC, or {several}."


def side(problem: DualProblem, i: int) -> float:
    """y_i: the sign that turns β_i into α_i ≥ 0."""
    return -1.0 if problem.lower[i] < 0 else 1.0


def name(problem: DualProblem, i: int) -> str:
    """The point behind a variable; a regressor has two for each."""
    if problem.rows is None:
        return str(i)
    return f"{problem.rows[i]}{'⁺' if problem.lower[i] >= 0 else '⁻'}"


def sentence(
    problem: DualProblem, before: Before, state: DualState, step: Step, told: dict[str, Any] | None
) -> str:
    """What happened, and why; `told` is the box of the step, if it has one."""
    if len(step.indices) == 0:
        return f"Nothing moved ({step.why})."
    if told is None:
        count = len(step.indices)
        noun = "point was" if count == 1 else "points were"
        return f"{count} {noun} moved together ({step.why})."
    violations = " and ".join(_violation(problem, before, i) for i in step.indices)
    what = f"{violations} ({step.why})"
    if len(step.indices) == 2:
        i, j = step.indices
        apart = abs(before.gradient[i] - before.gradient[j])
        what += f"; their errors differ by |Eᵢ − Eⱼ| = {apart:.2g}"
    return f"{what}. {_taken(problem, state, step, told)}"


def _violation(problem: DualProblem, before: Before, i: int) -> str:
    by = before.violation(problem, i)
    return f"{name(problem, i)} {f'violates KKT by {by:.2g}' if by > 0 else 'satisfies KKT'}"


def _taken(problem: DualProblem, state: DualState, step: Step, told: dict[str, Any]) -> str:
    values = told["values"]
    moved = f"α{small(name(problem, step.indices[-1]))}"
    best, taken = f"{values['unclipped']:.2g}", f"{values['clipped']:.2g}"
    if f"{step.clipped:.2g}" == f"{step.unclipped:.2g}":
        return f"The best {moved} = {best} is inside [L, H], so the step was taken whole."
    end = "H" if values["unclipped"] > values["clipped"] else "L"
    reached = [
        f"α{small(name(problem, i))} reached {_bound(state, i)}"
        for i in step.indices
        if state.beta[i] in (problem.lower[i], problem.upper[i])
    ]
    why = f": {' and '.join(reached)}" if reached else ""
    return f"The best {moved} = {best} was clipped at {end} = {taken}{why}."


def _bound(state: DualState, i: int) -> str:
    return "0" if state.beta[i] == 0 else f"C = {abs(state.beta[i]):.3g}"


def _signed(value: float) -> str:
    return f"{value:.3g}" if value >= 0 else f"({value:.3g})"


def small(text: str) -> str:
    """Digits as an index below the line."""
    return text.translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def box(
    problem: DualProblem,
    before: Before,
    state: DualState,
    step: Step,
    kernel: Kernel,
    rows: Floats,
) -> dict[str, Any] | None:
    """The step in the plane of its two α; a single variable moves along one axis.

    `values` are the numbers of the documents' formulas, which `formulas` has filled in; `along`
    has the places of both α at the start, at L and H, unclipped and clipped.
    """
    if len(step.indices) not in (1, 2) or not np.isfinite(step.clipped):
        return None
    at = list(step.indices)
    y = [side(problem, i) for i in at]
    alpha = [float(s * before.beta[i]) + 0.0 for s, i in zip(y, at, strict=True)]
    C = [float(max(abs(problem.lower[i]), abs(problem.upper[i]))) for i in at]
    E = problem.residual(before.gradient, before.offsets)[at].tolist()
    points = problem.row_of(np.array(at))
    K = kernel(rows[points], rows[points])
    after = [float(s * state.beta[i]) + 0.0 for s, i in zip(y, at, strict=True)]
    best = alpha[-1] + y[-1] * (step.unclipped if len(at) == 1 else -step.unclipped)
    taken = after[-1]
    if len(at) == 1:
        eta, L, H = float(K[0, 0]), 0.0, C[0]
        formulas = [
            ("η", "Kᵢᵢ", eta),
            ("Eᵢ", "f(xᵢ) − yᵢ", E[0]),
            ("αᵢ", f"{alpha[0]:.3g} − {y[0]:+.0f}·{E[0]:.3g} / {eta:.3g}", best),
        ]
    else:
        eta = float(K[0, 0] + K[1, 1] - 2 * K[0, 1])
        apart, total = alpha[1] - alpha[0], alpha[0] + alpha[1]
        low, high = (apart, C[0] + apart) if y[0] != y[1] else (total - C[0], total)
        L, H = max(0.0, low), min(C[1], high)
        of_low, of_high = ("αⱼ − αᵢ", "C + αⱼ − αᵢ") if y[0] != y[1] else ("αᵢ + αⱼ − C", "αᵢ + αⱼ")
        C_shown = "∞" if np.isinf(C[1]) else f"{C[1]:.3g}"
        formulas = [
            ("η", f"{K[0, 0]:.3g} + {K[1, 1]:.3g} − 2·{K[0, 1]:.3g}", eta),
            ("Eᵢ", "f(xᵢ) − yᵢ", E[0]),
            ("Eⱼ", "f(xⱼ) − yⱼ", E[1]),
            ("L", f"max(0, {of_low}) = max(0, {low + 0.0:.3g})", L),
            ("H", f"min(C, {of_high}) = min({C_shown}, {high:.3g})", H),
            (
                "αⱼ",
                f"{alpha[1]:.3g} {'+−'[y[1] < 0]} ({E[0]:.3g} − {_signed(E[1])}) / {eta:.3g}",
                best,
            ),
        ]
    formulas.append(("clipped", "to [0, C]" if len(at) == 1 else "to [L, H]", taken))
    values = {"eta": eta, "E": E, "L": L, "H": H, "unclipped": best, "clipped": taken}

    def place(last: float) -> list[float]:
        """Both α, where the last one has this value."""
        return [last] if len(at) == 1 else [alpha[0] - y[0] * y[1] * (last - alpha[1]), last]

    along = {"start": alpha[-1], "low": L, "high": H, "unclipped": best}
    return {
        "names": [name(problem, i) for i in at],
        "rows": points.tolist(),
        "bounds": [finite(end) for end in C],
        "values": {key: finite(v) if isinstance(v, float) else v for key, v in values.items()},
        "formulas": [(key, text.replace("-", "−"), finite(v)) for key, text, v in formulas],
        "along": {key: place(v) for key, v in along.items() if np.isfinite(v)} | {"clipped": after},
    }
