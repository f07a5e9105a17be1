"""The grid on which a machine of two features is evaluated, in the type of its training data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.resources.arrays import Data


def plane(X: Data, resolution: int, room: float = 0.1) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """A grid over the points of X and a share of their range around them.

    Returns xx, yy, and the same points as rows in the type of X.
    """
    points = np.asarray(X, float)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"a plane has two features; X has shape {points.shape}")
    low, high = points.min(axis=0), points.max(axis=0)
    around = room * (high - low)
    xx, yy = np.meshgrid(
        *(np.linspace(a, b, resolution) for a, b in zip(low - around, high + around, strict=True))
    )
    return xx, yy, like(np.column_stack([xx.ravel(), yy.ravel()]), X)


def like(rows: NDArray[Any], X: Data) -> Any:
    """`rows` as a frame with the columns of X, if X is one."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "iloc") else rows


def feature_names(X: Data) -> list[str]:
    """The names of the columns of a frame, else empty ones."""
    return [str(c) for c in X.columns] if hasattr(X, "columns") else [""] * np.shape(X)[1]
