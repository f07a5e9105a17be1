"""Which rows are the landmarks of Nyström's features."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, solve_triangular

from maxmargin.features.kernel_features import distinct_rows, sampled
from maxmargin.kernels import Kernel
from maxmargin.resources.arrays import Data, Floats, Numbers

CANDIDATES = 10  # random rows per landmark to choose from: bounds the time of both rules


def choose_landmarks(
    rule: str, kernel: Kernel, X: Data, count: int, random: np.random.RandomState
) -> Numbers:
    """Row numbers of the landmarks, sorted: a memmap is read forward."""
    if rule == "uniform":
        return distinct_rows(X, count, random)
    rows = distinct_rows(X, CANDIDATES * count, random)
    candidates, count = X[rows].astype(np.float64, copy=False), min(count, len(rows))
    if rule == "kmeans++":
        from sklearn.cluster import kmeans_plusplus  # slow to import, and seldom needed

        _, chosen = kmeans_plusplus(candidates, count, random_state=random, n_local_trials=1)
        return np.unique(rows[chosen])
    scores = leverage(kernel, candidates, sampled(len(rows), count, random))
    chosen = random.choice(len(rows), count, replace=False, p=scores / scores.sum())
    return np.sort(rows[chosen])


def leverage(kernel: Kernel, X: Data, first: Numbers) -> Floats:
    """Ridge leverage of each row, estimated with the rows `first`.

    With S the first choice, the leverage is (k(x, x) − k_Sᵀ(K_SS + λI)⁻¹k_S) / λ, and λ the mean of
    the smaller half of the eigenvalues of K_SS: what fewer landmarks would lose. At least 1e-6, so
    that every row can be drawn.
    """
    K = np.asarray(kernel(X[first], X[first]), np.float64)
    values = np.linalg.eigvalsh((K + K.T) / 2)
    ridge = max(float(values[: max(len(values) // 2, 1)].mean()), 1e-10 * abs(float(values[-1])))
    if ridge <= 0:
        return np.ones(X.shape[0])
    factor, _ = cho_factor(K + ridge * np.eye(len(first)), lower=True)
    explained = solve_triangular(factor, np.asarray(kernel(X[first], X), np.float64), lower=True)
    rest: Floats = kernel.diagonal(X) - np.einsum("ij,ij->j", explained, explained)
    return np.clip(rest / ridge, 1e-6, 1.0)
