"""The smallest C at which the ℓ₁ penalty keeps a column."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array, check_consistent_length

from maxmargin.gram import DataMatrix
from maxmargin.losses import SquaredHinge
from maxmargin.machines.multiclass import scheme_of
from maxmargin.machines.validation import class_numbers
from maxmargin.problem import L1Problem


def l1_min_c(
    X: Any,
    y: ArrayLike,
    *,
    loss: Literal["squared_hinge", "log"] = "squared_hinge",
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
) -> float:
    """The C above which `LinearSVC(penalty="l1")` has a coefficient that is not zero.

    At w = 0 and the best b let β_i = 2 y_i max(0, 1 − y_i b), for C = 1. For any other C it is Cβ,
    and w = 0 is optimal as long as no column has |x^jᵀβ| C > 1: so it is 1 / max_j |x^jᵀβ|, the
    smallest over the binary problems. Without an offset that is 1 / 2 max_j |x^jᵀy|, as in
    `sklearn.svm.l1_min_c`, which with one counts it among the coefficients.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    loss : {"squared_hinge", "log"}, default="squared_hinge"
        "log" is for scikit-learn's LogisticRegression, and its value.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        Used by loss="log" only.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> C = l1_min_c(X, y)
    >>> [int((LinearSVC("l1", C=c).fit(X, y).coef_ != 0).sum()) for c in (0.99 * C, 1.01 * C)]
    [0, 1]
    """
    if loss != "squared_hinge":
        from sklearn import svm  # slow to import

        given = {"fit_intercept": fit_intercept, "intercept_scaling": intercept_scaling}
        return float(svm.l1_min_c(X, y, loss=loss, **given))
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    check_consistent_length(X, y)
    classes, labels = class_numbers(y)
    rows, one = DataMatrix(X), np.ones(len(labels))
    steepest = 0.0
    for split in scheme_of("ovr", classes).splits(labels):
        problem = L1Problem(split.signs, one, SquaredHinge(), fit_intercept)
        steepest = max(steepest, float(np.abs(problem.point(rows).slopes).max()))
    if steepest == 0.0:
        raise ValueError(
            "Ill-posed l1_min_c calculation: l1 will always select zero coefficients for this data"
        )
    return 1 / steepest
