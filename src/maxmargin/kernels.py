"""Kernels: k(x, z) = φ(x)ᵀφ(z), an inner product in a space that is never visited.

A kernel here is a small frozen object. Called with two blocks of rows it returns the block of
values; `diagonal` gives k(x, x) for each row. It knows nothing of caches, labels or solvers.

Kernels compose: a sum, a product and a positive multiple of kernels are kernels.

>>> import numpy as np
>>> X = np.array([[0.0, 1.0], [2.0, 1.0]])
>>> RBF(gamma=0.5)(X, X).round(3)
array([[1.   , 0.135],
       [0.135, 1.   ]])
>>> (Linear() + 2.0 * RBF(gamma=0.5))(X, X).round(3)
array([[3.   , 1.271],
       [1.271, 7.   ]])

A kernel of your own is either a function of two blocks of rows (`Vectorized`) or a function of
two rows that numba compiles (`Pairwise`). Neither ever forms the whole Gram matrix.

>>> def cosine(x, z):
...     return (x @ z) / np.sqrt((x @ x) * (z @ z))
>>> Pairwise(cosine)(X, X).round(3)
array([[1.   , 0.447],
       [0.447, 1.   ]])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numba import njit
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.utils.extmath import row_norms, safe_sparse_dot

Gamma = float | Literal["scale", "auto"]


@dataclass(frozen=True)
class Kernel:
    """A positive semidefinite function of two rows; see the module's page."""

    def __post_init__(self) -> None:
        gamma = getattr(self, "gamma", 0.0)
        known = gamma in ("scale", "auto") if isinstance(gamma, str) else 0 <= gamma < np.inf
        if not known:
            raise ValueError(
                f'gamma of {type(self).__name__} must be "scale", "auto" or a number ≥ 0, '
                f"got {gamma!r}"
            )

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Block of values k(x, z) for the rows x of X and z of Z."""
        raise TypeError(f"{type(self).__name__} does not define k(X, Z)")

    def diagonal(self, X: Any) -> np.ndarray:
        """k(x, x) for each row x of X, in float64."""
        return np.concatenate(
            [np.asarray(self(X[i : i + 1], X[i : i + 1]), float)[0] for i in range(X.shape[0])]
        )

    def bind(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        """A copy with `gamma="scale"` or `"auto"` replaced by its value on X."""
        changes: dict[str, Any] = {}
        for name, value in vars(self).items():
            if isinstance(value, Kernel):
                changes[name] = value.bind(X, weights)
            elif name == "gamma" and isinstance(value, str):
                changes["gamma"] = gamma_of(value, X, weights)
        return replace(self, **changes) if changes else self

    def __add__(self, other: Kernel) -> Sum:
        return Sum(self, other)

    def __mul__(self, other: Kernel | float) -> Kernel:
        return Product(self, other) if isinstance(other, Kernel) else Scaled(float(other), self)

    __rmul__ = __mul__


def gamma_of(rule: str, X: Any, weights: np.ndarray | None = None) -> float:
    """scikit-learn's rules: "scale" is 1 / (columns · variance of X), "auto" is 1 / columns.

    A row of weight two counts in the variance as two rows do.
    """
    if rule == "auto":
        return 1.0 / X.shape[1]
    if weights is None and not sp.issparse(X):
        mean = X.mean(dtype=np.float64)
        step = max(1, (1 << 20) // X.shape[1])  # rows at a time: X may be a memmap, or float32
        parts = (np.sum((X[i : i + step] - mean) ** 2) for i in range(0, len(X), step))
        variance = float(sum(parts)) / X.size
    else:
        weights = np.ones(X.shape[0]) if weights is None else weights
        entries = weights.sum() * X.shape[1]
        mean = float((weights @ X).sum()) / entries
        variance = float(weights @ row_norms(X, squared=True)) / entries - mean**2
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def number(gamma: Gamma) -> float:
    """γ of a kernel that is bound to data."""
    if isinstance(gamma, str):
        raise ValueError(f"gamma={gamma!r} needs data: call kernel.bind(X), or give a number")
    return float(gamma)


@dataclass(frozen=True)
class DotKernel(Kernel):
    """A kernel that depends on x and z only through xᵀz, ‖x‖² and ‖z‖²."""

    def of(self, dot: np.ndarray, xx: np.ndarray, zz: np.ndarray) -> np.ndarray:
        """Values from inner products; may overwrite `dot`. xx and zz are squared norms."""
        raise TypeError(f"{type(self).__name__} does not define its function of xᵀz")

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        dot = safe_sparse_dot(X, Z.T, dense_output=True)
        dot = dot if dot.dtype.kind == "f" else dot.astype(np.float64)
        return self.of(dot, row_norms(X, squared=True), row_norms(Z, squared=True))

    def diagonal(self, X: Any) -> np.ndarray:
        xx = row_norms(X, squared=True).astype(np.float64)
        return self.of(xx[:, None].copy(), xx, np.zeros(1))[:, 0]


@dataclass(frozen=True)
class Linear(DotKernel):
    """k(x, z) = xᵀz."""

    def of(self, dot: np.ndarray, xx: np.ndarray, zz: np.ndarray) -> np.ndarray:
        return dot


@dataclass(frozen=True)
class Polynomial(DotKernel):
    """k(x, z) = (γ xᵀz + c₀)^d; homogeneous for c₀ = 0."""

    degree: int = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.degree < 0 or self.degree != int(self.degree):
            raise ValueError(
                f"degree={self.degree!r} must be a whole number ≥ 0: a broken power of a negative "
                "inner product is not a number"
            )

    def of(self, dot: np.ndarray, xx: np.ndarray, zz: np.ndarray) -> np.ndarray:
        dot *= number(self.gamma)
        dot += self.coef0
        return np.power(dot, self.degree, out=dot)


@dataclass(frozen=True)
class RBF(DotKernel):
    """k(x, z) = exp(−γ ‖x − z‖²)."""

    gamma: Gamma = "scale"

    def of(self, dot: np.ndarray, xx: np.ndarray, zz: np.ndarray) -> np.ndarray:
        dot *= -2
        dot += xx[:, None]
        dot += zz[None, :]
        np.maximum(dot, 0, out=dot)
        dot *= -number(self.gamma)
        return np.exp(dot, out=dot)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Sigmoid(DotKernel):
    """k(x, z) = tanh(γ xᵀz + c₀). Not positive semidefinite for every γ and c₀."""

    gamma: Gamma = "scale"
    coef0: float = 0.0

    def of(self, dot: np.ndarray, xx: np.ndarray, zz: np.ndarray) -> np.ndarray:
        dot *= number(self.gamma)
        dot += self.coef0
        return np.tanh(dot, out=dot)


@dataclass(frozen=True)
class Laplacian(Kernel):
    """k(x, z) = exp(−γ ‖x − z‖₁)."""

    gamma: Gamma = "scale"

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        distance = manhattan_distances(short_indices(X), short_indices(Z))
        distance *= -number(self.gamma)
        return np.exp(distance, out=distance)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(X.shape[0])


def short_indices(X: Any) -> Any:
    """X with 32-bit indices if it is sparse: scikit-learn's Manhattan distances take no others."""
    if not sp.issparse(X) or X.indices.dtype == np.int32:
        return X
    return sp.csr_array((X.data, np.int32(X.indices), np.int32(X.indptr)), X.shape)


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The rows of X are rows of a kernel matrix computed elsewhere."""


@dataclass(frozen=True)
class Sum(Kernel):
    """k(x, z) = left(x, z) + right(x, z)."""

    left: Kernel
    right: Kernel

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return self.left(X, Z) + self.right(X, Z)

    def diagonal(self, X: Any) -> np.ndarray:
        return self.left.diagonal(X) + self.right.diagonal(X)


@dataclass(frozen=True)
class Product(Kernel):
    """k(x, z) = left(x, z) · right(x, z)."""

    left: Kernel
    right: Kernel

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return self.left(X, Z) * self.right(X, Z)

    def diagonal(self, X: Any) -> np.ndarray:
        return self.left.diagonal(X) * self.right.diagonal(X)


@dataclass(frozen=True)
class Scaled(Kernel):
    """k(x, z) = factor · kernel(x, z), factor > 0."""

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        if not 0 < self.factor < np.inf:
            raise ValueError(f"a kernel's factor must be positive and finite, got {self.factor}")

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return self.kernel(X, Z) * self.factor

    def diagonal(self, X: Any) -> np.ndarray:
        return self.factor * self.kernel.diagonal(X)


@dataclass(frozen=True)
class Vectorized(Kernel):
    """A user's function of two blocks: `function(X, Z)` returns the (rows of X, rows of Z) block.

    It is called on blocks of up to 2²⁰ pairs: the whole matrix is asked for only if it is small.
    """

    function: Callable[[Any, Any], np.ndarray]

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        values: Any = self.function(X, Z)
        values = values.toarray() if sp.issparse(values) else np.asarray(values)
        return checked(values, (X.shape[0], Z.shape[0]), self.function)


@dataclass(frozen=True)
class Pairwise(Kernel):
    """A user's function of two rows, compiled with numba and evaluated block by block."""

    function: Callable[[np.ndarray, np.ndarray], float]

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        X, Z = (np.ascontiguousarray(A.toarray() if sp.issparse(A) else A) for A in (X, Z))
        values = np.empty((X.shape[0], Z.shape[0]))
        _compiled(self.function)(X, Z, values)
        return checked(values, values.shape, self.function)


def checked(values: np.ndarray, shape: tuple[int, int], function: Callable) -> np.ndarray:
    """What a user's function returned, or an error that says what is wrong with it."""
    name = getattr(function, "__name__", repr(function))
    if values.shape != shape:
        raise ValueError(
            f"kernel {name!r} was called with blocks of {shape[0]} and {shape[1]} rows and must "
            f"return shape {shape}, got {values.shape}; for a function of two single rows use "
            "maxmargin.kernels.Pairwise"
        )
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"kernel {name!r} returned {values[i, j]} for rows {i} and {j} of the blocks it was "
            "given; a kernel must be finite everywhere"
        )
    return values


@lru_cache(maxsize=64)
def _compiled(function: Callable) -> Callable:
    row_pair = function if hasattr(function, "py_func") else njit(function)

    @njit(nogil=True)
    def fill(X, Z, values):
        for i in range(X.shape[0]):
            for j in range(Z.shape[0]):
                values[i, j] = row_pair(X[i], Z[j])

    return fill


def as_kernel(
    kernel: str | Kernel | Callable, *, degree: int, gamma: Gamma, coef0: float
) -> Kernel:
    """The kernel that scikit-learn's `kernel=` names, or the object or function given."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Pairwise(kernel) if hasattr(kernel, "py_func") else Vectorized(kernel)
    named: dict[str, Callable[[], Kernel]] = {
        "linear": Linear,
        "poly": lambda: Polynomial(degree, gamma, coef0),
        "rbf": lambda: RBF(gamma),
        "laplacian": lambda: Laplacian(gamma),
        "sigmoid": lambda: Sigmoid(gamma, coef0),
        "precomputed": Precomputed,
    }
    if kernel not in named:
        raise ValueError(f"kernel={kernel!r} is not one of {sorted(named)} nor a kernel object")
    return named[kernel]()
