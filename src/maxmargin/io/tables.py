"""Reading rows out of a file of whatever kind.

CSV, TSV, Parquet and Arrow are read by pyarrow, arrays by NumPy, LIBSVM text by scikit-learn. What
cannot be learned from is refused by its name: a missing value by row and column, a column of dates,
a number among text. Rows are counted from 1, without the header.
"""

from __future__ import annotations

from pathlib import Path

from maxmargin.io.arrays import plain_labels, read_arrays
from maxmargin.io.arrow import read_arrow
from maxmargin.io.libsvm_text import read_libsvm
from maxmargin.io.rows import Reading, Rows
from maxmargin.io.sources import Source, open_source

PLAINLY = Reading()


def read_rows(path: str | Path, how: Reading = PLAINLY) -> Rows:
    r"""Read a file of data.

    Parameters
    ----------
    path : path, or "-" for standard input
        CSV, TSV, Parquet, Arrow (also Feather), .npy, .npz (arrays X and y) or LIBSVM text, by
        its content or name; each may be compressed by gzip, bzip2, xz or zstd.
    how : Reading

    Raises
    ------
    DataFileError
        If the file cannot be learned from as it is: where, and what to do.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "fruit.csv"
    >>> _ = path.write_text("weight,colour,fruit\n120,green,pear\n150,red,apple\n")
    >>> rows = read_rows(path)
    >>> rows.names, rows.text, rows.target, rows.y.tolist()
    (['weight', 'colour'], ('colour',), 'fruit', ['pear', 'apple'])
    """
    source = open_source(path)
    if source.kind == "libsvm":
        return read_lines(source, how)
    if source.kind in ("npy", "npz"):
        return read_arrays(source, how)
    return read_arrow(source, how)


def read_lines(source: Source, how: Reading) -> Rows:
    """The rows of LIBSVM's text."""
    count = how.schema.count if how.schema else None
    X, y = read_libsvm(source, n_features=count, zero_based=how.zero_based)
    return Rows(source.name, X, plain_labels(y), "the label")
