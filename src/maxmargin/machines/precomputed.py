"""A precomputed kernel matrix: its symmetric part, and the low end of its spectrum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from maxmargin.core import native
from maxmargin.machines.validation import warn
from maxmargin.resources.arrays import Floats, Reals

STEPS = 3  # of Lanczos' method: as many products with K, which together cost less than a fit


def checked_matrix(K: Floats) -> Floats:
    """K, or its symmetric part with a warning."""
    scale = float(np.abs(K.diagonal()).max(initial=0))
    worst, i, j = largest_asymmetry(K)
    if worst > 1e-6 * scale:
        warn(
            f"the precomputed kernel is not symmetric: K[{i}, {j}] = {K[i, j]:.6g} but "
            f"K[{j}, {i}] = {K[j, i]:.6g}; its symmetric part (K + Kᵀ)/2 is used",
        )
        K = (K + K.T) / 2
    return K


def largest_asymmetry(K: Reals) -> tuple[float, int, int]:
    """max |K_ij − K_ji| and where it is."""
    i, j = native.asymmetry(by_rows(K))
    return abs(float(K[i, j]) - float(K[j, i])), i, j


def largest_minor(K: Reals) -> tuple[float, int, int]:
    """max |K_ij| − √(K_ii K_jj) over all pairs, and where it is: no more than 0 if K is definite.

    Of every pair that a solver may choose, the curvature K_ii + K_jj − 2 K_ij is then ≥ 0, too.
    """
    scales = np.sqrt(np.maximum(K.diagonal(), 0)).astype(K.dtype)
    i, j = native.largest_minor(by_rows(K), scales)
    return abs(float(K[i, j])) - float(scales[i] * scales[j]), i, j


def by_rows(K: Reals) -> Reals:
    """K or its transpose, whose rows lie one after another."""
    return np.ascontiguousarray(K.T if K.flags.f_contiguous else K)


def smallest_ritz_value(K: Reals, stopped: Callable[[], object] = lambda: None) -> float:
    """An upper bound of the smallest eigenvalue of K, from a few products with it.

    After k steps of Lanczos' method the eigenvalues of the tridiagonal T = QᵀKQ lie between those
    of K: a negative one proves that K is indefinite, whether the method has converged or not. It
    ends before its last step if `stopped`.
    """
    q = np.random.default_rng(0).standard_normal(len(K)).astype(K.dtype)
    q /= np.linalg.norm(q)
    basis, alpha, beta = [q], list[float](), list[float]()
    while len(alpha) < STEPS and not stopped():
        r = K @ basis[-1]
        alpha.append(float(r @ basis[-1]))
        for _ in range(2):  # orthogonal to all: rounding errors would bring back what was found
            Q = np.array(basis)
            r = r - (Q @ r) @ Q
        length = float(np.linalg.norm(r))
        if length <= len(K) * np.finfo(K.dtype).eps * max(map(abs, alpha)):
            break  # the whole range of K is spanned
        beta.append(length)
        basis.append(r / length)
    if not alpha:
        return np.inf
    return float(eigvalsh_tridiagonal(np.array(alpha), np.array(beta[: len(alpha) - 1]))[0])
