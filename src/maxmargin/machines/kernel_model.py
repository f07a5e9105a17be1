"""What every model Σ β_i k(x_i, x) + b shares: its kernel, its input, its prediction."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils._param_validation import Interval, StrOptions

from maxmargin.cross import cross_dot
from maxmargin.gram import Gram
from maxmargin.kernels import Kernel, Linear, Precomputed, Vectorized, as_kernel
from maxmargin.machines.precomputed import symmetric
from maxmargin.machines.validation import (
    check_diagonal,
    check_finite,
    checked_data,
    is_numeric,
)
from maxmargin.resources import thread_count

KERNEL_NAMES = {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}


class KernelModel(BaseEstimator):
    """Base of everything that predicts by kernel values with some of its training rows."""

    _parameter_constraints: ClassVar[dict] = {
        "kernel": [StrOptions(KERNEL_NAMES), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
    }

    def _kernel(self) -> Kernel:
        return as_kernel(self.kernel, degree=self.degree, gamma=self.gamma, coef0=self.coef0)

    def _validate(
        self, X: Any, y: Any = "no_validation", *, reset: bool = True, **options: Any
    ) -> Any:
        """X (and y) as finite arrays, kept in float32 or float64, or a precise error."""
        kernel = self._kernel()
        if isinstance(kernel, Vectorized) and not is_numeric(X):
            # A function of blocks may be about anything: strings, graphs, sets.
            X = np.asarray(X, dtype=object)
            if isinstance(y, str):
                return X
            check_consistent_length(X, y)
            return X, np.asarray(y)
        if isinstance(kernel, Precomputed) and sp.issparse(X):
            raise TypeError("Sparse precomputed kernels are not supported.")
        checked = checked_data(self, X, y, reset=reset, **options)
        data = checked if isinstance(y, str) else checked[0]
        if reset and isinstance(kernel, Precomputed) and data.shape[0] != data.shape[1]:
            raise ValueError(
                "Precomputed matrix must be a square matrix. "
                f"Input is a {data.shape[0]}x{data.shape[1]} matrix."
            )
        return checked

    def _gram(self, X: Any, sample_weight: np.ndarray | None) -> Gram:
        kernel = self._kernel().bind(X, sample_weight)
        if isinstance(kernel, Precomputed):
            X = symmetric(X)
        with np.errstate(over="ignore"):
            gram = Gram(kernel, X, cache_size=self.cache_size, threads=thread_count(self.n_jobs))
        check_diagonal(gram.diagonal)
        return gram

    def _products(self, X: Any, coef: np.ndarray, ends: Sequence[int]) -> Any:
        """K(X, support vectors) @ coefᵀ, apart for the support vectors between any two `ends`."""
        if isinstance(self._kernel_, Precomputed):
            return [X[:, start:stop] @ coef[:, start:stop].T for start, stop in pairwise(ends)]
        threads = thread_count(self.n_jobs)
        return cross_dot(self._kernel_, X, self.support_vectors_, coef, threads, ends)

    def _line(self, X: Any) -> np.ndarray:
        """Σ β_i k(x_i, x) for the rows x of X, of a model with one line of coefficients."""
        return self._products(X, self._dense_dual_coef(), (0, len(self.support_)))[0][:, 0]

    def _validate_for_prediction(self, X: Any) -> Any:
        """X as the fitted machine expects it; a precomputed kernel cut to its support columns."""
        if isinstance(self._kernel_, Precomputed):
            X = check_array(
                X, dtype=[np.float64, np.float32], ensure_all_finite=False, estimator=self
            )
            check_finite(X, type(self).__name__)
            n_train, n_support = self.shape_fit_[0], len(self.support_)
            if X.shape[1] == n_train:
                return X[:, self.support_]
            if X.shape[1] == n_support:
                return X
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {n_train} "
                "features as input: a precomputed kernel needs a column for each training row "
                f"({n_train}), or for each support vector ({n_support})"
            )
        X = self._validate(X, reset=False)
        if sp.issparse(X) and not sp.issparse(self.support_vectors_):
            raise ValueError(
                f"cannot use sparse input in {type(self).__name__!r} trained on dense data"
            )
        return sp.csr_array(X) if sp.issparse(self.support_vectors_) else X

    def _kept(self, X: Any, support: np.ndarray, coef: np.ndarray) -> dict[str, Any]:
        """The fitted attributes that say which rows are kept, and their coefficients."""
        dual_coef = coef.take(support, axis=1)
        return {
            "support_": support.astype(np.int32),
            "support_vectors_": X[support],
            "dual_coef_": type(X)(dual_coef) if sp.issparse(X) else dual_coef,
            "shape_fit_": X.shape,
        }

    def _dense_dual_coef(self) -> np.ndarray:
        coef = self.dual_coef_
        return coef.toarray() if sp.issparse(coef) else coef

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features, for a linear kernel: wᵀx + b is the decision value.

        Returns
        -------
        ndarray of shape (n_problems, n_features); CSR if the machine was fitted on CSR
        """
        if not isinstance(self._kernel(), Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        coef = self._linear_coef()
        if sp.issparse(self.support_vectors_):
            coef = type(self.support_vectors_)(coef)
        (coef.data if sp.issparse(coef) else coef).flags.writeable = False
        return coef

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.kernel, Precomputed) or self.kernel == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = not precomputed
        return tags
