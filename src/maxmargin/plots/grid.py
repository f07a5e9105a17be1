"""The plane on which a machine of two features is evaluated, as the machine wants it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def plane(X: Any, resolution: int) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """A grid over the points of X and a tenth around them: xx, yy, and its rows, like X."""
    points = np.asarray(X, float)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"a plane has two features; X has shape {points.shape}")
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.1 * (high - low)
    xx, yy = np.meshgrid(
        *(np.linspace(a, b, resolution) for a, b in zip(low - room, high + room, strict=True))
    )
    return xx, yy, like(np.column_stack([xx.ravel(), yy.ravel()]), X)


def like(rows: NDArray[Any], X: Any) -> Any:
    """`rows` as a frame with the columns of X, if X is one."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "iloc") else rows


def feature_names(X: Any) -> list[str]:
    """The names of the columns of a frame, else empty ones."""
    return [str(c) for c in X.columns] if hasattr(X, "columns") else [""] * np.shape(X)[1]
