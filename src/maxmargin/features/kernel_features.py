"""Base of both kinds of features: validation, blocks of rows, the measured error."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.conventions import Interval, StrOptions, fitting
from maxmargin.kernels import Kernel
from maxmargin.resources.arrays import Data, Floats, Numbers, Reals, RealType
from maxmargin.resources.memory import available_memory
from maxmargin.resources.threads import available_cores, one_blas_thread, run_all

TILE_ENTRIES = 1 << 17  # entries of a tile: 0.5 MB in float32, within a second-level cache
SMALL = 1 << 20  # entries up to which features are computed in float64: at most 8 MB
COMPONENTS = 1000  # columns by default: benchmarks/FEATURES.md shows error and time by columns
ERROR_SAMPLE = 500  # rows of the error estimate: 500² kernel values take milliseconds
ERROR_SEED = 1_000_003  # of that sample: independent of the landmarks


class KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of both kinds of features.

    φ(x) = Mᵀv(x), a linear map of simpler functions v (the kernel with every landmark, say): then
    φ(x)ᵀw = v(x)ᵀ(Mw) needs no product of M with rows.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    kernel_: Any

    @abstractmethod
    def _kernel(self) -> Kernel:
        """The kernel that is approximated, as the parameters name it."""

    @abstractmethod
    def _draw(self, X: Data, random: np.random.RandomState) -> None:
        """Draw frequencies or landmarks."""

    @abstractmethod
    def basis(self, X: Data, dtype: RealType = np.float32) -> Reals:
        """v of a few validated rows, on the calling thread."""

    @property
    def mixing(self) -> Floats | None:
        """M, in float64; None if φ is v itself."""
        return None

    @fitting
    def fit(self, X: Data, y: ArrayLike | None = None) -> Self:
        """Draw φ. `y` is ignored.

        Parameters
        ----------
        X : array, memmap or CSR of shape (n_samples, n_features)
        """
        X = self._validate(X, reset=True)
        self.kernel_ = self._kernel().bind(X)
        self._draw(X, check_random_state(self.random_state))
        return self

    def transform(self, X: Data) -> Floats:
        """φ(x) for the rows of X, in float32, computed in blocks by all cores.

        Returns
        -------
        ndarray of shape (n_samples, `n_components_`)
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
        mixing: Reals | None = None if self.mixing is None else self.mixing.astype(dtype)

        def fill(tile: slice) -> None:
            values = self.basis(X[tile], dtype)
            out[tile] = values if mixing is None else values @ mixing

        self._each(fill, len(out), available_cores())
        return out

    def dot(self, X: Data, coef: Floats, threads: int | None = None) -> Floats:
        """φ(X) @ coefᵀ, in the precision of X; φ(X) is never stored as a whole."""
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

    def approximation_error(self, X: Data, n_samples: int = ERROR_SAMPLE) -> float:
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

    def _validate(self, X: Data, reset: bool) -> Any:
        X = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
        )
        return sp.csr_array(X) if sp.issparse(X) else X

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def kernel_error(kernel: Kernel, X: Data, Z: Floats) -> float:
    """√mean (k(x, x') − zᵀz')² over all pairs of the rows of X, whose features are Z."""
    Z = np.asarray(Z, np.float64)
    difference = np.asarray(kernel(X, X), np.float64) - Z @ Z.T
    return float(np.sqrt(np.mean(difference**2)))


def distinct_rows(X: Data, count: int, random: np.random.RandomState) -> Numbers:
    """Numbers of `count` distinct rows at random, sorted; fewer if there are fewer.

    Rows are ranked by a hash of their values: the sample does not depend on the order of the rows
    nor on duplicates.
    """
    factors = random.randint(0, 2**64, X.shape[1], dtype=np.uint64) | np.uint64(1)
    hashes = np.empty(X.shape[0], np.uint64)

    def fill(rows: slice) -> None:
        part = X[rows]
        if sp.issparse(part):
            ends = np.append(np.uint64(0), (_bits(part.data) * factors[part.indices]).cumsum())
            hashes[rows] = ends[part.indptr[1:]] - ends[part.indptr[:-1]]
        else:
            hashes[rows] = (_bits(part) * factors).sum(axis=1, dtype=np.uint64)

    step = max(1, TILE_ENTRIES // X.shape[1])
    run_all(fill, [(slice(s, s + step),) for s in range(0, len(hashes), step)], available_cores())
    hashes ^= hashes >> np.uint64(33)
    hashes *= np.uint64(0xFF51AFD7ED558CCD)
    hashes ^= hashes >> np.uint64(33)
    return np.sort(np.unique(hashes, return_index=True)[1][:count])


def _bits(values: Floats) -> Floats:
    """The bits of float64 values, 0 for ±0, the leading half mixed into the trailing one."""
    bits = (np.asarray(values, np.float64) + 0.0).view(np.uint64)  # + 0.0 makes 0 of −0
    return bits ^ (bits >> np.uint64(32))


def sampled(rows: int, count: int, random: np.random.RandomState) -> Numbers:
    """`count` different row numbers, sorted; all of them if there are no more."""
    if count >= rows:
        return np.arange(rows)
    return np.sort(random.permutation(rows)[:count])
