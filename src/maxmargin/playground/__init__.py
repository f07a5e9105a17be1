"""The playground: a page where points are drawn and a machine is watched as it learns them.

`maxmargin playground` serves it (extra ``playground``); `Widget` is the same page in a notebook
(extra ``widget``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maxmargin.playground.server import serve
    from maxmargin.playground.widget import Widget

__all__ = ["Widget", "serve"]


def __getattr__(name: str) -> object:
    """Each part when it is asked for: the page needs no anywidget, the widget no server."""
    if name == "Widget":
        from maxmargin.playground.widget import Widget

        return Widget
    if name == "serve":
        from maxmargin.playground.server import serve

        return serve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
