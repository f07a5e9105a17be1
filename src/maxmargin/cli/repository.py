"""`maxmargin reproduce` and `maxmargin bench`: what is in a clone, not in the installed package."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from maxmargin.cli import options as o
from maxmargin.cli.application import app, examples, refusal, require
from maxmargin.cli.machine_options import wrong
from maxmargin.cli.report import print_json


@app.command(epilog=examples("maxmargin reproduce", "maxmargin reproduce smo_race margins"))
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments to run; all by default.")
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder for REPORT.md and output/.")] = Path(),
    as_json: o.Json = False,
) -> None:
    """Make the documents' figures and numbers again, and judge them."""
    clone_with("experiments")
    require("reproduce", "'maxmargin[experiments]'", "matplotlib", "pandas")
    from experiments.report import sections
    from experiments.reproduce import NAMES
    from experiments.reproduce import reproduce as run

    unknown = [name for name in names or [] if name not in NAMES]
    if unknown:
        raise wrong(f"no experiment {', '.join(unknown)}; there are {', '.join(NAMES)}")
    run(names or NAMES, output, Console(stderr=as_json))
    if as_json:
        found = sections(output / "output", names or NAMES)
        print_json({"report": str(output / "REPORT.md"), "sections": json.loads(json.dumps(found))})


@app.command(epilog=examples("maxmargin bench", "maxmargin bench --only train --only SVR"))
def bench(
    full: Annotated[
        bool, typer.Option("--full", help="Everything, over an hour; else two or three minutes.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="A kind of work, such as train; several if repeated.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Where to write OUTPUT.md, .csv and .png, if elsewhere.")
    ] = None,
    as_json: o.Json = False,
) -> None:
    """Time every library that is installed on the same work, and judge the answers."""
    clone_with("benchmarks")
    require("bench", "'maxmargin[bench]'", "matplotlib")
    from benchmarks.__main__ import main as measure

    kinds = ["--only", *only] if only else []
    out = ["--out", str(output)] if output else []
    arguments = ["--mode", "full" if full else "quick", *kinds, *out]
    if not as_json:
        measure(arguments)
        return
    with redirect_stdout(sys.stderr):
        records = measure(arguments)
    print_json({"records": [json.loads(json.dumps(vars(each), default=str)) for each in records]})


def clone_with(folder: str) -> Path:
    """The clone this command runs in, or was installed from; its folders can be imported."""
    here = Path.cwd()
    for place in (here, *here.parents, *Path(__file__).resolve().parents):
        if (place / "src" / "maxmargin").is_dir() and (place / folder).is_dir():
            if str(place) not in sys.path:
                sys.path.insert(0, str(place))
            return place
    raise refusal(
        f"The {folder} are not part of the installed package: run this inside a clone of "
        f"the repository, where the folder {folder}/ is."
    )
