"""Columns of text: which are identifiers, and which values only the rows held out have."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from shlex import quote

from maxmargin.io.rows import Rows, listed
from maxmargin.io.sources import DataFileError

MANY = 50  # values of a column of text: up to here one column for each costs little


def identifiers(rows: Rows, counts: Mapping[str, int], seen: int) -> list[str]:
    """Columns of text that tell rows apart, by the values that each has in the rows seen.

    With fewer than two rows for a value on average, a column for each value learns nothing.
    """
    found = [name for name, count in counts.items() if count > max(MANY, seen / 2)]
    if found and len(found) == rows.shape[1]:
        raise rows.error(f"has no column to learn from besides identifiers: {listed(found)}")
    return found


def identifiers_words(source: str, names: Sequence[str]) -> str:
    """What to say of columns that are left out."""
    return (
        f"{source}: left out {listed(names)}: nearly every row has a value of its own, as an "
        f"identifier has; --text {quote(names[0])} keeps it"
    )


def check_known(
    source: str, shown: Mapping[str, Collection[str]], hidden: Mapping[str, Collection[str]]
) -> None:
    """Refuse a value of text that --holdout took away from training altogether."""
    for name, known in shown.items():
        if others := {*hidden[name]} - {*known}:
            raise DataFileError(
                f"{source}: column {name!r}: {min(others)!r} is only in rows that --holdout keeps "
                "for the test; --unknown ignore predicts without it, or leave the column out with "
                "--drop"
            )
