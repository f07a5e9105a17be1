"""The tube: a regressor on one feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from maxmargin.plots.fitted import FittedMachine, table
from maxmargin.plots.grid import feature_names, like
from maxmargin.plots.palette import axes_or_new, class_colors, ink, paper, require_matplotlib
from maxmargin.resources.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.figure import Figure


@dataclass(kw_only=True, eq=False, repr=False)
class TubeDisplay:
    r"""A support vector regressor on one feature: its line, its tube, its support vectors.

    Errors inside the tube :math:`f(x) \pm \varepsilon` cost nothing. A point is

    - inside the tube where :math:`|y_i - f(x_i)| < \varepsilon`: no support vector,
    - on its edge where :math:`|y_i - f(x_i)| = \varepsilon`: a support vector with
      :math:`0 < |\beta_i| < C`,
    - outside where :math:`|y_i - f(x_i)| > \varepsilon`: a support vector with
      :math:`|\beta_i| = C`, whose slack is the distance to the tube.

    A machine that does not keep its support vectors, such as `LinearSVR`, has those of its loss:
    the points that are not inside the tube.

    Use `from_estimator` to create one.

    Parameters
    ----------
    x, y : ndarray of shape (n_samples,)
        The training data.
    line : ndarray of shape (2, n_grid)
        Where it is evaluated, and f there.
    residuals : ndarray of shape (n_samples,)
        :math:`y_i - f(x_i)`.
    epsilon : float
        Half the width of the tube.
    support : ndarray of int
        Which points are support vectors.
    labels : tuple of two str
        Names of the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    line_ : Line2D
    tube_ : the filled band
    points_ : dict of str to PathCollection
        The points, by kind.
    slack_ : LineCollection or None
        A segment from each point outside to the edge of the tube.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVR
    >>> from maxmargin.plots import TubeDisplay
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 40)
    >>> display = TubeDisplay.from_estimator(SVR().fit(X, y), X, y)
    >>> {kind: len(rows) for kind, rows in display.kinds().items()}
    {'inside the tube': 27, 'on its edge': 7, 'outside': 6}
    """

    #: A support vector this close to the edge, as a share of ε, is on it.
    resolution = 0.02

    x: Floats
    y: Floats
    line: Floats
    residuals: Floats
    epsilon: float
    support: NDArray[np.integer]
    labels: tuple[str, str] = ("x", "target")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        ax: Axes | None = None,
        slack: bool = True,
        legend: bool = True,
        grid_resolution: int = 400,
    ) -> Self:
        """Draw a fitted regressor on its training data.

        Parameters
        ----------
        estimator : object
            A fitted regressor with `predict` and `epsilon` or `epsilon_` (SVR, NuSVR, LinearSVR), a
            pipeline that ends in one, or a fitted search over either.
        X : array-like of shape (n_samples, 1)
            The data it was fitted on.
        y : array-like of shape (n_samples,)
            The targets it was fitted on.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        slack : bool, default=True
            Whether to draw a segment from each point outside to the edge of the tube.
        legend : bool, default=True
            Whether to name the lines and points above the picture.
        grid_resolution : int, default=400
            Points at which the line is evaluated.
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        fitted, data = FittedMachine.of(estimator), table(X)
        machine, predict = fitted.machine, fitted.estimator.predict
        epsilon = getattr(machine, "epsilon_", getattr(machine, "epsilon", None))
        if epsilon is None:
            raise TypeError(
                f"{cls.__name__} draws regressors with a tube (SVR, NuSVR, LinearSVR); "
                f"{type(machine).__name__} has none."
            )
        points, targets = np.asarray(data), column_or_1d(y)
        if points.ndim != 2 or points.shape[1] != 1:
            raise ValueError(f"{cls.__name__} draws one feature; X has shape {points.shape}.")
        check_consistent_length(points, targets)
        fitted.check_rows(data, cls.__name__)
        residuals = targets - predict(data)
        beyond = np.abs(residuals) >= (1 - cls.resolution) * float(epsilon)
        x = points[:, 0]
        grid = np.linspace(x.min(), x.max(), grid_resolution)
        display = cls(
            x=x,
            y=targets,
            line=np.stack([grid, predict(like(grid[:, None], data))]),
            residuals=residuals,
            epsilon=float(epsilon),
            support=getattr(machine, "support_", np.flatnonzero(beyond)),
            labels=(feature_names(data)[0] or "x", getattr(y, "name", None) or "target"),
        )
        return display.plot(ax=ax, slack=slack, legend=legend)

    def kinds(self) -> dict[str, NDArray[np.integer]]:
        """Row numbers of the points of each kind."""
        inside = np.ones(len(self.x), bool)
        inside[self.support] = False
        beyond = np.abs(self.residuals) - self.epsilon
        outside = ~inside & (beyond > self.resolution * self.epsilon)
        return {
            "inside the tube": np.flatnonzero(inside),
            "on its edge": np.flatnonzero(~inside & ~outside),
            "outside": np.flatnonzero(outside),
        }

    def plot(self, *, ax: Axes | None = None, slack: bool = True, legend: bool = True) -> Self:
        """Draw it, and return the display.

        Parameters
        ----------
        ax, slack, legend : as in `from_estimator`
        """
        self.ax_ = ax = axes_or_new(ax, self, (6, 4))
        self.figure_: Figure | Any = ax.figure
        orange, blue = class_colors()
        grid, f = self.line
        self.tube_ = ax.fill_between(
            grid,
            f - self.epsilon,
            f + self.epsilon,
            color=blue,
            alpha=0.2,
            linewidth=0,
            label=f"tube, ε = {self.epsilon:.3g}",
        )
        (self.line_,) = ax.plot(grid, f, color=blue, linewidth=2, label="f(x)")
        self.slack_ = self._draw_slack(ax) if slack else None
        marks: dict[str, dict[str, Any]] = {
            "inside the tube": {"s": 20, "c": ink(), "alpha": 0.55, "linewidths": 0},
            "on its edge": {"s": 55, "c": paper(), "edgecolors": ink(), "linewidths": 1.5},
            "outside": {"s": 42, "c": orange, "marker": "s", "edgecolors": ink(), "linewidths": 1},
        }
        self.points_: dict[str, PathCollection] = {
            kind: ax.scatter(
                self.x[rows], self.y[rows], label=kind, zorder=3, clip_on=False, **marks[kind]
            )
            for kind, rows in self.kinds().items()
        }
        ax.set(xlabel=self.labels[0], ylabel=self.labels[1])
        if legend:
            ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
        return self

    def _draw_slack(self, ax: Axes) -> LineCollection:
        """Join each point outside to the edge of the tube."""
        from matplotlib.collections import LineCollection

        rows = self.kinds()["outside"]
        f, side = self.y[rows] - self.residuals[rows], np.sign(self.residuals[rows])
        edge = f + side * self.epsilon
        ends = [
            np.stack([self.x[rows], self.y[rows]], axis=1),
            np.stack([self.x[rows], edge], axis=1),
        ]
        lines = LineCollection(
            list(np.stack(ends, axis=1)), colors=ink(), linewidths=0.8, label="slack"
        )
        ax.add_collection(lines)
        return lines
