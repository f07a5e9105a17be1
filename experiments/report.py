"""REPORT.md: the sections of all experiments that have been run, and one table of verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

OPENING = """\
# The documents' experiments, reproduced

Five teaching documents describe the machines of this library: lectures 6 and 7 of NPFL129 (Straka),
a review of SVM and SMO (2021), slides on training SVMs (Lozano), and notes of DSAA2011. Every
figure below is drawn from this library's own computations, every number recomputed.
`maxmargin reproduce --output experiments` writes this page, and with a NAME one section of it.
Beside each PNG lies an SVG, and the numbers are in a CSV. The page ends with
[what was reported, what came out, and a verdict](#the-verdicts).
"""


def sections(folder: Path, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What has been written of each experiment, in their order."""
    paths = {name: folder / f"{name}.json" for name in names}
    return {
        name: json.loads(path.read_text(encoding="utf-8"))
        for name, path in paths.items()
        if path.exists()
    }


def write_report(report: Path, folder: Path, names: Sequence[str]) -> None:
    """Put the sections together."""
    written = sections(folder, names)
    parts = [OPENING]
    for number, (name, section) in enumerate(written.items(), start=1):
        parts.append(f"## {number}. {section['title']}\n\n{section['text']}\n")
        parts += [_picture(folder.name, stem, shown) for stem, shown in section["pictures"].items()]
        if section["table"]:
            parts.append(_table(list(section["table"][0]), section["table"]))
        if (folder / f"{name}.csv").exists():
            parts.append(f"Numbers: [{name}.csv]({folder.name}/{name}.csv).\n")
    parts.append("## The verdicts\n")
    columns = ["source", "reported", "found", "verdict"]
    parts.append(_table(columns, [f for s in written.values() for f in s["findings"]]))
    report.write_text("\n".join(parts), encoding="utf-8")


def _picture(folder: str, stem: str, shown: str) -> str:
    return (
        "<picture>\n"
        f'<source media="(prefers-color-scheme: dark)" srcset="{folder}/{stem}-dark.png">\n'
        f'<img alt="{shown}" src="{folder}/{stem}.png">\n'
        "</picture>\n"
    )


def _table(columns: Sequence[str], rows: Sequence[dict[str, str]]) -> str:
    cells = ([row[c].replace("|", "\\|") for c in columns] for row in rows)
    lines = [columns, ["---"] * len(columns), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
