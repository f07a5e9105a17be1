"""Scores over partitions: sums that add up from block to block."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from maxmargin.resources.arrays import Data, Labels
from maxmargin.scale.partitions import Block, Partitions, Result

Predict = Callable[[Data], Labels]


def accuracy(data: Partitions, predict: Predict) -> Result:
    """The weighted share of rows whose label is predicted."""
    return data.combined(partial(_right, predict), _share)


def _right(predict: Predict, block: Block) -> tuple[float, float]:
    weights = block.weights_or_ones
    right = predict(block.X) == block.y if len(weights) else np.zeros(0)
    return float(weights @ right), float(weights.sum())


def _share(parts: list[tuple[float, float]]) -> float:
    right, total = np.sum(parts, axis=0)
    return float(right / total)


def r2(data: Partitions, predict: Predict) -> Result:
    """R² = 1 − Σw(y − f)² / Σw(y − ȳ)²."""
    return data.combined(partial(_squares, predict), _explained)


def _squares(predict: Predict, block: Block) -> tuple[float, float, float, float]:
    weights = block.weights_or_ones
    if not weights.any() or block.y is None:
        return 0.0, 0.0, 0.0, 0.0
    y = block.y.astype(float)
    mean = float(np.average(y, weights=weights))
    errors = float(weights @ (y - predict(block.X)) ** 2)
    return float(weights.sum()), mean, float(weights @ (y - mean) ** 2), errors


def _explained(parts: list[tuple[float, float, float, float]]) -> float:
    weight, means, spread, errors = np.array(parts).T
    mean = float(weight @ means / weight.sum())
    return float(1 - errors.sum() / (spread.sum() + weight @ (means - mean) ** 2))
