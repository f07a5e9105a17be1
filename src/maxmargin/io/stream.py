"""Rows of a file or a folder, some at a time: for predictions, and for training past memory.

Each part is what `read_rows` makes of a file of these rows alone; all parts have the columns of the
first. A file of numbers is read from front to back, so it may be compressed.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from maxmargin.io.arrays import DAMAGED, rows_of_arrays
from maxmargin.io.arrow import rows_of_table, with_text_checked
from maxmargin.io.csv_text import NUMBER, csv_tables
from maxmargin.io.rows import Reading, Rows, listed
from maxmargin.io.sources import HEAD, DataFileError, Source, kind
from maxmargin.io.tables import read_lines

if TYPE_CHECKING:
    import pyarrow as pa


PAGE = 2 << 20  # bytes of a page of Parquet, as most programs write it, with its compressed form


def stream_rows(path: str | Path, how: Reading, size: int, most: float = np.inf) -> Iterator[Rows]:
    r"""The rows at a path, in parts that take about `size` bytes as numbers.

    Parameters
    ----------
    path : path of a file as `read_rows` takes it, or of a folder of such files
        Files are read in the order of their names; those that begin with . or _ are left out.
        Folders named `key=value`, as Hive and Spark write them, are columns.
    how : Reading
    size : bytes
    most : bytes that the reader may take beside; a file that needs more is refused

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "sums.csv"
    >>> _ = path.write_text("a,b,y\n" + "1,2,3\n" * 300_000)
    >>> sum(part.shape[0] for part in stream_rows(path, Reading(), 4_000_000))
    300000
    """
    place, first = Path(path), None
    for file in _files(place):
        for rows in _parts(file, _folders(place, file), how, size, most):
            if first is not None:
                _check_like(rows, first)
            elif how.schema is None:
                target = rows.target if how.supervised else how.target
                how = replace(how, text=[*how.text, *rows.text], target=target)
            first = first or rows
            yield rows
    if first is None:
        raise DataFileError(f"{place}: has no rows")


def _files(place: Path) -> list[Path]:
    if not place.exists():
        raise DataFileError(f"{place}: there is no such file")
    if not place.is_dir():
        return [place]
    inside = [file for file in sorted(place.rglob("*")) if file.is_file()]
    found = [
        file
        for file in inside
        if not any(part.startswith((".", "_")) for part in file.relative_to(place).parts)
    ]
    if not found:
        raise DataFileError(f"{place}: the folder has no file of data")
    return found


def _check_like(rows: Rows, first: Rows) -> None:
    """Refuse a part with other columns than those of the first."""
    if rows.names != first.names or rows.text != first.text:
        for what in ("names", "text"):
            ours, theirs = (list(getattr(each, what) or ()) for each in (rows, first))
            if ours != theirs:
                kinds = "columns" if what == "names" else "columns of text"
                raise rows.error(
                    f"has the {kinds} {listed(ours) or 'none'}, but the first rows, of "
                    f"{first.source}, have {listed(theirs) or 'none'}"
                )
    if rows.names is not None and rows.shape[1] != first.shape[1]:
        raise rows.error(f"has {rows.shape[1]} features, but {first.source} has {first.shape[1]}")


def _folders(place: Path, file: Path) -> dict[str, str]:
    """The columns that folders named `key=value` stand for, and their values."""
    between = file.relative_to(place).parts[:-1]
    return dict(part.split("=", 1) for part in between if "=" in part)


def _parts(
    file: Path, constant: dict[str, str], how: Reading, size: int, most: float
) -> Iterator[Rows]:
    """The rows of one file, some at a time."""
    opened = _opener(file)
    with opened() as beginning:
        head = beginning.read(HEAD)
    if not head:
        raise DataFileError(f"{file}: is empty")
    source, seen = Source(str(file), kind(head, str(file)), head), 0

    def here() -> Source:
        """The source by a name for messages, which count rows from 1."""
        return replace(source, name=f"{file}, below its row {seen:,}") if seen else source

    if source.kind in ("csv", "parquet", "arrow", "arrow stream"):
        for table in grouped(_tables(source, opened, how, size, most), size):
            for key, value in constant.items():
                table = table.append_column(key, [_repeated(value, table.num_rows)])
            yield rows_of_table(here(), table, how)
            seen += table.num_rows
    elif source.kind in ("npy", "npz"):
        for X, y in _arrays(source, file, opened, size):
            yield rows_of_arrays(here(), X, y, how)
            seen += len(X)
    else:
        for lines in _lines(opened, size):
            yield (rows := read_lines(replace(here(), data=lines), how))
            seen += rows.shape[0]


def _opener(file: Path) -> Callable[[], BinaryIO]:
    """What opens a file to read it from its beginning, decompressed."""
    with file.open("rb") as beginning:
        head = beginning.read(8)
    openers: dict[bytes, Callable[[Path], Any]] = {
        b"\x1f\x8b": gzip.open,
        b"BZh": bz2.open,
        b"\xfd7zXZ\x00": lzma.open,
        b"\x28\xb5\x2f\xfd": _open_zstd,
    }
    for magic, opener in openers.items():
        if head.startswith(magic):
            return partial(opener, file)
    return lambda: file.open("rb")


def _open_zstd(file: Path) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.OSFile(str(file)), "zstd")


def _tables(
    source: Source, opened: Callable[[], BinaryIO], how: Reading, size: int, most: float
) -> Iterator[pa.Table]:
    """The batches of a file of columns."""
    import pyarrow as pa

    if source.kind == "csv":
        text = [*how.text, *(how.schema.text if how.schema else ())]
        marks = {"delimiter": how.delimiter, "thousands": how.thousands}
        yield from csv_tables(source.name, opened, header=how.header, text=text, **marks)
        return
    try:
        with opened() as file:
            if source.kind == "parquet":
                from pyarrow import parquet

                whole = parquet.ParquetFile(file, pre_buffer=False, buffer_size=HEAD)
                _check_pages(source, whole.metadata, most)
                lines = max(1, size // (8 * whole.metadata.num_columns))
                batches = whole.iter_batches(lines, use_threads=False)
            elif source.kind == "arrow":
                opening = pa.ipc.open_file(file)
                batches = map(opening.get_batch, range(opening.num_record_batches))
            else:
                batches = pa.ipc.open_stream(file)
            for batch in batches:
                batch.validate(full=True)
                yield with_text_checked(pa.Table.from_batches([batch]))
    except DataFileError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise source.error(f"cannot be read as {source.kind}: {error}") from error


def _check_pages(source: Source, metadata: Any, most: float) -> None:
    """Refuse a file of Parquet whose pages take more: of each column one is read at a time."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    needed = max(
        sum(min(group.column(j).total_uncompressed_size, PAGE) for j in range(metadata.num_columns))
        for group in groups
    )
    if needed > most:
        raise source.error(
            f"a page of each of its {metadata.num_columns} columns takes about "
            f"{needed / 2**20:.0f} MB, more than half of the memory given: give twice as much, or "
            "write it with smaller row groups"
        )


def grouped(tables: Iterator[pa.Table], size: int) -> Iterator[pa.Table]:
    """Tables of about this many bytes, joined from smaller ones or cut from larger ones."""
    import pyarrow as pa

    some = list[pa.Table]()
    for table in tables:
        some.append(table)
        if sum(each.nbytes for each in some) >= size:
            yield from _cut(pa.concat_tables(some), size)
            some = []
    if some:
        yield pa.concat_tables(some)


def _cut(table: pa.Table, size: int) -> Iterator[pa.Table]:
    step = -(-table.num_rows // max(1, table.nbytes // size))
    for begin in range(0, table.num_rows, step):
        yield table.slice(begin, step)


def _repeated(value: str, count: int) -> pa.Array:
    """A column of one value, a number if it looks like one."""
    import pyarrow as pa

    return pa.repeat(float(value) if NUMBER.fullmatch(value) else value, count)


def _arrays(
    source: Source, file: Path, opened: Callable[[], BinaryIO], size: int
) -> Iterator[tuple[Any, Any]]:
    """Lines of a .npy file, or of X and y of a .npz file, and None for y where there is none."""
    try:
        with opened() as first:
            if source.kind == "npy":
                for X in _array_parts(source, first, size):
                    yield X, None
                return
            with zipfile.ZipFile(first) as archive:
                names = archive.namelist()
                if "X.npy" not in names:
                    raise source.error(f"has no array X (and y); it has {listed(names) or 'none'}")
                y = None
                if "y.npy" in names:
                    with archive.open("y.npy") as labels:
                        y = np.lib.format.read_array(labels, allow_pickle=False)
                begin = 0
                with archive.open("X.npy") as rows:
                    for X in _array_parts(source, rows, size):
                        yield X, None if y is None else y[begin : begin + len(X)]
                        begin += len(X)
    except DataFileError:
        raise
    except DAMAGED as error:
        raise source.error(f"cannot be read as .{source.kind}: {error}") from error


def _array_parts(source: Source, file: Any, size: int) -> Iterator[Any]:
    """Lines of an array that is stored line by line."""
    reading = {(1, 0): np.lib.format.read_array_header_1_0}
    header = reading.get(np.lib.format.read_magic(file), np.lib.format.read_array_header_2_0)
    shape, by_columns, dtype = header(file)
    if dtype.hasobject or len(shape) != 2 or by_columns:
        raise source.error(
            f"has the shape {shape} and the type {dtype}, "
            f"{'column after column' if by_columns else 'row after row'}: read in parts, an array "
            "has two dimensions and numbers, row after row (np.ascontiguousarray)"
        )
    width = dtype.itemsize * shape[1]
    for begin in range(0, shape[0], step := max(1, size // max(width, 1))):
        count = min(step, shape[0] - begin)
        data = file.read(count * width)
        yield np.frombuffer(data, dtype).reshape(count, shape[1])


def _lines(opened: Callable[[], BinaryIO], size: int) -> Iterator[bytes]:
    """Whole lines of a text, about `size` bytes at a time."""
    with opened() as file:
        while data := file.read(size):
            if (lines := data + file.readline()).strip():
                yield lines
