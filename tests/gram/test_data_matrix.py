"""Sums over rows that are kept while their weights change are those that are computed anew."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from maxmargin.gram.data_matrix import DataMatrix, Scatter


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
def test_a_scatter_follows_its_weights(sparse, offset):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 4)) < 0.5, rng.normal(size=(60, 4)), 0.0)
    scatter, weights = Scatter(DataMatrix(csr_matrix(X) if sparse else X), offset), np.ones(60)
    for changed in (0, 3, 5, 40, 2):
        weights = weights.copy()
        weights[rng.choice(60, changed, replace=False)] = rng.choice([0.0, 2.0], changed)
        mean = weights @ X / weights.sum() if offset else np.zeros(4)
        matrix, centre = scatter.of(weights)
        np.testing.assert_allclose(centre, mean, atol=1e-14)
        np.testing.assert_allclose(matrix, (X - mean).T @ (weights[:, None] * (X - mean)))
    nothing, centre = scatter.of(np.zeros(60))
    assert not nothing.any()
    assert not centre.any()


def test_a_scatter_far_from_the_origin_keeps_its_digits():
    rng = np.random.default_rng(1)
    X, weights = 1e8 + rng.normal(size=(50, 3)), np.ones(50)
    scatter = Scatter(DataMatrix(X), offset=True)
    for i in range(3):
        weights = np.where(np.arange(50) == i, 0.0, weights)
        matrix, _ = scatter.of(weights)
    rest = X[3:] - 1e8
    np.testing.assert_allclose(matrix, np.cov(rest.T, ddof=0) * len(rest), rtol=1e-6)
