"""Losses as functions of the margin or of the residual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.losses import Loss
from maxmargin.plots.display import Display
from maxmargin.plots.palette import DASHES, ink
from maxmargin.resources.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


@dataclass(kw_only=True, eq=False, repr=False)
class LossDisplay(Display):
    """Loss functions on one axis: the margin t·y of a classifier, or the residual t − y.

    Use `from_losses` to create one.

    Parameters
    ----------
    at : ndarray
        Margins or residuals.
    values : dict of str to ndarray
        The losses there, by name.
    against : {"margin", "residual"}

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    lines_ : dict of str to Line2D

    Examples
    --------
    >>> from maxmargin.losses import Hinge, Logistic
    >>> from maxmargin.plots import LossDisplay
    >>> display = LossDisplay.from_losses({"hinge": Hinge(), "logistic": Logistic()})
    >>> float(display.values["hinge"].max())
    4.0
    """

    at: Floats
    values: Mapping[str, NDArray[np.float64]]
    against: Literal["margin", "residual"]

    @classmethod
    def from_losses(
        cls,
        losses: Mapping[str, Loss],
        *,
        against: Literal["margin", "residual"] = "margin",
        limits: tuple[float, float] = (-3.0, 3.0),
        ax: Axes | None = None,
    ) -> Self:
        """Evaluate the library's own losses and draw them.

        Parameters
        ----------
        losses : mapping of str to Loss
            What to draw, by the names to write.
        against : {"margin", "residual"}, default="margin"
            Over the margin, a loss is L(1, t·y): all losses of a classifier depend on t and y
            through their product. Over the residual, it is L(t − y, 0).
        limits : tuple of float
            Where the axis begins and ends.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        """
        at = np.linspace(*limits, 601)
        values = {
            name: loss.value(1.0, at) if against == "margin" else loss.value(at, 0.0)
            for name, loss in losses.items()
        }
        return cls(at=at, values=values, against=against).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        if self.against == "margin":
            wrong = np.where(self.at <= 0, 1.0, 0.0)
            ax.plot(self.at, wrong, color=ink(), linewidth=1.2, alpha=0.6, label="wrong or right")
        self.lines_: dict[str, Line2D] = {
            name: ax.plot(self.at, values, linestyle=DASHES[k % len(DASHES)], label=name)[0]
            for k, (name, values) in enumerate(self.values.items())
        }
        ax.set(
            xlabel="margin t·y" if self.against == "margin" else "residual t − y",
            ylabel="loss",
            ylim=(-0.1, 4.1),
            xlim=(self.at[0], self.at[-1]),
        )
        ax.legend()
