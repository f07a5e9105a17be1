"""Partitions that are parts of files: tables by `pyarrow.dataset`, LIBSVM text by ranges of bytes.

Of each file only two partitions are in memory: the one that is computed with, and the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from maxmargin.scale.partitions import Block, LocalPartitions, checked_block

PathLike = str | Path
MOST_COLUMNS = np.iinfo(np.int32).max - 1


class DatasetPartitions(LocalPartitions):
    """Rows of tables that `pyarrow.dataset` finds: a row group of Parquet is a partition.

    Parameters
    ----------
    path : path or URI of a file or a folder, or a sequence of them
        Such as "train/", "s3://bucket/train/" or "gs://bucket/rows.parquet". Folders named
        `key=value`, as Hive and Spark write them, are columns.
    label : str or None
        The column of the labels; None if there is none.
    weight : str or None
        The column of the sample weights.
    columns : sequence of str or None
        Those to learn from; all others by default.
    file_format : {"parquet", "csv", "arrow"}, default="parquet"
        Of the files. A file of CSV or Arrow is one partition.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> from maxmargin import SVR
    >>> from maxmargin.scale import DatasetPartitions
    >>> x = np.linspace(0, 6, 90)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pd.DataFrame({"x": x, "target": np.sin(x)})
    ...     table.to_parquet(f"{folder}/sine.parquet", row_group_size=30)
    ...     data = DatasetPartitions(f"{folder}/sine.parquet", "target")
    ...     data.count, SVR(gamma=1.0).fit(data).predict(pd.DataFrame({"x": [np.pi / 2]})).round(1)
    (3, array([0.9]))
    """

    def __init__(
        self,
        path: PathLike | Sequence[PathLike],
        label: str | None = None,
        *,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        file_format: str = "parquet",
    ) -> None:
        self.label, self.weight, self.labelled = label, weight, label is not None
        try:
            from pyarrow import ArrowInvalid, dataset
        except ImportError as error:
            raise ImportError("tables need pyarrow: pip install pyarrow") from error
        try:
            paths = [path] if isinstance(path, str | Path) else path
            options = {"format": file_format, "partitioning": "hive"}
            found = dataset.dataset([dataset.dataset(each, **options) for each in paths])
            self.parts = [
                part
                for file in found.get_fragments()
                for part in (file.split_by_row_group() if file_format == "parquet" else [file])
            ]
        except ArrowInvalid as error:
            raise ValueError(
                f"{path} cannot be read as {file_format}, a file may have been cut short: {error}"
            ) from error
        if not self.parts:
            raise ValueError(f"{path} has no rows: no file, or none with a row group")
        self.count, self.schema = len(self.parts), found.schema
        there = found.schema.names
        missing = {*(columns or ()), *filter(None, (label, weight))} - {*there}
        if missing:
            raise ValueError(
                f"{path} has no column {', '.join(sorted(missing))}; it has {', '.join(there)}"
            )
        self.columns = list(columns or [each for each in there if each not in (label, weight)])

    def name(self, number: int) -> str:
        part = self.parts[number]
        groups = "".join(f", row group {each.id}" for each in getattr(part, "row_groups", ()))
        return f"partition {number} ({part.path}{groups})"

    def block(self, number: int) -> Block:
        from pyarrow.dataset import get_partition_keys

        part = self.parts[number]
        wanted = [*(self.columns or ()), *filter(None, (self.label, self.weight))]
        own = {*part.physical_schema.names, *get_partition_keys(part.partition_expression)}
        if missing := {*wanted} - own:
            raise ValueError(f"{self.name(number)} has no column {', '.join(sorted(missing))}")
        try:
            table = part.to_table(schema=self.schema, columns=wanted)
        except (OSError, ValueError) as error:  # those of pyarrow are of these kinds
            raise ValueError(f"{self.name(number)} cannot be read: {error}") from error
        lines = {each: table[each].to_numpy() for each in wanted}
        X = np.column_stack([lines[each] for each in self.columns or ()])
        y = None if self.label is None else lines[self.label]
        weights = None if self.weight is None else lines[self.weight]
        return checked_block(X, y, weights, self.name(number))


class LibsvmPartitions(LocalPartitions):
    r"""Rows of a text in LIBSVM's format, read some at a time, as CSR.

    Parameters
    ----------
    path : path of the file
    n_features : int or None
        Number of columns; None reads the text once to find it.
    megabytes : float, default=16
        Of text, in a partition.
    zero_based : bool, default=False
        Whether the first column is called 0 and not 1.

    Examples
    --------
    >>> import tempfile
    >>> from maxmargin import SVC
    >>> from maxmargin.scale import LibsvmPartitions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "four.svm"
    ...     _ = file.write_text("1 1:1\n-1 2:1\n1 1:2\n-1 2:2\n")
    ...     SVC(kernel="linear").fit(LibsvmPartitions(file)).predict([[3.0, 0.0]])
    array([1.])
    """

    def __init__(
        self,
        path: PathLike,
        *,
        n_features: int | None = None,
        megabytes: float = 16,
        zero_based: bool = False,
    ) -> None:
        self.path, self.zero_based = Path(path), zero_based
        self.length = max(1, int(megabytes * 2**20))
        self.count = max(1, -(-self.path.stat().st_size // self.length))
        self.width = MOST_COLUMNS if n_features is None else n_features
        if n_features is None:
            stored = (self.block(number).X.indices for number in range(self.count))
            self.width = 1 + max(int(columns.max(initial=0)) for columns in stored)

    def name(self, number: int) -> str:
        return f"partition {number} ({self.path}, from byte {number * self.length:,})"

    def block(self, number: int) -> Block:
        from sklearn.datasets import load_svmlight_file

        try:
            X, y = load_svmlight_file(
                str(self.path),
                n_features=self.width,
                zero_based=self.zero_based,
                offset=number * self.length,
                length=self.length,
            )
        except ValueError as error:
            raise ValueError(f"{self.name(number)} is not LIBSVM's format: {error}") from error
        return checked_block(sp.csr_array(X), y, None, self.name(number))
