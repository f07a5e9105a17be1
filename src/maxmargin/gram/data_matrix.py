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
from maxmargin.hardware.arrays import Data, Entries, Floats, Index, Numbers, Reals
from maxmargin.hardware.jit import compiled

# Rows that `scatter` copies in float64 at a time: fewer keep BLAS less busy, more leave the cache
# (50,000 × 40 on one thread: 8 ms, but 16 with blocks of 128 and 18 with all rows at once).
BLOCK = 1024


class DataMatrix:
    """X with the products that linear machines need; `parts` are what compiled loops take.

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
        if self.sparse:
            self.parts = (self.X.data, self.X.indices, self.X.indptr)
        else:
            none = np.empty(0, np.int32)
            self.parts = (self.X, none, none)

    @property
    def stored(self) -> int:
        """Numbers stored: n d, or the non-zeros."""
        return int(self.parts[0].size)

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
            _scores(*self.parts, w, out)
        return out

    def combine(self, beta: Floats) -> Floats:
        """Xᵀβ."""
        out = np.zeros(self.d)
        _combine(*self.parts, beta, out)
        return out

    def scores_of(self, some: Numbers, w: Floats) -> Floats:
        """x_iᵀw for some rows."""
        out = np.empty(len(some))
        _scores_of(*self.parts, some, w, out)
        return out

    def add(self, some: Numbers, coef: Floats, w: Floats) -> None:
        """w += Σ coef_i x_i over some rows."""
        _add(*self.parts, some, coef, w)

    def squared_norms(self) -> Floats:
        """‖x_i‖² of each row."""
        out = np.empty(self.n)
        _squared_norms(*self.parts, out)
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
            _add_products(*self.parts, weights, products)
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


@compiled()
def row_dot(data: Reals, indices: Numbers, indptr: Numbers, i: Index, w: Floats) -> float:
    """x_iᵀw."""
    if data.ndim == 2:
        return _dense_dot(data[i], w)
    total = 0.0
    for k in range(*row_ends(indptr, i)):
        total += data[k] * w[np.uint64(indices[k])]
    return total


@compiled()
def row_ends(indptr: Numbers, i: Index) -> tuple[np.uint64, np.uint64]:
    """Where row i begins and ends, as unsigned numbers: numba leaves out the test for negatives."""
    i = np.uint64(i)
    return np.uint64(indptr[i]), np.uint64(indptr[i + np.uint64(1)])


@compiled(fastmath={"reassoc", "contract"})
def _dense_dot(x: Reals, w: Floats) -> float:
    """xᵀw, summed in any order, which lets the loop use vectors."""
    total = 0.0
    for k in range(len(w)):
        total += x[k] * w[k]
    return total


@compiled()
def row_add(data: Reals, indices: Numbers, indptr: Numbers, i: Index, t: float, w: Floats) -> None:
    """w += t x_i."""
    if data.ndim == 2:
        for k in range(len(w)):
            w[k] += t * data[i, k]
    else:
        for k in range(*row_ends(indptr, i)):
            w[np.uint64(indices[k])] += t * data[k]


@compiled()
def _scores(data: Reals, indices: Numbers, indptr: Numbers, w: Floats, out: Entries) -> None:
    """out_i = x_iᵀw."""
    for i in range(len(out)):
        out[i] = row_dot(data, indices, indptr, i, w)


@compiled()
def _combine(data: Reals, indices: Numbers, indptr: Numbers, beta: Floats, out: Entries) -> None:
    """out += Σ β_i x_i."""
    for i in range(len(beta)):
        if beta[i] != 0.0:
            row_add(data, indices, indptr, i, beta[i], out)


@compiled()
def _scores_of(
    data: Reals, indices: Numbers, indptr: Numbers, some: Numbers, w: Floats, out: Entries
) -> None:
    """out_k = x_iᵀw for the k-th of some rows i."""
    for k in range(len(some)):
        out[k] = row_dot(data, indices, indptr, some[k], w)


@compiled()
def _add(
    data: Reals, indices: Numbers, indptr: Numbers, some: Numbers, coef: Floats, w: Floats
) -> None:
    """w += Σ_k coef_k x_i for the k-th of some rows i."""
    for k in range(len(some)):
        row_add(data, indices, indptr, some[k], coef[k], w)


@compiled(fastmath={"reassoc", "contract"})
def _squared_norms(data: Reals, indices: Numbers, indptr: Numbers, out: Entries) -> None:
    """out_i = ‖x_i‖²."""
    for i in range(len(out)):
        total = 0.0
        if data.ndim == 2:
            for k in range(data.shape[1]):
                total += float(data[i, k]) * float(data[i, k])
        else:
            for k in range(*row_ends(indptr, i)):
                total += float(data[k]) * float(data[k])
        out[i] = total


@compiled()
def _add_products(
    data: Reals, indices: Numbers, indptr: Numbers, weights: Floats, products: Floats
) -> None:
    """The lower triangle of Xᵀ diag(weights) X; the columns of a row are sorted."""
    for i in range(len(weights)):
        if weights[i] == 0.0:
            continue
        start, stop = row_ends(indptr, i)
        for a in range(start, stop):
            value = weights[i] * data[a]
            line = products[np.uint64(indices[a])]
            for b in range(start, a + np.uint64(1)):
                line[np.uint64(indices[b])] += value * data[b]


@compiled()
def dot_rows(Z: Reals, numbers: Numbers, w: Floats, out: Entries) -> None:
    """out_k = z_iᵀw for the k-th of the rows i of Z; a negative i is left out."""
    for k in range(len(numbers)):
        if numbers[k] >= 0:
            out[k] = _dense_dot(Z[numbers[k]], w)


@compiled()
def add_rows(Z: Reals, numbers: Numbers, beta: Floats, out: Entries) -> None:
    """out += Σ_k β_k z_i for the k-th of the rows i of Z; a negative i is left out."""
    for k in range(len(numbers)):
        if numbers[k] >= 0:
            for c in range(len(out)):
                out[c] += beta[k] * Z[numbers[k], c]
