"""What shows that a kernel is indefinite: then there is no bound, and a fit must not claim one.

A kernel matrix that is not positive semidefinite has a vector v with vᵀKv < 0. Two can be had for
nothing: the solution itself, whose ‖w‖² is βᵀKβ, and the eigenvectors of a sample of the rows (by
Cauchy's interlacing theorem its smallest eigenvalue is no smaller than that of K). A kernel whose
matrices are all positive semidefinite by a theorem is not examined.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from maxmargin.hardware.arrays import Data, Reals
from maxmargin.kernels import Kernel
from maxmargin.machines.precomputed import largest_asymmetry, smallest_eigenvalue
from maxmargin.problem import DualProblem, Solution

SAMPLE = 100  # rows: their eigenvalues take a millisecond


def evidence(
    kernel: Kernel, X: Data, problems: Sequence[DualProblem], solutions: Sequence[Solution]
) -> str:
    """What shows that the kernel is indefinite on the rows of X; "" if nothing does."""
    if kernel.positive_definite:
        return ""
    for problem, solution in zip(problems, solutions, strict=True):
        terms = solution.beta * (solution.gradient - problem.linear)
        square, size = float(terms.sum()), float(np.abs(terms).sum())
        if square < -1e-9 * size:
            return f"‖w‖² = {square:.3g}"
    K = matrix_of(kernel, X)
    scale = float(np.abs(K).max(initial=0))
    asymmetry, *_ = largest_asymmetry(K)
    if asymmetry > 1e-6 * scale:
        if not kernel.precomputed:
            return f"k(x, z) and k(z, x) differ by up to {asymmetry:.3g}"
        K = (K + K.T) / 2
    smallest = smallest_eigenvalue(K)
    if smallest < -100 * np.finfo(K.dtype).eps * len(K) * scale:
        return f"it has an eigenvalue {smallest:.3g} or less"
    return ""


def matrix_of(kernel: Kernel, X: Data) -> Reals:
    """A precomputed matrix as it is; of another kernel that of a sample of the rows, in float64."""
    if kernel.precomputed:
        given: Reals = X
        return given
    n = X.shape[0]
    rows = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(int))
    return kernel.entries(X, rows, rows)
