"""LIBSVM's text of data: ``label index:value index:value …``, a line for each row.

Indices begin at 1 and rise along a line; what is not listed is 0; what follows # is a comment.
scikit-learn reads it; a line that it cannot read is looked for here, to be named.
"""

from __future__ import annotations

import re
from io import BytesIO

import numpy as np

from maxmargin.io.sources import NUMBER, Bytes, Source
from maxmargin.resources.arrays import Data, Floats
from maxmargin.resources.memory import available_memory

LABEL = re.compile(NUMBER)
LINES = 4  # as long as a row, that training has in memory at once
ENTRY = re.compile(rb"(\d+):(%s|[-+]?(?:nan|inf(?:inity)?))" % NUMBER, re.IGNORECASE)


def read_libsvm(
    source: Source, *, n_features: int | None = None, zero_based: bool = False
) -> tuple[Data, Floats]:
    """The rows as CSR, and their labels.

    Parameters
    ----------
    source : Source
    n_features : int or None
        Columns that there should be; None for as many as the largest index.
    zero_based : bool
        Whether indices begin at 0, as scikit-learn writes them.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        with source.lines() as file:
            X, y = load_svmlight_file(file, zero_based=zero_based)
    except (ValueError, OverflowError, UnicodeDecodeError) as error:
        raise source.error(_fault(source.data, zero_based) or str(error)) from error
    if len(y) == 0:
        raise source.error("has no rows")
    _check_finite(source, X, y)
    _check_width(source, X.shape[1])
    if n_features is not None:
        if X.shape[1] > n_features:
            raise source.error(
                f"has {X.shape[1]} features (the largest index), but the model has {n_features}"
            )
        X.resize(X.shape[0], n_features)
    return X, y


def _check_width(source: Source, columns: int) -> None:
    """Rows are sparse, but a few lines as long as one row are needed: norms, means, a scatter."""
    if LINES * 8 * columns > available_memory():
        raise source.error(
            f"has {columns:,} features (the largest index): {LINES} lines of so many numbers are "
            "more than the memory that is free; renumber the features that occur"
        )


def _fault(data: Bytes, zero_based: bool) -> str:
    """What is wrong with the first line that is not LIBSVM text; "" if all are."""
    for number, line in enumerate(BytesIO(data), start=1):
        parts = line.split(b"#")[0].split()
        if not parts:
            continue
        if not LABEL.fullmatch(parts[0]):
            return f"line {number}: the label {_shown(parts[0])} is not a number"
        before = -1 if zero_based else 0
        for part in parts[1:]:
            if part.startswith(b"qid:"):
                continue
            entry = ENTRY.fullmatch(part)
            if entry is None:
                return f"line {number}: {_shown(part)} is not index:value"
            index = int(entry[1])
            if index == 0 and not zero_based:
                return f"line {number}: index 0, but indices begin at 1 (--zero-based if at 0)"
            if index <= before:
                return f"line {number}: index {index} after {before}; they must rise along a line"
            if index > np.iinfo(np.int32).max:
                return f"line {number}: the index {index} is too large"
            before = index
    return ""


def _shown(part: bytes) -> str:
    return repr(part[:40].decode(errors="replace"))


def _check_finite(source: Source, X: Data, y: Floats) -> None:
    if not np.isfinite(y).all():
        raise source.error(f"row {int(np.isfinite(y).argmin()) + 1}: the label is not finite")
    if not np.isfinite(X.data).all():
        entry = int(np.isfinite(X.data).argmin())
        row = int(np.searchsorted(X.indptr, entry, side="right"))
        column = int(X.indices[entry]) + 1
        raise source.error(f"row {row}, feature {column}: {X.data[entry]} is not a finite number")
