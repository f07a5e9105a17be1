"""What an experiment hands in, and how it is written down.

An experiment is a module of this folder with a function `run`, which returns an `Outcome`: a
paragraph, the numbers, the figures, and what the documents say beside what came out. The sizes
are parameters of `run`, so that a test can run it small.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from matplotlib import pyplot, rc_context
from matplotlib.figure import Figure

from maxmargin.plots import theme


@dataclass(frozen=True)
class Finding:
    """What a document reports, what was found here, and what to make of it."""

    source: str
    reported: str
    found: str
    verdict: str


@dataclass(frozen=True)
class Outcome:
    """The result of an experiment.

    Attributes
    ----------
    text : what it shows, in a paragraph of Markdown
    rows : the numbers, one mapping per line of the CSV
    figures : functions that draw, by what the figure shows (its alternative text)
    findings : lines of the summary table
    table : columns of the CSV that the report shows, of the rows that have them all
    """

    text: str
    rows: Sequence[Mapping[str, Any]]
    figures: Mapping[str, Callable[[], Figure]]
    findings: Sequence[Finding]
    table: Sequence[str] = field(default_factory=tuple)

    def write(self, name: str, title: str, folder: Path) -> None:
        """Write figures (PNG light and dark, SVG), numbers, and the section of the report."""
        folder.mkdir(parents=True, exist_ok=True)
        pictures = {}
        for number, (shown, draw) in enumerate(self.figures.items(), start=1):
            stem = name if len(self.figures) == 1 else f"{name}-{number}"
            pictures[stem] = shown
            with rc_context(theme("light")):
                figure = draw()
                figure.savefig(folder / f"{stem}.png")
                figure.savefig(folder / f"{stem}.svg", metadata={"Date": None})
            pyplot.close(figure)
            with rc_context(theme("dark")):
                figure = draw()
                figure.savefig(folder / f"{stem}-dark.png")
            pyplot.close(figure)
        write_csv(folder / f"{name}.csv", self.rows)
        section = {
            "title": title,
            "text": " ".join(self.text.split()),
            "pictures": pictures,
            "table": [
                {key: show(row[key]) for key in self.table}
                for row in self.rows
                if self.table and set(self.table) <= set(row)
            ],
            "findings": [asdict(finding) for finding in self.findings],
        }
        text = json.dumps(section, indent=1, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: show(value) for key, value in row.items()})


def show(value: Any) -> str:
    """A number with as many digits as mean something."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.5g}"
    return str(value)


def percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def panels(
    rows: int, columns: int, *, size: tuple[float, float] = (3.2, 2.9), **options: Any
) -> tuple[Figure, Any]:
    """A figure of several panels, narrow enough to be legible at half the width of a page."""
    return pyplot.subplots(rows, columns, figsize=(size[0] * columns, size[1] * rows), **options)
