"""Regions: several classes on two features, and where binary machines disagree."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import binary_dilation
from sklearn.pipeline import Pipeline

from maxmargin.machines.multiclass import OneVersusOne, OneVersusRest
from maxmargin.plots.fitted import FittedMachine, table
from maxmargin.plots.grid import feature_names, plane
from maxmargin.plots.palette import (
    axes_or_new,
    class_colors,
    class_shape,
    ink,
    paper,
    require_matplotlib,
)
from maxmargin.resources.arrays import Floats, Labels, Mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.contour import QuadContourSet
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

Scheme = Literal["one-versus-one", "one-versus-rest", "joint"]
SCHEMES: dict[str, Scheme] = {"ovo": "one-versus-one", "ovr": "one-versus-rest"}


@dataclass(kw_only=True, eq=False, repr=False)
class RegionsDisplay:
    """A classifier of several classes on two features: its regions, and where machines disagree.

    Each point of the plane has the colour of the class predicted there. Binary machines trained
    apart need not agree; hatched is

    - of one-versus-one, where the most votes are shared by several classes,
    - of one-versus-rest, where no machine claims the point, or more than one does.

    There the prediction rests on the size of decision values of machines that never met. A
    classifier trained on all classes at once, such as softmax regression, has no such regions.

    Use `from_estimator` to create one.

    Parameters
    ----------
    xx, yy : ndarray of shape (n_grid, n_grid)
        The grid.
    winner : ndarray of int of shape (n_grid, n_grid)
        Number of the class predicted.
    ambiguous : ndarray of bool of shape (n_grid, n_grid)
        Where the machines disagree.
    rivals : dict of pairs of int to ndarray of shape (n_grid, n_grid)
        Positive where the first class of a pair is preferred to the second. Between their regions
        the line where it is 0 is drawn; without any, the jagged edges of the regions are.
    X : ndarray of shape (n_samples, 2)
        Points to draw.
    labels : ndarray of int of shape (n_samples,)
        Number of the class of each.
    class_names : list of str
    axis_names : tuple of two str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    surface_ : AxesImage
        The regions.
    hatched_ : QuadContourSet or None
        The ambiguous ones.
    lines_ : list of QuadContourSet
        The boundaries between regions.
    points_ : list of PathCollection
        The points, one collection per class.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from maxmargin import SVC
    >>> from maxmargin.plots import RegionsDisplay
    >>> X, y = make_blobs(90, centers=[[0, 2], [-2, -1], [2, -1]], random_state=0)
    >>> machine = SVC(kernel="linear", multiclass="ovr").fit(X, y)
    >>> display = RegionsDisplay.from_estimator(machine, X, y)
    >>> bool(0 < display.ambiguous.mean() < 0.5)
    True
    """

    xx: Floats
    yy: Floats
    winner: NDArray[np.integer]
    ambiguous: Mask
    rivals: dict[tuple[int, int], Floats]
    X: NDArray[Any]
    labels: NDArray[np.integer]
    class_names: list[str]
    axis_names: tuple[str, str] = ("first feature", "second feature")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        scheme: Scheme | None = None,
        over: ArrayLike | None = None,
        ax: Axes | None = None,
        legend: bool = True,
        grid_resolution: int = 300,
    ) -> Self:
        """Draw a fitted classifier, a pipeline that ends in one, or a fitted search over either.

        Parameters
        ----------
        estimator : object
            A fitted classifier.
        X : array-like of shape (n_samples, 2)
            Points to draw.
        y : array-like of shape (n_samples,)
            Their classes.
        scheme : {"one-versus-one", "one-versus-rest", "joint"}, default=None
            What its decision values mean: a column for each pair of classes, a column for each
            class, or no binary machines. None takes the `multiclass` of the machine,
            and takes a machine without one for joint.
        over : array-like of shape (n_points, 2), default=None
            Points that the plane must hold, with a tenth of their range around them; X by default.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        legend : bool, default=True
            Whether to name the classes above the picture.
        grid_resolution : int, default=300
            Points of the grid per axis.
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        fitted, data = FittedMachine.of(estimator), table(X)
        estimator, machine = fitted.estimator, fitted.machine
        if not hasattr(machine, "classes_"):
            raise TypeError(f"{cls.__name__} draws classifiers; {type(machine).__name__} is none.")
        labels = fitted.check_labels(data, y, cls.__name__)
        scheme = scheme or scheme_of(machine)
        xx, yy, rows = plane(data if over is None else table(over), grid_resolution)
        winner = np.searchsorted(machine.classes_, estimator.predict(rows)).reshape(xx.shape)
        decisions = _decisions(estimator, machine, rows, scheme)
        names = feature_names(data)
        display = cls(
            xx=xx,
            yy=yy,
            winner=winner,
            ambiguous=ambiguous(decisions, machine.classes_, scheme).reshape(xx.shape),
            rivals={
                pair: values.reshape(xx.shape)
                for pair, values in _rivals(estimator, rows, decisions, scheme).items()
            },
            X=np.asarray(data),
            labels=np.searchsorted(machine.classes_, labels),
            class_names=[f"class {name}" for name in machine.classes_],
            axis_names=(names[0] or "first feature", names[1] or "second feature"),
        )
        return display.plot(ax=ax, legend=legend)

    def plot(self, *, ax: Axes | None = None, legend: bool = True) -> Self:
        """Draw it, and return the display.

        Parameters
        ----------
        ax, legend : as in `from_estimator`
        """
        from matplotlib.colors import to_rgba
        from matplotlib.patches import Patch

        self.ax_ = ax = axes_or_new(ax, self)
        self.figure_: Figure | Any = ax.figure
        n = len(self.class_names)
        colors = class_colors(n)
        # Not filled contours: between classes 0 and 2 they would find a strip of class 1.
        self.surface_: AxesImage = ax.imshow(
            np.array([to_rgba(color, 0.25) for color in colors])[self.winner],
            origin="lower",
            extent=_extent(self.xx, self.yy),
            aspect="auto",
            interpolation="nearest",
        )
        self.hatched_: QuadContourSet | None = None
        if self.ambiguous.any():
            self.hatched_ = ax.contourf(
                self.xx, self.yy, self.ambiguous, levels=[0.5, 1.5], colors="none", hatches=["///"]
            )
            self.hatched_.set(edgecolor=to_rgba(ink(), 0.65), linewidth=0)
            edge = to_rgba(ink(), 0.65)
            ax.contour(
                self.xx, self.yy, self.ambiguous, levels=[0.5], colors=[edge], linewidths=0.7
            )
        jagged = [(self.winner, np.arange(n - 1) + 0.5)]
        smooth = [(values, [0.0]) for values in self._borders()]
        self.lines_: list[QuadContourSet] = [
            ax.contour(self.xx, self.yy, values, levels=levels, colors=ink(), linewidths=1.3)
            for values, levels in (smooth if self.rivals else jagged)
        ]
        self.points_: list[PathCollection] = [
            ax.scatter(
                self.X[self.labels == k, 0],
                self.X[self.labels == k, 1],
                c=color,
                marker=class_shape(k),
                s=24,
                linewidths=0.6,
                edgecolors=paper(),
                label=name,
                zorder=3,
            )
            for k, (name, color) in enumerate(zip(self.class_names, colors, strict=True))
        ]
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        if legend:
            handles: list[Any] = [*self.points_]
            if self.hatched_ is not None:
                hatch = Patch(facecolor="none", edgecolor=ink(), hatch="///", linewidth=0)
                hatch.set_label("ambiguous")
                handles.append(hatch)
            above: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1), "ncols": 4}
            beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
            # Above the picture the names of many classes would be wider than it.
            ax.legend(handles=handles, frameon=False, **(above if n <= 4 else beside))
        return self

    def _borders(self) -> Iterator[Floats]:
        """The preference between neighbours, seen only where one of the two is predicted."""
        reach = [binary_dilation(self.winner == k) for k in range(len(self.class_names))]
        for (a, b), values in self.rivals.items():
            seen = np.ma.masked_where(~(reach[a] | reach[b]), values)
            if (reach[a] & (self.winner == b)).any() and seen.min() < 0 < seen.max():
                yield seen


def scheme_of(machine: Any) -> Scheme:
    """By what its binary machines are combined; joint if it is made of none."""
    return SCHEMES.get(getattr(machine, "multiclass", ""), "joint")


def _extent(xx: Floats, yy: Floats) -> tuple[float, float, float, float]:
    """The sides of an image whose pixels have their middles on the grid."""
    dx, dy = (xx[0, 1] - xx[0, 0]) / 2, (yy[1, 0] - yy[0, 0]) / 2
    return xx[0, 0] - dx, xx[0, -1] + dx, yy[0, 0] - dy, yy[-1, 0] + dy


def _decisions(estimator: Any, machine: Any, rows: Any, scheme: Scheme) -> Floats:
    """A column of decision values per binary machine; none if the classifier is joint."""
    if scheme == "joint":
        return np.empty((len(rows), 0))
    if isinstance(estimator, Pipeline):
        rows = estimator[:-1].transform(rows)
    pairs = scheme == "one-versus-one"
    if pairs:  # scikit-learn's SVC needs "ovo" for the values of pairs: set it in a copy
        machine = copy(machine)
        machine.decision_function_shape = "ovo"
    values: Floats = machine.decision_function(rows).reshape(len(rows), -1)
    n = len(machine.classes_)
    wanted = 1 if n == 2 else len(OneVersusOne(machine.classes_).pairs) if pairs else n
    if values.shape[1] != wanted:
        raise ValueError(
            f"{scheme} with {n} classes has {wanted} decision values, but decision_function gives "
            f"{values.shape[1]}: give the scheme this machine was trained by"
        )
    return values


def _rivals(
    estimator: Any, rows: Any, decisions: Floats, scheme: Scheme
) -> dict[tuple[int, int], Floats]:
    """For pairs of classes, what decides between them: of a pair's own machine, or by scores."""
    pairs = OneVersusOne(estimator.classes_).pairs
    if scheme == "one-versus-one" and len(pairs) > 1:
        return dict(zip(pairs, decisions.T, strict=True))
    if not hasattr(estimator, "decision_function"):
        return {}
    scores: Floats = estimator.decision_function(rows)
    if scores.ndim == 1:  # of two classes, positive for the second
        return {(0, 1): -scores}
    return {(a, b): scores[:, a] - scores[:, b] for a, b in pairs}


def ambiguous(decisions: Floats, classes: Labels, scheme: Scheme) -> Mask:
    """Where the most votes are shared (pairs), or not exactly one machine claims the point."""
    if scheme == "joint" or len(classes) == 2:
        return np.zeros(len(decisions), bool)
    by = OneVersusOne(classes) if scheme == "one-versus-one" else OneVersusRest(classes)
    return by.ambiguous(decisions)
