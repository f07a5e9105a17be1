"""Partitions that are slices of arrays: in memory, or in a file through `numpy.memmap`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.resources.arrays import Data
from maxmargin.scale.partitions import Block, LocalPartitions, checked_block

ROWS = 1 << 16  # of a partition by default: 5 MB for ten columns


class ArrayPartitions(LocalPartitions):
    """Rows of an array, of a `numpy.memmap` or of a CSR matrix, some at a time.

    Of a memmap only the rows of two partitions are in memory. A memmap is not cut into partitions
    unless asked to, by this class: joblib hands memmaps of small arrays to its workers.

    Parameters
    ----------
    X : array, memmap or CSR of shape (n_samples, n_features)
    y : array or memmap of shape (n_samples,), or None
    sample_weight : array of shape (n_samples,), or None
    rows : int, default=65536
        Rows of a partition.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from maxmargin.datasets import moons
    >>> from maxmargin.scale import ArrayPartitions
    >>> X, y = moons(400)
    >>> clf = SVC().fit(ArrayPartitions(X, y, rows=100))
    >>> clf.certificate_.status.value, len(clf.support_) == len(SVC().fit(X, y).support_)
    ('converged', True)
    """

    def __init__(
        self,
        X: Data,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        rows: int = ROWS,
    ) -> None:
        if rows < 1:
            raise ValueError(f"a partition has at least one row, got rows={rows}")
        self.columns = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        self.X = X.to_numpy() if hasattr(X, "to_numpy") else X
        self.y = None if y is None else np.asanyarray(y)
        self.weights = None if sample_weight is None else np.asanyarray(sample_weight)
        for what, values in (("y", self.y), ("sample_weight", self.weights)):
            if values is not None and len(values) != self.X.shape[0]:
                raise ValueError(f"X has {self.X.shape[0]} rows, but {what} has {len(values)}")
        self.rows, self.labelled = rows, y is not None
        self.count = max(1, -(-self.X.shape[0] // rows))

    def name(self, number: int) -> str:
        return f"partition {number} (rows from {number * self.rows:,})"

    def block(self, number: int) -> Block:
        some = slice(number * self.rows, (number + 1) * self.rows)
        X, y, weights = (
            None if each is None else each[some] for each in (self.X, self.y, self.weights)
        )
        return checked_block(X, y, weights, self.name(number))
