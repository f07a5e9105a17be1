"""The lectures' notation on the library's state: α, y, C, E, K and b, and the step of SMO in it.

    0 ≤ α_i ≤ C_i,   Σ y_i α_i fixed,   E_i = f(x_i) − y_i,   η = K_ii + K_jj − 2K_ij

α is a view of the signed β = yα that every solver of the library moves, `rest` is C − α, and
E = G + b is its gradient with the offset. In a problem that is no classifier's (a regressor has two
variables for each row, a one-class machine has no labels) y_i is the side of its box on which β_i
begins, α_i how far it has come from there, and E_i the slope of the objective; the steps are the
same, letter for letter.

A textbook solver is one page: its `iterate`, and `take_step` or `take_single_step` below.

Reference: M. Straka, NPFL129 lecture 7 (2022); J. Platt (1998).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from maxmargin.resources.arrays import Floats
from maxmargin.solvers.qp.pair_step import CURVATURE
from maxmargin.solvers.qp.state import DualState


class Blackboard:
    """α, y, C, E, K and b of a state, with the names of the lectures.

    Examples
    --------
    >>> from maxmargin.formulations import c_svc
    >>> from maxmargin.gram import Gram
    >>> from maxmargin.kernels import Linear
    >>> gram = Gram(Linear(), np.array([[-1.0], [1.0]]))
    >>> board = Blackboard(DualState(c_svc(np.array([-1, 1]), C=5.0), gram, None))
    >>> take_step(board, 0, 1, "a pair")
    True
    >>> float(board.α[0]), float(board.α[1]), float(board.E[1])
    (0.5, 0.5, 0.0)
    """

    def __init__(self, state: DualState) -> None:
        p = state.problem
        self.state, self.n = state, p.size
        state.own_offsets = state.offsets
        self.y = np.where(np.isinf(p.lower) | (p.upper <= 0), -1.0, 1.0)
        self.C = p.upper - p.lower
        self.α = Distances(state, np.where(self.y > 0, p.lower, p.upper))
        self.rest = Distances(state, np.where(self.y > 0, p.upper, p.lower))  # C − α
        self.E = Errors(state)

    def K(self, i: int, j: int) -> float:
        """k(x_i, x_j)."""
        row = self.state.diagonal if i == j else self.state.row(i)
        return float(row[j])

    def b(self, i: int) -> float:
        """The offset of variable i; a ν machine has two, others one or none."""
        offsets = self.state.offsets
        return float(offsets[self.state.problem.group[i]]) if len(offsets) else 0.0

    def set_b(self, i: int, b: float) -> None:
        """Replace the offset of variable i, and count by how much it moved."""
        self.state.movement += abs(b - self.b(i))
        self.state.offsets[self.state.problem.group[i]] = b

    def move(self, i: int, j: int, Δ: float) -> None:
        """α_j += Δ, and α_i so that y_i α_i + y_j α_j stays; a bound is met exactly."""
        p, beta, t = self.state.problem, self.state.beta, -self.y[j] * Δ
        for k, by in ((i, t), (j, -t)):
            ends = {p.upper[k] - beta[k]: p.upper[k], p.lower[k] - beta[k]: p.lower[k]}
            beta[k] = ends.get(by, beta[k] + by)
        self.state.gradient += t * (self.state.row(i) - self.state.row(j))
        self.state.movement += 2 * abs(t)

    def took(self, i: int, j: int, why: str, of_j: dict[str, float], t: float) -> None:
        """Report the step: what α_j was, its L and H and best value, as steps t of β_j −= t."""
        steps = {name: float(self.y[j]) * (of_j["was"] - value) for name, value in of_j.items()}
        low, _, high = sorted((steps["L"], t, steps["H"]))  # t is L or H, but for rounding
        self.state.took((i, j), why, steps["best"], t, low + 0.0, high)  # not −0.0

    def move_alone(self, i: int, best: float) -> tuple[float, float, float]:
        """Add `best` to α_i, cut at its bounds; returns t, L and H of β_i."""
        p, beta = self.state.problem, self.state.beta
        old = float(beta[i])
        beta[i] = min(max(old + self.y[i] * best, p.lower[i]), p.upper[i])
        t = float(beta[i]) - old
        self.state.gradient += t * self.state.row(i)
        self.state.movement += abs(t)
        return t, float(p.lower[i]) - old, float(p.upper[i]) - old


class Distances:
    """How far each β is from one end of its box, as a view: α from where it is 0, rest from C."""

    def __init__(self, state: DualState, end: Floats) -> None:
        self.state, self.end = state, end

    def __getitem__(self, i: int) -> float:
        return abs(float(self.state.beta[i] - self.end[i]))


class Errors:
    """E = G + b as a view: `E[i]` is f(x_i) − y_i for a classifier."""

    def __init__(self, state: DualState) -> None:
        self.state = state

    def __getitem__(self, i: int) -> float:
        offsets, group = self.state.offsets, self.state.problem.group
        return float(self.state.gradient[i] + (offsets[group[i]] if len(offsets) else 0.0))


def violates(board: Blackboard, i: int, tol: float, slack: float = 0.0) -> bool:
    """The lectures' KKT test; α within `slack` of 0 or C counts as there."""
    α, y, rest, E = board.α, board.y, board.rest, board.E
    r = y[i] * E[i]
    return bool((r < -tol and rest[i] > slack) or (r > tol and α[i] > slack))


def room(board: Blackboard, i: int, j: int) -> tuple[float, float]:
    """How far α_j can fall, to L, and rise, to H, while α_i follows; `rest` is C − α."""
    α, y, rest = board.α, board.y, board.rest
    if y[i] != y[j]:  # L = max(0, α_j − α_i), H = min(C, C + α_j − α_i)
        return min(α[j], α[i]), min(rest[j], rest[i])
    # L = max(0, α_i + α_j − C), H = min(C, α_i + α_j)
    return min(α[j], rest[i]), min(rest[j], α[i])


def take_step(board: Blackboard, i: int, j: int, why: str, smallest: float = 0.0) -> bool:
    """Maximise the dual over α_i and α_j; False if α_j would move by no more than `smallest`."""
    α, y, E, K = board.α, board.y, board.E, board.K
    α_j, E_i, E_j = α[j], E[i], E[j]
    fall, rise = room(board, i, j)
    L, H = α_j - fall, α_j + rise
    η = max(K(i, i) + K(j, j) - 2 * K(i, j), CURVATURE)
    best = α_j + y[j] * (E_i - E_j) / η
    Δ = min(max(y[j] * (E_i - E_j) / η, -fall), rise)  # to best, or to L or H if it is beyond
    if abs(Δ) <= smallest:
        return False
    board.move(i, j, Δ)
    update_b(board, i, j)
    board.took(i, j, why, {"was": α_j, "best": best, "L": L, "H": H}, float(-y[j] * Δ))
    return True


def update_b(board: Blackboard, i: int, j: int) -> None:
    """Set b so that a variable strictly between 0 and C has E = 0, else by the mean of both."""
    α, rest, E, b = board.α, board.rest, board.E, board.b(i)
    if α[i] > 0 and rest[i] > 0:
        b = b - E[i]
    elif α[j] > 0 and rest[j] > 0:
        b = b - E[j]
    else:
        b = b - (E[i] + E[j]) / 2
    board.set_b(i, b)


def take_single_step(board: Blackboard, i: int, why: str) -> None:
    """Maximise the dual over α_i alone, between 0 and C: without b there is no sum to keep."""
    y, E_i, K = board.y, board.E[i], board.K
    η = max(K(i, i), CURVATURE)
    best = -y[i] * E_i / η
    t, low, high = board.move_alone(i, best)
    board.state.took((i,), why, y[i] * best, t, low, high)


# What can be projected.
PAGES: tuple[Callable[..., object], ...] = (
    violates,
    room,
    take_step,
    update_b,
    take_single_step,
)
