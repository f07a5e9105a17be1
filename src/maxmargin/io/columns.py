"""From columns to features: numbers standardised, text one-hot, all kept in the model.

A model for a table is a scikit-learn pipeline: a StandardScaler, or a ColumnTransformer of one and
of a OneHotEncoder where there is text, each behind a SimpleImputer if it is asked for, then the
machine. So the mapping travels with the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from maxmargin.io.arrow import dense
from maxmargin.io.rows import Rows, Schema

if TYPE_CHECKING:
    from maxmargin.io.rows import Features


def prepared(
    machine: BaseEstimator,
    rows: Rows,
    *,
    scale: bool,
    unknown: str = "error",
    missing: str | None = None,
) -> BaseEstimator:
    """The machine behind what the rows need: scaling of dense numbers, one-hot columns for text.

    `unknown` says what a value of text that is not in these rows is later: an "error", or no column
    at all ("ignore"). `missing` says whether missing values are "filled" in, by the median of
    numbers and the most frequent text, or that with an "indicator" of where they were.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVC
    >>> prepared(SVC(), Rows("data", np.eye(2), np.array([0, 1])), scale=True)
    Pipeline(steps=[('scale', StandardScaler()), ('machine', SVC())])
    """
    scaler = [("scale", StandardScaler())] if scale and not sp.issparse(rows.X) else []
    encoder = [("encode", OneHotEncoder(handle_unknown=unknown))]
    if missing is not None and not sp.issparse(rows.X):
        from sklearn.impute import SimpleImputer  # slow to import

        median = SimpleImputer(strategy="median", add_indicator=missing == "indicator")
        common = SimpleImputer(missing_values=None, strategy="most_frequent")
        scaler, encoder = [("fill", median), *scaler], [("fill", common), *encoder]
    if not rows.text:
        return Pipeline([*scaler, ("machine", machine)]) if scaler else machine
    # "passthrough" takes no Arrow table
    scaler = scaler or [("leave", StandardScaler(with_mean=False, with_std=False))]
    numbers = [name for name in rows.names or () if name not in rows.text]
    parts = [("numbers", scaler, numbers), ("text", encoder, list(rows.text))]
    from sklearn.compose import ColumnTransformer  # slow to import

    columns = ColumnTransformer(
        [
            (name, Pipeline(steps) if len(steps) > 1 else steps[0][1], some)
            for name, steps, some in parts
            if some
        ]
    )
    return Pipeline([("columns", columns), ("machine", machine)])


def machine_of(model: BaseEstimator) -> BaseEstimator:
    """The machine itself, of a model that may be a pipeline, or have chosen one."""
    last = model[-1] if isinstance(model, Pipeline) else model
    return getattr(last, "best_estimator_", last)


def schema_of(model: BaseEstimator) -> Schema:
    """The columns that a fitted model expects."""
    names = getattr(model, "feature_names_in_", None)
    text: dict[str, Sequence[str]] = {}
    unknown = False
    if isinstance(model, Pipeline) and hasattr(model[0], "transformers_"):
        for name, encoder, columns in model[0].transformers_:
            last = encoder[-1] if isinstance(encoder, Pipeline) else encoder
            if name == "text":
                unknown = last.handle_unknown == "ignore"
                for column, values in zip(columns, last.categories_, strict=True):
                    text[str(column)] = [str(value) for value in values]
    return Schema(
        int(model.n_features_in_),
        None if names is None else [str(name) for name in names],
        text,
        unknown,
        _fills(model),
    )


def _fills(model: BaseEstimator) -> bool:
    """Whether a model fills missing values in."""
    first = model[0] if isinstance(model, Pipeline) else model
    parts = [each for _, each, _ in getattr(first, "transformers_", [("", first, ())])]
    firsts = [each[0] if isinstance(each, Pipeline) else each for each in parts]
    return any(type(each).__name__ == "SimpleImputer" for each in firsts)


def features_for(model: BaseEstimator, rows: Rows) -> Features:
    """X as the model takes it: dense if it was trained on dense rows.

    A model that does not choose its columns by name takes an array: the reader has put them in
    order, and scikit-learn is slow to take a table apart.
    """
    if not sp.issparse(rows.X):
        by_name = isinstance(model, Pipeline) and hasattr(model[0], "transformers_")
        return rows.X if by_name or isinstance(rows.X, np.ndarray) else dense(rows.X)
    vectors = getattr(machine_of(model), "support_vectors_", rows.X)
    if isinstance(model, Pipeline) or not sp.issparse(vectors):
        return rows.X.toarray()
    return rows.X
