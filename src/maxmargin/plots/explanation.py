"""Shapley values of an explanation: bars of their mean size, or a point for every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from maxmargin.explanations import Explanation
from maxmargin.plots.display import Display
from maxmargin.plots.palette import ink
from maxmargin.resources.arrays import Floats, Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LAYERS = 40  # bins of φ in which points are stacked: fewer overlap, more leave gaps


@dataclass(kw_only=True, eq=False, repr=False)
class ExplanationDisplay(Display):
    """The players with the largest Shapley values, from the top.

    "bar" draws the mean |φ| of each; "beeswarm" a point for each row at its φ, coloured by the
    column's value (dark is low); for a single row its φ are bars with a sign.

    Parameters
    ----------
    names : of the players shown, the largest first
    values : ndarray of shape (rows, players shown)
    data : ndarray of the same shape, the columns' values; None where players are groups of columns
    kind : {"bar", "beeswarm"}

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import SVR, explain
    >>> X, y = load_iris(return_X_y=True)
    >>> found = explain(SVR().fit(X, y), X)
    >>> ExplanationDisplay.from_explanation(found, kind="beeswarm").names[0]
    'x2'
    """

    names: tuple[str, ...]
    values: Floats
    data: Floats | None
    kind: Literal["bar", "beeswarm"]

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        kind: Literal["bar", "beeswarm"] = "bar",
        function: int = 0,
        largest: int = 15,
        ax: Axes | None = None,
    ) -> Self:
        """Draw an explanation.

        Parameters
        ----------
        explanation : what `maxmargin.explain` returns
        kind : {"bar", "beeswarm"}
        function : which function of a machine with several
        largest : how many players are shown
        ax : matplotlib Axes, default=None
            A new figure by default.
        """
        if kind not in ("bar", "beeswarm"):
            raise ValueError(f"kind is 'bar' or 'beeswarm', got {kind!r}")
        values = explanation.values
        values = values if values.ndim == 2 else values[:, :, function]
        order = np.argsort(-np.abs(values).mean(axis=0), kind="stable")[:largest]
        whole = explanation.data.shape[1] == len(explanation.names)
        data = explanation.data[:, order] if whole else None
        names = tuple(explanation.names[j] for j in order)
        return cls(names=names, values=values[:, order], data=data, kind=kind).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        heights = np.arange(len(self.names))
        if self.kind == "bar":
            signed = self.values[0] if len(self.values) == 1 else np.abs(self.values).mean(axis=0)
            self.bars_ = ax.barh(heights, signed)
            ax.set_xlabel("φ" if len(self.values) == 1 else "mean |φ|")
        else:
            self.points_ = [self._swarm(ax, number) for number in range(len(self.names))]
            ax.set_xlabel("φ")
        ax.axvline(0, color=ink(), linewidth=0.8)
        ax.set_yticks(heights, labels=self.names)
        ax.invert_yaxis()

    def _swarm(self, ax: Axes, number: int) -> object:
        """The rows of one player: stacked where their φ are alike."""
        values = self.values[:, number]
        heights = number + 0.4 * stacked(values)
        return ax.scatter(values, heights, s=9, linewidths=0, c=self._colors(number))

    def _colors(self, number: int) -> Floats:
        """The rank of each row's value; one colour where a player has no value of its own."""
        return ranks(self.data[:, number]) if self.data is not None else np.zeros(len(self.values))


def ranks(values: Floats) -> Floats:
    """The rank of each value, from 0 to 1: one outlier does not take all the colours."""
    _, places = np.unique(values, return_inverse=True)
    return places / max(1, int(places.max()))


def stacked(values: Floats) -> Floats:
    """A height in [−1, 1] for each value: those in one bin are above and below each other."""
    span = float(np.ptp(values)) or 1.0
    bins: Numbers = ((values - values.min()) / span * LAYERS).astype(int)
    order = np.argsort(bins, kind="stable")
    first = np.searchsorted(bins[order], bins[order])
    place = np.empty(len(values), int)
    place[order] = np.arange(len(values)) - first
    most = max(1, int(place.max()))
    heights: Floats = np.where(place % 2, 1, -1) * ((place + 1) // 2) * 2 / most
    return np.clip(heights, -1, 1)
