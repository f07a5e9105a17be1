"""`maxmargin playground`: the page where points are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from maxmargin.cli import options as o
from maxmargin.cli.application import app, examples, require
from maxmargin.cli.report import print_json


@app.command(epilog=examples("maxmargin playground", "maxmargin playground --port 9000"))
def playground(
    port: Annotated[
        int | None,
        typer.Option(help="Port to serve at; 8765 or a free one by default.", min=0, max=65_535),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Whether to open the page in a browser.")] = True,
    lessons: Annotated[
        Path | None,
        typer.Option(help="Folder with lessons of your own.", exists=True, file_okay=False),
    ] = None,
    as_json: o.Json = False,
) -> None:
    """Draw points, watch a machine learn them, step through its solver.

    The page is there until Ctrl-C, after which the exit code is 0.
    """
    require("playground", "'maxmargin[playground]'", "starlette", "uvicorn", "websockets")
    from maxmargin.playground.server import serve

    def tell(address: str) -> None:
        if as_json:
            print_json({"address": address})
        else:
            typer.echo(f"The playground is at {address} (Ctrl-C stops it)")

    serve(port, browser=browser, tell=tell, lessons=lessons)
    if not as_json:
        typer.echo("Stopped.")
