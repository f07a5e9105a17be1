"""The sparse tile computes what the dense one does."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import list_tiles, sparse_tiles, tiles
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid
from maxmargin.tiling import LONGEST, Dense, Long, Sparse, tiling

KERNELS = [Linear(), Polynomial(3, 0.3, 0.5), Sigmoid(0.3, 0.5), RBF(0.3)]


def sparse_rows(rng, n, d, dtype):
    """Every column rarer than the one before; an empty row, an empty column."""
    X = rng.normal(size=(n, d)).astype(dtype)
    X[rng.random((n, d)) > 2 / (2 + np.arange(d))] = 0
    X[0] = X[:, -1] = 0
    return X


def as_long(X, form):
    return Long(X, form, list_tiles.common_columns(X))


@pytest.fixture(params=[Sparse, as_long, "groups"], ids=["sparse", "long", "groups"])
def sparse_tiling(request, monkeypatch):
    """How rows are laid out: in full, as lists, and as lists of many small groups of rows."""
    if request.param == "groups":
        monkeypatch.setattr(list_tiles, "GROUP", 64)
        return as_long
    return request.param


@pytest.mark.small
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize(("n", "m", "d"), [(1, 1, 1), (70, 30, 40)])
def test_same_values_as_the_dense_tile(sparse_tiling, kernel, dtype, n, m, d):
    rng = np.random.default_rng(n)
    X, Z = sparse_rows(rng, n, d, dtype), sparse_rows(rng, m, d, dtype)
    form, coef = tiles.form(kernel), rng.normal(size=m)
    panels, rows = tiles.pack(X, dtype), tiles.expand(Z, form, dtype)
    tiled = sparse_tiling(sp.csr_array(X), form)
    left, right = tiled.pack(dtype, None, 2), tiled.like(Z).expand(dtype, None, 2)
    expected = tiles.block(panels, rows, form, np.empty((m, n), dtype))
    rounding = 20 * np.finfo(dtype).eps * (1 + np.abs(expected).max())
    out = tiled.block(left, right, np.empty((m, n), dtype), 2)
    np.testing.assert_allclose(out, expected, rtol=0, atol=rounding)
    square = tiled.square(left, tiled.expand(dtype, None, 2), np.empty((n, n), dtype), 2)
    whole = tiles.block(panels, tiles.expand(X, form, dtype), form, np.empty((n, n), dtype))
    np.testing.assert_allclose(square, whole, rtol=0, atol=rounding * (1 + np.abs(whole).max()))
    np.testing.assert_array_equal(square, square.T)
    sums = tiled.dot(left, right, coef, 2)[:n]
    expected_sums = tiles.dot(panels, rows, form, coef)[:n]
    np.testing.assert_allclose(sums, expected_sums, rtol=0, atol=m * rounding)
    norms = (X.astype(float) ** 2).sum(axis=1)
    np.testing.assert_allclose(tiled.squared_norms(left)[:n], norms, rtol=1e-6)


@pytest.mark.small
def test_rows_are_chosen_by_number(sparse_tiling):
    X = sp.csr_array(sparse_rows(np.random.default_rng(0), 20, 6, np.float64))
    tiled, numbers = sparse_tiling(X, tiles.form(Linear())), np.array([7, 3, 3, 0])
    left, right = tiled.pack(np.float64, numbers, 1), tiled.expand(np.float64, numbers, 1)
    values = tiled.block(left, right, np.empty((4, 4)), 1)
    np.testing.assert_allclose(values, (X @ X.T).toarray()[np.ix_(numbers, numbers)], atol=1e-15)


@pytest.mark.small
def test_no_rows_give_no_values(sparse_tiling):
    X = sp.csr_array(sparse_rows(np.random.default_rng(0), 20, 6, np.float64))
    tiled, none = sparse_tiling(X, tiles.form(Linear())), np.arange(0)
    left, right = tiled.pack(np.float64, none, 1), tiled.expand(np.float64, none, 1)
    assert tiled.block(left, right, np.empty((0, 0)), 1).shape == (0, 0)
    all_left = tiled.pack(np.float64, None, 1)
    np.testing.assert_array_equal(tiled.dot(all_left, right, np.empty(0), 1)[:20], np.zeros(20))


@pytest.mark.small
def test_compressed_as_scipy_does_unless_too_dense():
    X = sparse_rows(np.random.default_rng(0), 15, 9, np.float32)
    np.testing.assert_array_equal(sparse_tiles.compress(X, 0.5).toarray(), X)
    assert sparse_tiles.compress(X, 0.01) is None


@pytest.mark.small
def test_the_tile_follows_the_data():
    X = sparse_rows(np.random.default_rng(0), 20, 40, np.float64)
    kind = {
        "mostly zeros": (RBF(0.1), X, Sparse),
        "CSR": (RBF(0.1), sp.csr_matrix(X), Sparse),
        "full": (RBF(0.1), X + 1, Dense),
        "mostly zeros, but far from the origin": (RBF(1e4), X, Dense),
        "CSR of very many columns": (Linear(), sp.csr_array((5, LONGEST + 1)), Long),
        "very many columns, mostly zeros": (Linear(), np.eye(5, LONGEST + 1), Long),
        "very many columns, full": (Linear(), np.ones((5, LONGEST + 1)), Dense),
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
