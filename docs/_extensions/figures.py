"""Every example of the gallery begins with the theme of `maxmargin.plots`."""

from typing import Any

from matplotlib import pyplot

from maxmargin.plots import theme


def begin(gallery_conf: dict[str, Any], name: str) -> None:
    """Set the theme, which matplotlib's own reset has taken away."""
    pyplot.style.use(theme("light"))
