"""Input checks that name what is wrong and where."""

from __future__ import annotations

import math
import sys
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d, compute_class_weight
from sklearn.utils.extmath import row_norms
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from maxmargin.conventions import sample_weights, take_rows
from maxmargin.gram.data_matrix import canonical
from maxmargin.resources.arrays import Data, Floats, Labels, Mask, Numbers

WORDS = 1000  # rows of a column that are looked at: what a user sees at its beginning


def checked_weights(sample_weight: ArrayLike | None, X: Data) -> Floats | None:
    """Sample weights as non-negative numbers; None stays None."""
    if sample_weight is None:
        return None
    check_finite_target(sample_weight, "sample_weight")
    weights: Floats = np.maximum(sample_weights(sample_weight, X), 0.0)
    if not weights.any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return weights


def checked_data(
    estimator: Any,
    X: Data,
    y: ArrayLike | None = "no_validation",
    *,
    y_numeric: bool = False,
    multi_output: bool = False,
    reset: bool = True,
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
        try:
            checked = validate_data(
                estimator,
                X,
                "no_validation" if plain else y,  # plain targets are checked already
                reset=reset,
                skip_check_array=False,
                accept_sparse="csr",
                accept_large_sparse=True,
                dtype=[np.float64, np.float32],
                order="C",
                ensure_all_finite=False,
                **(
                    {}
                    if plain or isinstance(y, str)
                    else {"y_numeric": y_numeric, "multi_output": multi_output}
                ),
            )
        except ValueError as error:
            check_text(X, type(estimator).__name__, error)
            raise
    if isinstance(checked, tuple):
        checked, y = checked
    elif isinstance(y, np.ndarray) and plain and y.size != checked.shape[0]:
        check_consistent_length(checked, y)  # which says what is wrong
    checked = canonical(checked)
    check_finite(checked, type(estimator).__name__)
    return checked if isinstance(y, str) else (checked, y)


def check_text(X: Data, name: str, cause: ValueError) -> None:
    """Raise the error that names the first column of words, if there is one."""
    if not hasattr(X, "shape"):
        X = np.array(X, dtype=object)
    if sp.issparse(X) or len(X.shape) != 2:
        return
    columns = list(getattr(X, "columns", range(X.shape[1])))
    for column, values in zip(columns, np.asarray(take_rows(X, slice(0, WORDS))).T, strict=True):
        words = [str(each) for each in values if isinstance(each, str) and not is_number(each)]
        if words:
            raise ValueError(
                f"could not convert string to float: column {column!r} of X holds text, such as "
                f"{words[0]!r}, and {name} takes numbers. OneHotEncoder makes numbers of it: "
                f"make_column_transformer((OneHotEncoder(), [{column!r}]), "
                "remainder='passthrough')"
            ) from cause


def is_number(word: str) -> bool:
    """Whether a word can be read as a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def is_ready(estimator: Any, X: Data, reset: bool) -> bool:
    """Whether X is an array that scikit-learn's slower validation would return unchanged."""
    if type(X) is not np.ndarray or X.dtype not in (np.float64, np.float32):
        return False
    if X.ndim != 2 or X.size == 0 or not X.flags.c_contiguous:
        return False
    return reset or (
        estimator.n_features_in_ == X.shape[1] and not hasattr(estimator, "feature_names_in_")
    )


def targets_of(y: ArrayLike) -> Floats:
    """Numbers to predict, of one line or of several columns; one column is one line."""
    if sp.issparse(y):
        raise TypeError("y is sparse: targets are a dense array, y.toarray()")
    given = np.asarray(y)
    if given.ndim > 2:
        raise ValueError(f"y has the shape {given.shape}: give (rows,) or (rows, targets)")
    if given.ndim < 2 or given.shape[1] == 1:
        given = column_or_1d(given, warn=True)
    targets: Floats = given.astype(np.float64, copy=False)
    return targets


def class_numbers(y: ArrayLike) -> tuple[Labels, Numbers]:
    """The classes, and the number of each row's class."""
    given: Labels = np.asarray(y)
    whole = is_whole(given)  # a line of whole numbers is one of classes
    if not whole:
        given = column_or_1d(given, warn=True)
        check_classification_targets(given)
    n = len(given)
    low, high = (float(given.min()), float(given.max())) if whole and n else (0.0, np.inf)
    labels: Numbers
    if high - low <= n and max(-low, high) < 2**53:  # few enough to count: no need to sort
        places = given.astype(np.int64) - int(low)
        counts = np.bincount(places)
        (there,) = counts.nonzero()
        classes = (there + int(low)).astype(given.dtype)
        labels = places if len(there) == len(counts) else np.searchsorted(there, places)
    else:
        classes, labels = np.unique(given, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            "The number of classes has to be greater than one; got "
            f"{len(classes)} class ({classes.tolist()[0]!r})"
        )
    return classes, labels


def is_whole(y: Labels) -> bool:
    """Whether y is a line of whole numbers, of whatever dtype."""
    if y.dtype.kind == "f":
        return y.ndim == 1 and bool((y == np.rint(y)).all())
    return y.ndim == 1 and y.dtype.kind in "iub"


def class_weights(
    class_weight: Any, classes: Labels, labels: Numbers, counts: Floats | Mask | None = None
) -> Floats:
    """The weight of each class; 1 without scikit-learn's slower function for None.

    `labels` are the numbers of the rows' classes, `counts` how often each row counts; None once.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if class_weight == "balanced":
        return balanced_weights(np.bincount(labels, counts, len(classes)).astype(float))
    known = set(classes.tolist())
    unknown = [name for name in class_weight if name not in known]
    if unknown and not known <= {*class_weight}:
        raise ValueError(
            f"class_weight has the key {unknown[0]!r}, which is no class; the classes are "
            f"{classes.tolist()}"
        )
    weights: Floats = compute_class_weight(class_weight, classes=classes, y=classes)
    return finite_class_weights(classes, weights)


def finite_class_weights(classes: Labels, weights: Floats) -> Floats:
    """The weights, or the error that names the first that is none."""
    wrong = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if len(wrong):
        raise ValueError(
            f"class_weight of class {classes.tolist()[wrong[0]]!r} is {weights[wrong[0]]:g}: the "
            "weight of a class is a finite number, and not negative"
        )
    return weights


def balanced_weights(sizes: Floats) -> Floats:
    """Rows / (classes · rows of the class), from the rows of each; a class without rows is none."""
    there: Floats = np.where(sizes > 0, sizes, np.inf)
    return np.where(sizes > 0, sizes.sum() / (np.count_nonzero(sizes) * there), 1.0)


def declared_classes(estimator: Any, classes: ArrayLike | None) -> tuple[Labels, Floats]:
    """All classes that blocks of rows will have, and their weights.

    The first call of `partial_fit` must name them; later ones may, if they are the same.
    """
    if estimator.class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' needs all labels at once; give partial_fit the weights "
            "as a dict"
        )
    before = getattr(estimator, "classes_", None)
    if classes is None and before is None:
        raise ValueError(
            "classes must be passed on the first call to partial_fit: all labels there will be"
        )
    known: Labels = np.unique(np.asarray(before if classes is None else classes))
    if before is not None and not np.array_equal(known, before):
        raise ValueError(
            f"classes={known.tolist()} are not those of the first call, {before.tolist()}"
        )
    given = estimator.class_weight or {}
    weights = np.array([float(given.get(name, 1)) for name in known.tolist()])
    return known, finite_class_weights(known, weights)


def known_labels(classes: Labels, y: ArrayLike) -> Numbers:
    """The number of each row's class, among classes that were declared."""
    given: Labels = column_or_1d(y, warn=True)
    labels = np.searchsorted(classes, given).clip(max=len(classes) - 1)
    unknown = np.flatnonzero(classes[labels] != given)
    if len(unknown):
        raise ValueError(
            f"row {unknown[0]} has the label {given[unknown[0]]}, which is not among the classes "
            f"{classes.tolist()}"
        )
    return labels


def check_two_classes(labels: Numbers, class_weight: Floats, sample_weight: Floats | None) -> None:
    """Raise if weights of zero leave no two classes."""
    if sample_weight is None and class_weight.all():
        return
    weights = class_weight[labels] * (1.0 if sample_weight is None else sample_weight)
    if len(np.unique(labels[weights > 0])) < 2:
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


def can_draw() -> bool:
    """Whether a progress bar can be drawn; warns if it cannot."""
    there = find_spec("rich") is not None
    if not there:
        warn("verbose draws a progress bar, which needs rich: pip install 'maxmargin[cli]'")
    return there


def check_finite(X: Data, name: str) -> None:
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


def check_finite_target(y: ArrayLike | None, name: str = "y") -> None:
    """Raise the error that names the first NaN or infinity of y, or of weights, by its row."""
    y = np.asarray(y)
    if y.ndim and y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.argwhere(~np.isfinite(y))[0, 0])
        what = "NaN" if np.isnan(y[row]).any() else "infinity"
        raise ValueError(f"Input {name} contains {what} (first at row {row})")


def check_diagonal(diagonal: Floats) -> None:
    """Raise the error that names the first row whose k(x, x) is not finite: then no k(x, ·) is."""
    if not np.isfinite(diagonal).all():
        row = int(np.flatnonzero(~np.isfinite(diagonal))[0])
        raise ValueError(
            f"the kernel of row {row} with itself is {diagonal[row]}: the values are too large "
            "for this kernel. Scale the data, or lower gamma or degree"
        )


def is_numeric(X: Data) -> bool:
    """Whether X is, or can be read as, a table of numbers."""
    if sp.issparse(X) or hasattr(X, "columns"):
        return True
    X = np.asarray(X)
    return X.ndim == 2 and X.dtype.kind in "fiub"
