"""What every kernel is and answers for itself; sums, products and multiples of kernels.

A kernel is a small frozen object. Called with two blocks of rows it returns the block of values;
`diagonal` gives k(x, x) for each row. It knows nothing of caches, labels or solvers, and answers
what others need to know of it: see `promises`.

A sum, a product and a positive multiple of kernels are kernels, and so is a constant ≥ 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.kernels.form import Form, added
from maxmargin.kernels.gamma import check_gamma, gamma_of
from maxmargin.kernels.parameters import parameters, with_parameters
from maxmargin.kernels.promises import Promises
from maxmargin.resources.arrays import Data, Floats, Numbers, Random, Reals, RealType

NUMBERS = (int, float, np.integer, np.floating)


@dataclass(frozen=True)
class Kernel(Promises):
    """A positive semidefinite function of two rows.

    A subclass defines `__call__`, and those of the properties below that it can promise.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> @dataclass(frozen=True)
    ... class SharedLetters(Kernel):
    ...     def __call__(self, X, Z):
    ...         return np.array([[float(len(set(x) & set(z))) for z in Z] for x in X])
    >>> words, sounds = ["rain", "train", "cool", "pool"], [0, 0, 1, 1]
    >>> machine = SVC(kernel=2 * SharedLetters() + 1).fit(words, sounds)
    >>> machine.predict(["brain", "wool"])
    array([0, 1])
    """

    def __post_init__(self) -> None:
        check_gamma(getattr(self, "gamma", 0.0), self)

    def __call__(self, X: Data, Z: Data) -> Reals:
        """Block of values k(x, z) for the rows x of X and z of Z."""
        raise TypeError(f"{type(self).__name__} does not define k(X, Z)")

    def diagonal(self, X: Data) -> Floats:
        """k(x, x) for each row x of X, in float64."""
        values = (self(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0]))
        return np.fromiter(values, float, X.shape[0])

    def rows(self, X: Data, numbers: Numbers) -> Data:
        """The part of the data that the rows with these numbers are."""
        return X[np.ix_(numbers, numbers)] if self.precomputed else X[numbers]

    def given(self, X: Data) -> Reals | None:
        """K itself if X is that matrix."""
        return None

    def vectors(self, X: Data, numbers: Numbers) -> Data:
        """What prediction needs of these rows: nothing if their kernel values will be given."""
        return X[numbers, :0] if self.precomputed else X[numbers]

    def entries(self, X: Data, i: Numbers, j: Numbers, dtype: RealType = np.float64) -> Reals:
        """K[i, j] from the data X, whose rows are converted to `dtype` unless they are objects.

        Nor are they where k depends on x − z: the difference has digits that float32 rows have not.
        """
        A, B = X[i], X[j]
        if not self.takes_objects or A.dtype.kind == "f":
            wide = np.result_type(A.dtype, dtype) if self.translation_invariant else dtype
            A, B = A.astype(wide, copy=False), B.astype(wide, copy=False)
        return self(A, B).astype(dtype, copy=False)

    def bind(self, X: Data, weights: Floats | None = None) -> Kernel:
        """A copy with `gamma="scale"` or `"auto"` replaced by its value on X."""
        return self.with_gamma(lambda rule: gamma_of(rule, X, weights))

    def with_gamma(self, gamma: Callable[[str], float]) -> Kernel:
        """A copy with `gamma="scale"` or `"auto"` replaced by what the function gives for it."""
        changes: dict[str, Any] = {}
        for name, value in vars(self).items():
            if isinstance(value, Kernel):
                changes[name] = value.with_gamma(gamma)
            elif name == "gamma" and isinstance(value, str):
                changes["gamma"] = gamma(value)
        return replace(self, **changes) if changes else self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; so a grid may have `kernel__gamma`."""
        return parameters(self, deep)

    def with_params(self, **changes: Any) -> Kernel:
        """A copy with other parameters, named as in `get_params`."""
        return with_parameters(self, changes)

    def __add__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return Sum(self, other)
        if not isinstance(other, NUMBERS):
            return NotImplemented
        return Sum(self, Constant(float(other))) if other else self

    __radd__ = __add__

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return Product(self, other)
        if not isinstance(other, NUMBERS):
            return NotImplemented
        return Scaled(float(other), self)

    __rmul__ = __mul__


@dataclass(frozen=True)
class Constant(Kernel):
    """k(x, z) = c ≥ 0.

    Examples
    --------
    >>> from maxmargin.kernels import Linear
    >>> (Linear() + 1)(np.eye(2), np.eye(2))
    array([[2., 1.],
           [1., 2.]])
    """

    value: float

    translation_invariant = True
    positive_definite = True
    takes_objects = True

    def __post_init__(self) -> None:
        if not 0 <= self.value < np.inf:
            raise ValueError(f"a constant is a kernel if it is ≥ 0 and finite, got {self.value}")

    def __call__(self, X: Data, Z: Data) -> Reals:
        return np.full((X.shape[0], Z.shape[0]), float(self.value))

    def diagonal(self, X: Data) -> Floats:
        return np.full(X.shape[0], float(self.value))

    @property
    def forms(self) -> tuple[Form, ...]:
        return (Form(1, 0.0, 0.0, float(self.value)),)

    @property
    def column_products(self) -> tuple[tuple[float, float, float], ...]:
        return ((float(self.value), 0.0, 0.0),)

    @property
    def in_unit_interval(self) -> bool:
        return self.value <= 1


@dataclass(frozen=True)
class Scaled(Kernel):
    """k(x, z) = factor · kernel(x, z), factor > 0.

    Examples
    --------
    >>> from maxmargin.kernels import Linear
    >>> (0.5 * Linear())(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[5.5]])
    """

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        if not 0 < self.factor < np.inf:
            raise ValueError(f"a kernel's factor must be positive and finite, got {self.factor}")

    def __call__(self, X: Data, Z: Data) -> Reals:
        return self.kernel(X, Z) * self.factor

    def diagonal(self, X: Data) -> Floats:
        return self.factor * self.kernel.diagonal(X)

    def entries(self, X: Data, i: Numbers, j: Numbers, dtype: RealType = np.float64) -> Reals:
        return self.kernel.entries(X, i, j, dtype) * self.factor

    @property
    def forms(self) -> tuple[Form, ...] | None:
        forms = self.kernel.forms
        return None if forms is None else tuple(form.times(self.factor) for form in forms)

    @property
    def column_products(self) -> tuple[tuple[float, float, float], ...] | None:
        terms = self.kernel.column_products
        return None if terms is None else tuple((self.factor * c, s, a) for c, s, a in terms)

    @property
    def in_unit_interval(self) -> bool:
        return self.factor <= 1 and self.kernel.in_unit_interval

    @property
    def translation_invariant(self) -> bool:
        return self.kernel.translation_invariant

    @property
    def positive_definite(self) -> bool | None:
        return self.kernel.positive_definite

    @property
    def is_linear(self) -> bool:
        return self.kernel.is_linear

    @property
    def radial(self) -> bool:
        return self.kernel.radial

    @property
    def precomputed(self) -> bool:
        return self.kernel.precomputed

    @property
    def takes_objects(self) -> bool:
        return self.kernel.takes_objects

    def squared_distances(self, values: Reals) -> Reals:
        return self.kernel.squared_distances(values / self.factor)


@dataclass(frozen=True)
class Pair(Kernel):
    """What the sum and the product of two kernels share."""

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        for kernel, other in ((self.left, self.right), (self.right, self.left)):
            if kernel.precomputed and not (other.precomputed or isinstance(other, Constant)):
                raise TypeError(
                    f"{kernel!r} takes a kernel matrix and {other!r} takes data: compute the "
                    "matrix of both, and use Precomputed() alone"
                )

    @property
    def translation_invariant(self) -> bool:
        return self.left.translation_invariant and self.right.translation_invariant

    @property
    def positive_definite(self) -> bool | None:
        return (self.left.positive_definite and self.right.positive_definite) or None

    @property
    def precomputed(self) -> bool:
        return self.left.precomputed or self.right.precomputed

    @property
    def takes_objects(self) -> bool:
        return self.left.takes_objects and self.right.takes_objects


@dataclass(frozen=True)
class Sum(Pair):
    """k(x, z) = left(x, z) + right(x, z).

    Examples
    --------
    >>> from maxmargin.kernels import RBF, Linear
    >>> RBF(gamma=1.0) + Linear()
    Sum(left=RBF(gamma=1.0), right=Linear())
    """

    def __call__(self, X: Data, Z: Data) -> Reals:
        return self.left(X, Z) + self.right(X, Z)

    def diagonal(self, X: Data) -> Floats:
        return self.left.diagonal(X) + self.right.diagonal(X)

    def entries(self, X: Data, i: Numbers, j: Numbers, dtype: RealType = np.float64) -> Reals:
        return self.left.entries(X, i, j, dtype) + self.right.entries(X, i, j, dtype)

    @property
    def forms(self) -> tuple[Form, ...] | None:
        left, right = self.left.forms, self.right.forms
        return None if left is None or right is None else added(left + right)

    @property
    def column_products(self) -> tuple[tuple[float, float, float], ...] | None:
        left, right = self.left.column_products, self.right.column_products
        return None if left is None or right is None else left + right

    @property
    def is_linear(self) -> bool:
        return self.left.is_linear and self.right.is_linear


@dataclass(frozen=True)
class Product(Pair):
    """k(x, z) = left(x, z) · right(x, z).

    Examples
    --------
    >>> from maxmargin.kernels import Linear
    >>> (Linear() * Linear())(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[121.]])
    """

    def __call__(self, X: Data, Z: Data) -> Reals:
        return self.left(X, Z) * self.right(X, Z)

    def diagonal(self, X: Data) -> Floats:
        return self.left.diagonal(X) * self.right.diagonal(X)

    def entries(self, X: Data, i: Numbers, j: Numbers, dtype: RealType = np.float64) -> Reals:
        return self.left.entries(X, i, j, dtype) * self.right.entries(X, i, j, dtype)

    @property
    def forms(self) -> tuple[Form, ...] | None:
        """2^s · 2^t = 2^(s + t); no other product is a form."""
        left, right = self.left.forms, self.right.forms
        if left is None or right is None or len(left) > 1 or len(right) > 1:
            return None
        (a,), (b,) = left, right
        if not (a.power is b.power is None):
            return None
        sums = a.scale + b.scale, a.square + b.square, a.offset + b.offset
        return (Form(None, *sums, a.factor * b.factor),)

    @property
    def column_products(self) -> tuple[tuple[float, float, float], ...] | None:
        left, right = self.left.column_products, self.right.column_products
        if left is None or right is None:
            return None
        return tuple((c * e, s + t, a + b) for c, s, a in left for e, t, b in right)

    @property
    def in_unit_interval(self) -> bool:
        return self.left.in_unit_interval and self.right.in_unit_interval

    def frequencies(
        self, count: int, columns: int, random: Random, *, orthogonal: bool = False
    ) -> Floats:
        """The spectral measure of a product is the convolution of those of its factors."""
        if orthogonal:
            raise ValueError(
                "orthogonal=True needs the RBF: sums of frequencies are not orthogonal"
            )
        left = self.left.frequencies(count, columns, random)
        return left + self.right.frequencies(count, columns, random)
