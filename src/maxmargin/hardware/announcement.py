"""Tells the user that numba is compiling, which takes some seconds, once for each computer.

If it takes longer than a second, a line on the terminal says so, once; where there is no terminal,
the logger `maxmargin` does.
"""

from __future__ import annotations

import logging
import sys
from time import perf_counter
from typing import Any

from numba.core import event

LONG = 1.0  # seconds of compiling after which the user is told


class Announcement(event.Listener):
    """Says once that functions of this package are being compiled, if that takes long."""

    def __init__(self) -> None:
        self.seconds, self.depth, self.began, self.said = 0.0, 0, 0.0, False

    def on_start(self, event: Any) -> None:
        """A function is going to be compiled, maybe as a part of another."""
        if ours(event):
            self._count()
            self.depth += 1

    def on_end(self, event: Any) -> None:
        """It is compiled, or an error has ended that."""
        if ours(event):
            self._count()
            self.depth -= 1

    def _count(self) -> None:
        now = perf_counter()
        self.seconds += now - self.began if self.depth else 0.0
        self.began = now
        if self.seconds > LONG and not self.said:
            self.said = True
            say("maxmargin is compiling its functions for this computer, once: some seconds more")


def ours(event: Any) -> bool:
    """Whether the function is of this package; one that `exec` made has no module."""
    return str(event.data["dispatcher"].py_func.__module__).startswith("maxmargin.")


def say(message: str) -> None:
    """A line on the terminal; without one, in the log."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(message, file=sys.stderr)
    else:
        logging.getLogger("maxmargin").info(message)


def announce() -> None:
    """Register the announcement with numba."""
    event.register("numba:compile", Announcement())
