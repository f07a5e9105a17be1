"""A model file opened for use, and rows read as that model needs them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from maxmargin.cli.deferred import without
from maxmargin.io import load, read_document
from maxmargin.io.columns import machine_of, schema_of
from maxmargin.io.rows import Reading, Rows
from maxmargin.io.stream import stream_rows
from maxmargin.io.tables import read_rows

PART = 1 << 24  # bytes of rows that are predicted at a time


@dataclass(frozen=True)
class Model:
    """A fitted model and what was noted of its training.

    Attributes
    ----------
    path : of its file
    estimator : pipeline or machine
    notes : name of the target, and more
    """

    path: Path
    estimator: BaseEstimator
    notes: dict[str, Any]

    @property
    def machine(self) -> BaseEstimator:
        """The machine itself, without its preprocessing."""
        return machine_of(self.estimator)

    def rows(self, data: str, how: Reading) -> Rows:
        """Rows of a file with the columns that the model was trained on.

        The target is the column it was trained with, if the file has it.
        """
        return read(data, self._reading(how))

    def parts(self, data: str, how: Reading) -> Iterator[Rows]:
        """The same rows, some at a time; those of a pipe all at once."""
        if data == "-":
            yield self.rows(data, how)
            return
        with without("pandas"):
            yield from stream_rows(data, self._reading(how), PART)

    def _reading(self, how: Reading) -> Reading:
        target = str(self.notes.get("target", ""))
        schema, left_out = schema_of(self.estimator), tuple(self.notes.get("left_out", ()))
        return replace(how, schema=schema, trained_target=target, identifiers=left_out)


def open_model(path: Path) -> Model:
    """Read a model file."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such model file")
    document = read_document(path)
    return Model(path, load(path), document.get("notes", {}))


def read(data: str, how: Reading) -> Rows:
    """Rows of a file.

    pyarrow looks for pandas when it first makes an array of a column, and remembers what it found.
    Here it finds none, which saves the time to import it.
    """
    with without("pandas"):
        return read_rows(data, how)
