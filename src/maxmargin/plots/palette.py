"""Colours, shapes and the two themes every picture shares.

The colours are Okabe and Ito's, which readers of every colour vision tell apart; shapes and line
styles say the same again. What is not a class or a curve takes the colours of the matplotlib
style in use, so that a picture is legible on light and on dark; on dark the blue is the sky blue.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHAPES = ("s", "o", "^", "D", "v", "P", "X", "<")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)))

LIGHT = ("#E69F00", "#0072B2", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C6D1F", "#5B5B5B")
DARK = ("#E69F00", "#56B4E9", "#00B887", "#E08FBF", "#F0703A", "#F0E442", "#3F8FD0", "#B0B0B0")

_SHARED = {
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.labelsize": 12,
    "legend.fontsize": 11,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "lines.linewidth": 2.0,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 120,
    "svg.hashsalt": "maxmargin",  # the same picture is the same file
}


def theme(name: Literal["light", "dark"]) -> dict[str, Any]:
    """Settings for `matplotlib.rc_context` or `pyplot.style.use`, light or dark.

    Parameters
    ----------
    name : {"light", "dark"}

    Returns
    -------
    dict
        matplotlib settings.

    Examples
    --------
    >>> from matplotlib import pyplot, rc_context
    >>> with rc_context(theme("dark")):
    ...     figure, ax = pyplot.subplots()
    >>> figure.get_facecolor()[:3] < (0.2, 0.2, 0.2)
    True
    """
    if name not in ("light", "dark"):
        raise ValueError(f"theme is 'light' or 'dark', got {name!r}")
    from cycler import cycler

    if name == "light":
        ink, paper, faint, colors = "#1B1F24", "#FFFFFF", "#D5D9DE", LIGHT
    else:
        ink, paper, faint, colors = "#E6EAEF", "#0D1117", "#30363D", DARK
    return {
        **_SHARED,
        "text.color": ink,
        "axes.labelcolor": ink,
        "axes.edgecolor": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "hatch.color": ink,
        "grid.color": faint,
        "figure.facecolor": paper,
        "axes.facecolor": paper,
        "savefig.facecolor": paper,
        "legend.facecolor": paper,
        "axes.prop_cycle": cycler(color=[colors[k] for k in (1, 4, 2, 3, 0, 5, 6, 7)]),
    }


def class_colors(n: int = 2) -> list[str]:
    """A colour for each of n classes, for the paper in use; they repeat after eight.

    A colour that repeats has another shape: `class_shape`.
    """
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb

    dark = np.dot(to_rgb(rcParams["axes.facecolor"]), (0.2126, 0.7152, 0.0722)) < 0.5
    colors = DARK if dark else LIGHT
    return [colors[k % len(colors)] for k in range(n)]


def class_shape(k: int) -> str:
    """The shape of the points of class k; with the colour it is the class's alone up to 64."""
    return SHAPES[(k + k // len(LIGHT)) % len(SHAPES)]


def ink() -> str:
    """The colour of text and lines in the style in use."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def paper() -> str:
    """The colour behind the picture in the style in use."""
    from matplotlib import rcParams

    return str(rcParams["axes.facecolor"])


def axes_or_new(ax: Axes | None, caller: Any, size: tuple[float, float] = (5, 4.2)) -> Axes:
    """`ax`, or the axes of a new figure; an error that says what to install without matplotlib."""
    require_matplotlib(f"{type(caller).__name__}.plot")
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    return ax


def panels_or_new(
    ax: Sequence[Axes] | None, caller: Any, count: int, what: str, size: tuple[float, float]
) -> NDArray[Any]:
    """`ax`, or the axes of a new figure, one below the other; as many as there are of `what`."""
    require_matplotlib(f"{type(caller).__name__}.plot")
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(count, sharex=True, figsize=size, layout="constrained")
    axes = np.ravel(np.asarray(ax, dtype=object))
    if len(axes) != count:
        raise ValueError(f"{count} {what} need as many axes: {len(axes)}")
    return axes


def require_matplotlib(caller: str) -> None:
    """Say what to install if matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise ImportError(
            f"{caller} needs matplotlib. Install it with: pip install 'maxmargin[plot]'"
        )
