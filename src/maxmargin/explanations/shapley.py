"""Exact Shapley values of machines whose kernel is a product over columns.

The players are the columns, or groups of columns. A coalition S plays with its own values x_S and,
for the others, those of a background row b:

    v(S) = mean over b of f(x on S, b elsewhere)

φ_j is the mean gain that j brings to the players before it, over all orders of the players. For one
support vector z let p_j = k_j(x_j, z_j) and q_j = k_j(b_j, z_j). Then v(S) is Π_S p Π_rest q.
As the weight s! (d − 1 − s)! / d! of a coalition of s players is ∫₀¹ tˢ (1 − t)^(d−1−s) dt,

    φ_j = (p_j − q_j) ∫₀¹ Π_{l≠j} (q_l (1 − t) + p_l t) dt.

The integrand is a polynomial of degree d − 1, which Gauss' rule of ⌈d/2⌉ nodes integrates exactly.
So all 2^d coalitions take O(d²) per support vector, row and background row, and nothing cancels:
the factors are positive. (PKeX-Shapley, arXiv 2505.16516, sums elementary symmetric polynomials.)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from maxmargin.core import native
from maxmargin.machines.expansion import ProductFunction, expansion_of
from maxmargin.resources.arrays import Data, Floats, Numbers
from maxmargin.resources.threads import pool, thread_count
from maxmargin.results import Result

AT_ONCE = 1 << 20  # factors k_j(x_j, z_j) that are held at a time by each thread: 8 MB


@dataclass(frozen=True, repr=False)
class Explanation(Result):
    """Shapley values of some rows.

    Attributes
    ----------
    values : ndarray of shape (rows, players), or (rows, players, functions)
        φ: how much each player moves f(x) away from its mean over the background.
    base_values : ndarray of shape (functions,), or float
        Mean of f over the background.
    outputs : ndarray of shape (rows,), or (rows, functions)
        f(x). Σ_j φ_j + base = f(x).
    data : ndarray of shape (rows, columns)
    names : the players' names
    functions : names of the functions; one, "", of a machine with one
    """

    values: Floats
    base_values: Floats | float
    outputs: Floats
    data: Floats
    names: tuple[str, ...]
    functions: tuple[str, ...]

    @property
    def error(self) -> float:
        """Largest |Σ_j φ_j + base − f(x)| over the rows: rounding."""
        difference = self.values.sum(axis=1) + self.base_values - self.outputs
        return float(np.abs(difference).max(initial=0.0))

    @property
    def importances(self) -> Floats:
        """Mean |φ_j| over the rows (and functions), of each player."""
        others = tuple(axis for axis in range(self.values.ndim) if axis != 1)
        means: Floats = np.abs(self.values).mean(axis=others)
        return means

    def to_shap(self) -> Any:
        """A `shap.Explanation` of the same values, for its pictures; needs shap."""
        shap = import_module("shap")
        base = np.broadcast_to(self.base_values, self.outputs.shape)
        data = self.data if self.data.shape[1] == len(self.names) else None
        return shap.Explanation(self.values, base, data, feature_names=list(self.names))


def explain(
    machine: Any,
    X: Data,
    *,
    background: Data | None = None,
    groups: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> Explanation:
    """Exact Shapley values of the decision function of a machine, or of a regressor's prediction.

    Parameters
    ----------
    machine : any fitted machine of maxmargin with the RBF or Laplacian kernel, or with products,
        sums and multiples of them; a linear machine; one with approximation="nystroem"; a search
        (`SVCCV`)
    X : array or CSR of shape (n_samples, n_features)
    background : array of shape (n_rows, n_features), default=None
        Rows whose values a column takes that is not in a coalition; f is averaged over them. By
        default one row, the mean of the support vectors.
    groups : sequence of str, one for each column, default=None
        Columns of the same name are one player, such as those of a one-hot encoded category.
    n_jobs : int, default=None
        Threads; all cores by default.

    Returns
    -------
    Explanation

    Raises
    ------
    ValueError
        If the kernel is no product over columns, or the rows do not fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import SVR
    >>> X, y = load_iris(return_X_y=True)
    >>> reg = SVR().fit(X, y)
    >>> found = explain(reg, X)
    >>> found.values.shape, found.error < 1e-12
    ((150, 4), True)
    >>> found.importances.argmax()  # the length of the petals
    np.int64(2)
    """
    machine = getattr(machine, "best_estimator_", machine)
    check_is_fitted(machine)
    rows = _rows(machine, X, "X")
    parts = expansion_of(machine)
    if background is None:
        others = parts.centre[None]
    else:
        others = _rows(machine, background, "background")
        if not len(others):
            raise ValueError("background has no rows")
    names, player = _players(machine, rows.shape[1], groups)
    values = np.zeros((len(rows), len(names), len(parts.intercept)))
    if parts.coef is not None:  # an additive function: φ_j = w_j (x_j − mean of b_j)
        moves = (rows - others.mean(axis=0))[:, :, None] * parts.coef.T
        for column, number in enumerate(player):
            values[:, number] += moves[:, column]
    for function in parts.products:
        _add(values, rows, others, player, function, thread_count(n_jobs))
    outputs, base = parts(rows), parts(others).mean(axis=0)
    if len(parts.intercept) == 1:
        return Explanation(values[:, :, 0], float(base[0]), outputs[:, 0], rows, names, ("",))
    return Explanation(values, base, outputs, rows, names, parts.names)


def _rows(machine: Any, X: Data, name: str) -> Floats:
    """The rows as a dense array, checked as `predict` checks them."""
    X = X.toarray() if sp.issparse(X) else X
    checked = np.asarray(X, np.float64)
    if checked.ndim != 2 or checked.shape[1] != machine.n_features_in_:
        raise ValueError(
            f"{name} has the shape {checked.shape}, but {type(machine).__name__} was fitted on "
            f"rows of {machine.n_features_in_} columns"
        )
    if not np.isfinite(checked).all():
        row, column = np.argwhere(~np.isfinite(checked))[0]
        raise ValueError(f"{name} has {checked[row, column]} at row {row}, column {column}")
    return checked


def _players(
    machine: Any, columns: int, groups: Sequence[str] | None
) -> tuple[tuple[str, ...], Numbers]:
    """The players' names, and the number of each column's player."""
    if groups is None:
        names = getattr(machine, "feature_names_in_", [f"x{j}" for j in range(columns)])
        return tuple(map(str, names)), np.arange(columns)
    if len(groups) != columns:
        raise ValueError(f"groups names {len(groups)} columns, but there are {columns}")
    named = dict.fromkeys(groups)  # in the order of their first columns
    places = {name: number for number, name in enumerate(named)}
    return tuple(named), np.array([places[name] for name in groups])


def _add(
    values: Floats,
    X: Floats,
    background: Floats,
    player: Numbers,
    function: ProductFunction,
    threads: int,
) -> None:
    """Add the Shapley values of Σ_i coef_i Π_j g_j(x_j, z_ij), tile by tile on several threads."""
    players = values.shape[1]
    nodes, weights = np.polynomial.legendre.leggauss(-(-players // 2))
    nodes, weights = (
        (nodes + 1) / 2,
        weights / (2 * len(background)),
    )  # on [0, 1]; of the mean over b
    step = max(1, AT_ONCE // (players * max(len(X), len(background), 1)))

    def tile(start: int, stop: int, chosen: slice) -> None:
        some = function.take(slice(start, stop))
        p, q = (some.factors(rows, player, players) for rows in (X[chosen], background))
        native.shapley_sums(p, q, some.coef.T.copy(), nodes, weights, values[chosen])

    run = pool(threads, os.getpid(), "machines").submit
    parts = np.array_split(np.arange(len(X)), max(1, min(threads, len(X))))
    for start in range(0, len(function.vectors), step):
        jobs = [
            run(tile, start, start + step, slice(part[0], part[-1] + 1))
            for part in parts
            if len(part)
        ]
        for job in jobs:
            job.result()
