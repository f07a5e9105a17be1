"""CSV and TSV: the delimiter, whether there is a header, and the line that cannot be read.

pyarrow reads. It looks at the first block of a file to tell numbers from text; so that a column of
whole numbers may go on with fractions, every number is read as float64. A large file of numbers
alone is read by polars, where it is installed, which is faster; if it finds anything but numbers
there, pyarrow reads again, and says what.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from itertools import islice
from math import isnan
from mmap import mmap
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, BinaryIO

from maxmargin.io.sources import HEAD, Bytes, Source

if TYPE_CHECKING:
    import pyarrow as pa

NUMBER = re.compile(r"\s*[-+]?((\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|inf(inity)?|nan)\s*", re.I)
SAMPLE = 1 << 20  # bytes by which the type of a column is told
LARGE = 1 << 24  # bytes from which polars is worth its import


@dataclass(frozen=True)
class Dialect:
    """How the lines of a file are cut.

    Attributes
    ----------
    delimiter : one character
    header : whether the first line has the names
    names : of the columns; "column 1", … without a header
    """

    delimiter: str
    header: bool
    names: list[str]


def read_csv(
    source: Source,
    *,
    header: bool | None = None,
    text: Sequence[str] = (),
    delimiter: str | None = None,
    thousands: str | None = None,
) -> pa.Table:
    """The table; columns named in `text` are text even if they look like numbers.

    `thousands` marks the thousands of a number; then every column is read as text first.
    """
    from pyarrow import ArrowInvalid, types

    _check_encoding(source)
    if source.data[:1] in (b"\r", b"\n"):  # lines without anything before the first
        source = replace(source, data=source.data[:].lstrip(b"\r\n"))
    dialect = dialect_of(source, header, delimiter, thousands)
    if thousands:
        table = read_csv(source, header=dialect.header, text=dialect.names, delimiter=delimiter)
        return _without_thousands(source, table, thousands, text)
    quoted = b'"' in source.data[:HEAD]
    try:
        table = _read(source, dialect, text, quoted_lines=False)
        if any(types.is_binary(kind) for kind in table.schema.types):
            raise source.error(_fault(source, dialect, text))  # far below: bytes that are not UTF-8
        return table
    except ArrowInvalid as error:
        if quoted:  # a quoted cell may hold the end of a line; that takes one thread
            try:
                return _read(source, dialect, text, quoted_lines=True)
            except ArrowInvalid:
                pass
        raise source.error(_fault(source, dialect, text) or str(error)) from error


def _read(source: Source, dialect: Dialect, text: Sequence[str], *, quoted_lines: bool) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv as reader

    types = _types(source, dialect, text, quoted_lines=quoted_lines)
    plain = {*types.values()} == {pa.float64()} and len(types) == len(dialect.names)
    if len(source.data) >= LARGE and plain:
        numbers = _numbers(source, dialect)
        if numbers is not None:
            return numbers
    return reader.read_csv(stream(source.data), *_options(dialect, types, quoted_lines))


def _types(
    source: Source, dialect: Dialect, text: Sequence[str], *, quoted_lines: bool
) -> dict[str, pa.DataType]:
    """The types of the columns of numbers and of text, by the first block: float64 and string."""
    import pyarrow as pa
    from pyarrow import csv as reader

    sample = source.data[:SAMPLE]
    if len(sample) == SAMPLE:
        sample = sample[: sample.rfind(b"\n") + 1] or source.data[:]
    types = {name: pa.string() for name in text if name in dialect.names}
    guess = reader.read_csv(stream(sample), *_options(dialect, types, quoted_lines)).schema
    is_number = pa.types.is_integer, pa.types.is_floating
    types |= {
        field.name: pa.float64() for field in guess if any(test(field.type) for test in is_number)
    }
    return types | {field.name: pa.string() for field in guess if pa.types.is_string(field.type)}


def _options(dialect: Dialect, types: dict[str, pa.DataType], quoted_lines: bool) -> list[Any]:
    """What pyarrow is to be told: how it reads, parses and converts."""
    from pyarrow import csv as reader

    return [
        reader.ReadOptions(
            column_names=dialect.names, skip_rows=int(dialect.header), block_size=SAMPLE
        ),
        reader.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=quoted_lines),
        reader.ConvertOptions(
            column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    ]


def csv_tables(
    name: str,
    opened: Callable[[], BinaryIO],
    *,
    header: bool | None = None,
    text: Sequence[str] = (),
    delimiter: str | None = None,
    thousands: str | None = None,
) -> Iterator[pa.Table]:
    """The table that `read_csv` makes, a few lines at a time, read from front to back."""
    import pyarrow as pa
    from pyarrow import csv as reader

    with opened() as file:
        source = Source(name, "csv", file.read(SAMPLE))
    _check_encoding(source)
    blank = len(source.data) - len(source.data[:].lstrip(b"\r\n"))
    source = replace(source, data=source.data[blank:])
    dialect = dialect_of(source, header, delimiter, thousands)
    as_text = dialect.names if thousands else text
    quoted = b'"' in source.data  # a quoted cell may hold the end of a line
    try:
        types = _types(source, dialect, as_text, quoted_lines=quoted)
        with opened() as file:
            file.read(blank)
            for batch in reader.open_csv(file, *_options(dialect, types, quoted)):
                table = pa.Table.from_batches([batch])
                if thousands:
                    table = _without_thousands(source, table, thousands, text)
                yield table
    except pa.ArrowInvalid as error:
        with opened() as file:
            whole = Source(name, "csv", file.read()[blank:])
        raise source.error(_fault(whole, dialect, text) or str(error)) from error


def _without_thousands(source: Source, table: pa.Table, mark: str, text: Sequence[str]) -> pa.Table:
    """Columns of numbers as numbers, their thousands marked or not."""
    import pyarrow as pa
    from pyarrow import compute

    digits = rf"(\d{{1,3}}([{re.escape(mark)}]\d{{3}})+|\d+)"
    number = rf"^\s*[-+]?({digits}\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        fits = compute.all(compute.match_substring_regex(column, number)).as_py()
        if name not in text and fits:
            plain = compute.replace_substring(compute.utf8_trim_whitespace(column), mark, "")
            table = table.set_column(place, name, plain.cast(pa.float64()))
    return table


def stream(data: Bytes) -> pa.BufferReader:
    """What Arrow's threads read; of a few bytes a copy of its own.

    A thread that lets go of a Python object while the interpreter ends aborts the process: after a
    small file, or an error in it, that end is near.
    """
    import pyarrow as pa

    if len(data) > SAMPLE:
        return pa.BufferReader(data)
    own = pa.BufferOutputStream()
    own.write(data[:])
    return pa.BufferReader(own.getvalue())


def _numbers(source: Source, dialect: Dialect) -> pa.Table | None:
    """A plain file of numbers and nothing else, by polars; None if it is not one."""
    if not find_spec("polars") or not isinstance(source.data, mmap):
        return None
    import polars as pl

    try:
        found = pl.read_csv(
            source.name,
            has_header=dialect.header,
            separator=dialect.delimiter,
            schema=dict.fromkeys(dialect.names, pl.Float64),
            glob=False,
        )
    except pl.exceptions.PolarsError:
        return None
    whole = all(not each.null_count() and not isnan(each.sum()) for each in found)
    return found.to_arrow() if whole else None


def dialect_of(
    source: Source,
    header: bool | None,
    delimiter: str | None = None,
    thousands: str | None = None,
) -> Dialect:
    """How lines are cut, told by the first line: a header holds no number."""
    for what, mark in (("delimiter", delimiter), ("mark of thousands", thousands)):
        if mark is not None and len(mark) != 1:
            raise source.error(f"a {what} is one character, not {mark!r}")
    head = source.data[:HEAD].removeprefix(b"\xef\xbb\xbf")
    first = re.split(rb"[\r\n]", head, maxsplit=1)[0].decode(errors="replace")
    delimiter = delimiter or _delimiter(source.name, first)
    cells = next(csv.reader([first], delimiter=delimiter), [])
    if header is None:
        plain = (cell.replace(thousands, "") if thousands else cell for cell in cells)
        header = not any(NUMBER.fullmatch(cell) for cell in plain)
    if not header:
        return Dialect(delimiter, False, [f"column {i}" for i in range(1, len(cells) + 1)])
    names = [cell.strip() or f"column {i}" for i, cell in enumerate(cells, start=1)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise source.error(f"two columns are named {twice[0]!r}; names must differ")
    return Dialect(delimiter, True, names)


def _delimiter(name: str, line: str) -> str:
    if {".tsv", ".tab"} & {*Path(name).suffixes}:
        return "\t"
    return max(",\t;|", key=lambda mark: (line.count(mark), mark == ","))


def _check_encoding(source: Source) -> None:
    try:
        source.data[:HEAD].decode()
    except UnicodeDecodeError as error:
        if error.start < HEAD - 4:  # else a character is cut in two
            raise source.error(_not_utf8(source.data[:HEAD], error)) from error


def _not_utf8(data: bytes, error: UnicodeDecodeError) -> str:
    line = data[: error.start].count(b"\n") + 1
    return (
        f"line {line}: byte 0x{data[error.start]:02x} is not UTF-8; convert the file, for example "
        "with iconv -f ISO-8859-1 -t UTF-8"
    )


def _fault(source: Source, dialect: Dialect, text: Sequence[str]) -> str:
    """What is wrong with the first line that cannot be read; "" if none is found."""
    try:
        source.data[:].decode()
    except UnicodeDecodeError as error:
        return _not_utf8(source.data[:], error)
    try:
        return _wrong_line(source, dialect, text)
    except csv.Error as error:
        return str(error)


def _wrong_line(source: Source, dialect: Dialect, text: Sequence[str]) -> str:
    width, numeric = len(dialect.names), None
    for line, cells in _lines(source, dialect):
        if len(cells) != width:
            return (
                f"line {line} has {len(cells)} cells, but there are {width} columns "
                f"({'by the header' if dialect.header else 'by the first line'})"
            )
        numbers = [bool(NUMBER.fullmatch(cell)) for cell in cells]
        if numeric is None:
            numeric = numbers
        for name, cell, was, now in zip(dialect.names, cells, numeric, numbers, strict=True):
            if was and not now and cell.strip() and name not in text:
                return not_a_number(f"line {line}", name, cell)
    return ""


def not_a_number(where: str, name: str, cell: str) -> str:
    """What to say of a cell of text in a column of numbers."""
    return (
        f"{where}: {cell[:40]!r} in {name!r} is not a number, but the column has numbers; mend "
        f"it, or take the column as text with --text {quote(name)}"
    )


def _lines(source: Source, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """The lines below the header that are not empty, with their numbers."""
    lines = csv.reader(
        TextIOWrapper(BytesIO(source.data), encoding="utf-8-sig", newline=""),
        delimiter=dialect.delimiter,
    )
    for cells in islice(lines, int(dialect.header), None):
        if cells:
            yield lines.line_num, cells
