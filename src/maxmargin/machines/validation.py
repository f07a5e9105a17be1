"""Input checks that name what is wrong and where."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_consistent_length, column_or_1d, compute_class_weight
from sklearn.utils.extmath import row_norms
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data


def checked_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Sample weights as non-negative numbers; None stays None."""
    if sample_weight is None:
        return None
    weights = np.maximum(_check_sample_weight(sample_weight, X, dtype=np.float64), 0.0)
    if not weights.any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return weights


def checked_data(
    estimator: Any, X: Any, y: Any = "no_validation", *, y_numeric: bool = False, reset: bool = True
) -> Any:
    """X (and y) as finite arrays, kept in float32 or float64, or an error that says where not."""
    check_finite_target(y)
    plain = isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "fiub"
    if (plain or isinstance(y, str)) and is_ready(estimator, X, reset):
        estimator.n_features_in_ = X.shape[1]
        if reset:
            estimator.__dict__.pop("feature_names_in_", None)
        checked = X
    else:
        checked = validate_data(
            estimator,
            X,
            "no_validation" if plain else y,  # there is nothing left to check
            reset=reset,
            skip_check_array=False,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            **({} if plain or isinstance(y, str) else {"y_numeric": y_numeric}),
        )
    if plain:
        if len(y) != checked.shape[0]:
            check_consistent_length(checked, y)  # which says what is wrong
        checked = checked, y
    check_finite(checked if isinstance(y, str) else checked[0], type(estimator).__name__)
    return checked


def is_ready(estimator: Any, X: Any, reset: bool) -> bool:
    """Whether X is an array in which scikit-learn, which takes its time, would change nothing."""
    if type(X) is not np.ndarray or X.dtype not in (np.float64, np.float32):
        return False
    if X.ndim != 2 or X.size == 0 or not X.flags.c_contiguous:
        return False
    return reset or (
        estimator.n_features_in_ == X.shape[1] and not hasattr(estimator, "feature_names_in_")
    )


def class_numbers(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes, and the number of each row's class."""
    y = np.asarray(y)
    whole = is_whole(y)  # a line of whole numbers is one of classes
    if not whole:
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
    low, high = (float(y.min()), float(y.max())) if whole and len(y) else (0.0, np.inf)
    if high - low <= len(y) and max(-low, high) < 2**53:  # few enough to count: no need to sort
        places = y.astype(np.int64) - int(low)
        counts = np.bincount(places)
        (there,) = counts.nonzero()
        classes = (there + int(low)).astype(y.dtype)
        labels = places if len(there) == len(counts) else np.searchsorted(there, places)
    else:
        classes, labels = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            "The number of classes has to be greater than one; got "
            f"{len(classes)} class ({classes.tolist()[0]!r})"
        )
    return classes, labels


def is_whole(y: np.ndarray) -> bool:
    """Whether y is a line of whole numbers, of whatever dtype."""
    if y.dtype.kind == "f":
        return y.ndim == 1 and bool((y == np.rint(y)).all())
    return y.ndim == 1 and y.dtype.kind in "iub"


def class_weights(class_weight: Any, classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The weight of each class; scikit-learn's function is slow to find that all are 1."""
    if class_weight is None:
        return np.ones(len(classes))
    return compute_class_weight(class_weight, classes=classes, y=y)


def refuse_balanced(class_weight: Any) -> None:
    """Raise if class weights are to be found from labels that come block by block."""
    if class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' needs all labels at once; give partial_fit the weights "
            "as a dict"
        )


def check_two_classes(labels: np.ndarray, sample_weight: np.ndarray | None) -> None:
    """Raise if weights of zero leave only one class."""
    if sample_weight is not None and len(np.unique(labels[sample_weight > 0])) == 1:
        raise ValueError(
            "Invalid input - all samples with positive weights belong to the same class."
        )


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn about the line that called us: the first outside this package and `sklearn.base`."""
    frame, level = sys._getframe(1), 2
    inner = ("maxmargin.", "sklearn.base")
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(inner):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def check_finite(X: Any, name: str) -> None:
    """Raise the error that names the first NaN, infinity or overflowing row of X.

    Every kernel squares its input: a row whose squared norm overflows has no kernel values.
    """
    values = X.data if sp.issparse(X) else X
    most = float(np.finfo(X.dtype).max) / 8  # with room for ‖x‖² + ‖z‖² − 2xᵀz
    each = math.sqrt(most / X.shape[1])
    if values.max(initial=0) < each and values.min(initial=0) > -each:
        return  # no row of such entries overflows
    with np.errstate(over="ignore", invalid="ignore"):
        norms = row_norms(X, squared=True)
    too_large = ~(norms < most)
    if not too_large.any():
        return
    row = int(np.flatnonzero(too_large)[0])
    values = X[[row]].toarray()[0] if sp.issparse(X) else X[row]
    if np.isfinite(values).all():
        raise ValueError(
            f"row {row} of X is too large: its squared norm overflows {X.dtype}. Scale the data, "
            "for example with sklearn.preprocessing.StandardScaler"
        )
    column = int(np.flatnonzero(~np.isfinite(values))[0])
    what = "NaN" if np.isnan(values[column]) else "infinity"
    raise ValueError(
        f"Input X contains {what} (first at row {row}, column {column}). {name} needs finite "
        "values: impute or drop that row, for example with sklearn.impute.SimpleImputer"
    )


def check_finite_target(y: Any) -> None:
    """Raise the error that names the first NaN or infinity of y by its row."""
    y = np.asarray(y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.argwhere(~np.isfinite(y))[0, 0])
        what = "NaN" if np.isnan(y[row]).any() else "infinity"
        raise ValueError(f"Input y contains {what} (first at row {row})")


def check_diagonal(diagonal: np.ndarray) -> None:
    """Raise the error that names the first row whose k(x, x) is not finite: then no k(x, ·) is."""
    if not np.isfinite(diagonal).all():
        row = int(np.flatnonzero(~np.isfinite(diagonal))[0])
        raise ValueError(
            f"the kernel of row {row} with itself is {diagonal[row]}: the values are too large "
            "for this kernel. Scale the data, or lower gamma or degree"
        )


def is_numeric(X: Any) -> bool:
    """Whether X is, or can be read as, a table of numbers."""
    if sp.issparse(X) or hasattr(X, "columns"):
        return True
    X = np.asarray(X)
    return X.ndim == 2 and X.dtype.kind in "fiub"
