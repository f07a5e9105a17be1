"""A first look at all partitions: are they fit to train on, and what is known of them as a whole.

The mean and the variance of all entries, which γ = "scale" needs, are joined from those of the
partitions: with totals w_k, means m_k and variances v_k, W = Σw_k,

    m = Σ w_k m_k / W,    v = Σ w_k (v_k + (m_k − m)²) / W.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels.gamma import gamma_from, moments
from maxmargin.resources.arrays import Floats, Labels, Numbers
from maxmargin.scale.partitions import Block, Partitions
from maxmargin.scale.rows import bytes_of


class Summary(NamedTuple):
    """What is known of one partition."""

    rows: int
    columns: int
    names: tuple[str, ...] | None
    dtype: str
    sparse: bool
    y: str
    nbytes: int
    weight: float
    mean: float
    variance: float
    labels: Labels
    counts: Floats
    masses: Floats


@dataclass(frozen=True)
class Survey:
    """What is known of all partitions together.

    Attributes
    ----------
    lengths : rows of each partition
    columns : number of columns
    names : of the columns, if the partitions are tables
    classes : the labels there are, if they were asked for
    counts, masses : rows of each class that have a weight, and the sum of their weights
    mean, variance : of all entries
    row_bytes : mean bytes of a row
    """

    lengths: Numbers
    columns: int
    names: tuple[str, ...] | None
    classes: Labels
    counts: Floats
    masses: Floats
    mean: float
    variance: float
    row_bytes: float

    @property
    def rows(self) -> int:
        """Number of rows of all partitions."""
        return int(self.lengths.sum())

    @property
    def starts(self) -> Numbers:
        """The number of each partition's first row."""
        return np.concatenate([[0], np.cumsum(self.lengths)])[:-1].astype(np.int64)

    def gamma(self, rule: str) -> float:
        """γ of a rule, as on all rows at once."""
        if rule == "auto":
            return 1.0 / self.columns
        return gamma_from(self.columns, self.mean, self.variance)


def survey(partitions: Partitions, *, classes: bool, labels: bool = True) -> Survey:
    """Look at every partition once; raise the error that names the first that is not in order.

    Parameters
    ----------
    classes : whether labels are classes, to be counted, or numbers
    labels : whether there are any to look at
    """
    names = [partitions.name(number) for number in range(partitions.count)]
    parts: list[Summary] = partitions.map(_summary, (classes, labels), names)
    there = [k for k, part in enumerate(parts) if part.rows]
    if not there:
        raise ValueError("the partitions have no rows")
    first = there[0]
    for k in there:
        for what in ("columns", "names", "dtype", "sparse", "y"):
            own, wanted = getattr(parts[k], what), getattr(parts[first], what)
            if own != wanted:
                raise ValueError(
                    f"{names[k]} differs from {names[first]}: {what} is {own}, not {wanted}; "
                    "all partitions need the same columns of the same dtype, and like labels"
                )
    known = [parts[k] for k in there]
    weight = sum(part.weight for part in known)
    if weight <= 0:
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    mean = sum(part.weight * part.mean for part in known) / weight
    spread = sum(part.weight * (part.variance + (part.mean - mean) ** 2) for part in known)
    empty: tuple[Labels, Floats, Floats] = np.zeros(0), np.zeros(0), np.zeros(0)
    found, counts, masses = _counted(known) if classes else empty
    lengths = np.array([part.rows for part in parts])
    each = sum(part.nbytes for part in known) / sum(part.rows for part in known)
    shape = lengths, known[0].columns, known[0].names
    return Survey(*shape, found, counts, masses, mean, spread / weight, each)


def _counted(parts: Sequence[Summary]) -> tuple[Labels, Floats, Floats]:
    labels = np.concatenate([part.labels for part in parts])
    classes, places = np.unique(labels, return_inverse=True)
    counts, masses = (
        np.bincount(places, np.concatenate(each)).astype(float)
        for each in ([part.counts for part in parts], [part.masses for part in parts])
    )
    if len(classes) < 2:
        raise ValueError(
            "The number of classes has to be greater than one; got "
            f"{len(classes)} class ({classes.tolist()[0]!r}) in all partitions"
        )
    if np.count_nonzero(counts) < 2:
        raise ValueError(
            "Invalid input - all samples with positive weights belong to the same class."
        )
    return classes, counts, masses


def _summary(block: Block, wanted: tuple[bool, bool], name: str) -> Summary:
    classes, labelled = wanted
    X, each = block.X, block.weights_or_ones
    y = block.y if labelled else None
    empty, (rows, columns) = np.zeros(0), X.shape
    if not rows:
        nothing = (0, 0.0, 0.0, 0.0, empty, empty, empty)
        return Summary(0, columns, None, "", False, "", *nothing)
    check_finite(block._replace(y=y), name)
    mean, variance = moments(X, block.weights) if each.any() else (0.0, 0.0)
    kind = "" if y is None else kind_of(y[0])
    if y is not None:
        check_classes(y, name) if classes else check_numbers(y, name)
    given: Labels = y if classes and y is not None else empty
    labels, places = np.unique(given, return_inverse=True)
    counts = np.bincount(places, each[: len(places)] > 0).astype(float)
    masses = np.bincount(places, each[: len(places)]).astype(float)
    return Summary(
        *(rows, columns, block.columns, X.dtype.name, sp.issparse(X), kind),
        *(bytes_of(X), float(each.sum()), mean, variance),
        *(labels, counts, masses),
    )


def check_classes(y: Labels, name: str) -> None:
    """Raise the error that names a label that is no class, or missing."""
    if y.dtype.kind == "f":
        broken = np.flatnonzero(y != np.rint(y))
        if len(broken):
            raise ValueError(
                f"{name}: Unknown label type: continuous, {y[broken[0]]:g} at row {broken[0]}; "
                "classes are names or whole numbers, and SVR takes others"
            )
    elif y.dtype.kind == "O":
        kinds = [kind_of(label) for label in y]
        row = next((row for row, kind in enumerate(kinds) if kind != kinds[0] or not kind), None)
        if row is not None:
            raise ValueError(
                f"{name}: y has {y[row]!r} at row {row} of the partition, and {y[0]!r} at its "
                "first: classes are all names or all numbers, and none is missing"
            )


def kind_of(label: object) -> str:
    """What a label is; "" if it is missing, or nothing that is a class."""
    if isinstance(label, str | bytes):
        return "of names"
    return "of numbers" if isinstance(label, Number | np.generic) and label == label else ""


def check_numbers(y: Labels, name: str) -> None:
    """Raise if targets are not numbers."""
    if y.dtype.kind not in "fiub":
        raise ValueError(f"{name}: y has the dtype {y.dtype}, which is not one of numbers")


def check_finite(block: Block, name: str) -> None:
    """Raise the error that names the first entry that is not finite, or too large to be squared."""
    X, y, weights, _ = block
    values = X.data if sp.issparse(X) else X
    most = np.sqrt(float(np.finfo(X.dtype).max) / 8 / max(X.shape[1], 1))
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~(np.abs(values) < most).ravel())
    if len(bad):
        if sp.issparse(X):
            row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
            column = int(X.indices[bad[0]])
        else:
            row, column = (int(place) for place in divmod(bad[0], X.shape[1]))
        value = values.ravel()[bad[0]]
        what = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value:.3g}"
        raise ValueError(
            f"{name}: X contains {what} at row {row}, column {column} of the partition. Impute, "
            "scale or drop it: kernels need finite values whose squares are finite"
        )
    for label, numbers in (("y", y), ("sample_weight", weights)):
        if numbers is not None and numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
            row = int(np.flatnonzero(~np.isfinite(numbers))[0])
            what = "NaN" if np.isnan(numbers[row]) else "infinity"
            raise ValueError(f"{name}: {label} contains {what} at row {row} of the partition")
