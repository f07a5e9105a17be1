"""The rows of X, dense or CSR, float32 or float64: what the linear machines do with them.

A linear machine never needs K: it keeps w = Σ β_i x_i and needs x_iᵀw and w += t x_i, one row at
a time, in compiled loops. Here is the only place where dense and sparse rows differ. X is not
copied (unless a CSR row names a column twice); sums are in float64 whatever X is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.compiled import compiled

BLOCK = 1024  # rows converted to float64 at a time


class Rows:
    """X as compiled loops take it.

    Parameters
    ----------
    X : C-contiguous array or CSR matrix of shape (n, d)

    Examples
    --------
    >>> rows = Rows(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> rows.scores(np.array([1.0, -1.0]))
    array([-1., -3.])
    >>> rows.combine(np.array([1.0, -1.0]))
    array([ 1., -1.])
    """

    def __init__(self, X: Any) -> None:
        self.sparse = sp.issparse(X)
        if self.sparse and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        self.X = X
        self.n, self.d = X.shape
        if self.sparse:
            self.parts = (X.data, X.indices, X.indptr)
        else:
            none = np.empty(0, np.int32)
            self.parts = (X, none, none)

    @property
    def stored(self) -> int:
        """Numbers held: n d, or the non-zeros."""
        return self.parts[0].size

    def scores(self, w: np.ndarray) -> np.ndarray:
        """X w."""
        if not w.any():
            return np.zeros(self.n)
        return _scores(*self.parts, w, np.empty(self.n))

    def combine(self, beta: np.ndarray) -> np.ndarray:
        """Xᵀβ."""
        return _combine(*self.parts, beta, np.zeros(self.d))

    def scores_of(self, some: np.ndarray, w: np.ndarray) -> np.ndarray:
        """x_iᵀw for some rows."""
        return _scores_of(*self.parts, some, w, np.empty(len(some)))

    def add(self, some: np.ndarray, coef: np.ndarray, w: np.ndarray) -> None:
        """w += Σ coef_i x_i over some rows."""
        _add(*self.parts, some, coef, w)

    def squared_norms(self) -> np.ndarray:
        """‖x_i‖² of each row."""
        return _squared_norms(*self.parts, np.empty(self.n))

    def scatter(self, weights: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """Σ θ_i (x_i − centre)(x_i − centre)ᵀ, d × d, for weights θ ≥ 0.

        The centre is 0 or the weighted mean: so sparse rows need not become dense.
        """
        products = np.zeros((self.d, self.d))
        if self.sparse:
            _add_products(*self.parts, weights, products)
            products += np.tril(products, -1).T
            return products - float(weights.sum()) * np.outer(centre, centre)
        some = np.flatnonzero(weights)
        for start in range(0, len(some), BLOCK):
            chosen = some[start : start + BLOCK]
            block = self.X[chosen] - centre
            block *= np.sqrt(weights[chosen])[:, None]
            products += block.T @ block
        return products


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """Σ a_i b_i. BLAS would wake its threads for a long vector, which costs more than the sum."""
    return float((a * b).sum())


@compiled()
def row_dot(data, indices, indptr, i, w):
    """x_iᵀw."""
    if data.ndim == 2:
        return _dense_dot(data[i], w)
    total = 0.0
    for k in range(*row_ends(indptr, i)):
        total += data[k] * w[np.uint64(indices[k])]
    return total


@compiled()
def row_ends(indptr, i):
    """Where row i begins and ends, as numbers without sign: those cost no test for negatives."""
    i = np.uint64(i)
    return np.uint64(indptr[i]), np.uint64(indptr[i + np.uint64(1)])


@compiled(fastmath={"reassoc", "contract"})
def _dense_dot(x, w):
    """Reassociation lets the sum be made in several lanes."""
    total = 0.0
    for k in range(len(w)):
        total += x[k] * w[k]
    return total


@compiled()
def row_add(data, indices, indptr, i, t, w):
    """w += t x_i."""
    if data.ndim == 2:
        for k in range(len(w)):
            w[k] += t * data[i, k]
    else:
        for k in range(*row_ends(indptr, i)):
            w[np.uint64(indices[k])] += t * data[k]


@compiled()
def _scores(data, indices, indptr, w, out):
    for i in range(len(out)):
        out[i] = row_dot(data, indices, indptr, i, w)
    return out


@compiled()
def _combine(data, indices, indptr, beta, out):
    for i in range(len(beta)):
        if beta[i] != 0.0:
            row_add(data, indices, indptr, i, beta[i], out)
    return out


@compiled()
def _scores_of(data, indices, indptr, some, w, out):
    for k in range(len(some)):
        out[k] = row_dot(data, indices, indptr, some[k], w)
    return out


@compiled()
def _add(data, indices, indptr, some, coef, w):
    for k in range(len(some)):
        row_add(data, indices, indptr, some[k], coef[k], w)


@compiled(fastmath={"reassoc", "contract"})
def _squared_norms(data, indices, indptr, out):
    for i in range(len(out)):
        total = 0.0
        if data.ndim == 2:
            for k in range(data.shape[1]):
                total += float(data[i, k]) * float(data[i, k])
        else:
            for k in range(*row_ends(indptr, i)):
                total += float(data[k]) * float(data[k])
        out[i] = total
    return out


@compiled()
def _add_products(data, indices, indptr, weights, products):
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
def dot_rows(Z, lines, w, out):
    """out_k = z_iᵀw for the k-th of the lines i of Z; a line that is negative is left out."""
    for k in range(len(lines)):
        if lines[k] >= 0:
            out[k] = _dense_dot(Z[lines[k]], w)


@compiled()
def add_rows(Z, lines, beta, out):
    """out += Σ_k β_k z_i for the k-th of the lines i of Z; negative ones are left out."""
    for k in range(len(lines)):
        if lines[k] >= 0:
            for c in range(len(out)):
                out[c] += beta[k] * Z[lines[k], c]
