"""The Gram matrix: blocks, products and rows equal the whole matrix, within a budget."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.gram import Gram, cross_dot
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial, Precomputed

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 6))
KERNELS = [Linear(), Polynomial(2, 0.3, 1.0), RBF(0.2), Laplacian(0.2), Linear() + RBF(0.1)]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_part_is_a_part_of_the_matrix(kernel, form, dtype):
    K = kernel(X, X)
    gram = Gram(kernel, form(X))
    exact = {"rtol": 1e-9, "atol": 1e-9} if dtype == np.float64 else {"rtol": 2e-4, "atol": 2e-4}
    i, j, coef = np.array([3, 1400, 9]), np.arange(0, 1500, 7), rng.normal(size=215)
    np.testing.assert_allclose(gram.block(i, j, dtype), K[np.ix_(i, j)], **exact)
    np.testing.assert_allclose(gram.row(5, dtype), K[5], **exact)
    wide = {**exact, "atol": exact["atol"] * 50}
    np.testing.assert_allclose(gram.dot(j, coef, dtype), K[:, j] @ coef, **wide)
    np.testing.assert_allclose(gram.diagonal, np.diag(K), rtol=1e-9)
    assert gram.evaluations > 0


@pytest.mark.small
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_prediction_is_a_product_of_the_matrix(kernel):
    coef = rng.normal(size=(2, 40))
    expected = kernel(X[:30], X[30:70]) @ coef.T
    np.testing.assert_allclose(cross_dot(kernel, X[:30], X[30:70], coef), expected, rtol=1e-9)


def test_rows_stay_within_the_budget():
    gram = Gram(RBF(0.2), X, cache_size=0.1)
    row = gram.row(0, np.float32)
    capacity = gram.budget // row.nbytes
    tracemalloc.start()
    for i in range(200):
        np.testing.assert_allclose(gram.row(i, np.float32)[i], 1.0, rtol=1e-5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert capacity < 200
    assert peak < gram.budget + 2**20


def test_wide_indices_are_taken():
    rows = sp.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    np.testing.assert_allclose(
        Gram(RBF(0.2), rows).block([1, 2], [3]), RBF(0.2)(X[[1, 2]], X[[3]]), rtol=1e-9
    )


@pytest.mark.small
def test_a_matrix_computed_elsewhere():
    K = RBF(0.2)(X[:50], X[:50])
    gram = Gram(Precomputed(), K)
    np.testing.assert_array_equal(gram.block([1, 2], [3, 4]), K[np.ix_([1, 2], [3, 4])])
