"""The progress bar of a search: cells done, the best so far, the time left."""

from __future__ import annotations

import sys
from threading import Lock
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class SearchBar:
    """Counts fits; does nothing if it is not shown."""

    def __init__(self, title: str, *, shown: bool) -> None:
        self._shown, self._lock = shown, Lock()
        self._bars = Progress(
            TextColumn(title),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
            disable=not shown,
        )
        self._task = self._bars.add_task("fits", total=0)
        self._total = 0

    def expect(self, fits: int) -> None:
        """So many fits more."""
        self._total += fits
        self._bars.update(self._task, total=self._total)

    def done(self, fits: int, best: str) -> None:
        """So many are done, and the best so far."""
        if self._shown:
            with self._lock:
                self._bars.update(self._task, advance=fits, description=f"fits, best {best}")

    def say(self, sentence: str) -> None:
        """A line above the bar."""
        if self._shown:
            self._bars.console.print(sentence, highlight=False)

    def __enter__(self) -> SearchBar:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()
