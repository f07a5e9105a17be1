"""A precomputed kernel matrix: its symmetric part, and its smallest eigenvalue."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh, eigvalsh_tridiagonal

from maxmargin.hardware.arrays import Floats, Reals
from maxmargin.machines.validation import warn

BLOCK = 1024  # rows compared at a time: bounds the memory beside K
SMALL = 500  # rows up to which all eigenvalues cost less than a fit
STEPS = 30  # of Lanczos' method beyond: products with K, of which a fit takes more


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
    """max |K_ij − K_ji| and where it is, block by block so that no second matrix is made."""
    worst, i, j = 0.0, 0, 0
    for start in range(0, len(K), BLOCK):
        block = slice(start, start + BLOCK)
        difference = np.abs(K[block] - K[:, block].T)
        if difference.max(initial=0) > worst:
            row, column = np.unravel_index(difference.argmax(), difference.shape)
            worst, i, j = float(difference.max()), start + int(row), int(column)
    return worst, i, j


def smallest_eigenvalue(K: Reals) -> float:
    """The smallest eigenvalue of a small matrix; of a large one an upper bound of it.

    After STEPS steps of Lanczos' method the eigenvalues of the tridiagonal T = QᵀKQ lie between
    those of K: a negative one proves that K is indefinite, whether the method has converged or not.
    """
    if len(K) <= SMALL:
        return float(eigvalsh(K, subset_by_index=[0, 0])[0])
    q = np.random.default_rng(0).standard_normal(len(K)).astype(K.dtype)
    q /= np.linalg.norm(q)
    basis, alpha, beta = [q], [], []
    for _ in range(STEPS):
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
    return float(eigvalsh_tridiagonal(np.array(alpha), np.array(beta[: len(alpha) - 1]))[0])
