"""Options that several commands have, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DATA = "Data"  # headings in the help
MACHINE = "Machine"
OUTPUT = "Output"

DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, Parquet, Arrow, .npy, .npz or LIBSVM text, also compressed; - is "
        "standard input.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")]
Target = Annotated[
    str | None,
    typer.Option(
        help="Name or number of the column to learn; by default one called target, label, class "
        "or y, else the last.",
        rich_help_panel=DATA,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        help="Whether the first line of a CSV has the names; by default if it has no number.",
        rich_help_panel=DATA,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Leave this column out; repeatable.", rich_help_panel=DATA),
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Take this column as text though it looks like numbers; repeatable.",
        rich_help_panel=DATA,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Between the cells of a CSV; by default comma, tab, semicolon or bar, by the first "
        "line.",
        rich_help_panel=DATA,
    ),
]
Thousands = Annotated[
    str | None,
    typer.Option(
        metavar="MARK",
        help="Mark between thousands in the numbers of a CSV, such as the comma of 32,645.82.",
        rich_help_panel=DATA,
    ),
]
ZeroBased = Annotated[
    bool,
    typer.Option("--zero-based", help="LIBSVM indices begin at 0.", rich_help_panel=DATA),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON object instead, for scripts.", rich_help_panel=OUTPUT
    ),
]
