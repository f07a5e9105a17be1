r"""Where bytes come from: a file, a compressed one, or standard input; and what they hold.

>>> kind(b"PAR1....", "table.data")
'parquet'
>>> kind(b"+1 1:0.5 3:2\n", "heart_scale")
'libsvm'
>>> kind(b"a;b\n1;2\n", "-")
'csv'
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import mmap
import re
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, TypeAlias

Bytes: TypeAlias = bytes | mmap.mmap
HEAD = 65_536  # bytes that are looked at to tell what a file holds


def _zstd(data: bytes) -> bytes:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        found: bytes = stream.read()
    return found


COMPRESSED: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x28\xb5\x2f\xfd": _zstd,
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
}
MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow stream",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",
}
BY_NAME = {".csv": "csv", ".tsv": "csv", ".tab": "csv", ".svm": "libsvm", ".libsvm": "libsvm"}
FOREIGN = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
LIBSVM_LINE = re.compile(rb"\s*%s(?:\s+(?:qid:\d+|\d+:\S+))+\s*(?:#.*)?" % NUMBER, re.DOTALL)


class DataFileError(ValueError):
    """A data file that cannot be read as it is: which, where in it, and what to do."""


@dataclass(frozen=True)
class Source:
    """The bytes of a file, decompressed, and what they hold.

    Attributes
    ----------
    name : as the user gave it; "standard input" for "-"
    kind : "csv", "parquet", "arrow", "arrow stream", "npy", "npz" or "libsvm"
    data : bytes, or a map of the file
    """

    name: str
    kind: str
    data: Bytes

    def lines(self) -> BinaryIO:
        """A file to read lines from: the file itself where it is one, else its bytes."""
        plain = isinstance(self.data, mmap.mmap)
        return Path(self.name).open("rb", buffering=HEAD) if plain else BytesIO(self.data)

    def error(self, message: str) -> DataFileError:
        """The error that names this file."""
        return DataFileError(f"{self.name}: {message}")


def open_source(path: str | Path) -> Source:
    """The bytes at a path; "-" is standard input.

    A plain file is mapped, not read: what reads it takes only what it needs.
    """
    name = "standard input" if str(path) == "-" else str(path)
    data: Bytes
    if str(path) == "-":
        data = _decompressed(name, sys.stdin.buffer.read())
    else:
        data = _mapped(Path(path))
    if not len(data):
        raise DataFileError(f"{name}: is empty")
    return Source(name, kind(data[:HEAD], name), data)


def _mapped(path: Path) -> Bytes:
    if path.is_dir():
        raise DataFileError(f"{path}: is a folder, not a file of data")
    try:
        with path.open("rb") as file:
            head = file.read(8)
            if any(head.startswith(magic) for magic in COMPRESSED) or not path.is_file():
                return _decompressed(str(path), head + file.read())
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if head else b""
    except FileNotFoundError:
        raise DataFileError(f"{path}: there is no such file") from None


def _decompressed(name: str, data: bytes) -> bytes:
    for magic, decompress in COMPRESSED.items():
        if data.startswith(magic):
            try:
                return decompress(data)
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
                raise DataFileError(f"{name}: the compressed file is damaged ({error})") from error
    return data


def kind(head: bytes, name: str) -> str:
    """What a file holds, by its first bytes; by its name where it is text of either kind."""
    for magic, found in MAGIC.items():
        if head.startswith(magic):
            return found
    for mark, encoding in FOREIGN.items():
        if head.startswith(mark):
            raise DataFileError(
                f"{name}: is text in {encoding}, not UTF-8; convert it, for example with "
                f"iconv -f {encoding} -t UTF-8"
            )
    if b"\0" in head:
        raise DataFileError(
            f"{name}: is binary, and none of the formats known here: CSV, TSV, Parquet, Arrow, "
            ".npy, .npz, LIBSVM text, these compressed by gzip, bzip2, xz or zstd"
        )
    suffixes = Path(name).suffixes
    for suffix in suffixes:
        if suffix.lower() in BY_NAME:
            return BY_NAME[suffix.lower()]
    lines = (line for line in head.split(b"\n") if line.strip() and not line.startswith(b"#"))
    return "libsvm" if LIBSVM_LINE.fullmatch(next(lines, b"")) else "csv"
