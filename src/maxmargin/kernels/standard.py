"""The kernels of the textbooks, and the kernel matrix that was computed elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from maxmargin.kernels.form import TANH, Form, sum_of
from maxmargin.kernels.gamma import Gamma, number
from maxmargin.kernels.kernel import Kernel
from maxmargin.resources.arrays import Data, Floats, Numbers, Random, Reals, RealType

DENSE = 1 << 18  # numbers of rows whose differences are computed at a time: they stay in cache


@dataclass(frozen=True)
class DotKernel(Kernel):
    """A kernel that depends on x and z only through xᵀz, ‖x‖² and ‖z‖², as its `forms` say.

    Examples
    --------
    >>> Linear().forms == (Linear() + 0).forms
    True
    """

    takes_objects = False

    def _forms(self) -> tuple[Form, ...]:
        if self.forms is None:
            raise TypeError(f"{type(self).__name__} does not define its forms")
        return self.forms

    def __call__(self, X: Data, Z: Data) -> Reals:
        X, Z = (A if sp.issparse(A) else np.asarray(A) for A in (X, Z))  # of lists and frames
        forms = self._forms()
        if X.dtype != Z.dtype:  # whose product scikit-learn has not if they are sparse
            dtype = np.result_type(X.dtype, Z.dtype)
            X, Z = X.astype(dtype, copy=False), Z.astype(dtype, copy=False)
        dot = safe_sparse_dot(X, Z.T, dense_output=True)
        dot = dot if dot.dtype.kind == "f" else dot.astype(np.float64)
        xx, zz = row_norms(X, squared=True), row_norms(Z, squared=True)
        return sum_of(forms, dot, xx[:, None] + zz)

    def diagonal(self, X: Data) -> Floats:
        forms = self._forms()
        if all(form.translation_invariant for form in forms):
            xx = np.zeros(X.shape[0])  # k(x, x) = k(0, 0)
        else:
            xx = row_norms(X, squared=True).astype(np.float64)
        return sum_of(forms, xx, 2 * xx).astype(np.float64, copy=False)


@dataclass(frozen=True)
class Linear(DotKernel):
    """k(x, z) = xᵀz.

    Examples
    --------
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    positive_definite = True
    is_linear = True

    @property
    def forms(self) -> tuple[Form, ...]:
        return (Form(1),)


@dataclass(frozen=True)
class Polynomial(DotKernel):
    """k(x, z) = (γ xᵀz + c₀)^d; homogeneous for c₀ = 0.

    Examples
    --------
    >>> Polynomial(degree=2, gamma=1.0, coef0=1.0)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[144.]])
    """

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

    @property
    def forms(self) -> tuple[Form, ...]:
        return (Form(int(self.degree), number(self.gamma), 0.0, float(self.coef0)),)

    @property
    def positive_definite(self) -> bool | None:
        return self.coef0 >= 0 or None


@dataclass(frozen=True)
class RBF(DotKernel):
    """k(x, z) = exp(−γ ‖x − z‖²).

    Examples
    --------
    >>> RBF(gamma=0.5)(np.array([[0.0]]), np.array([[0.0], [2.0]])).round(3)
    array([[1.   , 0.135]])
    """

    gamma: Gamma = "scale"

    in_unit_interval = True
    translation_invariant = True
    positive_definite = True
    radial = True

    def __call__(self, X: Data, Z: Data) -> Reals:
        """From the differences x − z, whatever that costs: tiles are for speed, this is for digits.

        t = γ‖x − z‖² then has a relative error of a few units, and exp(−t) an absolute one as
        small, for t exp(−t) < 1. Rows are scaled by a power of 2, exactly: nothing overflows.
        """
        X, Z = (A if sp.issparse(A) else np.asarray(A) for A in (X, Z))  # of lists and frames
        width, top = math.sqrt(number(self.gamma)), max(_largest(X), _largest(Z))
        scale = 2.0 ** min(round(math.log2(width or 1.0)), 500 - math.frexp(top)[1])
        values = np.empty((X.shape[0], Z.shape[0]))
        step = max(1, DENSE // max(X.shape[1], 1))
        for i in range(0, X.shape[0], step):
            some = _dense(X[i : i + step], scale)
            for j in range(0, Z.shape[0], step):
                tile = cdist(some, _dense(Z[j : j + step], scale))
                with np.errstate(over="ignore"):
                    tile = np.square(tile * (width / scale))
                values[i : i + step, j : j + step] = np.exp(-tile)
        return values

    @property
    def forms(self) -> tuple[Form, ...]:
        g = number(self.gamma) * math.log2(math.e)
        return (Form(None, 2 * g, -g),)

    @property
    def column_products(self) -> tuple[tuple[float, float, float], ...]:
        return ((1.0, number(self.gamma), 0.0),)

    def squared_distances(self, values: Reals) -> Reals:
        return -np.log(values) / number(self.gamma)

    def frequencies(
        self, count: int, columns: int, random: Random, *, orthogonal: bool = False
    ) -> Floats:
        """N(0, 2γI)."""
        draw = orthogonal_normal if orthogonal else normal
        return math.sqrt(2 * positive(self.gamma)) * draw(count, columns, random)


@dataclass(frozen=True)
class Sigmoid(DotKernel):
    """k(x, z) = tanh(γ xᵀz + c₀). Not positive semidefinite for every γ and c₀.

    Examples
    --------
    >>> Sigmoid(gamma=1.0, coef0=-1.0)(np.array([[1.0]]), np.array([[1.0], [2.0]])).round(3)
    array([[0.   , 0.762]])
    """

    gamma: Gamma = "scale"
    coef0: float = 0.0

    @property
    def forms(self) -> tuple[Form, ...]:
        return (Form(TANH, number(self.gamma), 0.0, float(self.coef0)),)


@dataclass(frozen=True)
class Laplacian(Kernel):
    """k(x, z) = exp(−γ ‖x − z‖₁).

    Examples
    --------
    >>> Laplacian(gamma=0.5)(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])).round(3)
    array([[0.368]])
    """

    gamma: Gamma = "scale"

    takes_objects = False
    in_unit_interval = True
    translation_invariant = True
    positive_definite = True

    def __call__(self, X: Data, Z: Data) -> Reals:
        from sklearn.metrics.pairwise import manhattan_distances  # slow to import

        values: Reals = manhattan_distances(short_indices(X), short_indices(Z))
        values *= -number(self.gamma)
        return np.exp(values, out=values)

    def diagonal(self, X: Data) -> Floats:
        return np.ones(X.shape[0])

    @property
    def column_products(self) -> tuple[tuple[float, float, float], ...]:
        return ((1.0, 0.0, number(self.gamma)),)

    def frequencies(
        self, count: int, columns: int, random: Random, *, orthogonal: bool = False
    ) -> Floats:
        """Cauchy's distribution of width γ in every column."""
        if orthogonal:
            raise ValueError("orthogonal=True needs the RBF, whose frequencies have no direction")
        return positive(self.gamma) * random.standard_cauchy((count, columns))


@dataclass(frozen=True)
class Precomputed(Kernel):
    """X is a kernel matrix computed elsewhere: to predict, its columns are the training rows.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> K = np.array([[2.0, 0.0], [0.0, 2.0]])
    >>> SVC(kernel=Precomputed()).fit(K, [0, 1]).predict(K)
    array([0, 1])
    """

    precomputed = True
    takes_objects = False

    def __call__(self, X: Data, Z: Data) -> Reals:
        """X itself: its rows are already rows of the kernel matrix, with a column for each z."""
        if X.shape[1] != Z.shape[0]:
            raise ValueError(
                f"a precomputed kernel with {Z.shape[0]} rows needs as many columns, got {X.shape}"
            )
        values: Reals = X
        return values

    def given(self, X: Data) -> Reals | None:
        K: Reals = X
        return K

    def diagonal(self, X: Data) -> Floats:
        return np.array(X.diagonal(), np.float64)

    def entries(self, X: Data, i: Numbers, j: Numbers, dtype: RealType = np.float64) -> Reals:
        values: Reals = X.take(i, 0).take(j, 1)
        return values.astype(dtype, copy=False)


def _largest(X: Data) -> float:
    """The largest |x_ik|."""
    numbers = X.data if sp.issparse(X) else X
    return float(max(numbers.max(initial=0), -numbers.min(initial=0)))


def _dense(X: Data, scale: float) -> Floats:
    """The rows, times a power of 2, as a dense float64 array."""
    rows: Floats = (X.toarray() if sp.issparse(X) else X).astype(np.float64)
    rows *= scale
    return rows


def positive(gamma: Gamma) -> float:
    """γ of a kernel whose frequencies are drawn: with γ = 0 all of them would be 0."""
    if number(gamma) <= 0:
        raise ValueError(f"gamma={gamma} of the kernel must be positive")
    return number(gamma)


def normal(count: int, d: int, random: Random) -> Floats:
    """`count` independent vectors from N(0, I) in d dimensions."""
    return random.standard_normal((count, d))


def orthogonal_normal(count: int, d: int, random: Random) -> Floats:
    """`count` vectors, each N(0, I) by itself, orthogonal in groups of d.

    The directions of a group are a random rotation, the lengths those of independent normals.
    """
    groups = -(-count // d)
    directions = np.linalg.qr(random.standard_normal((groups, d, d)))[0]
    directions *= random.choice([-1.0, 1.0], (groups, 1, d))  # QR's signs are not random
    lengths = np.sqrt(random.chisquare(d, groups * d))
    return (directions.transpose(0, 2, 1).reshape(-1, d) * lengths[:, None])[:count]


def short_indices(X: Data) -> Data:
    """X with 32-bit indices if it is sparse: scikit-learn's Manhattan distances take no others."""
    if not sp.issparse(X) or X.indices.dtype == np.int32:
        return X
    return sp.csr_array((X.data, np.int32(X.indices), np.int32(X.indptr)), X.shape)
