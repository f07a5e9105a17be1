"""Convergence: objective, gap and violation after each outer iteration of a solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from maxmargin.plots.palette import panels_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: Quantities of a history in the order of drawing, and the scale of their axes.
QUANTITIES = {
    "objective": "linear",
    "loss": "linear",
    "gap": "log",
    "violation": "log",
    "movement": "log",
    "accuracy": "percent",
}
FEW = 20  # points up to which each is marked: a single one has no line


@dataclass(kw_only=True, eq=False, repr=False)
class ConvergenceDisplay:
    """The progress of a solver: one panel per quantity, one point per outer iteration.

    An outer iteration is what the solver says it is: a sweep, a block, a hundred steps. Of the
    table that `trace(..., every="step")` returns, each point is a step.

    Objective is the dual value, loss the primal one without ½‖w‖², gap their distance, violation
    the worst one of the KKT conditions, movement Σ|Δα| + |Δb| since the last. Movement says that
    β no longer changes, not that it is optimal: that is what the gap shows.

    Use `from_history` or `from_estimator` to create one.

    Parameters
    ----------
    curves : dict of str to ndarray
        Values of some of objective, loss, gap, violation, movement and accuracy.
    unit : str, default="outer iteration"
        What one point stands for: the label of the axis.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
    lines_ : dict of str to Line2D
        The curves, by quantity.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> from maxmargin.plots import ConvergenceDisplay
    >>> machine = SVC(solver="second-order").fit(*make_moons(60, noise=0.2, random_state=0))
    >>> display = ConvergenceDisplay.from_estimator(machine)
    >>> sorted(display.lines_)
    ['gap', 'movement', 'objective', 'violation']
    """

    curves: Mapping[str, NDArray[np.float64]]
    unit: str = "outer iteration"

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Sequence[Axes] | None = None, name: str | None = None
    ) -> Self:
        """Draw the `history_` of a fitted machine.

        Parameters
        ----------
        estimator : object
            A fitted machine of one binary problem, or of several: then of its first.
        ax : sequence of matplotlib Axes, default=None
            One per quantity; a new figure by default.
        name : str, default=None
            What to call the curves in a legend.
        """
        check_is_fitted(estimator)
        history = estimator.history_
        return cls.from_history(history[history["problem"] == 0], ax=ax, name=name)

    @classmethod
    def from_history(
        cls,
        history: Any,
        *,
        quantities: Sequence[str] | None = None,
        ax: Sequence[Axes] | None = None,
        name: str | None = None,
    ) -> Self:
        """Draw a structured array, a table or a mapping of values.

        Parameters
        ----------
        history : structured array, pandas.DataFrame or mapping
            `Solution.history`, what `maxmargin.trace` returns, or the like.
        quantities : sequence of str, default=None
            Which to draw; by default all that the history has.
        ax : sequence of matplotlib Axes, default=None
            One per quantity; a new figure by default.
        name : str, default=None
            What to call the curves in a legend.
        """
        if isinstance(history, np.ndarray):
            known = set(history.dtype.names or ())
        else:
            known = set(history.keys())
        wanted = [q for q in QUANTITIES if q in known] if quantities is None else list(quantities)
        missing = [q for q in wanted if q not in known or q not in QUANTITIES]
        if missing:
            raise ValueError(
                f"the history has no {', '.join(missing)} to draw; "
                f"it has {', '.join(q for q in QUANTITIES if q in known)}"
            )
        curves = {q: np.asarray(history[q], float) for q in wanted}
        unit = "step" if "indices" in known else "outer iteration"
        return cls(curves=curves, unit=unit).plot(ax=ax, name=name)

    def plot(self, *, ax: Sequence[Axes] | None = None, name: str | None = None) -> Self:
        """Draw it, and return the display.

        Parameters
        ----------
        ax, name : as in `from_history`
        """
        count = len(self.curves)
        self.axes_ = panels_or_new(ax, self, count, "quantities", (5, 1.2 + 1.3 * count))
        from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, PercentFormatter

        self.figure_: Figure | Any = self.axes_[0].figure
        self.lines_: dict[str, Line2D] = {}
        for panel, (quantity, values) in zip(self.axes_, self.curves.items(), strict=True):
            scale = QUANTITIES[quantity]
            drawn = np.where(values > 0, values, np.nan) if scale == "log" else values
            marker = "." if len(drawn) <= FEW else ""
            (self.lines_[quantity],) = panel.plot(drawn, marker=marker, label=name)
            panel.set_ylabel(quantity)
            panel.grid(alpha=0.5)
            if scale == "log":
                panel.set_yscale("log")
                panel.yaxis.set_major_locator(LogLocator(numticks=5))
                panel.yaxis.set_minor_formatter(NullFormatter())
            elif scale == "percent":
                panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        self.axes_[-1].set_xlabel(self.unit)
        self.axes_[-1].xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        return self
