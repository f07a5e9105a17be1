"""The step of SMO: two multipliers in their box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.gram import Gram
from maxmargin.plots.bowl import Bowl, square
from maxmargin.plots.display import Display
from maxmargin.plots.palette import class_colors, ink, paper
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.contour import QuadContourSet
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle


@dataclass(frozen=True)
class PairStep:
    """A step of SMO in its two multipliers.

    Attributes
    ----------
    bowl : the negated dual as a function of the two multipliers
    C : sides of the box
    start, best, clipped : the multipliers before the step, at the top of the parabola, and after
    L, H : bounds of α_j
    same : whether both labels are the same, so that the line of the constraint falls
    """

    bowl: Bowl
    C: Floats
    start: Floats
    best: Floats
    clipped: Floats
    L: float
    H: float
    same: bool

    @classmethod
    def of(cls, problem: DualProblem, gram: Gram, beta: ArrayLike, i: int, j: int) -> PairStep:
        """The step on variables i and j of a classifier's problem, from β, as lecture 7 has it."""
        if i == j:
            raise ValueError(f"a pair step takes two variables, got {i} twice")
        beta, pair = np.asarray(beta, float), np.array([i, j])
        t = np.sign(problem.lower[pair] + problem.upper[pair])
        rows = problem.row_of(pair)
        K = gram.square(rows)
        gradient = gram.block(rows, problem.row_of(np.arange(len(beta)))) @ beta
        gradient += problem.linear[pair]
        C = np.maximum(np.abs(problem.lower[pair]), np.abs(problem.upper[pair]))
        start = np.abs(beta[pair])
        eta = 2 * K[0, 1] - K[0, 0] - K[1, 1]
        same = bool(t[0] == t[1])
        # G = E − b, and b cancels in E_i − E_j.
        newton = start[1] - t[1] * (gradient[0] - gradient[1]) / eta
        if same:
            low, high = max(0.0, start.sum() - C[0]), min(C[1], start.sum())
        else:
            low = max(0.0, start[1] - start[0])
            high = min(C[1], C[0] + start[1] - start[0])

        def on_line(alpha_j: float) -> Floats:
            return np.array([start[0] - t[0] * t[1] * (alpha_j - start[1]), alpha_j])

        A = K * np.outer(t, t)
        return cls(
            bowl=Bowl(A, t * gradient - A @ start),
            C=C,
            start=start,
            best=on_line(newton),
            clipped=on_line(min(max(newton, low), high)),
            L=float(low),
            H=float(high),
            same=same,
        )


@dataclass(kw_only=True, eq=False, repr=False)
class PairStepDisplay(Display):
    r"""One step of SMO in the box of its two multipliers.

    The sum constraint leaves :math:`\alpha_i, \alpha_j` a line across the box
    :math:`[0, C]^2`. On it the dual is a parabola in :math:`\alpha_j` with its top at

    .. math:: \alpha_j^\text{new} = \alpha_j - t_j \frac{E_i - E_j}{2K_{ij} - K_{ii} - K_{jj}},

    which is clipped to :math:`[L, H]`, the part of the line inside the box.

    Use `from_problem` to create one.

    Parameters
    ----------
    step : PairStep
        The step.
    names : tuple of two str
        Names of the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    contours_ : QuadContourSet
    box_ : Rectangle
    line_ : Line2D
        The constraint, inside the box.
    marks_ : dict of str to Line2D
        Start, unclipped and clipped optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.formulations import c_svc
    >>> from maxmargin.gram import Gram
    >>> from maxmargin.kernels import Linear
    >>> from maxmargin.plots import PairStepDisplay
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])
    >>> display = PairStepDisplay.from_problem(
    ...     c_svc(y, C=0.2), Gram(Linear(), X), np.zeros(4), i=1, j=2
    ... )
    >>> display.step.best.round(2), display.step.clipped
    (array([0.5, 0.5]), array([0.2, 0.2]))
    """

    step: PairStep
    names: tuple[str, str] = ("αᵢ", "αⱼ")

    @classmethod
    def from_problem(
        cls,
        problem: DualProblem,
        gram: Gram,
        beta: ArrayLike,
        *,
        i: int,
        j: int,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the step that SMO would take on variables i and j from β.

        Parameters
        ----------
        problem : DualProblem
            A classifier's: each variable is in [0, C] or in [−C, 0].
        gram : Gram
        beta : array-like
            Where to step from, feasible.
        i, j : int
            The two variables.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        """
        return cls(step=PairStep.of(problem, gram, beta, i, j)).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        from matplotlib.patches import Rectangle

        step = self.step
        places = np.stack([np.zeros(2), step.C, step.best])
        room = 0.14 * step.C.max()
        low, high = square(places.min(axis=0) - room, places.max(axis=0) + room)
        self.contours_: QuadContourSet = step.bowl.draw(ax, low, high)
        self.box_: Rectangle = Rectangle((0, 0), *step.C, facecolor=ink(), alpha=0.08, zorder=0)
        ax.add_patch(self.box_)
        slope = -1 if step.same else 1
        ends = [
            (step.start[0] + slope * (bound - step.start[1]), bound) for bound in (step.L, step.H)
        ]
        orange, blue = class_colors()
        (self.line_,) = ax.plot(*np.transpose(ends), color=blue, linewidth=2.5)
        ax.plot(*np.transpose([step.clipped, step.best]), color=blue, linewidth=1.5, linestyle=":")
        for name, (x, y) in zip("LH", ends, strict=True):
            ax.plot([low[0], x], [y, y], color=ink(), linewidth=0.9, linestyle="--", alpha=0.7)
            ax.annotate(
                name, (low[0], y), xytext=(4, 3), textcoords="offset points", fontweight="bold"
            )
        marks = {
            "start": (step.start, "o", 9, ink()),
            "unclipped": (step.best, "D", 9, paper()),
            "clipped": (step.clipped, "*", 18, orange),
        }
        self.marks_: dict[str, Line2D] = {}
        for label, (place, shape, size, color) in marks.items():
            (self.marks_[label],) = ax.plot(
                *place,
                marker=shape,
                markersize=size,
                color=color,
                markeredgecolor=ink(),
                linestyle="none",
                label=label,
                zorder=4,
            )
        ax.set(
            xlabel=self.names[0],
            ylabel=self.names[1],
            xlim=(low[0], high[0]),
            ylim=(low[1], high[1]),
            xticks=[0, step.C[0]],
            yticks=[0, step.C[1]],
            xticklabels=["0", "C"],
            yticklabels=["0", "C"],
            aspect="equal",
        )
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
