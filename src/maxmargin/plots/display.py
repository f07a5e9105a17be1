"""What the displays on one pair of axes have in common: where they are drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

from maxmargin.plots.palette import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Display(ABC):
    """Computed once, and drawn as often as wanted.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    """

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw it, and return the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        """
        self.ax_ = axes_or_new(ax, self)
        self.figure_: Figure | Any = self.ax_.figure
        self._draw(self.ax_)
        return self

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw on these axes, and keep what was drawn in attributes that end in `_`."""
