"""`maxmargin sample`: a built-in set of data as CSV, to try the other commands on."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Annotated, Literal, TextIO

import numpy as np
import typer

from maxmargin.cli import options as o
from maxmargin.cli.application import app, examples
from maxmargin.cli.report import print_json
from maxmargin.datasets import SIMULATIONS
from maxmargin.resources.arrays import Floats, Labels

Name = Literal["iris", "wine", "breast-cancer", "digits", "diabetes", "mixture", "moons", "circles"]


@app.command(epilog=examples("maxmargin sample iris --output iris.csv"))
def sample(
    name: Annotated[Name, typer.Argument(help="Which set.")],
    output: Annotated[Path | None, typer.Option(help="A file instead of standard output.")] = None,
    as_json: o.Json = False,
) -> None:
    """Write a built-in set of data as CSV; its last column is the target."""
    names, X, y = built_in(name)
    if as_json:
        rows = [[*row, each] for row, each in zip(X.tolist(), y.tolist(), strict=True)]
        print_json({"names": names, "rows": rows})
    elif output is None:
        write_csv(sys.stdout, names, X, y)
    else:
        with output.open("w", newline="") as file:
            write_csv(file, names, X, y)


def built_in(name: str) -> tuple[list[str], Floats, Labels]:
    """Names of the columns, rows, and targets: names of classes where there are some."""
    if name in SIMULATIONS:
        X, y = SIMULATIONS[name]()
        return ["x1", "x2", "class"], X, y
    from sklearn import datasets

    data = getattr(datasets, f"load_{name.replace('-', '_')}")()
    labels = getattr(data, "target_names", None)
    y = data.target if labels is None or name == "digits" else np.asarray(labels)[data.target]
    columns = [str(each).removesuffix(" (cm)") for each in data.feature_names]
    return [*columns, "digit" if name == "digits" else "target"], data.data, y


def write_csv(file: TextIO, names: list[str], X: Floats, y: Labels) -> None:
    """A header, then a line for each row."""
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(names)
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        lines.writerow([*(int(cell) if cell.is_integer() else cell for cell in row), target])
