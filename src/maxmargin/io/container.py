"""The container of a model file: named arrays and one JSON document, in a safetensors file.

    8 bytes          length of the header, little-endian
    header           JSON: the name, dtype, shape and place of each array, and "__metadata__"
    the arrays       one after the other, without gaps

`safetensors` writes it. Here it is read from one open file, and the header is checked: its size,
that places neither overlap nor leave gaps and end where the file ends, that shapes are as large as
places. The metadata has two strings,
"maxmargin" (the document) and "sha256" (of the document and of every array with its name, dtype
and shape). model-format.md has all of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import RawIOBase
from math import prod
from pathlib import Path
from stat import S_IMODE
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save_file

Model: TypeAlias = Any  # an estimator, or what holds a few attributes of one
Json: TypeAlias = Any
Node: TypeAlias = dict[str, Any]  # an object of the document
Table: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Mapping[str, Table]

MOST_HEADER = 1 << 23  # bytes: parsed JSON takes some thirty times as much, which is bounded so
DOCUMENT, CHECKSUM = "maxmargin", "sha256"
DTYPES = {
    "BOOL": np.bool_,
    "U8": np.uint8,
    "I32": np.int32,
    "I64": np.int64,
    "F32": np.float32,
    "F64": np.float64,
}
CODES = {np.dtype(dtype): code for code, dtype in DTYPES.items()}


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, or needs a newer maxmargin; or a model no file takes.

    Examples
    --------
    >>> import maxmargin, tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     maxmargin.load(file.name)
    Traceback (most recent call last):
    maxmargin.io.container.ModelFileError: ... is empty: it is no model file of maxmargin
    """


@dataclass(frozen=True)
class ArrayPlace:
    """One array in a file."""

    code: str
    shape: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return prod(self.shape) * np.dtype(DTYPES[self.code]).itemsize


@dataclass(frozen=True)
class Container:
    """The checked header of a file: the document, and where the arrays are."""

    document: Node
    checksum: str | None
    text: str
    places: dict[str, ArrayPlace]


def read_arrays(file: RawIOBase, container: Container) -> dict[str, Table]:
    """Every array of an open file, in memory of its own size, once the checksum agrees."""
    arrays: dict[str, Table] = {}
    for name, place in container.places.items():
        array = np.empty(place.shape, np.dtype(DTYPES[place.code]).newbyteorder("<"))
        file.seek(place.start)
        read = _fill(file, array.reshape(-1).view(np.uint8)) if array.size else 0
        if read != place.size:
            raise ModelFileError("it ended while being read")
        arrays[name] = array.astype(DTYPES[place.code], copy=False)
    if checksum(container.text, arrays) != container.checksum:
        raise ModelFileError(
            "the checksum does not agree with the contents: the file is damaged or was changed"
        )
    return arrays


def _fill(file: RawIOBase, target: NDArray[np.uint8]) -> int:
    """Read until the target is full or the file ends; the bytes read."""
    done, view = 0, target.data
    while done < len(view) and (read := file.readinto(view[done:])):
        done += read
    return done


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Whatever is wrong while a file is read becomes one error that names the file."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(
            f"{path}: {error}" if str(path) not in str(error) else str(error)
        ) from (error.__cause__)
    except RecursionError:
        raise ModelFileError(f"{path}: it is nested too deeply to be a model") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path}: {error}") from error


@contextmanager
def opened(path: Path) -> Iterator[tuple[RawIOBase, Container]]:
    """The open file of a model and its checked header; no array is read.

    The file is opened once: another that takes its name meanwhile is not mixed with it.
    """
    if path.exists() and not path.is_file():
        raise ModelFileError(f"{path} is a folder, a device or a pipe, no model file")
    with path.open("rb", buffering=0) as file:
        yield file, read_header(path, file)


def read_header(path: Path, file: RawIOBase) -> Container:
    """The checked header of an open file."""
    size = os.fstat(file.fileno()).st_size
    first = file.read(8) or b""
    length = int.from_bytes(first, "little")
    if size == 0:
        raise ModelFileError(f"{path} is empty: it is no model file of maxmargin")
    if first == b"svm_type":
        raise ModelFileError(
            f"{path} is a model of LIBSVM, no model file of maxmargin: `maxmargin convert`, or "
            "`maxmargin.io.load_libsvm`, reads it"
        )
    if size < 8 or length > size - 8:
        raise ModelFileError(
            f"{path} is no model file of maxmargin, or it is truncated: its first bytes promise a "
            f"header of {length:,} bytes, and the file has {size:,}"
        )
    if length > MOST_HEADER:
        raise ModelFileError(
            f"{path} has a header of {length:,} bytes; that of a model has at most {MOST_HEADER:,}"
        )
    header = np.empty(length, np.uint8)
    if _fill(file, header) != length:
        raise ModelFileError("it ended while being read")
    try:
        entries = json.loads(header.tobytes(), object_pairs_hook=_each_once)
        metadata = entries.pop("__metadata__", {})
        places = placed(entries, 8 + length, size)
        text = metadata.get(DOCUMENT)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelFileError(f"{path} is no safetensors file, or is damaged: {error}") from error
    if text is None:
        raise ModelFileError(f"{path} is a safetensors file, but not one of maxmargin")
    document = json.loads(text, parse_constant=_no_number)
    if not isinstance(document, dict):
        raise ModelFileError(f"{path} does not describe a model")
    return Container(document, metadata.get(CHECKSUM), text, places)


def placed(entries: Node, start: int, size: int) -> dict[str, ArrayPlace]:
    """The place of each array in a file of this size; raises unless they fill it without gaps."""
    places, first = {}, start
    for name, entry in sorted(entries.items(), key=lambda pair: pair[1]["data_offsets"]):
        code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if code not in DTYPES:
            raise ModelFileError(f"array {name!r} has the dtype {code}")
        if not all(type(each) is int and each >= 0 for each in [*shape, *offsets]):
            raise ModelFileError(f"array {name!r} has a shape or place that is no whole number")
        place = ArrayPlace(code, tuple(shape), start)
        if offsets != [start - first, start - first + place.size]:
            raise ModelFileError(
                f"array {name!r} is at {offsets}, and should be at "
                f"{[start - first, start - first + place.size]}"
            )
        places[name], start = place, start + place.size
    if start != size:
        raise ModelFileError(f"the arrays end at byte {start:,} of {size:,}: it is truncated")
    return places


def _each_once(pairs: list[tuple[str, Json]]) -> Node:
    """The object of these pairs; raises if a name comes twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ModelFileError("a name comes twice in the header")
    return found


def _no_number(word: str) -> None:
    raise ModelFileError(f"{word} is no number of JSON")


def checksum(text: str, arrays: Arrays) -> str:
    """SHA-256 of the document and of the arrays, in the order of their names."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        shape = " ".join(map(str, array.shape))
        digest.update(f"\n{name}\n{CODES[array.dtype]}\n{shape}\n".encode())
        if array.size:
            digest.update(little_endian(array).data.cast("B"))
    return digest.hexdigest()


def little_endian(array: Table) -> Table:
    """The array as it lies in the file; itself, on nearly every computer."""
    return array if sys.byteorder == "little" else array.byteswap()


def write(path: Path, document: Node, arrays: Arrays) -> None:
    """Write a model file."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    if len(text) > MOST_HEADER // 2:
        raise ModelFileError(
            f"the description of the model takes {len(text):,} characters, and {MOST_HEADER // 2:,}"
            " are the most: it has too many parts"
        )
    contents = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    with whole_or_not_at_all(path) as part:
        save_file(contents, part, {DOCUMENT: text, CHECKSUM: checksum(text, contents)})


def check_is_file(path: Path) -> None:
    """Raise if a folder, a device or a pipe is where a model is to be written."""
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a file: a model cannot be written there")


@contextmanager
def whole_or_not_at_all(path: Path) -> Iterator[Path]:
    """A place to write to, beside the target, that takes its name once all is on the disk.

    A full disk, an error or Ctrl-C leaves what was there. A device or a pipe, which would be lost
    to the new file of its name, is refused.
    """
    check_is_file(path)
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        part.touch()
        mode = (target if target.exists() else part).stat().st_mode
        yield part
        part.chmod(S_IMODE(mode))  # safetensors makes files that only their owner can read
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(target)
    except SafetensorError as error:
        raise OSError(f"{path} was not written; what was there is unchanged: {error}") from error
    except OSError as error:  # of the place, not of the part beside it
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):  # the error that is on its way says more
            part.unlink()
