"""Partitions that are written once and read again in every round."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from weakref import finalize

import numpy as np
import scipy.sparse as sp

from maxmargin.resources.arrays import Data, Labels
from maxmargin.scale.partitions import Block, LocalPartitions, checked_block


class KeptPartitions(LocalPartitions):
    """Blocks of rows in a file without a name: it is gone when the process ends, however it ends.

    Parameters
    ----------
    folder : path
        On whose disk the file lies.
    columns : sequence of str or None
        Names of the columns.

    Examples
    --------
    >>> from tempfile import gettempdir
    >>> data = KeptPartitions(gettempdir())
    >>> data.add(np.eye(2), np.array([0, 1]))
    >>> data.count, data.block(0).y
    (1, array([0, 1]))
    """

    def __init__(self, folder: str | Path, columns: Sequence[str] | None = None) -> None:
        self.columns = columns
        self.count = self.rows = self.width = 0
        with ExitStack() as opened:
            self._file = opened.enter_context(TemporaryFile(dir=folder))
            finalize(self, opened.pop_all().close)
        self._lock = Lock()
        self._places = list[tuple[int, bool]]()

    def add(self, X: Data, y: Labels | None = None) -> None:
        """Append a block. A later one of CSR may have more columns."""
        sparse = bool(sp.issparse(X))
        parts = [X.data, X.indices, X.indptr] if sparse else [X]
        with self._lock:
            self._places.append((self._file.seek(0, 2), sparse))
            for part in [*parts, *([] if y is None else [y])]:
                np.save(self._file, part, allow_pickle=False)
        self.labelled = y is not None
        self.count, self.rows = self.count + 1, self.rows + X.shape[0]
        self.width = max(self.width, X.shape[1])

    def name(self, number: int) -> str:
        return f"partition {number}"

    def block(self, number: int) -> Block:
        place, sparse = self._places[number]
        with self._lock:
            self._file.seek(place)
            parts = [np.load(self._file) for _ in range(3 if sparse else 1)]
            y = np.load(self._file) if self.labelled else None
        X = parts[0]
        if sparse:
            data, indices, indptr = parts
            X = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, self.width))
        return checked_block(X, y, None, self.name(number))
