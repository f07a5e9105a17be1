"""Nyström's features."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn.utils.validation import check_is_fitted

from maxmargin.conventions import Interval, StrOptions, exists_if
from maxmargin.features.kernel_features import COMPONENTS, KernelFeatures
from maxmargin.features.landmarks import choose_landmarks
from maxmargin.gram import cross_dot
from maxmargin.gram.layouts import layout_of
from maxmargin.kernels import Gamma, Kernel, KernelFunction, as_kernel
from maxmargin.resources.arrays import Data, Floats, RandomState, Reals, RealType
from maxmargin.resources.threads import one_blas_thread

KINDS: tuple[type, ...] = (np.float32, np.float64)


class Nystroem(KernelFeatures):
    """Features by landmarks: the projection on the span of some of the rows, for any kernel.

    Parameters
    ----------
    n_components : int or None
        Number of landmarks, at most the number of rows; None is 1,000, or all rows if there are
        fewer.
    kernel : as for `SVC`, except "precomputed"
    degree, gamma, coef0 : parameters of the named kernels
    landmarks : {"uniform", "kmeans++", "leverage"}, default="uniform"
        Distinct rows: at random; far from each other; or those that a first choice represents
        worst (approximate ridge leverage scores). The last two choose among ten times as many
        random rows.
    threshold : float, default=1e-6
        Eigenvalues of K_mm below this share of the largest are dropped: in float32 they are
        rounding errors. So there can be fewer columns than landmarks.
    random_state : int, RandomState or None

    Attributes
    ----------
    landmarks_ : array of shape (n_landmarks, n_features)
    landmark_indices_ : ndarray, their row numbers
    normalization_ : ndarray of shape (n_landmarks, n_columns), UΛ^(−½) in float64
    eigenvalues_ : ndarray of shape (n_columns,), those that were kept
    kernel_ : Kernel, with the number that γ is

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> features = Nystroem(30, random_state=0).fit(X)
    >>> features.approximation_error(X) < 0.01
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelFeatures._parameter_constraints,
        "kernel": [str, callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "landmarks": [StrOptions({"uniform", "kmeans++", "leverage"})],
        "threshold": [Interval(Real, 0.0, 1.0, closed="neither")],
    }

    normalization_: Floats
    eigenvalues_: Floats
    landmarks_: Data

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Kernel | KernelFunction = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        landmarks: Literal["uniform", "kmeans++", "leverage"] = "uniform",
        threshold: float = 1e-6,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.landmarks = landmarks
        self.threshold = threshold
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        kernel = as_kernel(self.kernel, degree=self.degree, gamma=self.gamma, coef0=self.coef0)
        if kernel.precomputed:
            raise ValueError("Nystroem needs a kernel it can evaluate, not kernel='precomputed'")
        return kernel

    def _draw(self, X: Data, random: np.random.RandomState) -> None:
        rows = X.shape[0]
        count = min(COMPONENTS, rows) if self.n_components is None else self.n_components
        if count > rows:
            raise ValueError(
                f"n_components={count} landmarks cannot be chosen among {rows} rows: use at most "
                f"n_components={rows}"
            )
        chosen = choose_landmarks(self.landmarks, self.kernel_, X, count, random)
        self.landmark_indices_ = chosen
        self.landmarks_ = X[chosen]
        K = np.asarray(self.kernel_(self.landmarks_, self.landmarks_), np.float64)
        with one_blas_thread():  # its many small steps gain nothing from more
            values, vectors = eigh((K + K.T) / 2, driver="evd", check_finite=False)
        kept = values > self.threshold * max(values[-1], 0.0)
        if not kept.any():  # k is 0 on the landmarks, and so is φ
            kept[-1], values[-1], vectors[:, -1] = True, 1.0, 0.0
        if np.abs(K).max() > 1e30:
            raise ValueError(
                f"kernel values up to {np.abs(K).max():.1g} are beyond float32: scale the data"
            )
        self.eigenvalues_ = values[kept]
        self.normalization_ = np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))
        self._prepare()

    def _prepare(self) -> None:
        """What follows from the landmarks and their normalization: columns, packed landmarks."""
        self._n_features_out = len(self.eigenvalues_)
        self._layout = layout_of(self.kernel_, self.landmarks_)
        self._panels: dict[str, Any] = {}
        if self._layout:
            self._panels = {np.dtype(kind).name: self._layout.pack(kind, None, 1) for kind in KINDS}

    def basis(self, X: Data, dtype: RealType = np.float32) -> Reals:
        """The kernel with every landmark."""
        if sp.issparse(X) and not sp.issparse(self.landmarks_):
            X = X.toarray()
        elif sp.issparse(self.landmarks_):
            X = sp.csr_array(X)
        if self._layout is None:
            values: Reals = self.kernel_(X, self.landmarks_)
            return values.astype(dtype, copy=False)
        right = self._layout.like(X).expand(dtype, None, 1)
        out = np.empty((X.shape[0], len(self.landmark_indices_)), dtype)
        return self._layout.block(self._panels[np.dtype(dtype).name], right, out, 1)

    @property
    def mixing(self) -> Floats:
        """UΛ^(−½)."""
        return self.normalization_

    @exists_if(lambda self: self._kernel().radial)
    def inverse_transform(self, Z: Data) -> Floats:
        """The rows x with φ(x) = z, for the RBF and dense rows.

        K_mm^½ undoes the normalization, the logarithm gives the squared distances to the
        landmarks, and these give x by least squares, each landmark counting by its kernel value.
        That is an inverse for the landmarks themselves and for rows that they represent.
        """
        check_is_fitted(self)
        if sp.issparse(self.landmarks_):
            raise ValueError("inverse_transform needs landmarks that are dense rows")
        back, centre = self.normalization_ * self.eigenvalues_, self.landmarks_.mean(axis=0)
        most = self.kernel_.diagonal(self.landmarks_).max()
        values = np.clip(np.asarray(Z, np.float64) @ back.T, 1e-6 * most, most)
        squares = self.kernel_.squared_distances(values)
        L = self.landmarks_ - centre
        # ‖x − l‖² = s for every l is linear in (x, ‖x‖²):  2 lᵀx − ‖x‖² = ‖l‖² − s.
        A = np.column_stack([2 * L, -np.ones(len(L))])
        right = np.einsum("ij,ij->i", L, L) - squares
        pairs = zip(values / most, right, strict=True)
        X = [np.linalg.lstsq(A * k[:, None], r * k)[0][:-1] for k, r in pairs]
        back_in_place: Floats = np.array(X) + centre
        return back_in_place

    def dot(self, X: Data, coef: Floats, threads: int | None = None) -> Floats:
        """φ(X) @ coefᵀ: the landmarks' weights are UΛ^(−½) coefᵀ, and φ(X) is not needed."""
        weights = coef @ self.normalization_.T
        if sp.issparse(self.landmarks_):
            X = sp.csr_array(X)
        with one_blas_thread():
            return cross_dot(self.kernel_, X, self.landmarks_, weights, threads)
