"""The margin: a binary machine on two features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from maxmargin.plots.palette import (
    axes_or_new,
    class_colors,
    class_shape,
    ink,
    paper,
    require_matplotlib,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.contour import QuadContourSet
    from matplotlib.figure import Figure


class MarginDisplay:
    r"""A binary machine on two features: its boundary, its margins, its support vectors.

    The boundary is where the decision function :math:`f(x) = 0`, the margins are where
    :math:`f(x) = \pm 1`. With labels :math:`y_i = \pm 1`, a support vector is

    - on the margin where :math:`y_i f(x_i) = 1`,
    - inside the margin where :math:`0 < y_i f(x_i) < 1`,
    - misclassified where :math:`y_i f(x_i) \le 0`,

    and its slack is :math:`\xi_i = \max(0, 1 - y_i f(x_i))`.

    Use `from_estimator` to create one.

    Parameters
    ----------
    boundary : DecisionBoundaryDisplay
        The decision function on a grid.
    X : ndarray of shape (n_samples, 2)
        The points the machine was trained on.
    margins : ndarray of shape (n_samples,)
        The functional margins :math:`y_i f(x_i)`.
    positive : ndarray of bool of shape (n_samples,)
        Where the label is the second class, the one with :math:`f > 0`.
    support : ndarray of int
        Which points are support vectors.
    class_names : sequence of two str
        The names of the classes, for the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    surface_ : QuadContourSet
        The two half-spaces, and the margin between them.
    lines_ : QuadContourSet
        The lines :math:`f = -1, 0, 1`.
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

    def __init__(
        self,
        *,
        boundary: DecisionBoundaryDisplay,
        X: NDArray[Any],
        margins: NDArray[np.float64],
        positive: NDArray[np.bool_],
        support: NDArray[np.integer],
        class_names: tuple[str, str],
    ) -> None:
        self.boundary = boundary
        self.X = X
        self.margins = margins
        self.positive = positive
        self.support = support
        self.class_names = class_names

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
        """Draw a fitted binary machine, or a pipeline that ends in one, on its training data.

        Parameters
        ----------
        estimator : object
            A fitted classifier with `decision_function` and `support_`.
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

        Returns
        -------
        MarginDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        from matplotlib.figure import Figure

        machine = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        check_is_fitted(machine)
        _check_binary_machine(machine, cls.__name__)
        labels = column_or_1d(y)
        check_consistent_length(X, labels)
        if len(labels) != machine.shape_fit_[0]:
            raise ValueError(
                f"{cls.__name__} marks the support vectors of the training data: X has "
                f"{len(labels)} rows, but the machine was fitted on {machine.shape_fit_[0]}. "
                "Give the X and y it was fitted on."
            )

        points = np.asarray(X)
        # scikit-learn evaluates the grid (frames and feature names included) but also draws it:
        # out of sight, since `plot` draws it our way.
        boundary = DecisionBoundaryDisplay.from_estimator(
            estimator,
            X,
            response_method="decision_function",
            grid_resolution=grid_resolution,
            eps=0.2 * np.ptp(points, axis=0).min(),
            ax=Figure().subplots(),
        )
        positive = labels == machine.classes_[1]
        display = cls(
            boundary=boundary,
            X=points,
            margins=np.where(positive, 1, -1) * estimator.decision_function(X),
            positive=positive,
            support=machine.support_,
            class_names=(f"class {machine.classes_[0]}", f"class {machine.classes_[1]}"),
        )
        return display.plot(ax=ax, slack=slack, legend=legend)

    def kinds(self) -> dict[str, NDArray[np.integer]]:
        """Row numbers of the support vectors of each kind."""
        margins = self.margins[self.support]
        on = np.abs(margins - 1) <= self.resolution
        return {
            "on the margin": self.support[on],
            "inside the margin": self.support[~on & (margins > 0)],
            "misclassified": self.support[~on & (margins <= 0)],
        }

    def plot(self, *, ax: Axes | None = None, slack: bool = False, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        slack : bool, default=False
            Whether to draw a segment from each point with slack to its margin.
        legend : bool, default=True
            Whether to name the classes and marks above the picture.

        Returns
        -------
        MarginDisplay
            Itself.
        """
        self.ax_ = ax = axes_or_new(ax, self)
        self.figure_: Figure | Any = ax.figure
        self._draw_regions(ax)
        self._draw_points(ax)
        self.slack_ = self._draw_slack(ax) if slack else None
        ax.set(
            xlabel=self.boundary.xlabel or "first feature",
            ylabel=self.boundary.ylabel or "second feature",
        )
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

        grid = (self.boundary.xx0, self.boundary.xx1, self.boundary.response)
        negative, positive = class_colors()
        self.surface_: QuadContourSet = ax.contourf(
            *grid,
            levels=[-1, 0, 1],
            extend="both",
            colors=[
                to_rgba(negative, 0.28),
                to_rgba(negative, 0.1),
                to_rgba(positive, 0.1),
                to_rgba(positive, 0.28),
            ],
        )
        self.lines_: QuadContourSet = ax.contour(
            *grid,
            levels=[-1, 0, 1],
            colors=ink(),
            linestyles=["dashed", "solid", "dashed"],
            linewidths=[1, 1.8, 1],
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
        """Join each point that has slack to the nearest point of its own margin line."""
        from matplotlib.collections import LineCollection

        below, _, above = (path.vertices for path in self.lines_.get_paths())
        segments = []
        for i in np.flatnonzero(self.margins < 1 - self.resolution):
            line = np.asarray(above if self.positive[i] else below)
            if len(line):
                nearest = line[np.argmin(np.sum((line - self.X[i]) ** 2, axis=1))]
                segments.append(np.stack([self.X[i], nearest]))
        lines = LineCollection(segments, colors=ink(), linewidths=0.7, alpha=0.7, label="slack")
        ax.add_collection(lines, autolim=False)
        return lines


def _check_binary_machine(machine: Any, caller: str) -> None:
    """Say precisely what cannot be drawn, and what to use instead."""
    if not hasattr(machine, "support_") or not hasattr(machine, "classes_"):
        raise TypeError(
            f"{caller} draws classifiers with support vectors; {type(machine).__name__} has none. "
            "sklearn.inspection.DecisionBoundaryDisplay draws any classifier."
        )
    if len(machine.classes_) != 2:
        raise ValueError(
            f"{caller} draws binary machines; this one has {len(machine.classes_)} classes. "
            "maxmargin.plots.RegionsDisplay draws its regions."
        )
