"""What shows that a kernel is indefinite: then there is no bound, and a fit must not claim one.

A kernel matrix that is not positive semidefinite has a vector v with vᵀKv < 0. Two can be had for
nothing: the solution itself, whose ‖w‖² is βᵀKβ, and the eigenvectors of a sample of the rows (by
Cauchy's interlacing theorem its smallest eigenvalue is no smaller than that of K). Of a matrix that
is given, a few steps of Lanczos' method find more, at the price of as many products with it. A
kernel whose matrices are all positive semidefinite by a theorem is not examined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import eigvalsh

from maxmargin.hardware.arrays import Data
from maxmargin.kernels import Kernel
from maxmargin.machines.precomputed import largest_asymmetry, smallest_ritz_value
from maxmargin.problem import DualProblem, Solution

SAMPLE = 100  # rows: their eigenvalues take a millisecond


def evidence(
    kernel: Kernel,
    X: Data,
    problems: Sequence[DualProblem],
    solutions: Sequence[Solution],
    stopped: Callable[[], object],
) -> str:
    """What shows that the kernel is indefinite on the rows of X; "" if nothing does.

    Products with a large matrix end when `stopped` is true: the time of a fit holds for its checks.
    """
    if kernel.positive_definite:
        return ""
    for problem, solution in zip(problems, solutions, strict=True):
        terms = solution.beta * (solution.gradient - problem.linear)
        square, size = float(terms.sum()), float(np.abs(terms).sum())
        if square < -1e-9 * size:
            return f"‖w‖² = {square:.3g}"
    n = X.shape[0]
    rows = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(int))
    K = kernel.entries(X, rows, rows)
    asymmetry, *_ = largest_asymmetry(K)
    if not kernel.precomputed and asymmetry > 1e-6 * float(np.abs(K).max(initial=0)):
        return f"k(x, z) and k(z, x) differ by up to {asymmetry:.3g}"
    digits = np.finfo(X.dtype if kernel.precomputed else np.float64).eps
    negative = -100 * digits * n * float(np.abs(kernel.diagonal(X)).max(initial=0))
    smallest = float(eigvalsh(K, subset_by_index=[0, 0])[0])
    if smallest >= negative and kernel.precomputed and n > SAMPLE:
        smallest = smallest_ritz_value(X, stopped)
    return f"it has an eigenvalue {smallest:.3g} or less" if smallest < negative else ""
