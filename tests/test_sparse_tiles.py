"""The sparse tile computes what the dense one does."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import sparse_tiles, tiles
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid
from maxmargin.tiling import LONGEST, Dense, Sparse, tiling

KERNELS = [Linear(), Polynomial(3, 0.3, 0.5), Sigmoid(0.3, 0.5), RBF(0.3)]


def sparse_rows(rng, n, d, dtype):
    X = rng.normal(size=(n, d)).astype(dtype)
    X[rng.random((n, d)) < 0.8] = 0
    X[0] = 0
    return X


@pytest.mark.small
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize(("n", "m", "d"), [(1, 1, 1), (70, 30, 12)])
def test_same_values_as_the_dense_tile(kernel, dtype, n, m, d):
    rng = np.random.default_rng(n)
    X, Z = sparse_rows(rng, n, d, dtype), sparse_rows(rng, m, d, dtype)
    form, coef = tiles.form(kernel), rng.normal(size=m)
    panels, rows = tiles.pack(X, dtype), tiles.expand(Z, form, dtype)
    left = sparse_tiles.pack(sp.csr_array(X), dtype)
    right = sparse_tiles.expand(sp.csr_array(Z), form, dtype)
    expected = tiles.block(panels, rows, form, np.empty((m, n), dtype))
    rounding = 20 * np.finfo(dtype).eps * (1 + np.abs(expected).max())
    out = sparse_tiles.block(left, right, form, np.empty((m, n), dtype))
    np.testing.assert_allclose(out, expected, rtol=0, atol=rounding)
    itself = sparse_tiles.expand(sp.csr_array(X), form, dtype)
    square = sparse_tiles.square(left, itself, form, np.empty((n, n), dtype))
    whole = tiles.block(panels, tiles.expand(X, form, dtype), form, np.empty((n, n), dtype))
    np.testing.assert_allclose(square, whole, rtol=0, atol=rounding * (1 + np.abs(whole).max()))
    np.testing.assert_array_equal(square, square.T)
    sums = sparse_tiles.dot(left, right, form, coef)[:n]
    expected_sums = tiles.dot(panels, rows, form, coef)[:n]
    np.testing.assert_allclose(sums, expected_sums, rtol=0, atol=m * rounding)


@pytest.mark.small
def test_rows_are_chosen_by_number():
    X = sp.csr_array(sparse_rows(np.random.default_rng(0), 20, 6, np.float64))
    form, numbers = tiles.form(Linear()), np.array([7, 3, 3, 0])
    left, right = (
        sparse_tiles.pack(X, np.float64, numbers),
        sparse_tiles.expand(X, form, np.float64, numbers),
    )
    values = sparse_tiles.block(left, right, form, np.empty((4, 4)))
    np.testing.assert_allclose(values, (X @ X.T).toarray()[np.ix_(numbers, numbers)], atol=1e-15)


@pytest.mark.small
def test_compressed_as_scipy_does_unless_too_dense():
    X = sparse_rows(np.random.default_rng(0), 15, 9, np.float32)
    np.testing.assert_array_equal(sparse_tiles.compress(X, 0.5).toarray(), X)
    assert sparse_tiles.compress(X, 0.01) is None


@pytest.mark.small
def test_the_tile_follows_the_data():
    rng = np.random.default_rng(0)
    X = sparse_rows(rng, 20, 10, np.float64)
    kind = {
        "mostly zeros": (RBF(0.1), X, Sparse),
        "CSR": (RBF(0.1), sp.csr_matrix(X), Sparse),
        "full": (RBF(0.1), X + 1, Dense),
        "mostly zeros, but far from the origin": (RBF(1e4), X, Dense),
        "too wide to be laid out in full": (Linear(), sp.csr_array((5, LONGEST + 1)), type(None)),
        "no function of the inner product": (Laplacian(0.1), X, type(None)),
        "no numbers": (Linear(), np.array([["a"]], dtype=object), type(None)),
    }
    for name, (kernel, data, expected) in kind.items():
        assert isinstance(tiling(kernel, data), expected), name


@pytest.mark.small
def test_an_entry_listed_twice_counts_twice():
    twice = sp.csr_array(
        (np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2)
    )
    tiled = tiling(Linear(), twice)
    left, right = tiled.pack(np.float64, None, 1), tiled.expand(np.float64, None, 1)
    assert tiled.block(left, right, np.empty((1, 1)), 1) == 34
    assert twice.nnz == 3
