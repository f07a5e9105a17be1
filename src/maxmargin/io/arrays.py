"""NumPy's .npy and .npz files: a matrix whose last column is the target, or X and y."""

from __future__ import annotations

import zlib
from io import BytesIO
from tokenize import TokenError
from zipfile import BadZipFile

import numpy as np

from maxmargin.io.rows import Reading, Rows, check_count, listed, target_place
from maxmargin.io.sources import DataFileError, Source
from maxmargin.resources.arrays import Data, Labels

# What NumPy and zipfile raise for files that are not what they seem to be.
DAMAGED = (
    *(ValueError, TypeError, KeyError, OSError, EOFError, MemoryError, OverflowError),
    *(SyntaxError, TokenError, NotImplementedError, BadZipFile, zlib.error),
)


def read_arrays(source: Source, how: Reading) -> Rows:
    """The rows of a .npy file, or of the arrays X and y of a .npz file."""
    if how.drop or how.text:
        raise source.error("has no named columns: --drop and --text are for tables")
    try:
        found = np.load(BytesIO(source.data), allow_pickle=False)
        if source.kind == "npy":
            return _cut(source, found, how)
        with found:
            arrays = {name: found[name] for name in found.files}
    except DataFileError:
        raise
    except DAMAGED as error:
        raise source.error(f"cannot be read as .{source.kind}: {error}") from error
    if "X" not in arrays:
        other = arrays and all(isinstance(each, bytes) for each in arrays.values())
        raise source.error(
            f"is a zip archive of {listed([*arrays])}: unzip it first"
            if other
            else f"has no array X (and y); it has {listed([*arrays]) or 'none'}"
        )
    return rows_of_arrays(source, arrays["X"], arrays.get("y"), how)


def rows_of_arrays(source: Source, X: Labels, y: Labels | None, how: Reading) -> Rows:
    """The rows of X with the labels y; without y, a column of X may be the target."""
    if y is None:
        return _cut(source, X, how)
    X = _matrix(source, X, how)
    if y.shape != X.shape[:1]:
        raise source.error(f"y has the shape {y.shape}, but X has {len(X)} rows")
    check_count(source, X.shape[1], how.schema)
    return Rows(source.name, X, plain_labels(y), "y")


def _cut(source: Source, array: Labels, how: Reading) -> Rows:
    """A matrix of which one column may be the target."""
    X = _matrix(source, array, how)
    place = target_place(source, [f"column {i}" for i in range(1, X.shape[1] + 1)], how)
    y, target = None, ""
    if place is not None:
        y, target = plain_labels(X[:, place]), f"column {place + 1}"
        X = np.ascontiguousarray(np.delete(X, place, axis=1))
    check_count(source, X.shape[1], how.schema)
    return Rows(source.name, X, y, target)


def _matrix(source: Source, X: Labels, how: Reading) -> Data:
    if X.ndim != 2 or X.dtype.kind not in "fiub" or 0 in X.shape:
        raise source.error(
            f"has the shape {X.shape} and the type {X.dtype}; rows and columns of numbers are "
            "needed"
        )
    X = np.ascontiguousarray(X, X.dtype if X.dtype in (np.float32, np.float64) else np.float64)
    wrong = ~np.isfinite(X)
    if how.gaps:
        wrong &= ~np.isnan(X)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise source.error(f"row {row + 1}, column {column + 1}: {X[row, column]} is not finite")
    return X


def plain_labels(y: Labels) -> Labels:
    """Whole numbers as integers: a class is 3, not 3.0."""
    if y.dtype.kind == "f" and (y == np.rint(y)).all() and np.abs(y).max(initial=0) < 2**53:
        return y.astype(np.int64)
    return y
