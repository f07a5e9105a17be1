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

from maxmargin.kernels import Kernel
from maxmargin.resources import available_cores, available_memory, one_blas_thread, run_all

TILE_ENTRIES = 1 << 17  # computed at a time by a thread: they stay in its cache
SMALL = 1 << 20  # entries: fewer are computed in float64, for it costs nothing
COMPONENTS = 1000  # columns, if nothing is said
ERROR_SAMPLE = 500  # rows on which errors are measured
ERROR_SEED = 1_000_003  # of the rows on which errors are measured: they are not to be the landmarks


class KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What the two kinds of features share: validation, blocks, the measured error.

    φ(x) = Mᵀv(x): a linear map of simpler functions v, the kernel with every landmark, say. What
    needs φ(x)ᵀw only is better off with v(x)ᵀ(Mw), which spares the product by M.
    """

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
    def basis(self, X: Any, dtype: type = np.float32) -> np.ndarray:
        """v of a few rows that are validated, on the thread that calls."""

    @property
    def mixing(self) -> np.ndarray | None:
        """M, in float64; None if φ is v itself."""
        return None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> KernelFeatures:
        """Draw φ. `y` is ignored.

        Parameters
        ----------
        X : array, memmap or CSR of shape (n_samples, n_features)
        """
        X = self._validate(X, reset=True)
        self.kernel_ = self._kernel().bind(X)
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
        dtype = np.float64 if X.dtype == np.float64 and out.size <= SMALL else np.float32
        mixing = None if self.mixing is None else self.mixing.astype(dtype)

        def fill(tile: slice) -> None:
            values = self.basis(X[tile], dtype)
            out[tile] = values if mixing is None else values @ mixing

        self._each(fill, len(out), available_cores())
        return out

    def dot(self, X: Any, coef: np.ndarray, threads: int | None = None) -> np.ndarray:
        """φ(X) @ coefᵀ, what prediction needs, in the precision of X; φ(X) is never held whole."""
        products = np.empty((X.shape[0], len(coef)))
        weights = (coef if self.mixing is None else coef @ self.mixing.T).astype(X.dtype)

        def fill(tile: slice) -> None:
            products[tile] = self.basis(X[tile], X.dtype.type) @ weights.T

        self._each(fill, len(products), threads or available_cores())
        return products

    def _each(self, fill: Callable[[slice], None], rows: int, threads: int) -> None:
        """Call `fill` for tiles that cover the rows, on all threads."""
        step = max(1, TILE_ENTRIES // self._n_features_out)
        with one_blas_thread():
            run_all(fill, [(slice(s, s + step),) for s in range(0, rows, step)], threads)

    def approximation_error(self, X: Any, n_samples: int = ERROR_SAMPLE) -> float:
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


def distinct_rows(X: Any, count: int, random: np.random.RandomState) -> np.ndarray:
    """Numbers of `count` rows by lot, sorted, no two of them equal; fewer if there are fewer.

    The lot of a row is a hash of what it holds: which rows are drawn does not depend on their
    order, nor on how often each is there.
    """
    factors = random.randint(0, 2**64, X.shape[1], dtype=np.uint64) | np.uint64(1)
    lots = np.empty(X.shape[0], np.uint64)

    def fill(rows: slice) -> None:
        part = X[rows]
        if sp.issparse(part):
            ends = np.append(np.uint64(0), (_bits(part.data) * factors[part.indices]).cumsum())
            lots[rows] = ends[part.indptr[1:]] - ends[part.indptr[:-1]]
        else:
            lots[rows] = (_bits(part) * factors).sum(axis=1, dtype=np.uint64)

    step = max(1, TILE_ENTRIES // X.shape[1])
    run_all(fill, [(slice(s, s + step),) for s in range(0, len(lots), step)], available_cores())
    lots ^= lots >> np.uint64(33)
    lots *= np.uint64(0xFF51AFD7ED558CCD)
    lots ^= lots >> np.uint64(33)
    return np.sort(np.unique(lots, return_index=True)[1][:count])


def _bits(values: np.ndarray) -> np.ndarray:
    """Numbers as whole numbers, 0 as 0, with their leading bits where factors can spread them."""
    bits = (np.asarray(values, np.float64) + 0.0).view(np.uint64)  # + 0.0 makes 0 of −0
    return bits ^ (bits >> np.uint64(32))


def sampled(rows: int, count: int, random: np.random.RandomState) -> np.ndarray:
    """`count` different row numbers, sorted; all of them if there are no more."""
    if count >= rows:
        return np.arange(rows)
    return np.sort(random.permutation(rows)[:count])
