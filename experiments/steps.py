"""Coordinate descent, and the box of a pair step.

Lecture 6's figure of coordinate descent, lecture 7's and the review's figures of the box, and
the formulas of the step that the documents disagree on.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

from experiments.experiment import Finding, Outcome, panels
from maxmargin.datasets import moons
from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear
from maxmargin.plots import DescentDisplay, PairStepDisplay
from maxmargin.plots.pair_step import PairStep
from maxmargin.problem import DualProblem
from maxmargin.solvers import Progress, RandomPairSMO

C = 1.0
PAIR = np.array([[1.0, 0.15], [-0.75, -0.9]])  # two points, of one class each


def run(n: int = 40, sweeps: int = 20) -> Outcome:
    X, y = moons(n, seed=0)
    problem, gram = c_svc(2 * y - 1, C=C), Gram(RBF(gamma=2.0), X)
    watched = _Watched()
    RandomPairSMO(sweeps=sweeps).solve(problem, gram, observe=watched)
    steps = watched.steps
    rows = [_compare(problem, gram, *step) for step in pairwise(steps)]
    apart = max(row["lecture's step beside ours"] for row in rows)
    fell = float(np.mean([row["slides' step lowers the dual"] for row in rows]))
    off = np.array([row["review's offset beside ours"] for row in rows])
    rose = np.diff([step[3] for step in steps]).min()
    return Outcome(
        text="""
        Above, coordinate descent on the dual of a machine without offset on two points, from the
        same start: each step is parallel to an axis and ends where the objective is smallest along
        it. On the left the box does not matter, and the gradient is zero at the end (the inactive
        constraints of the KKT conditions); on the right the box stops β₁, where the objective would
        fall further (an active one). Below, six steps of SMO in the box of their two multipliers:
        on the left the labels differ, so that the line of Σαt = const rises; on the right they are
        equal, and it falls. Where the top of the parabola is outside the box, the step ends at L or
        H.
        """,
        rows=rows,
        figures={
            "Coordinate descent, free and stopped by the box": _draw_descent,
            "Pair steps in their boxes": lambda: _draw_boxes(problem, gram, watched.steps),
        },
        findings=[
            Finding(
                "lecture 7",
                "a_j − t_j(E_i − E_j)/(2K_ij − K_ii − K_jj), clipped to [L, H]",
                f"largest difference to this library's step in {len(rows)} steps: {apart:.1e}",
                "reproduced",
            ),
            Finding(
                "slides",
                "the dual never falls",
                f"least change of the dual in a step: {rose:.1e}",
                "reproduced",
            ),
            Finding(
                "slides",
                "the step is (y₂E_i − E_j)/η, as printed",
                f"it lowers the dual in {fell:.0%} of these steps",
                "an error of the slides: a lost bracket, y_j(E_i − E_j)/η",
            ),
            Finding(
                "review",
                "the offset comes from i if 0 ≤ α_i ≤ C",
                f"always true; in {np.mean(off > 1e-9):.0%} of these steps the offset is off, by "
                f"{off[off > 1e-9].mean() if np.any(off > 1e-9) else 0:.2f} in the mean",
                "an error of the review: 0 < α_i < C",
            ),
        ],
    )


class _Watched:
    """An observer that keeps β, the pair and the offset of every step."""

    every = "step"

    def __init__(self) -> None:
        self.steps: list[tuple[np.ndarray, tuple[int, ...], float, float]] = []

    def __call__(self, now: Progress) -> None:
        if now.step is not None:
            self.steps.append(
                (now.state.beta.copy(), now.step.indices, now.step.offset, now.objective)
            )


def _compare(problem: DualProblem, gram: Gram, before: tuple, after: tuple) -> dict[str, float]:
    """The documents' formulas for one step, beside the step that was taken."""
    beta, (new, (i, j), offset, _) = before[0], after
    shown = PairStep.of(problem, gram, beta, i, j)
    K = gram.block([i, j], [i, j])
    t = np.sign(problem.linear[[i, j]]) * -1
    everyone = np.arange(len(beta))
    G = gram.block([i, j], everyone) @ beta + problem.linear[[i, j]]
    E = G + before[2]
    eta = 2 * K[0, 1] - K[0, 0] - K[1, 1]
    printed = shown.start[1] - (t[1] * E[0] - E[1]) / eta
    slip = shown.start + np.array([-t[0] * t[1], 1]) * (
        np.clip(printed, shown.L, shown.H) - shown.start[1]
    )
    after_G = gram.block([i, j], everyone) @ new + problem.linear[[i, j]]
    return {
        "i": i,
        "j": j,
        "L": shown.L,
        "H": shown.H,
        "unclipped": float(shown.best[1]),
        "clipped": float(shown.clipped[1]),
        "lecture's step beside ours": float(np.max(np.abs(np.abs(new[[i, j]]) - shown.clipped))),
        "slides' step lowers the dual": float(shown.bowl(slip) > shown.bowl(shown.start) + 1e-12),
        "review's offset beside ours": float(abs(-after_G[0] - offset)),
    }


def _draw_descent() -> Figure:
    figure, axes = panels(1, 2, size=(3.4, 3.6))
    for ax, bound, title in zip(axes, (9.0, 0.62), ("inside the box", "at its side"), strict=True):
        problem = c_svc(np.array([1, -1]), C=bound, fit_intercept=False)
        DescentDisplay.from_problem(problem, Gram(Linear(), PAIR), start=[0.1, -0.7], ax=ax)
        ax.set_title(title)
        ax.get_legend().remove()
    handles, labels = axes[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure


def _draw_boxes(problem: DualProblem, gram: Gram, steps: list[tuple]) -> Figure:
    figure, axes = panels(3, 2, size=(3.2, 3.1))
    for ax, (title, (beta, i, j)) in zip(
        axes.T.flat, _examples(problem, gram, steps), strict=False
    ):
        PairStepDisplay.from_problem(problem, gram, beta, i=i, j=j, ax=ax)
        ax.set_title(title)
        ax.get_legend().remove()
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def _examples(problem: DualProblem, gram: Gram, steps: list[tuple]) -> list[tuple]:
    """Of each case the longest step whose optimum is in sight."""
    found: dict[str, tuple[float, tuple]] = {}
    for (beta, *_), (_, (i, j), *_) in pairwise(steps):
        step = PairStep.of(problem, gram, beta, i, j)
        beyond = float(np.max(np.abs(step.best - C / 2)) / C)
        length = float(np.linalg.norm(step.clipped - step.start))
        title = _case(step)
        if title and beyond < 1.2 and length > found.get(title, (0.0,))[0]:
            found[title] = (length, (beta, i, j))
    return [(title, place) for title, (_, place) in sorted(found.items())]


def _case(step: PairStep) -> str:
    """What stops the step; empty where it ends in a corner, which two bounds stop at once."""
    stopped = [name for name, value in zip("ij", step.clipped, strict=True) if value in (0.0, C)]
    labels = "labels equal" if step.same else "labels differ"
    if len(stopped) == 2:
        return ""
    letter = {"i": "αᵢ", "j": "αⱼ"}.get("".join(stopped))
    return f"{labels}, {letter} clipped" if letter else f"{labels}, not clipped"
