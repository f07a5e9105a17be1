"""γ of a kernel: a number, or a rule that gives one on data."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from maxmargin.resources.arrays import Data, Floats

Gamma: TypeAlias = float | Literal["scale", "auto"]
RULES = ("scale", "auto")


def check_gamma(gamma: Gamma, owner: object) -> None:
    """Refuse what is neither a rule nor a number ≥ 0."""
    known = gamma in RULES if isinstance(gamma, str) else 0 <= gamma < np.inf
    if not known:
        raise ValueError(
            f'gamma of {type(owner).__name__} must be "scale", "auto" or a number ≥ 0, '
            f"got {gamma!r}"
        )


def gamma_of(rule: str, X: Data, weights: Floats | None = None) -> float:
    """scikit-learn's rules: "scale" is 1 / (columns · variance of X), "auto" is 1 / columns.

    A row of weight two counts in the variance as two rows do.
    """
    if X.ndim != 2 or X.dtype == object:
        raise ValueError(
            f'gamma="{rule}" is computed from a table of numbers, and the rows are objects: give '
            "gamma as a number"
        )
    if rule == "auto":
        return 1.0 / int(X.shape[1])
    return gamma_from(X.shape[1], *moments(X, weights))


def moments(X: Data, weights: Floats | None = None) -> tuple[float, float]:
    """Mean and variance of all entries; a row of weight two counts as two rows do."""
    return (_moments_of_stored if sp.issparse(X) else _moments)(X, weights)


def gamma_from(columns: int, mean: float, variance: float) -> float:
    """The rule "scale", of the mean and the variance of all entries: 1 where they are equal."""
    rounding = 16 * np.finfo(float).eps * mean  # of the mean: equal entries seem to differ by that
    return 1.0 / (columns * variance) if variance > rounding**2 else 1.0


def _moments(X: Data, weights: Floats | None) -> tuple[float, float]:
    """Mean and variance of all entries, in two passes: E x² − (E x)² has no digits far from 0."""
    step = max(1, (1 << 20) // X.shape[1])  # rows at a time: X may be a memmap, or float32
    parts = [slice(i, i + step) for i in range(0, len(X), step)]
    each = np.ones(len(X)) if weights is None else weights
    entries = each.sum() * X.shape[1]
    mean = X.mean(dtype=np.float64)
    if weights is not None:
        mean = sum(each[i] @ X[i].sum(axis=1, dtype=np.float64) for i in parts) / entries
    squares = shift = 0.0
    for i in parts:
        off = X[i] - mean
        shift += each[i] @ off.sum(axis=1)
        squares += each[i] @ (off**2).sum(axis=1)
    return float(mean), _variance(squares, shift, entries)


def _moments_of_stored(X: Data, weights: Floats | None) -> tuple[float, float]:
    """The same of a sparse matrix, whose other entries are 0."""
    X = sp.csr_array(X)
    each = np.ones(X.shape[0]) if weights is None else weights
    stored = np.diff(X.indptr)
    own, entries = np.repeat(each, stored), each.sum() * X.shape[1]
    empty = each @ (X.shape[1] - stored)
    mean = np.float64(own @ X.data) / entries
    off = X.data - mean
    squares, shift = own @ off**2 + empty * mean**2, own @ off - empty * mean
    return float(mean), _variance(squares, shift, entries)


def _variance(squares: float, shift: float, entries: float) -> float:
    """The variance from Σ(x − m)² and Σ(x − m), where m is the mean but for its last digit."""
    return float(squares / entries - (shift / entries) ** 2)


def number(gamma: Gamma) -> float:
    """γ of a kernel that is bound to data."""
    if isinstance(gamma, str):
        raise ValueError(f"gamma={gamma!r} needs data: call kernel.bind(X), or give a number")
    return float(gamma)
