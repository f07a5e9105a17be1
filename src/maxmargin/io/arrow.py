"""Tables of columns: CSV, TSV, Parquet and Arrow, read by pyarrow and checked column by column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.io.arrays import plain_labels
from maxmargin.io.csv_text import NUMBER, not_a_number, read_csv, stream
from maxmargin.io.rows import (
    Reading,
    Rows,
    Schema,
    check_count,
    is_missing,
    listed,
    place_of,
    target_place,
)
from maxmargin.io.sources import DataFileError, Source
from maxmargin.resources.arrays import Data, Labels

if TYPE_CHECKING:
    import pyarrow as pa

UNNAMED = "column 1"  # the first name in a CSV without a header
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s*[ap]m)?"
DAY = (
    r"\d{4}([-/.])\d{1,2}\1\d{1,2}",
    r"\d{1,2}([-/.])\d{1,2}\2\d{4}",
    r"\d{1,2}/\d{1,2}/\d{2}",
    rf"\d{{1,2}}[\s-]+{MONTH}[\s-]+\d{{2,4}}",
    rf"{MONTH}\s+\d{{1,2}},?\s+\d{{4}}",
)
# 31.12.2020, 12/31/20, 31 Dec 2020, Dec 31, 2020; with or without a time of day, or one alone. Not
# 31.12.20, which may be a version.
DATE = re.compile(
    rf"\s*(?:(?:{'|'.join(DAY)})(?:[\sT,]+{CLOCK}\s*(?:Z|[-+]\d\d:?\d\d)?)?|{CLOCK})\s*", re.I
)


def read_arrow(source: Source, how: Reading) -> Rows:
    """The rows of a table: numbers as float64, text as strings, nothing missing."""
    try:
        import pyarrow as pa
    except ImportError:
        raise ImportError(
            f"reading {source.name} needs pyarrow: pip install 'maxmargin[tables]'"
        ) from None
    try:
        table: pa.Table = _table(source, how)
    except DataFileError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise source.error(f"cannot be read as {source.kind}: {error}") from error
    if table.num_rows == 0:
        raise source.error("has no rows")
    return rows_of_table(source, table, how)


def rows_of_table(source: Source, table: pa.Table, how: Reading) -> Rows:
    """The rows of a table that was read from a file, or from a part of it."""
    named = table.column_names[:1] != [UNNAMED]
    for name in how.drop:
        table = table.remove_column(place_of(source, table.column_names, name))
    known = [name for name in how.identifiers if name in table.column_names]
    table = table.drop_columns(known)
    y, target = None, ""
    place = target_place(source, table.column_names, how)
    if place is not None:
        target = table.column_names[place]
        if how.supervised or how.target:
            y = _labels(source, table[target], target, how.text)
        table = table.remove_column(place)
    table = _as_trained(source, table, how.schema, named)
    check_count(source, table.num_columns, how.schema)
    table, text = _numbers_and_text(source, table, how)
    # Without names of their own, numbers are an array.
    X = table if named or text else dense(table)
    return Rows(source.name, X, y, target, text)


def _table(source: Source, how: Reading) -> pa.Table:
    import pyarrow as pa

    if source.kind == "csv":
        text = [*how.text, *(how.schema.text if how.schema else ())]
        marks = {"delimiter": how.delimiter, "thousands": how.thousands}
        return read_csv(source, header=how.header, text=text, **marks)
    if source.kind == "parquet":
        from pyarrow import parquet

        return with_text_checked(parquet.read_table(stream(source.data)))
    opened = pa.ipc.open_file if source.kind == "arrow" else pa.ipc.open_stream
    table = opened(pa.BufferReader(source.data)).read_all()
    table.validate(full=True)  # it is mapped as it is: offsets of a damaged file may lead anywhere
    return table


def with_text_checked(table: pa.Table) -> pa.Table:
    """The table, or an error if text is not UTF-8, which the reader of Parquet does not look at."""
    for column in table.columns:
        if _is_text(column.type):
            column.validate(full=True)
    return table


def _as_trained(source: Source, table: pa.Table, schema: Schema | None, named: bool) -> pa.Table:
    """The columns in the order of the model's names; by position where the file has no names."""
    if schema is None or schema.names is None:
        return table
    if not named:
        check_count(source, table.num_columns, schema)
        return table.rename_columns(list(schema.names))
    missing = [name for name in schema.names if name not in table.column_names]
    added = [name for name in table.column_names if name not in schema.names]
    if missing:
        also = f"; it has {listed(added)} instead" if added else ""
        raise source.error(f"lacks columns the model was trained on: {listed(missing)}{also}")
    if added:
        raise source.error(
            f"has columns that the model was not trained on: {listed(added)}; leave them out with "
            "--drop, or say which is the target with --target"
        )
    return table.select(list(schema.names))


def _labels(source: Source, column: pa.ChunkedArray, name: str, text: Sequence[str]) -> Labels:
    import pyarrow as pa

    _check_present(source, column, name)
    if _is_text(column.type):
        words = column.cast(pa.string())
        if name not in text:
            values = words.unique().to_pylist()
            _check_no_dates(source, values, name)
            _check_no_commas(source, values, name)
        return np.array(words.to_pylist())
    return plain_labels(_numbers(source, column, name).to_numpy())


def _numbers_and_text(
    source: Source, table: pa.Table, how: Reading
) -> tuple[pa.Table, tuple[str, ...]]:
    import pyarrow as pa

    schema = how.schema
    forced = [*how.text, *(schema.text if schema else ())]
    columns, text = [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        _check_values(source, column, name, how)
        if name in forced or _is_text(column.type):
            column = column.cast(pa.string())
            if name not in forced:
                _check_text(source, column, name, schema)
            elif schema and not schema.unknown:
                _check_known(source, column, name, schema.text[name])
            text.append(name)
        else:
            column = _numbers(source, column, name, gaps=how.gaps)
        columns.append(column)
    return pa.table(columns, names=table.column_names), tuple(text)


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    is_text = pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(test(value) for test in is_text)


def _check_values(source: Source, column: pa.ChunkedArray, name: str, how: Reading) -> None:
    """Refuse a missing value; where they are filled in, a column that has no other."""
    if not how.gaps:
        _check_present(source, column, name)
    elif how.schema is None and is_missing(column).all():
        raise source.error(f"column {name!r} has no value at all; leave it out with --drop")


def _check_present(source: Source, column: pa.ChunkedArray, name: str) -> None:
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy())) + 1
        more = f", and {column.null_count - 1} more below it" if column.null_count > 1 else ""
        raise source.error(
            f"row {row}, column {name!r}: the value is missing{more}; training with --impute fills "
            "it in; or leave the row out, or the column with --drop"
        )


def _check_text(source: Source, column: pa.ChunkedArray, name: str, schema: Schema | None) -> None:
    """Refuse dates, and text where numbers are expected or most of it is: a slip, no category."""
    values: list[str] = column.drop_null().unique().to_pylist()
    _check_no_dates(source, values, name)
    _check_no_commas(source, values, name)
    words = {value for value in values if not NUMBER.fullmatch(value)}
    if schema or 0 < 2 * len(words) < len(values):
        slips = words or {*values}
        row, cell = next((i, v) for i, v in enumerate(column.to_pylist(), 1) if v in slips)
        raise source.error(not_a_number(f"row {row}", name, cell))


def _check_no_commas(source: Source, values: Sequence[str], name: str) -> None:
    """Refuse numbers with commas, which pyarrow takes for text."""
    comma = next((value for value in values if "," in value), None)
    if comma and all(NUMBER.fullmatch(value.replace(",", "")) for value in values):
        raise source.error(
            f"column {name!r} holds numbers with a comma ({comma}): if it marks thousands, say so "
            "with --thousands ,; if it is a decimal comma, write a point; or take them as text "
            f"with --text {quote(name)}"
        )


def _check_no_dates(source: Source, values: Sequence[str], name: str) -> None:
    """Dates as people write them, which pyarrow takes for text."""
    if all(DATE.fullmatch(value) for value in values):
        raise _dates(source, name, values[0], f", or take it as text with --text {quote(name)}")


def _dates(source: Source, name: str, value: object, else_: str = "") -> DataFileError:
    return source.error(
        f"column {name!r} holds dates or times ({value} in row 1); make a number of it, such as "
        f"days since a date, leave it out with --drop{else_}"
    )


def _check_known(source: Source, column: pa.ChunkedArray, name: str, known: Sequence[str]) -> None:
    unknown = {*column.drop_null().unique().to_pylist()} - {*known}
    if unknown:
        row, cell = next((i, v) for i, v in enumerate(column.to_pylist(), 1) if v in unknown)
        raise source.error(
            f"row {row}, column {name!r}: {cell!r} was not there at training; known are "
            f"{listed(list(known))}; --unknown ignore at training takes any value"
        )


def _numbers(
    source: Source, column: pa.ChunkedArray, name: str, *, gaps: bool = False
) -> pa.ChunkedArray:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_temporal(kind):
        raise _dates(source, name, column[0])
    numeric = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal
    if not any(test(kind) for test in numeric):
        raise source.error(
            f"column {name!r} holds {kind}, neither numbers nor text; leave it out with --drop"
        )
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    # A cast, even to its own type, imports all of Arrow's functions: that takes a while.
    numbers = column if kind == pa.float64() else column.cast(pa.float64(), safe=False)
    # A sum is finite if all its terms are: no array as long as the column is needed to see it.
    if all(np.isfinite(np.sum(chunk.to_numpy(zero_copy_only=False))) for chunk in numbers.chunks):
        return numbers
    values = numbers.to_numpy()
    wrong = np.isinf(values) if gaps else ~np.isfinite(values)
    if wrong.any():
        row = int(wrong.argmax())
        raise source.error(
            f"row {row + 1}, column {name!r}: {values[row]} is not a finite number; mend it or "
            "leave the row out"
        )
    return pa.chunked_array([values])  # what is missing is NaN


def dense(table: pa.Table) -> Data:
    """The numbers of a table as an array, without its names."""
    X = np.empty(table.shape)
    for i, column in enumerate(table.columns):
        X[:, i] = column.to_numpy()
    return X
