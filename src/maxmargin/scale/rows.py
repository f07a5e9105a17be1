"""Some rows of the partitions, brought to one place: support vectors and violators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from maxmargin.resources.arrays import Data, Floats, Labels, Numbers


@dataclass(frozen=True)
class RowSet:
    """Some of all rows, with what belongs to them.

    Attributes
    ----------
    numbers : of the rows, counted over all partitions
    X : array or CSR
    y : labels or targets, or None
    weights : sample weights, or None
    """

    numbers: Numbers
    X: Data
    y: Labels | None
    weights: Floats | None

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, some: Numbers) -> RowSet:
        """Some of the rows, in this order."""
        y, weights = (None if each is None else each[some] for each in (self.y, self.weights))
        return RowSet(self.numbers[some], self.X[some], y, weights)

    @property
    def weights_or_ones(self) -> Floats:
        """The weight of each row."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def nbytes(self) -> int:
        """Bytes that the rows take."""
        return bytes_of(self.X) + self.numbers.nbytes

    @classmethod
    def joined(cls, parts: Sequence[RowSet]) -> RowSet:
        """All rows, sorted by their numbers."""
        numbers = np.concatenate([part.numbers for part in parts])
        X = [part.X for part in parts]
        stacked = sp.csr_array(sp.vstack(X, format="csr")) if sp.issparse(X[0]) else np.vstack(X)
        labels = [part.y for part in parts if part.y is not None]
        y = np.concatenate(labels) if labels else None
        weights = None
        if parts[0].weights is not None:
            weights = np.concatenate([part.weights_or_ones for part in parts])
        return cls(numbers, stacked, y, weights).take(numbers.argsort())


def bytes_of(X: Data) -> int:
    """Bytes that the entries of some rows take."""
    return int(X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes)
