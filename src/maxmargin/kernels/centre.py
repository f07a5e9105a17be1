"""Rows far from the origin, and how they come near it.

‖x − z‖² = ‖x‖² + ‖z‖² − 2xᵀz is a small difference of large numbers if the rows are far from the
origin beside their distances: of 16 digits, as many are lost as ‖x‖² has more than ‖x − z‖². Moved
by a common centre the rows have the same distances and small norms.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from maxmargin.resources.arrays import Data, Floats


def centre_of(X: Data) -> Floats:
    """The mean row; of a sparse matrix only in columns that most rows have an entry in.

    Elsewhere it is 0: to move other columns would fill them.

    Examples
    --------
    >>> centre_of(sp.csr_array([[8.0, 0.0], [9.0, 0.0], [10.0, 3.0]]))
    array([9., 0.])
    """
    if not sp.issparse(X):
        return np.asarray(X.mean(axis=0, dtype=np.float64))
    stored = np.bincount(X.indices, minlength=X.shape[1])
    totals = np.bincount(X.indices, X.data, minlength=X.shape[1])
    return np.where(2 * stored > X.shape[0], totals / X.shape[0], 0.0)


def moved(X: Data, centre: Floats) -> Data:
    """x − centre for each row, in float64.

    Examples
    --------
    >>> moved(sp.csr_array([[8.0, 0.0], [9.0, 3.0]]), np.array([9.0, 0.0])).toarray()
    array([[-1.,  0.],
           [ 0.,  3.]])
    """
    if not sp.issparse(X):
        return X - centre
    (columns,) = centre.nonzero()
    n, k = X.shape[0], len(columns)
    places = np.tile(columns, n), np.arange(0, n * k + 1, k) if k else np.zeros(n + 1, int)
    shift = sp.csr_array((np.tile(centre[columns], n), *places), shape=X.shape)
    return sp.csr_array(X).astype(np.float64) - shift
