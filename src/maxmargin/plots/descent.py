"""Coordinate descent: the iterates of a solver over two variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.gram import Gram
from maxmargin.plots.bowl import Bowl, square
from maxmargin.plots.display import Display
from maxmargin.plots.palette import class_colors, ink
from maxmargin.problem import DualProblem
from maxmargin.resources.arrays import Floats
from maxmargin.solvers import CoordinateDescent, Progress, Solver

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.contour import QuadContourSet
    from matplotlib.patches import Rectangle


@dataclass(kw_only=True, eq=False, repr=False)
class DescentDisplay(Display):
    """The iterates of coordinate descent on a problem of two variables.

    Contours of the objective ½βᵀKβ + pᵀβ, the box, and the solver's way: each step is parallel
    to an axis and ends where the objective is smallest along it, or at a side of the box.

    Use `from_problem` to create one.

    Parameters
    ----------
    bowl : Bowl
        The objective.
    way : ndarray of shape (n_steps + 1, 2)
        Where the solver was.
    lower, upper : ndarray of shape (2,)
        The box.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    contours_ : QuadContourSet
    way_ : Line2D
    box_ : Rectangle or None
        The box, if it is in sight.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.formulations import c_svc
    >>> from maxmargin.gram import Gram
    >>> from maxmargin.kernels import Linear
    >>> from maxmargin.plots import DescentDisplay
    >>> X, y = np.array([[1.0, 0.5], [-0.4, -1.0]]), np.array([1, -1])
    >>> problem = c_svc(y, C=9.0, fit_intercept=False)
    >>> display = DescentDisplay.from_problem(problem, Gram(Linear(), X))
    >>> bool(np.all(np.count_nonzero(np.diff(display.way, axis=0), axis=1) == 1))
    True
    """

    bowl: Bowl
    way: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def from_problem(
        cls,
        problem: DualProblem,
        gram: Gram,
        *,
        start: ArrayLike | None = None,
        solver: Solver | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Run a solver on a problem of two variables and draw its iterates.

        Parameters
        ----------
        problem : DualProblem
            Of two variables; without a sum constraint for coordinate descent.
        gram : Gram
        start : array-like of shape (2,), default=None
            Where to begin; 0 by default.
        solver : Solver, default=None
            `CoordinateDescent(tol=1e-6)` by default.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        """
        if problem.size != 2:
            raise ValueError(f"{cls.__name__} draws two variables; this problem has {problem.size}")
        begin = problem.feasible(None if start is None else np.asarray(start, float))
        watched = _Way([begin.copy()])
        (solver or CoordinateDescent(tol=1e-6)).solve(problem, gram, start=begin, observe=watched)
        both = problem.row_of(np.arange(2))
        display = cls(
            bowl=Bowl(gram.square(both), problem.linear),
            way=np.array(watched.places),
            lower=problem.lower,
            upper=problem.upper,
        )
        return display.plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        from matplotlib.patches import Rectangle

        low, high = self.way.min(axis=0), self.way.max(axis=0)
        room = 0.35 * np.max(high - low)
        low, high = square(low - room, high + room)
        self.contours_: QuadContourSet = self.bowl.draw(ax, low, high)
        self.box_: Rectangle | None = None
        if np.any((self.lower > low) | (self.upper < high)):
            corner = np.maximum(self.lower, low - 1)
            extent = np.minimum(self.upper, high + 1) - corner
            self.box_ = Rectangle(
                (corner[0], corner[1]), *extent, facecolor=ink(), alpha=0.08, zorder=0, label="box"
            )
            ax.add_patch(self.box_)
        orange, blue = class_colors()
        (self.way_,) = ax.plot(*self.way.T, "-o", color=blue, markersize=4.5, label="steps")
        ax.plot(*self.way[0], "s", color=orange, markersize=9, label="start")
        ax.plot(*self.way[-1], "*", color=blue, markeredgecolor=ink(), markersize=16, label="end")
        ax.set(
            xlabel="β₁", ylabel="β₂", xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal"
        )
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False)


@dataclass
class _Way:
    """An observer that records β after every step."""

    places: list[NDArray[np.float64]]
    every: str = "step"

    def __call__(self, now: Progress) -> None:
        if now.step is not None:
            self.places.append(now.state.beta.copy())
