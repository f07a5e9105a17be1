"""What shows that a kernel is indefinite: then there is no bound, and a fit must not claim one.

A kernel matrix that is not positive semidefinite has a vector v with vᵀKv < 0. Two can be had for
nothing: the solution itself, whose ‖w‖² is βᵀKβ, and the eigenvectors of a sample of the rows (by
Cauchy's interlacing theorem its smallest eigenvalue is no smaller than that of K). Of a matrix that
is given more is looked at: each pair of rows, the curvatures that solvers see among them, and a few
products with the matrix, by Lanczos' method. Together they cost less than the fit. A kernel whose
matrices are all positive semidefinite by a theorem is not examined.

Where there is an offset, Σβ = 0, and only v with Σv = 0 count: the problem is convex if the centred
matrix (I − 11ᵀ/n) K (I − 11ᵀ/n) is positive semidefinite, as that of −‖x − z‖₁ is. Adding
a(x) + a(z) to k(x, z) then changes b and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import eigvalsh

from maxmargin.kernels import Kernel
from maxmargin.machines.precomputed import (
    largest_asymmetry,
    largest_minor,
    smallest_ritz_value,
)
from maxmargin.problem import DualProblem, Solution
from maxmargin.resources.arrays import Data, Reals
from maxmargin.resources.lapack import factorise

SAMPLE = 100  # rows whose kernel values are computed once more
GIVEN = 300  # rows where they need not be computed: a Cholesky factor takes a millisecond


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
    digits = float(np.finfo(X.dtype if kernel.precomputed else np.float64).eps)
    largest = float(np.abs(kernel.diagonal(X)).max(initial=0))
    for problem, solution in zip(problems, solutions, strict=True):
        terms = solution.beta * (solution.gradient - problem.linear)
        square, size = float(terms.sum()), float(np.abs(terms).sum())
        total = float(np.abs(solution.beta).sum())
        rounding = 100 * digits * largest * total * total  # if w = 0
        if square < -max(1e-9 * size, rounding):
            return f"‖w‖² = {square:.3g}"
    n, size = X.shape[0], GIVEN if kernel.precomputed else SAMPLE
    rows = np.unique(np.linspace(0, n - 1, min(n, size)).astype(int))
    K = kernel.entries(X, rows, rows)
    largest = max(largest, float(np.abs(K).max(initial=0)))
    asymmetry, *_ = largest_asymmetry(K)
    if not kernel.precomputed and asymmetry > 1e-6 * largest:
        return f"k(x, z) and k(z, x) differ by up to {asymmetry:.3g}"
    given = kernel.given(X) if n > size else None
    negative = -100 * digits * n * largest
    why = negative_direction(K, given, negative, stopped)
    if why and problems and all(p.n_groups and abs(p.sums.sum()) == 0 for p in problems):
        whole = None if given is None else centred(given)
        return negative_direction(centred(K), whole, negative, stopped)
    return why


def negative_direction(
    K: Reals, given: Reals | None, negative: float, stopped: Callable[[], object]
) -> str:
    """What shows an eigenvalue below `negative` of K, or of the matrix it is a part of."""
    smallest = smallest_eigenvalue(K, negative)
    if smallest >= negative and given is not None:
        excess, i, j = largest_minor(given)
        if excess > 1e-6 * float(np.abs(given.diagonal()).max()):
            return f"|K[{i}, {j}]| is larger than √(K[{i}, {i}] K[{j}, {j}])"
        smallest = smallest_ritz_value(given, stopped)
    return f"it has an eigenvalue {smallest:.3g} or less" if smallest < negative else ""


def centred(K: Reals) -> Reals:
    """(I − 11ᵀ/n) K (I − 11ᵀ/n): vᵀKv where Σv = 0, and 0 for v = 1."""
    means = K.mean(axis=0, dtype=np.float64)
    values: Reals = K - means - means[:, None] + means.mean()
    return values


def smallest_eigenvalue(K: Reals, negative: float) -> float:
    """The smallest eigenvalue of K; 0 if none is below `negative`.

    That is so if K − negative·I has a Cholesky factor, which takes a tenth of the time.
    """
    if factorise((K - negative * np.eye(len(K))).T):
        return 0.0
    return float(eigvalsh(K, subset_by_index=[0, 0])[0])
