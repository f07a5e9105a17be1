"""The kernels by the names that scikit-learn gives them."""

from __future__ import annotations

from collections.abc import Callable

from maxmargin.kernels.gamma import Gamma
from maxmargin.kernels.kernel import Kernel
from maxmargin.kernels.own import KernelFunction, Pairwise, Vectorized, is_compiled
from maxmargin.kernels.standard import RBF, Laplacian, Linear, Polynomial, Precomputed, Sigmoid


def as_kernel(
    kernel: str | Kernel | KernelFunction, *, degree: int, gamma: Gamma, coef0: float
) -> Kernel:
    """The kernel that scikit-learn's `kernel=` names, or the object or function given.

    Examples
    --------
    >>> as_kernel("rbf", degree=3, gamma=2.0, coef0=0.0)
    RBF(gamma=2.0)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Pairwise(kernel) if is_compiled(kernel) else Vectorized(kernel)
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
