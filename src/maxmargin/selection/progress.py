"""The progress bar of a search: cells done, the best so far, the time left."""

from __future__ import annotations

import sys
from threading import Lock
from types import TracebackType

from maxmargin.machines.validation import can_draw


class SearchBar:
    """Counts fits; does nothing if it is not shown."""

    def __init__(self, title: str, *, shown: bool) -> None:
        self._lock, self._total = Lock(), 0
        self._shown = shown and can_draw()
        if not self._shown:
            return
        import rich.progress as bars  # an optional dependency
        from rich.console import Console

        self._bars = bars.Progress(
            bars.TextColumn(title),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TextColumn("{task.description}"),
            bars.TimeElapsedColumn(),
            bars.TextColumn("left"),
            bars.TimeRemainingColumn(),
            console=Console(file=sys.stderr),
        )
        self._task = self._bars.add_task("fits", total=0)

    def expect(self, fits: int) -> None:
        """So many fits more."""
        self._total += fits
        if self._shown:
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
        if self._shown:
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            self._bars.stop()
