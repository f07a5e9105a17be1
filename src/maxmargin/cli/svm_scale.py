"""`maxmargin svm-scale`: LIBSVM's program, with its options, output and files.

Each feature goes from [min, max] to [lower, upper]; one that has a single value is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import typer

from maxmargin.cli.application import app
from maxmargin.cli.svm_train import RAW, LibsvmUsage, given, number, problem, usage
from maxmargin.resources.arrays import Floats

BLOCK = 1000  # rows made dense at a time
USAGE = """\
Usage: svm-scale [options] data_filename
options:
-l lower : x scaling lower limit (default -1)
-u upper : x scaling upper limit (default +1)
-y y_lower y_upper : y scaling limits (default: no y scaling)
-s save_filename : save scaling parameters to save_filename
-r restore_filename : restore scaling parameters from restore_filename"""


@dataclass
class Range:
    """Values from [least, most] go to [lower, upper]."""

    lower: float
    upper: float
    least: Floats
    most: Floats

    def scaled(self, values: Floats) -> Floats:
        """At the ends exactly; a single value stays."""
        width = np.where(self.most > self.least, self.most - self.least, 1.0)
        result = self.lower + (self.upper - self.lower) * (values - self.least) / width
        result = np.where(values == self.least, self.lower, result)
        return np.where(values == self.most, self.upper, result)


@app.command("svm-scale", context_settings=RAW)
def svm_scale(ctx: typer.Context) -> None:
    """LIBSVM's svm-scale: its options, output and files."""
    try:
        limits, y_limits, files, name = _options(ctx.args)
    except LibsvmUsage as wrong:
        raise usage(wrong, USAGE) from wrong
    X, y = problem(name, precomputed=False)
    rows = sp.csr_array(X)
    columns, targets = _ranges(rows, y, limits, y_limits)
    if "-r" in files:
        columns, targets = _restored(Path(files["-r"]), columns, targets)
        rows.resize(rows.shape[0], len(columns.least))
    if "-s" in files:
        _save(Path(files["-s"]), columns, targets)
    written = _write(rows, y if targets is None else targets.scaled(y), columns)
    if written > rows.nnz:
        typer.echo(
            f"WARNING: original #nonzeros {rows.nnz}\n         new      #nonzeros {written}\n"
            "If feature values are non-negative and sparse, use -l 0 rather than the default -l -1",
            err=True,
        )


Limits = tuple[float, float]


def _options(
    arguments: Sequence[str],
) -> tuple[Limits, Limits | None, dict[str, str], str]:
    rest, numbers, files = given(arguments), {"-l": -1.0, "-u": 1.0}, {}
    y_limits: Limits | None = None
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in numbers and rest:
            numbers[option] = number(option, rest.pop(0))
        elif option in ("-s", "-r") and rest:
            files[option] = rest.pop(0)
        elif option == "-y" and len(rest) > 1:
            y_limits = number(option, rest.pop(0)), number(option, rest.pop(0))
        else:
            raise LibsvmUsage(f"unknown option {option}")
    limits = numbers["-l"], numbers["-u"]
    if not limits[1] > limits[0] or (y_limits and not y_limits[1] > y_limits[0]):
        raise LibsvmUsage("inconsistent lower/upper specification")
    if len(files) == 2:
        raise LibsvmUsage("cannot use -r and -s simultaneously")
    if len(rest) != 1:
        raise LibsvmUsage("")
    return limits, y_limits, files, rest[0]


def _ranges(
    rows: sp.csr_array, y: Floats, limits: Limits, y_limits: Limits | None
) -> tuple[Range, Range | None]:
    """Of the columns, with the zeros that are not listed; of the targets if asked for."""
    least, most = rows.min(axis=0).toarray().ravel(), rows.max(axis=0).toarray().ravel()
    columns = Range(*limits, least, most)
    return columns, Range(*y_limits, y.min(), y.max()) if y_limits else None


def _restored(path: Path, found: Range, targets: Range | None) -> tuple[Range, Range | None]:
    """The ranges of a file; a feature that it does not have is left out."""
    try:
        lines = [line.split() for line in path.read_text().splitlines() if line.strip()]
    except OSError as error:
        typer.echo(f"can't open file {path}", err=True)
        raise typer.Exit(1) from error
    try:
        if lines[0] == ["y"]:
            limits, ends = (np.array([float(cell) for cell in line]) for line in lines[1:3])
            targets = Range(float(limits[0]), float(limits[1]), ends[0], ends[1])
            lines = lines[3:]
        lower, upper = map(float, lines[1])
        table = np.array([[float(cell) for cell in line] for line in lines[2:]]).reshape(-1, 3)
    except (ValueError, IndexError) as error:
        raise ValueError(f"{path}: is not a file of scaling parameters ({error})") from error
    size = max(len(found.least), int(table[:, 0].max(initial=0)))
    least, most = np.zeros(size), np.zeros(size)
    places = table[:, 0].astype(int) - 1
    least[places], most[places] = table[:, 1], table[:, 2]
    known = np.zeros(size, bool)
    known[places] = True
    for column in np.flatnonzero((found.least != found.most) & ~known[: len(found.least)]):
        typer.echo(
            f"WARNING: feature index {column + 1} was not seen in the scaling factor file {path}. "
            "The feature is skipped.",
            err=True,
        )
    return Range(lower, upper, least, most), targets


def _save(path: Path, columns: Range, targets: Range | None) -> None:
    lines = []
    if targets is not None:
        lines += ["y", f"{targets.lower:.17g} {targets.upper:.17g}"]
        lines += [f"{targets.least:.17g} {targets.most:.17g}"]
    lines += ["x", f"{columns.lower:.17g} {columns.upper:.17g}"]
    for index, (least, most) in enumerate(zip(columns.least, columns.most, strict=True), start=1):
        if least != most:
            lines.append(f"{index} {least:.17g} {most:.17g}")
    path.write_text("\n".join(lines) + "\n")


def _write(rows: sp.csr_array, y: Floats, columns: Range) -> int:
    """Print the scaled rows; returns how many entries are not 0."""
    written, moving = 0, columns.least != columns.most
    for start in range(0, rows.shape[0], BLOCK):
        scaled = columns.scaled(rows[start : start + BLOCK].toarray())
        scaled[:, ~moving] = 0
        for label, line in zip(y[start : start + BLOCK].tolist(), scaled, strict=True):
            (places,) = line.nonzero()
            written += len(places)
            entries = zip(places.tolist(), line[places].tolist(), strict=True)
            cells = "".join(f"{place + 1}:{value:g} " for place, value in entries)
            sys.stdout.write(f"{label:g} {cells}\n")
    return written
