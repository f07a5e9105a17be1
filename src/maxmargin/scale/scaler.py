"""Columns standardised over partitions: their means and variances, joined from those of blocks."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn import preprocessing

from maxmargin.resources.arrays import Data, Floats
from maxmargin.scale.kinds import as_partitions
from maxmargin.scale.mapped import MappedPartitions
from maxmargin.scale.partitions import Block, Partitions
from maxmargin.scale.survey import check_finite


class StandardScaler(preprocessing.StandardScaler):
    """`sklearn.preprocessing.StandardScaler` that takes rows in partitions too.

    What it makes of partitions is partitions, of a collection of Dask a collection, computed where
    the rows are whenever they are needed; of an array, an array.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from maxmargin import LinearSVC
    >>> from maxmargin.datasets import moons
    >>> from maxmargin.scale import ArrayPartitions
    >>> X, y = moons(400)
    >>> model = make_pipeline(StandardScaler(), LinearSVC()).fit(ArrayPartitions(X, y, rows=100))
    >>> model[0].mean_.round(12).tolist() == X.mean(axis=0).round(12).tolist()
    True
    >>> model.score(X, y) > 0.8
    True
    """

    def fit(
        self, X: Data, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Mean and variance of each column, over all partitions."""
        if (data := as_partitions(X, None, sample_weight)) is None:
            super().fit(X, y, sample_weight)
            return self
        names = [data.name(number) for number in range(data.count)]
        parts = [each for each in data.map(_moments, self.with_mean, names) if each.weight]
        if not parts:
            raise ValueError("the partitions have no rows")
        weight = sum(part.weight for part in parts)
        mean = sum(part.weight * part.mean for part in parts) / weight
        spread = sum(part.weight * (part.variance + (part.mean - mean) ** 2) for part in parts)
        self._reset()
        self.n_features_in_ = len(mean)
        if data.columns is not None:
            self.feature_names_in_ = np.asarray(data.columns, dtype=object)
        self.n_samples_seen_ = weight
        self.mean_, self.var_, self.scale_ = mean, None, None
        if self.with_std:
            self.var_ = spread / weight
            # as scikit-learn has it: what varies by rounding alone is constant
            eps = weight * np.finfo(float).eps
            constant = self.var_ <= eps * self.var_ + (eps * mean) ** 2
            self.scale_ = np.sqrt(np.where(constant, 1.0, self.var_))
        return self

    def transform(self, X: Data, copy: bool | None = None) -> Any:
        """The standardised rows of X."""
        if isinstance(X, Partitions):
            return MappedPartitions(X, partial(_standardised, self))
        if as_partitions(X) is None:
            return super().transform(X, copy)
        if isinstance(X, list | tuple):
            from dask import delayed

            return [delayed(_values)(self, part) for part in X]
        X = X.to_dask_array() if hasattr(X, "to_dask_array") else X
        return X.rechunk({1: -1}).map_blocks(partial(_values, self), dtype=np.float64)


class _Moments(NamedTuple):
    weight: float
    mean: Floats
    variance: Floats


def _moments(block: Block, with_mean: bool, name: str) -> _Moments:
    """The weight of a block's rows, and mean and variance of its columns."""
    d = block.X.shape[1]
    if sp.issparse(block.X) and with_mean:
        raise ValueError(
            "sparse rows cannot be centred without filling them: pass with_mean=False, as to "
            "scikit-learn's StandardScaler"
        )
    if not block.X.shape[0]:
        return _Moments(0.0, np.zeros(d), np.zeros(d))
    check_finite(block._replace(y=None), name)
    weights = block.weights_or_ones
    total = float(weights.sum())
    scaler = preprocessing.StandardScaler(with_mean=with_mean)
    found = scaler.fit(block.X, None, block.weights) if total else None
    if found is None:
        return _Moments(0.0, np.zeros(d), np.zeros(d))
    return _Moments(total, np.asarray(found.mean_), np.asarray(found.var_))


def _values(scaler: StandardScaler, X: Data) -> Data:
    """The standardised numbers of a block of rows."""
    plain = X.to_numpy() if hasattr(X, "to_numpy") else X
    if not plain.shape[0]:
        return plain.astype(np.float64)
    middle = scaler.mean_ if scaler.with_mean else 0.0
    size: Floats = np.ones(plain.shape[1]) if scaler.scale_ is None else scaler.scale_
    if sp.issparse(plain):
        return sp.csr_array(plain.multiply(1 / size))
    return (plain - middle) / size


def _standardised(scaler: StandardScaler, block: Block) -> Block:
    return block._replace(X=_values(scaler, block.X))
