"""A precomputed kernel matrix: its symmetric part, and the low end of its spectrum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from maxmargin.hardware.arrays import Floats, Reals
from maxmargin.machines.validation import warn

TILE = 128  # rows and columns compared at a time: a tile and its mirror image stay in cache
STEPS = 10  # of Lanczos' method: products with K, which together cost less than a fit


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
    """max |K_ij − K_ji| and where it is: every tile is compared with its mirror image, once."""
    worst, i, j = 0.0, 0, 0
    for top in range(0, len(K), TILE):
        for left in range(top, len(K), TILE):
            rows, columns = slice(top, top + TILE), slice(left, left + TILE)
            difference = K[rows, columns] - K[columns, rows].T
            largest = max(float(difference.max()), -float(difference.min()))
            if largest > worst:
                row, column = np.unravel_index(np.abs(difference).argmax(), difference.shape)
                worst, i, j = largest, top + int(row), left + int(column)
    return worst, i, j


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
