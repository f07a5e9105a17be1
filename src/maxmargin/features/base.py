"""What the kinds of features share: validation, blocks, the measured error."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.kernels import RBF, Kernel, Laplacian
from maxmargin.resources import available_cores, available_memory, one_blas_thread, run_all

TILE_ENTRIES = 1 << 18  # computed at a time by a thread: they stay in its cache
COMPONENTS = 1000  # columns, if nothing is said
ERROR_SEED = 1_000_003  # of the rows on which errors are measured: they are not to be the landmarks


class KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What the two kinds of features share: validation, blocks, the measured error."""

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    kernel_: Any

    @abstractmethod
    def _kernel(self) -> Kernel:
        """The kernel that is approximated, as the parameters name it."""

    @abstractmethod
    def _draw(self, X: Any, random: np.random.RandomState) -> None:
        """Set what φ is made of."""

    @abstractmethod
    def _features(self, X: Any) -> np.ndarray:
        """φ of a few rows."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> KernelFeatures:
        """Draw φ. `y` is ignored.

        Parameters
        ----------
        X : array, memmap or CSR of shape (n_samples, n_features)
        """
        X = self._validate(X, reset=True)
        self.kernel_ = self._kernel().bind(X)
        # Distances do not change when the mean is removed, but their rounding errors shrink.
        shifts = isinstance(self.kernel_, RBF | Laplacian) and not sp.issparse(X)
        self._centre = X.mean(axis=0, dtype=np.float64) if shifts else None
        self._draw(X, check_random_state(self.random_state))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """φ(x) for the rows of X, in float32, computed in blocks by all cores.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        need, free = 4 * X.shape[0] * self._n_features_out, available_memory()
        if need > free:
            raise MemoryError(
                f"the features of {X.shape[0]:,} rows and {self._n_features_out:,} columns take "
                f"{need / 2**30:.1f} GB and {free / 2**30:.1f} GB are free: transform blocks of "
                "rows, or let SVC or SVR with approximation= stream them"
            )
        out = np.empty((X.shape[0], self._n_features_out), np.float32)

        def fill(tile: slice) -> None:
            out[tile] = self._features(X[tile])

        self._each(fill, len(out), available_cores())
        return out

    def dot(self, X: Any, coef: np.ndarray, threads: int | None = None) -> np.ndarray:
        """φ(X) @ coefᵀ, what prediction needs; φ(X) is never held whole."""
        products = np.empty((X.shape[0], len(coef)))
        single = coef.T.astype(np.float32)

        def fill(tile: slice) -> None:
            products[tile] = self._features(X[tile]) @ single

        self._each(fill, len(products), threads or available_cores())
        return products

    def _each(self, fill: Callable[[slice], None], rows: int, threads: int) -> None:
        """Call `fill` for tiles that cover the rows, on all threads."""
        step = max(1, TILE_ENTRIES // self._n_features_out)
        with one_blas_thread():
            run_all(fill, [(slice(s, s + step),) for s in range(0, rows, step)], threads)

    def approximation_error(self, X: Any, n_samples: int = 500) -> float:
        """√mean (k(x, z) − φ(x)ᵀφ(z))² over all pairs of a sample of the rows of X.

        Parameters
        ----------
        n_samples : int, default=500
            Size of the sample; all rows if there are fewer.
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        sample = X[sampled(X.shape[0], n_samples, check_random_state(ERROR_SEED))]
        return kernel_error(self.kernel_, sample, self.transform(sample))

    def _single(self, X: Any) -> Any:
        """X in float32, centred where the kernel allows it."""
        if self._centre is not None:
            X = (X.toarray() if sp.issparse(X) else X) - self._centre
        return X.astype(np.float32, copy=False)

    def _validate(self, X: Any, reset: bool) -> Any:
        X = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
        )
        return sp.csr_array(X) if sp.issparse(X) else X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def kernel_error(kernel: Kernel, X: Any, Z: np.ndarray) -> float:
    """√mean (k(x, x') − zᵀz')² over all pairs of the rows of X, whose features are Z."""
    Z = np.asarray(Z, np.float64)
    difference = np.asarray(kernel(X, X), np.float64) - Z @ Z.T
    return float(np.sqrt(np.mean(difference**2)))


def sampled(rows: int, count: int, random: np.random.RandomState) -> np.ndarray:
    """`count` different row numbers, sorted; all of them if there are no more."""
    if count >= rows:
        return np.arange(rows)
    return np.sort(random.permutation(rows)[:count])
