"""Rounds of a fit over partitions: violators, rows held, bytes moved, and the gap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.plots.palette import panels_or_new
from maxmargin.resources.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What is drawn, panel by panel: columns of the history and what to call them.
PANELS = {
    "rows": {"violators": "violate KKT", "held": "held by the driver"},
    "MB moved": {"moved": "to workers and back"},
    "distance": {"violation": "KKT violation", "relative gap": "relative gap"},
}


@dataclass(kw_only=True, eq=False, repr=False)
class RoundsDisplay:
    """Chunking over partitions, round by round: one panel each for rows, bytes and distance.

    Use `from_estimator` to create one.

    Parameters
    ----------
    curves : dict of str to ndarray
        Values per measured round: `rounds`, and those of `PANELS`.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from maxmargin.datasets import moons
    >>> from maxmargin.plots import RoundsDisplay
    >>> from maxmargin.scale import ArrayPartitions
    >>> clf = SVC().fit(ArrayPartitions(*moons(400), rows=100))
    >>> display = RoundsDisplay.from_estimator(clf)
    >>> int(display.curves["violators"][-1])
    0
    """

    curves: Mapping[str, Floats]

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, problem: int = 0, ax: Sequence[Axes] | None = None
    ) -> Self:
        """Draw the `history_` of a machine that was fitted on partitions.

        Parameters
        ----------
        estimator : object
        problem : int, default=0
            Which of its problems, if it has several.
        ax : sequence of three matplotlib Axes, default=None
            A new figure by default.
        """
        check_is_fitted(estimator)
        history = estimator.history_
        if "rounds" not in (history.dtype.names or ()):
            raise ValueError(
                "the history has no rounds: RoundsDisplay is for exact machines that were fitted "
                "on partitions (maxmargin.scale, or Dask)"
            )
        history = history[history["problem"] == problem]
        primal = history["objective"] + history["gap"]
        scale = np.maximum(np.abs(history["objective"]), np.abs(primal))
        curves = {name: history[name].astype(float) for name in ("rounds", "violators", "held")}
        curves["moved"] = history["bytes"] / 2**20
        curves["violation"] = history["violation"].astype(float)
        curves["relative gap"] = history["gap"] / np.where(scale > 0, scale, 1.0)
        return cls(curves=curves).plot(ax=ax)

    def plot(self, *, ax: Sequence[Axes] | None = None) -> Self:
        """Draw it, and return the display.

        Parameters
        ----------
        ax : as in `from_estimator`
        """
        self.axes_ = panels_or_new(ax, self, len(PANELS), "panels", (6, 6.5))
        self.figure_: Figure | Any = self.axes_[0].figure
        rounds = self.curves["rounds"]
        for panel, (label, lines) in zip(self.axes_, PANELS.items(), strict=True):
            for marker, (name, text) in zip("os", lines.items(), strict=False):
                values = self.curves[name]
                panel.plot(rounds, np.where(values > 0, values, np.nan), f"{marker}-", label=text)
            panel.set(ylabel=label, yscale="linear" if label.startswith("MB") else "log")
            panel.grid(alpha=0.5)
            panel.legend()
        self.axes_[-1].set_xlabel("round")
        return self
