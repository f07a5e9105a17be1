"""Random Fourier features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from maxmargin.conventions import exists_if
from maxmargin.features.kernel_features import (
    COMPONENTS,
    ERROR_SAMPLE,
    KernelFeatures,
    distinct_rows,
)
from maxmargin.kernels import Gamma, Kernel, as_kernel
from maxmargin.resources.arrays import Data, Floats, RandomState, Reals, RealType


class RandomFourierFeatures(KernelFeatures):
    """Features by random frequencies: √(2/D) cos(ωx + b), unbiased, with an error of order 1/√D.

    φ(x)ᵀφ(z) estimates k(x, z) = E cos(ωᵀ(x − z)), ω drawn from the kernel's spectral measure.

    Parameters
    ----------
    n_components : int or None
        D, the number of columns; None is 1,000.
    kernel : {"rbf", "laplacian"}, RBF, Laplacian, a product of them, or a kernel with `frequencies`
        exp(−γ‖x − z‖²) has normal frequencies N(0, 2γI), exp(−γ‖x − z‖₁) Cauchy's of width γ.
    gamma : float > 0, "scale" or "auto"
        γ, if the kernel is given by its name.
    paired : bool, default=False
        Each frequency twice, as cosine and sine, instead of once with a random phase: the
        smaller error for close points. D must be even.
    orthogonal : bool, default=False
        Frequencies that are orthogonal in groups of as many as there are columns of X: still
        unbiased, with a smaller error. For the RBF only.
    random_state : int, RandomState or None

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_frequencies, n_features), ω
    phases_ : ndarray of shape (n_frequencies,), b
        Column k of `transform(X)` is √(2/D) cos(X ω_k + b_k), computed in float32; if paired,
        √(2/D) cos(X ω_k + b_k) in the first half of the columns and the sine in the second.
    kernel_ : Kernel, with the number that γ is

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> features = RandomFourierFeatures(2000, gamma=0.5, random_state=0).fit(X)
    >>> Z = features.transform(X)
    >>> float(Z[0] @ Z[1]), float(np.exp(-0.5))
    (0.6, 0.6)
    >>> angles = X @ features.frequencies_.T + features.phases_
    >>> np.allclose(Z, np.sqrt(2 / 2000) * np.cos(angles), atol=1e-5)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelFeatures._parameter_constraints,
        "kernel": [str, Kernel],
        "paired": ["boolean"],
        "orthogonal": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Kernel = "rbf",
        gamma: Gamma = "scale",
        paired: bool = False,
        orthogonal: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.paired = paired
        self.orthogonal = orthogonal
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        return as_kernel(self.kernel, degree=3, gamma=self.gamma, coef0=0.0)

    def _draw(self, X: Data, random: np.random.RandomState) -> None:
        columns = COMPONENTS if self.n_components is None else self.n_components
        if self.paired and columns % 2:
            raise ValueError(f"paired=True needs an even n_components, got {columns}")
        count, d = columns // 2 if self.paired else columns, X.shape[1]
        frequencies = self.kernel_.frequencies(count, d, random, orthogonal=self.orthogonal)
        self.frequencies_ = frequencies.astype(np.float32)
        phases = np.zeros(count) if self.paired else random.uniform(0, 2 * np.pi, count)
        self._phases = phases.astype(np.float32)
        self._n_features_out = columns
        # Angles far from the origin are rounded more: ωx + b = ω(x − c) + (b + ωc), c a mean row.
        self._centre = np.zeros(d)
        if not sp.issparse(X):
            some = distinct_rows(X, ERROR_SAMPLE, check_random_state(0))
            self._centre = X[some].mean(axis=0, dtype=np.float64)
        turned = self.frequencies_.astype(np.float64) @ self._centre
        self.phases_ = (self._phases - turned) % (2 * np.pi)

    def basis(self, X: Data, dtype: RealType = np.float32) -> Reals:
        """φ itself."""
        if self._centre.any():
            X = (X.toarray() if sp.issparse(X) else X) - self._centre
        angles = X.astype(dtype, copy=False) @ self.frequencies_.T.astype(dtype)
        if self.paired:
            values = np.hstack([np.cos(angles), np.sin(angles)])
        else:
            angles += self._phases.astype(dtype)
            values = np.cos(angles, out=angles)
        values *= dtype(np.sqrt(2 / self._n_features_out))
        return values

    @exists_if(lambda self: self.paired)
    def inverse_transform(self, Z: Data) -> Floats:
        """The rows x with φ(x) = z, for paired features.

        Cosine and sine give the angles ωx up to whole turns, and the angles give x by least
        squares. That is an inverse where no angle is beyond half a turn and there are at least
        as many frequencies as columns; elsewhere it is refused.
        """
        check_is_fitted(self)
        Z = np.asarray(Z, np.float64)
        cosine, sine = np.split(Z, 2, axis=1)
        frequencies = self.frequencies_.astype(np.float64)
        X: Floats = np.linalg.lstsq(frequencies, np.arctan2(sine, cosine).T)[0].T
        X += self._centre
        miss = np.abs(self.basis(X, np.float64) - Z).max(axis=1)
        if miss.max(initial=0) > 1e-3 * np.sqrt(2 / self._n_features_out):
            raise ValueError(
                f"row {int(miss.argmax())} has no unique inverse: an angle ωx beyond half a turn, "
                "or fewer frequencies than columns; a smaller gamma turns less"
            )
        return X
