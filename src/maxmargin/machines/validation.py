"""Input checks that name what is wrong and where."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight


def checked_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Sample weights as non-negative numbers; None stays None."""
    if sample_weight is None:
        return None
    weights = np.maximum(_check_sample_weight(sample_weight, X, dtype=np.float64), 0.0)
    if not weights.any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return weights


def check_finite(X: Any, name: str) -> None:
    """Raise the error that names the first NaN or infinity of X by row and column."""
    values = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    if sp.issparse(X):
        X = X.tocoo()
        k = int(np.flatnonzero(~np.isfinite(X.data))[0])
        row, column, value = X.row[k], X.col[k], X.data[k]
    else:
        row, column = np.argwhere(~np.isfinite(X))[0]
        value = X[row, column]
    what = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(
        f"Input X contains {what} (first at row {row}, column {column}). {name} needs finite "
        "values: impute or drop that row, for example with sklearn.impute.SimpleImputer"
    )


def is_numeric(X: Any) -> bool:
    """Whether X is, or can be read as, a table of numbers."""
    if sp.issparse(X) or hasattr(X, "columns"):
        return True
    X = np.asarray(X)
    return X.ndim == 2 and X.dtype.kind in "fiub"
