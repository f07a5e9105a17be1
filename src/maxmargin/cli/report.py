"""What a command prints: a table for people, or one JSON object for scripts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TypeAlias

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from maxmargin.certificate import Certificate

# What can be written as JSON.
Fact: TypeAlias = (
    "str | float | bool | np.generic | np.ndarray | Sequence[Fact] | Mapping[str, Fact] | None"
)


def print_json(facts: Mapping[str, Fact]) -> None:
    """One object on one line of standard output; infinity and NaN, which JSON lacks, as null."""
    typer.echo(json.dumps(plain(facts), ensure_ascii=False, allow_nan=False))


def plain(value: Fact) -> Fact:
    """A fact in Python's own types, which JSON can write."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(each) for each in value]
    return value


def print_facts(title: str, facts: Mapping[str, str]) -> None:
    """A table of two columns."""
    table = Table(title, "", show_header=bool(title), header_style="bold")
    for name, value in facts.items():
        table.add_row(name, value)
    show(table)


def show(table: Table) -> None:
    """Print a table as wide as it needs to be, where it is not a terminal."""
    console = Console()
    console.print(table) if console.is_terminal else Console(width=120).print(table)


def proof_facts(proof: Certificate) -> dict[str, Fact]:
    """A certificate for JSON."""
    facts: dict[str, Fact] = {each.name: getattr(proof, each.name) for each in fields(Certificate)}
    return facts | {"status": proof.status.value}


def proof_words(proof: Certificate) -> str:
    """A certificate in a sentence."""
    return (
        f"{proof.status.value}; relative gap {max(proof.relative_gap, 0):.0e}, "
        f"violation {proof.kkt_violation:.0e}"
    )


def size_words(count: int) -> str:
    """A number of bytes."""
    size = float(count)
    for unit in ("bytes", "KB", "MB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def seconds_words(seconds: float) -> str:
    """A time."""
    return f"{1e3 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.3g} s"
