"""The margin: a binary machine on two features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.plots.fitted import FittedMachine, table
from maxmargin.plots.grid import feature_names, like, plane
from maxmargin.plots.palette import (
    axes_or_new,
    class_colors,
    class_shape,
    ink,
    paper,
    require_matplotlib,
)
from maxmargin.resources.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.contour import QuadContourSet
    from matplotlib.figure import Figure


Scaling = Callable[[NDArray[Any]], Floats]


@dataclass(kw_only=True, eq=False, repr=False)
class MarginDisplay:
    r"""A binary machine on two features: its boundary, its margins, its support vectors.

    The boundary is where the decision function :math:`f(x) = 0`, the margins are where
    :math:`f(x) = \pm 1`. With labels :math:`y_i = \pm 1`, a support vector is

    - on the margin where :math:`y_i f(x_i) = 1`,
    - inside the margin where :math:`0 < y_i f(x_i) < 1`,
    - misclassified where :math:`y_i f(x_i) \le 0`,

    and its slack is :math:`\xi_i = \max(0, 1 - y_i f(x_i))`.

    A machine without support vectors of its own, such as `LinearSVC`, has those of its hinge loss:
    the points with :math:`y_i f(x_i) \le 1`. A perceptron has a boundary and no margins.

    Use `from_estimator` to create one.

    Parameters
    ----------
    xx, yy, response : ndarrays of shape (n_grid, n_grid)
        The grid, and the decision function there.
    X : ndarray of shape (n_samples, 2)
        The points the machine was trained on.
    margins : ndarray of shape (n_samples,)
        The functional margins :math:`y_i f(x_i)`.
    positive : ndarray of bool of shape (n_samples,)
        Where the label is the second class, the one with :math:`f > 0`.
    support : ndarray of int or None
        Which points are support vectors; None for a machine without margins.
    class_names : sequence of two str
        The names of the classes, for the legend.
    axis_names : sequence of two str
    own : function or None
        From points of the plane to the machine's own space, such as behind a scaler: slack is
        drawn to the point of the margin that is nearest there. None if that is the plane itself.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    surface_ : QuadContourSet
        The two half-spaces, and the margin between them.
    lines_ : QuadContourSet
        The lines :math:`f = -1, 0, 1`, as far as the plane has them.
    points_ : list of PathCollection
        The points, one collection per class.
    support_ : dict of str to PathCollection
        The marks of the support vectors, by kind.
    slack_ : LineCollection or None
        A segment from each point that has slack to the margin of its class.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> from maxmargin.plots import MarginDisplay
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> display = MarginDisplay.from_estimator(SVC().fit(X, y), X, y)
    >>> sorted(display.kinds())
    ['inside the margin', 'misclassified', 'on the margin']
    """

    #: A support vector this close to the margin line is on it: closer than the line is wide.
    resolution = 0.01

    xx: Floats
    yy: Floats
    response: Floats
    X: NDArray[Any]
    margins: Floats
    positive: NDArray[np.bool_]
    support: NDArray[np.integer] | None
    class_names: tuple[str, str]
    axis_names: tuple[str, str] = ("first feature", "second feature")
    own: Scaling | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        ax: Axes | None = None,
        slack: bool = False,
        legend: bool = True,
        grid_resolution: int = 200,
    ) -> Self:
        """Draw a fitted binary machine on its training data.

        Parameters
        ----------
        estimator : object
            A fitted classifier with `decision_function`: SVC, NuSVC, LinearSVC, a perceptron; a
            pipeline that ends in one; or a fitted search over either.
        X : array-like of shape (n_samples, 2)
            The data it was fitted on.
        y : array-like of shape (n_samples,)
            The labels it was fitted on.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        slack : bool, default=False
            Whether to draw a segment from each point with slack to its margin.
        legend : bool, default=True
            Whether to name the classes and marks above the picture.
        grid_resolution : int, default=200
            Points of the grid per axis.
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        fitted, data = FittedMachine.of(estimator), table(X)
        _check_binary(fitted.machine, cls.__name__)
        labels = fitted.check_labels(data, y, cls.__name__)
        fitted.check_rows(data, cls.__name__)
        xx, yy, rows = plane(data, grid_resolution, room=0.2)
        positive = labels == fitted.machine.classes_[1]
        margins = np.where(positive, 1, -1) * fitted.estimator.decision_function(data)
        names, points = feature_names(data), np.asarray(data)
        display = cls(
            xx=xx,
            yy=yy,
            response=fitted.estimator.decision_function(rows).reshape(xx.shape),
            X=points,
            margins=margins,
            positive=positive,
            support=_support(fitted.machine, margins, cls.resolution),
            class_names=(
                f"class {fitted.machine.classes_[0]}",
                f"class {fitted.machine.classes_[1]}",
            ),
            axis_names=(names[0] or "first feature", names[1] or "second feature"),
            own=lambda places: fitted.own_space(like(places, data)),
        )
        return display.plot(ax=ax, slack=slack, legend=legend)

    def kinds(self) -> dict[str, NDArray[np.integer]]:
        """Row numbers of the support vectors of each kind; none of a machine without margins."""
        if self.support is None:
            return {}
        margins = self.margins[self.support]
        on = np.abs(margins - 1) <= self.resolution
        return {
            "on the margin": self.support[on],
            "inside the margin": self.support[~on & (margins > 0)],
            "misclassified": self.support[~on & (margins <= 0)],
        }

    def plot(self, *, ax: Axes | None = None, slack: bool = False, legend: bool = True) -> Self:
        """Draw it, and return the display.

        Parameters
        ----------
        ax, slack, legend : as in `from_estimator`
        """
        self.ax_ = ax = axes_or_new(ax, self)
        self.figure_: Figure | Any = ax.figure
        self._draw_regions(ax)
        self._draw_points(ax)
        self.slack_ = self._draw_slack(ax) if slack else None
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        if legend:
            ax.legend(
                loc="lower center",
                bbox_to_anchor=(0.5, 1),
                ncols=3,
                frameon=False,
                fontsize="small",
                columnspacing=1.2,
            )
        return self

    def _draw_regions(self, ax: Axes) -> None:
        """Shade the two half-spaces, the margin paler, and draw the boundary and its margins."""
        from matplotlib.colors import to_rgba

        grid = (self.xx, self.yy, self.response)
        negative, positive = class_colors()
        if self.support is None:
            shades, levels = [0.2, 0.2], [0]
        else:
            shades, levels = [0.28, 0.1, 0.1, 0.28], [-1, 0, 1]
        sides = [negative] * (len(shades) // 2) + [positive] * (len(shades) // 2)
        ends = [min(self.response.min(), -2.0) - 1, *levels, max(self.response.max(), 2.0) + 1]
        self.surface_: QuadContourSet = ax.contourf(
            *grid,
            levels=ends,
            colors=[to_rgba(side, shade) for side, shade in zip(sides, shades, strict=True)],
        )
        seen = [level for level in levels if self.response.min() < level < self.response.max()]
        self.levels_: list[int] = seen
        self.lines_: QuadContourSet | None = None
        if seen:  # else the plane is on one side of the machine
            self.lines_ = ax.contour(
                *grid,
                levels=seen,
                colors=ink(),
                linestyles=["dashed" if level else "solid" for level in seen],
                linewidths=[1 if level else 1.8 for level in seen],
            )

    def _draw_points(self, ax: Axes) -> None:
        """Draw each class in its colour and shape, and a mark of its kind on support vectors."""
        self.points_: list[PathCollection] = [
            ax.scatter(
                self.X[self.positive == side, 0],
                self.X[self.positive == side, 1],
                c=class_colors()[side],
                marker=class_shape(side),
                s=26,
                linewidths=0.6,
                edgecolors=paper(),
                label=self.class_names[side],
                zorder=3,
                clip_on=False,
            )
            for side in (0, 1)
        ]
        marks = {
            "on the margin": ("o", 85, "none", ink()),
            "inside the margin": ("D", 55, "none", ink()),
            "misclassified": ("x", 75, ink(), None),
        }
        self.support_: dict[str, PathCollection] = {}
        for kind, rows in self.kinds().items():
            if not len(rows):
                continue
            marker, size, face, edge = marks[kind]
            self.support_[kind] = ax.scatter(
                self.X[rows, 0],
                self.X[rows, 1],
                marker=marker,
                s=size,
                facecolors=face,
                edgecolors=edge,
                linewidths=1.3,
                label=kind,
                zorder=4,
                clip_on=False,
            )

    def _draw_slack(self, ax: Axes) -> LineCollection:
        """Join each point that has slack to the nearest point of its own margin line.

        Nearest in the machine's own space, where the margin is what it makes wide.
        """
        from matplotlib.collections import LineCollection

        measure = self.own or np.asarray
        paths = self.lines_.get_paths() if self.lines_ is not None else []
        lines = {
            level: (np.asarray(path.vertices), measure(np.asarray(path.vertices)))
            for level, path in zip(self.levels_, paths, strict=True)
            if level
        }
        places = measure(self.X)
        segments = []
        for i in np.flatnonzero(self.margins < 1 - self.resolution):
            level = 1 if self.positive[i] else -1
            if level in lines:
                line, there = lines[level]
                nearest = line[np.argmin(np.sum((there - places[i]) ** 2, axis=1))]
                segments.append(np.stack([self.X[i], nearest]))
        name = "slack" if segments else None
        drawn = LineCollection(segments, colors=ink(), linewidths=0.7, alpha=0.7, label=name)
        ax.add_collection(drawn, autolim=False)
        return drawn


def _check_binary(machine: Any, caller: str) -> None:
    """Raise if the machine cannot be drawn, naming what can."""
    if not hasattr(machine, "classes_") or not hasattr(machine, "decision_function"):
        raise TypeError(
            f"{caller} draws classifiers with a decision function; {type(machine).__name__} has "
            "none. sklearn.inspection.DecisionBoundaryDisplay draws any classifier."
        )
    if len(machine.classes_) != 2:
        raise ValueError(
            f"{caller} draws binary machines; this one has {len(machine.classes_)} classes. "
            "maxmargin.plots.RegionsDisplay draws its regions."
        )


def _support(machine: Any, margins: Floats, resolution: float) -> NDArray[np.integer] | None:
    """The rows that hold the margin: of a linear machine those with loss; None without margins."""
    if hasattr(machine, "support_") and (hasattr(machine, "C") or hasattr(machine, "nu")):
        support: NDArray[np.integer] = machine.support_
        return support
    if getattr(machine, "loss", None) in ("hinge", "squared_hinge"):
        return np.flatnonzero(margins <= 1 + resolution)
    return None
