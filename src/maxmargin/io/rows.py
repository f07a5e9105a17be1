"""Rows to learn from: the features, and the target where there is one; and how to find it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import scipy.sparse as sp

from maxmargin.io.sources import DataFileError, Source
from maxmargin.resources.arrays import Data, Labels, Mask

if TYPE_CHECKING:
    import pyarrow as pa

    Features: TypeAlias = Data | pa.Table

TARGETS = ("target", "label", "class", "y")  # names of a target, where none is given


@dataclass(frozen=True)
class Schema:
    """The columns a model was trained on.

    Attributes
    ----------
    count : number of features
    names : their names, if they had some
    text : names of those that are text, with the values that each may have
    unknown : whether text may have other values too, which the model ignores
    missing : whether values may be missing, which the model fills in
    """

    count: int
    names: Sequence[str] | None = None
    text: dict[str, Sequence[str]] = field(default_factory=dict)
    unknown: bool = False
    missing: bool = False


@dataclass(frozen=True)
class Reading:
    """How to read a file.

    Attributes
    ----------
    target : name or number (from 1; negative from the end) of the target's column
    supervised : whether there is a target even if `target` does not say which column it is
    header : whether the first line of a CSV has the names; None to tell by itself
    drop : columns to leave out
    text : columns that are text even if they look like numbers
    zero_based : whether the indices of LIBSVM text begin at 0
    schema : what the columns must be, for a model that is already trained
    trained_target : name of the target that model was trained with
    delimiter : between the cells of a CSV; None to tell by the first line
    identifiers : columns that the model was trained without, left out where a file has them
    thousands : the mark between thousands in the numbers of a CSV, if there is one
    missing : whether features may be missing: NaN in columns of numbers, null in text
    """

    target: str | None = None
    supervised: bool = True
    header: bool | None = None
    drop: Sequence[str] = ()
    text: Sequence[str] = ()
    zero_based: bool = False
    schema: Schema | None = None
    trained_target: str = ""
    delimiter: str | None = None
    identifiers: Sequence[str] = ()
    thousands: str | None = None
    missing: bool = False

    @property
    def gaps(self) -> bool:
        """Whether features may be missing: training fills them in, or the model does."""
        return self.missing if self.schema is None else self.schema.missing


@dataclass(frozen=True)
class Rows:
    """The rows of a file.

    Attributes
    ----------
    source : name of the file
    X : features: an array, CSR, or a table whose columns have names
    y : targets, or None
    target : name of their column
    text : names of the columns that are text; the others are numbers
    """

    source: str
    X: Features
    y: Labels | None
    target: str = ""
    text: tuple[str, ...] = ()

    @property
    def names(self) -> list[str] | None:
        """Names of the features, if they have some."""
        return list(self.X.column_names) if hasattr(self.X, "column_names") else None

    @property
    def schema(self) -> Schema:
        """The columns that a model of these rows has."""
        values = {name: self.X[name].drop_null().unique().to_pylist() for name in self.text}
        return Schema(self.shape[1], self.names, {k: sorted(v) for k, v in values.items()})

    @property
    def gaps(self) -> list[str]:
        """Columns with missing values."""
        if sp.issparse(self.X):
            return []
        if self.names is None:
            return [f"column {i + 1}" for i in np.flatnonzero(np.isnan(self.X).any(axis=0))]
        return [name for name in self.names if is_missing(self.X[name]).any()]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        rows, columns = self.X.shape
        return rows, columns

    @property
    def targets(self) -> Labels:
        """`y`, or an error if there is none."""
        if self.y is None:
            raise self.error("has no target; say which column it is with --target")
        return self.y

    def take(self, numbers: Labels) -> Rows:
        """Some of the rows."""
        X = self.X.take(numbers) if self.names is not None else self.X[numbers]
        y = None if self.y is None else self.y[numbers]
        return Rows(self.source, X, y, self.target, self.text)

    def error(self, message: str) -> DataFileError:
        """The error that names this file."""
        return DataFileError(f"{self.source}: {message}")


def is_missing(column: pa.ChunkedArray) -> Mask:
    """Whether each value of a column is missing: null, or NaN."""
    missing: Mask = column.is_null(nan_is_null=True).to_numpy()
    return missing


def target_place(source: Source, names: Sequence[str], how: Reading) -> int | None:
    """The position of the target: the column given; else the one called so; else the last.

    Against a schema: the one the model was trained with; else the one that is left when the
    features are taken away.
    """
    if how.target is not None:
        return place_of(source, names, how.target)
    schema = how.schema
    if schema is None and not how.supervised:
        return None
    if schema is not None:
        if len(names) <= schema.count:
            return None
        if how.trained_target in names and how.trained_target not in (schema.names or ()):
            return list(names).index(how.trained_target)
        others = [name for name in names if name not in (schema.names or names)]
        if 0 < len(others) < len(names):
            return list(names).index(others[0]) if len(others) == 1 else None
        if len(names) > schema.count + 1:
            return None
    usual = [i for i, name in enumerate(names) if name.lower() in TARGETS]
    return usual[0] if len(usual) == 1 else len(names) - 1


def place_of(source: Source, names: Sequence[str], name: str) -> int:
    """The position of the column of that name or number."""
    if name in names:
        return list(names).index(name)
    number = int(name) if name.lstrip("-").isdigit() else 0
    if 0 < abs(number) <= len(names):
        return number - 1 if number > 0 else len(names) + number
    raise source.error(f"there is no column {name!r}; there are {listed(names)}")


def check_count(source: Source, found: int, schema: Schema | None) -> None:
    """Refuse a number of features that is not the model's."""
    if found == 0:
        raise source.error("has no columns to learn from besides the target")
    if schema is not None and found != schema.count:
        raise source.error(f"has {found} features, but the model has {schema.count}")


def listed(names: Sequence[str]) -> str:
    """At most ten names in a sentence."""
    shown = ", ".join(repr(str(name)) for name in names[:10])
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown
