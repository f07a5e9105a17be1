"""The playground: a page where points are drawn and a machine is watched as it learns them.

`maxmargin playground` serves it (extra ``playground``); `Widget` is the same page in a notebook
(extra ``widget``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maxmargin.playground.server import serve
    from maxmargin.playground.widget import Widget

__all__ = ["Widget", "serve"]


def __getattr__(name: str) -> object:
    """Each part when it is asked for: the page needs no anywidget, the widget no server."""
    files = {"Widget": "widget", "serve": "server"}
    if name not in files:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        part: object = getattr(import_module(f"maxmargin.playground.{files[name]}"), name)
    except ModuleNotFoundError as error:
        extra = {"Widget": "widget", "serve": "playground"}[name]
        raise ImportError(
            f"maxmargin.playground.{name} needs {error.name}: pip install 'maxmargin[{extra}]'"
        ) from error
    return part
