"""The live view of a fit: its distance to the optimum falling toward `tol`, logarithmically.

A bar, and below it what the solver has reached, what that took, and what it is doing where that
takes long (the proof). The time left is that of the same speed on the logarithmic scale: an
estimate, better toward the end.
"""

from __future__ import annotations

import math
import sys
from types import TracebackType

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.text import Text

from maxmargin.solvers import Progress


class GapBar:
    """Draws the progress of a fit; one bar for all its problems together.

    It writes to Python's standard error as it is when the fit begins, so notebooks, terminals
    and captured streams all see it.
    """

    def __init__(self, title: str, problems: int) -> None:
        self.problems = problems
        self._done: dict[int, float] = {}
        self._first: dict[int, float] = {}
        self._last: dict[int, Progress] = {}
        self._skipped = 0
        self._bars = Bars(
            TextColumn(title),
            BarColumn(),
            TextColumn("{task.percentage:3.0f}% {task.description}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        self._task = self._bars.add_task("", total=problems)
        self._live = Live(
            get_renderable=self._view, console=Console(file=sys.stderr), refresh_per_second=8
        )

    def update(self, problem: int, progress: Progress) -> None:
        """Set the progress of one problem."""
        distance = max(progress.distance, progress.tol)
        first = self._first.setdefault(problem, max(distance, 2 * progress.tol))
        fraction = math.log(first / distance) / math.log(first / progress.tol)
        self._done[problem] = max(self._done.get(problem, 0.0), min(fraction, 1.0))
        self._last[problem] = progress
        gap, measure = max(progress.distance, 0.0), progress.criterion.named(progress.values)
        method = f"{progress.method}: " if progress.method else ""
        self._bars.update(
            self._task,
            completed=self._skipped + sum(self._done.values()),
            description=f"{method}{measure} {gap:.1e} → {progress.tol:.0e}",
        )

    def _view(self) -> Group:
        return Group(self._bars, Text(self._numbers(), style="dim"))

    def _numbers(self) -> str:
        """Gap, violation, support vectors and kernel entries, of the problems begun so far."""
        last = list(self._last.values())
        if not last:
            return ""
        gap = max(max(each.values.relative_gap, 0.0) for each in last)
        violation = max(each.violation for each in last)
        vectors = sum(np.count_nonzero(each.beta) for each in last)
        entries = sum(each.kernel_evaluations for each in last)
        of = f", problem {len(last)} of {self.problems}" if self.problems > 1 else ""
        return (
            f"  gap {gap:.1e}, violation {violation:.1e}, {vectors:,} support vectors, "
            f"{compact(entries)} kernel entries{of}"
            + "".join(f"\n  {each.state.note}" for each in last[-1:] if each.state.note)
        )

    def skip(self, problems: int) -> None:
        """Count problems that were solved without a report on the way."""
        self._skipped += problems
        self._bars.update(self._task, completed=self._skipped + sum(self._done.values()))

    def reached(self, violation: float, tol: float) -> None:
        """Say how far problems came that were solved without a report on the way."""
        words = f"KKT violation {violation:.1e} → {tol:.0e}"
        self._bars.update(self._task, description=words)

    def __enter__(self) -> GapBar:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()
        if not self._live.console.is_terminal and not self._live.console.is_jupyter:
            self._live.console.line()  # rich ends the line on a terminal only


def compact(count: int) -> str:
    """A large number in three digits.

    >>> compact(999), compact(161_275_445)
    ('999', '161 M')
    """
    value = float(count)
    for unit in ("", " K", " M"):
        if value < 999.5:
            return f"{value:.3g}{unit}"
        value /= 1000
    return f"{value:,.3g} G"
