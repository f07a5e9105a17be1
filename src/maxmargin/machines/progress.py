"""The progress bar of a fit: its distance to the optimum falling toward `tol`, logarithmically."""

from __future__ import annotations

import math
import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from maxmargin.solvers import LinearProgress, Progress


class GapBar:
    """Draws how far a fit has come; one bar for all its problems together.

    It writes to Python's standard error as it is when the fit begins, so notebooks, terminals
    and captured streams all see it.
    """

    def __init__(self, title: str, problems: int) -> None:
        self.problems = problems
        self._done: dict[int, float] = {}
        self._first: dict[int, float] = {}
        self._bars = Bars(
            TextColumn(title),
            BarColumn(),
            TextColumn("{task.percentage:3.0f}% {task.description}"),
            TimeElapsedColumn(),
            console=Console(file=sys.stderr),
        )
        self._task = self._bars.add_task("", total=problems)

    def update(self, problem: int, progress: Progress | LinearProgress) -> None:
        """Problem number `problem` has come this far."""
        distance = max(progress.distance, progress.tol)
        first = self._first.setdefault(problem, max(distance, 2 * progress.tol))
        fraction = math.log(first / distance) / math.log(first / progress.tol)
        self._done[problem] = max(self._done.get(problem, 0.0), min(fraction, 1.0))
        self._bars.update(
            self._task,
            completed=sum(self._done.values()),
            description=f"{progress.measure} {progress.distance:.1e} → {progress.tol:.0e}",
        )

    def __enter__(self) -> GapBar:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()
