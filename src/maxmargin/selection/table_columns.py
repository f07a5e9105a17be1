"""Columns of a table as numbers: which are categories, what is missing, standardised or ranked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.conventions import StrOptions, validate_parameters
from maxmargin.resources.arrays import Data, Floats, Labels, Mask, Numbers

# Ranks are read from so many quantiles: more follow the noise of single rows.
QUANTILES = 300
RARE = 5  # rows of a category below which it is one with the other rare ones
PREPARATIONS = ("standardised", "ranked", "both")
OTHER, MISSING = -1.0, -2.0  # codes: of rare categories and those not seen; of no category


class TableCodes(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """A frame or an array as floats: categories by their codes, missing numbers as NaN.

    Parameters
    ----------
    categorical : "from_dtype", or a list of names or numbers of columns, default="from_dtype"
        Which columns are categories: those that do not hold numbers; or those that are listed, as
        well.

    Attributes
    ----------
    categories_ : dict from the number of a column to its categories, in the order of their codes;
        those of fewer than RARE rows are not among them
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "categorical": [StrOptions({"from_dtype"}), "array-like"]
    }
    _validate_params = validate_parameters
    n_features_in_: int

    def __init__(
        self, categorical: Literal["from_dtype"] | Sequence[str | int] = "from_dtype"
    ) -> None:
        self.categorical = categorical

    def fit(self, X: Data, y: object = None) -> TableCodes:
        """Learn which columns are categories, and which categories there are.

        Parameters
        ----------
        X : DataFrame of pandas or polars, or array, of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._validate_params()
        columns = self._columns(X, reset=True)
        given = self._listed()
        self.categories_: dict[int, Labels] = {}
        for number, column in enumerate(columns):
            if number in given or as_numbers(column) is None:
                words, counts = np.unique(words_of(column[~missing(column)]), return_counts=True)
                self.categories_[number] = words[counts >= RARE]
        return self

    def transform(self, X: Data) -> Floats:
        """The columns as floats."""
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        coded = np.empty((len(columns[0]), len(columns)))
        for number, column in enumerate(columns):
            if number in self.categories_:
                coded[:, number] = codes(column, self.categories_[number])
                continue
            numbers = as_numbers(column)
            if numbers is None:
                bad = next(each for each in column[~missing(column)] if not is_number(each))
                raise ValueError(
                    f"column {self._name(number)!r} held numbers in training; now it has {bad!r}"
                )
            coded[:, number] = numbers
        if np.isinf(coded).any():
            place = int(np.isinf(coded).any(axis=0).argmax())
            raise ValueError(
                f"Input X contains infinity in column {self._name(place)!r}: take it out, or make "
                "it missing (NaN)"
            )
        return coded

    def _listed(self) -> set[int]:
        """The numbers of the columns that the user lists as categories."""
        if isinstance(self.categorical, str) and self.categorical == "from_dtype":
            return set()
        names = list(getattr(self, "feature_names_in_", ()))
        found = set()
        for each in self.categorical:
            if isinstance(each, str) and each in names:
                found.add(names.index(each))
            elif isinstance(each, int | np.integer) and 0 <= each < self.n_features_in_:
                found.add(int(each))
            else:
                raise ValueError(
                    f"categorical lists {each!r}, which is no name of a column, nor a number from "
                    f"0 to {self.n_features_in_ - 1}"
                )
        return found

    def _name(self, number: int) -> str:
        return str(getattr(self, "feature_names_in_", range(self.n_features_in_))[number])

    def _columns(self, X: Data, reset: bool) -> list[Labels]:
        """The columns as arrays of one line each."""
        if not hasattr(X, "columns") or not hasattr(X, "shape"):
            if isinstance(X, list) and any(isinstance(e, str) for row in X for e in np.ravel(row)):
                X = np.array(X, object)
            array = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=reset)
            if array.dtype.kind in "US":
                array = array.astype(object)
            return list(array.T)
        validate_data(self, X, skip_check_array=True, reset=reset)
        if 0 in X.shape:
            raise ValueError(
                f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) "
                f"(shape={X.shape}) while a minimum of 1 is required."
            )
        return [np.asarray(X[name]) for name in X.columns]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def missing(column: Labels) -> Mask:
    """Whether each value is missing: None, NaN, NaT or pandas' NA."""
    if column.dtype.kind != "O":
        return np.isnan(column) if column.dtype.kind in "fmM" else np.zeros(len(column), bool)
    words = ("nan", "<NA>", "NaT")
    return np.array(
        [e is None or (not isinstance(e, str) and str(e) in words) for e in column], bool
    )


def as_numbers(column: Labels) -> Floats | None:
    """The column as floats, missing values as NaN; None if it holds anything else."""
    if column.dtype.kind in "fiu":
        return column.astype(np.float64)
    if column.dtype.kind != "O":
        return None
    none = missing(column)
    if none.all() or not all(is_number(each) for each in column[~none]):
        return None
    numbers = np.full(len(column), np.nan)
    numbers[~none] = column[~none].astype(np.float64)
    return numbers


def is_number(value: object) -> bool:
    """Whether a value of an array of objects is a number."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def words_of(column: Labels) -> Labels:
    """The values of a column of categories: 1, 1.0 and True are one category, "1" is another."""
    numbers = as_numbers(column)
    if numbers is not None and len(column):
        return numbers.astype(str)
    return np.array([str(float(e)) if is_number(e) else f"'{e}'" for e in column], str)


def codes(column: Labels, categories: Labels) -> Floats:
    """The place of each value among the categories, OTHER or MISSING."""
    found = np.full(len(column), MISSING)
    there = ~missing(column)
    words = words_of(column[there])
    place = np.searchsorted(categories, words)
    place = np.minimum(place, max(len(categories) - 1, 0))
    known = categories[place] == words if len(categories) else np.zeros(len(words), bool)
    found[there] = np.where(known, place, OTHER)
    return found


def preparation(how: str, categories: Sequence[int], columns: int, rows: int) -> BaseEstimator:
    """Columns of `TableCodes` made ready for a kernel: numbers and categories side by side.

    Numbers are "standardised"; "ranked" (to quantiles, which are then standardised), which no
    monotone distortion changes; or "both", of which a learned metric chooses column by column.
    Missing numbers become the median, with a column that says where. Categories are one-hot.
    """
    # scikit-learn is slow to import these.
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler

    numbers = [number for number in range(columns) if number not in categories]
    filled = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    ranks = QuantileTransformer(n_quantiles=min(QUANTILES, rows), subsample=None)
    ways = {
        "standardised": make_pipeline(filled, StandardScaler()),
        "ranked": make_pipeline(filled, ranks, StandardScaler()),
    }
    parts = [(name, way, numbers) for name, way in ways.items() if how in (name, "both")]
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts.append(("categories", one_hot, list(categories)))
    return ColumnTransformer([part for part in parts if part[2]])


def origins(prepared: BaseEstimator, columns: int) -> Numbers:
    """The number of the column that each column of a fitted `preparation` was made from."""
    names = prepared.get_feature_names_out([f"c{number}c" for number in range(columns)])
    return np.array([int(re.findall(r"c(\d+)c", name)[0]) for name in names])
