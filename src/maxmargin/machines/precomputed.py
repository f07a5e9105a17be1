"""What a kernel matrix computed elsewhere must be: symmetric and positive semidefinite."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from maxmargin.machines.validation import warn

BLOCK = 1024


def symmetric(K: np.ndarray) -> np.ndarray:
    """K, or its symmetric part with a warning; warns also if K is indefinite."""
    scale = float(np.abs(K.diagonal()).max(initial=0))
    worst, i, j = largest_asymmetry(K)
    if worst > 1e-6 * scale:
        warn(
            f"the precomputed kernel is not symmetric: K[{i}, {j}] = {K[i, j]:.6g} but "
            f"K[{j}, {i}] = {K[j, i]:.6g}; its symmetric part (K + Kᵀ)/2 is used",
        )
        K = (K + K.T) / 2
    smallest = smallest_eigenvalue(K)
    if smallest < -100 * np.finfo(K.dtype).eps * len(K) * scale:
        warn(
            f"the precomputed kernel is indefinite (it has an eigenvalue {smallest:.3g} or less): "
            "the solver ends at a stationary point, which need not be the optimum, and the "
            "certificate's gap is no bound",
        )
    return K


def largest_asymmetry(K: np.ndarray) -> tuple[float, int, int]:
    """max |K_ij − K_ji| and where it is, block by block so that no second matrix is made."""
    worst, i, j = 0.0, 0, 0
    for start in range(0, len(K), BLOCK):
        block = slice(start, start + BLOCK)
        difference = np.abs(K[block] - K[:, block].T)
        if difference.max(initial=0) > worst:
            row, column = np.unravel_index(difference.argmax(), difference.shape)
            worst, i, j = float(difference.max()), start + int(row), int(column)
    return worst, i, j


def smallest_eigenvalue(K: np.ndarray) -> float:
    """The smallest eigenvalue, or for a large matrix what Lanczos finds of it."""
    if len(K) <= 500:
        return float(eigvalsh(K, subset_by_index=[0, 0])[0])
    start = np.random.default_rng(0).standard_normal(len(K)).astype(K.dtype)
    try:
        values = eigsh(K, k=1, which="SA", v0=start, tol=1e-2, return_eigenvectors=False)
    except ArpackNoConvergence as found:
        values = found.eigenvalues
    return float(values[0]) if len(values) else 0.0
