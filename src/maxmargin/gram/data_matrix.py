"""The data matrix X of linear machines, dense or CSR, float32 or float64.

A linear machine never needs K: it keeps w = Σ β_i x_i and needs x_iᵀw and w += t x_i, one row at
a time, in compiled loops. Only here do dense and sparse rows differ. X is not copied (unless a CSR
row lists a column twice); sums are in float64 whatever X is.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from maxmargin.core import native
from maxmargin.resources.arrays import Data, Floats, Numbers

# Rows that `scatter` copies in float64 at a time: fewer keep BLAS less busy, more leave the cache
# (50,000 × 40 on one thread: 8 ms, but 16 with blocks of 128 and 18 with all rows at once).
BLOCK = 1024


class DataMatrix:
    """X with the products that linear machines need; `core` is what compiled loops take.

    Parameters
    ----------
    X : C-contiguous array or CSR matrix of shape (n, d)

    Examples
    --------
    >>> rows = DataMatrix(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> rows.scores(np.array([1.0, -1.0]))
    array([-1., -3.])
    >>> rows.combine(np.array([1.0, -1.0]))
    array([ 1., -1.])
    """

    evaluations = 0  # no kernel entry is ever computed

    def __init__(self, X: Data) -> None:
        self.sparse, self.X = sp.issparse(X), canonical(X)
        self.n, self.d = X.shape
        parts = (self.X.data, self.X.indices, self.X.indptr, self.d) if self.sparse else (self.X,)
        self.core = native.DataRows(*parts)

    @property
    def stored(self) -> int:
        """Numbers stored: n d, or the non-zeros."""
        return int(self.X.data.size if self.sparse else self.X.size)

    @cached_property
    def _by_column(self) -> Data:
        """X in the layout from which columns are taken quickly."""
        return self.X.tocsc() if self.sparse else self.X

    def columns(self, some: Numbers) -> DataMatrix:
        """The matrix of some columns, in the order given; X itself for all of them."""
        if len(some) == self.d:
            return self
        chosen = self._by_column[:, some]
        return DataMatrix(chosen.tocsr() if self.sparse else np.ascontiguousarray(chosen))

    def scores(self, w: Floats) -> Floats:
        """X w."""
        out = np.zeros(self.n)
        if w.any():
            native.scores(self.core, np.ascontiguousarray(w), out)
        return out

    def combine(self, beta: Floats) -> Floats:
        """Xᵀβ."""
        out = np.zeros(self.d)
        native.combine(self.core, np.ascontiguousarray(beta), out)
        return out

    def scores_of(self, some: Numbers, w: Floats) -> Floats:
        """x_iᵀw for some rows."""
        out = np.empty(len(some))
        native.scores_of(self.core, some, w, out)
        return out

    def add(self, some: Numbers, coef: Floats, w: Floats) -> None:
        """w += Σ coef_i x_i over some rows."""
        native.add(self.core, some, coef, w)

    def squared_norms(self) -> Floats:
        """‖x_i‖² of each row."""
        out = np.empty(self.n)
        native.squared_norms(self.core, out)
        return out

    def centred(self, by_mean: bool) -> tuple[Floats, Floats, Floats]:
        """The mean row m, x_iᵀm and ‖x_i − m‖² of each row; m is 0 if not `by_mean`."""
        mean = self.combine(np.ones(self.n)) / self.n if by_mean else np.zeros(self.d)
        products = self.scores(mean)
        squares = self.squared_norms() - 2 * products + dot(mean, mean)
        return mean, products, np.maximum(squares, 0.0)

    def scatter(self, weights: Floats, centre: Floats) -> Floats:
        """Σ θ_i (x_i − centre)(x_i − centre)ᵀ, d × d, for weights θ ≥ 0.

        For sparse rows the centre is 0 or the weighted mean: then XᵀΘX − Σθ · centre centreᵀ is
        the same, and they stay sparse.
        """
        products = np.zeros((self.d, self.d))
        if self.sparse:
            native.add_products(self.core, weights, products)
            if centre.any():
                products -= float(weights.sum()) * np.outer(centre, centre)
            native.mirror(products)
            return products
        some = np.flatnonzero(weights)
        for start in range(0, len(some), BLOCK):
            chosen = some[start : start + BLOCK]
            block = self.X[chosen] - centre
            block *= np.sqrt(weights[chosen])[:, None]
            products += block.T @ block
        return products


class Scatter:
    """Σ θ_i (x_i − m)(x_i − m)ᵀ for a row of weights θ, each close to the last.

    m is the weighted mean, or 0 where there is no offset. About any centre c the sum is

        Σ θ_i (x_i − c)(x_i − c)ᵀ − Σθ (m − c)(m − c)ᵀ,

    so c stays the mean of the first weights, and new ones cost as many products as rows have
    changed their weight. Where these are more than half, it begins anew, about a new centre: that
    costs less than adding some and subtracting others, and rounds less.
    """

    def __init__(self, rows: DataMatrix, offset: bool) -> None:
        self.rows, self.offset = rows, offset
        self._begin()

    def _begin(self) -> None:
        d = self.rows.d
        self.weights, self.moment, self.sum = np.zeros(self.rows.n), np.zeros(d), np.zeros((d, d))

    def of(self, weights: Floats) -> tuple[Floats, Floats]:
        """The sum for these weights ≥ 0, and m."""
        if 2 * np.count_nonzero(weights != self.weights) > np.count_nonzero(weights):
            self._begin()
        first, total = not self.weights.any(), float(weights.sum())
        change, self.weights = weights - self.weights, weights
        self.moment += self.rows.combine(change)
        mean = self.moment / total if self.offset and total > 0 else np.zeros(self.rows.d)
        if first:
            self.centre = np.zeros(self.rows.d) if self.rows.sparse else mean
        for sign in 1, -1:
            some = np.maximum(sign * change, 0)
            if some.any():
                self.sum += sign * self.rows.scatter(some, self.centre)
        shift = mean - self.centre
        return self.sum - total * np.outer(shift, shift), mean


def canonical(X: Data) -> Data:
    """X in which no entry is listed twice, if it is sparse; a copy only where that changes it."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def dot(a: Floats, b: Floats) -> float:
    """Σ a_i b_i. For a long vector BLAS would wake its threads, which costs more than the sum."""
    return float((a * b).sum())
