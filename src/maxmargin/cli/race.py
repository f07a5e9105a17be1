"""`maxmargin race`: solvers against each other on a file's problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from maxmargin.cli import machine_options as m
from maxmargin.cli import options as o
from maxmargin.cli.application import app, examples, require, say
from maxmargin.cli.models import read
from maxmargin.cli.report import print_json, seconds_words, show
from maxmargin.cli.train import transformed
from maxmargin.io.columns import prepared
from maxmargin.io.rows import Reading, Rows


@app.command(
    epilog=examples(
        "maxmargin race iris.csv",
        "maxmargin race iris.csv --solver block --solver second-order --picture race.png",
    )
)
def race(
    data: o.DataFile,
    solver: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A solver; repeatable. All by default.")
    ] = None,
    kernel: m.Kernel = None,
    C: m.C = None,
    gamma: m.Gamma = None,
    tol: Annotated[float, typer.Option(help="KKT violation at which each ends.")] = 1e-3,
    max_time: Annotated[float, typer.Option(help="Seconds that each may take.")] = 30.0,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the gap against the cost (extra plot).")
    ] = None,
    target: o.Target = None,
    header: o.Header = None,
    drop: o.Drop = None,
    text: o.Text = None,
    zero_based: o.ZeroBased = False,
    as_json: o.Json = False,
) -> None:
    """Run solvers on the problem of a classifier, each from zero, and compare what they cost.

    Of more than two classes the largest is set against the rest.
    """
    require("race", "pandas", "pandas")
    from maxmargin.formulations import c_svc
    from maxmargin.gram import Gram
    from maxmargin.solvers import SOLVERS
    from maxmargin.watch import finish
    from maxmargin.watch import race as run

    unknown = [name for name in solver or () if name not in SOLVERS]
    if unknown:
        raise m.wrong(f"no solver {unknown[0]!r}; there are {', '.join(SOLVERS)}")
    given = {"kernel": kernel, "C": C, "gamma": gamma, "tol": tol}
    machine: Any = m.built("svc", given)
    rows = read(data, Reading(target, True, header, drop or (), text or (), zero_based))
    signs, versus = _two_classes(rows)
    if not as_json:
        say(f"{rows.source}: {rows.shape[0]:,} rows, {versus}")
    X = transformed(prepared(machine, rows, scale=True), rows)
    ways = run(
        {name: SOLVERS[name](tol=tol, max_time=max_time) for name in solver or SOLVERS},
        c_svc(signs, machine.C),
        Gram(machine._kernel().bind(X), X),
    )
    ends = finish(ways)
    if picture is not None:
        from maxmargin.plots import plot_race

        plot_race(ways, rows.shape[0]).flat[0].figure.savefig(picture, dpi=200)
    if as_json:
        lines = ends.astype(object).where(ends.notna(), None).to_dict("records")
        print_json(
            {"data": rows.source, "rows": rows.shape[0], "problem": versus, "solvers": lines}
        )
    else:
        _show(ends)


def _two_classes(rows: Rows) -> tuple[Any, str]:
    """±1 for each row, and which classes are set against each other."""
    if rows.y is None or rows.y.dtype.kind == "f":
        raise rows.error("a race needs classes; the target has fractions")
    classes, counts = np.unique(rows.y, return_counts=True)
    if len(classes) < 2:
        raise rows.error(f"the target {rows.target!r} is always {classes[0]}")
    first = classes[counts.argmax()]
    rest = classes[classes != first]
    other = str(rest[0]) if len(rest) == 1 else "the rest"
    return np.where(rows.y == first, 1.0, -1.0), f"{first} against {other}"


def _show(ends: Any) -> None:
    table = Table("solver", "end", "relative gap", "violation", "kernel entries", "time")
    for column in table.columns[2:]:
        column.justify = "right"
    for end in ends.sort_values("seconds", na_position="last").to_dict("records"):
        if end["status"] == "refused":
            table.add_row(end["solver"], "cannot take this problem", "", "", "", "")
            continue
        table.add_row(
            end["solver"],
            end["status"],
            f"{end['relative_gap']:.1e}",
            f"{end['violation']:.1e}",
            f"{end['kernel_evaluations']:,.0f}",
            seconds_words(end["seconds"]),
        )
    show(table)
