"""Random Fourier features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.features.base import COMPONENTS, ERROR_SAMPLE, KernelFeatures, distinct_rows
from maxmargin.kernels import RBF, Gamma, Kernel, Laplacian, as_kernel


class RandomFourierFeatures(KernelFeatures):
    """Features by random frequencies: cos(ωx + b), unbiased, with an error of order 1/√D.

    Parameters
    ----------
    n_components : int or None
        D, the number of columns; None is 1,000.
    kernel : {"rbf", "laplacian"}, RBF or Laplacian
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
    phases_ : ndarray of shape (n_frequencies,), b; zeros if paired
    kernel_ : Kernel, with the number that γ is

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> features = RandomFourierFeatures(2000, gamma=0.5, random_state=0).fit(X)
    >>> Z = features.transform(X)
    >>> float(Z[0] @ Z[1]), float(np.exp(-0.5))
    (0.6, 0.6)
    """

    _parameter_constraints: ClassVar[dict] = {
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
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.paired = paired
        self.orthogonal = orthogonal
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        kernel = self.kernel
        if isinstance(kernel, str):
            kernel = as_kernel(kernel, degree=3, gamma=self.gamma, coef0=0.0)
        if not isinstance(kernel, RBF | Laplacian):
            raise ValueError(
                f"kernel={self.kernel!r} has no spectral measure to draw frequencies from: Fourier "
                "features exist for 'rbf' and 'laplacian'; Nystroem takes any kernel"
            )
        if not isinstance(kernel.gamma, str) and kernel.gamma <= 0:
            raise ValueError(f"gamma={kernel.gamma} of the kernel must be positive")
        if self.orthogonal and not isinstance(kernel, RBF):
            raise ValueError("orthogonal=True needs the RBF, whose frequencies have no direction")
        return kernel

    def _draw(self, X: Any, random: np.random.RandomState) -> None:
        columns = COMPONENTS if self.n_components is None else self.n_components
        if self.paired and columns % 2:
            raise ValueError(f"paired=True needs an even n_components, got {columns}")
        count, d = columns // 2 if self.paired else columns, X.shape[1]
        gamma = float(self.kernel_.gamma)
        if isinstance(self.kernel_, Laplacian):
            frequencies = gamma * random.standard_cauchy((count, d))
        elif self.orthogonal:
            frequencies = np.sqrt(2 * gamma) * orthogonal_normal(count, d, random)
        else:
            frequencies = np.sqrt(2 * gamma) * random.standard_normal((count, d))
        self.frequencies_ = frequencies.astype(np.float32)
        phases = np.zeros(count) if self.paired else random.uniform(0, 2 * np.pi, count)
        self.phases_ = phases.astype(np.float32)
        self._n_features_out = columns
        # Where the origin is does not matter, but angles far from it are rounded more.
        self._centre = np.zeros(d)
        if not sp.issparse(X):
            some = distinct_rows(X, ERROR_SAMPLE, check_random_state(0))
            self._centre = X[some].mean(axis=0, dtype=np.float64)

    def basis(self, X: Any, dtype: type = np.float32) -> np.ndarray:
        """φ itself."""
        if self._centre.any():
            X = (X.toarray() if sp.issparse(X) else X) - self._centre
        angles = X.astype(dtype, copy=False) @ self.frequencies_.T.astype(dtype)
        if self.paired:
            values = np.hstack([np.cos(angles), np.sin(angles)])
        else:
            angles += self.phases_.astype(dtype)
            values = np.cos(angles, out=angles)
        values *= dtype(np.sqrt(2 / self._n_features_out))
        return values

    @available_if(lambda self: self.paired)
    def inverse_transform(self, Z: Any) -> np.ndarray:
        """The rows x with φ(x) = z, for paired features.

        Cosine and sine give the angles ωx up to whole turns, and the angles give x by least
        squares. That is an inverse where no angle is beyond half a turn and there are at least
        as many frequencies as columns; elsewhere it is refused.
        """
        check_is_fitted(self)
        Z = np.asarray(Z, np.float64)
        cosine, sine = np.split(Z, 2, axis=1)
        frequencies = self.frequencies_.astype(np.float64)
        X = np.linalg.lstsq(frequencies, np.arctan2(sine, cosine).T)[0].T
        X += self._centre
        miss = np.abs(self.basis(X, np.float64) - Z).max(axis=1)
        if miss.max(initial=0) > 1e-3 * np.sqrt(2 / self._n_features_out):
            raise ValueError(
                f"row {int(miss.argmax())} has no unique inverse: an angle ωx beyond half a turn, "
                "or fewer frequencies than columns; a smaller gamma turns less"
            )
        return X


def orthogonal_normal(count: int, d: int, random: np.random.RandomState) -> np.ndarray:
    """`count` vectors, each N(0, I) by itself, orthogonal in groups of d.

    The directions of a group are a random rotation, the lengths those of independent normals.
    """
    groups = -(-count // d)
    directions = np.linalg.qr(random.standard_normal((groups, d, d)))[0]
    directions *= random.choice([-1.0, 1.0], (groups, 1, d))  # QR's signs are not random
    lengths = np.sqrt(random.chisquare(d, groups * d))
    return (directions.transpose(0, 2, 1).reshape(-1, d) * lengths[:, None])[:count]
