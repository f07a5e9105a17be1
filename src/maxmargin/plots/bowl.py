"""The objective over two variables, all others fixed, and its contours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.plots.palette import ink
from maxmargin.resources.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.contour import QuadContourSet


def square(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The corners of the smallest square around a rectangle: panels side by side are of one size.

    Examples
    --------
    >>> square(np.array([0.0, 0.0]), np.array([4.0, 2.0]))
    (array([ 0., -1.]), array([4., 3.]))
    """
    middle, half = (low + high) / 2, (high - low).max() / 2
    return middle - half, middle + half


@dataclass(frozen=True)
class Bowl:
    """½ zᵀAz + bᵀz on the plane: the dual with all but two variables fixed."""

    A: Floats
    b: Floats

    def __call__(self, z: Floats) -> Floats:
        quadratic: Floats = np.einsum("...i,ij,...j", z, self.A, z)
        return 0.5 * quadratic + z @ self.b

    def draw(self, ax: Axes, low: Floats, high: Floats) -> QuadContourSet:
        """Contours, denser toward the bottom."""
        axes = [np.linspace(a, b, 200) for a, b in zip(low, high, strict=True)]
        xx, yy = np.meshgrid(*axes)
        values = self(np.stack([xx, yy], axis=-1))
        bottom, top = values.min(), values.max()
        levels = bottom + (top - bottom) * np.linspace(0.02, 1, 16) ** 2
        return ax.contour(
            xx,
            yy,
            values,
            levels=levels,
            colors=ink(),
            linestyles="solid",
            linewidths=0.8,
            alpha=0.35,
        )
