"""The sparse tile computes what the dense one does."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.gram import dense_tile, index_tile, sparse_tile
from maxmargin.gram.layouts import (
    LONGEST,
    DenseLayout,
    IndexLayout,
    SparseLayout,
    layout_of,
)
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid

KERNELS = [Linear(), Polynomial(3, 0.3, 0.5), Sigmoid(0.3, 0.5), RBF(0.3)]


def sparse_rows(rng, n, d, dtype):
    """Every column rarer than the one before; an empty row, an empty column."""
    X = rng.normal(size=(n, d)).astype(dtype)
    X[rng.random((n, d)) > 2 / (2 + np.arange(d))] = 0
    X[0] = X[:, -1] = 0
    return X


def as_long(X, forms):
    return IndexLayout(X, forms, index_tile.common_columns(X))


@pytest.fixture(params=[SparseLayout, as_long, "groups"], ids=["sparse", "long", "groups"])
def sparse_layout(request, monkeypatch):
    """How rows are laid out: in full, as lists, and as lists of many small groups of rows."""
    if request.param == "groups":
        monkeypatch.setattr(index_tile, "GROUP", 64)
        return as_long
    return request.param


@pytest.mark.small
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize(("n", "m", "d"), [(1, 1, 1), (70, 30, 40)])
def test_same_values_as_the_dense_tile(sparse_layout, kernel, dtype, n, m, d):
    rng = np.random.default_rng(n)
    X, Z = sparse_rows(rng, n, d, dtype), sparse_rows(rng, m, d, dtype)
    (form,), coef = kernel.forms, rng.normal(size=m)
    panels, rows = dense_tile.pack(X, dtype), dense_tile.expand(Z, form, dtype)
    layout = sparse_layout(sp.csr_array(X), (form,))
    left, right = layout.pack(dtype, None, 2), layout.like(Z).expand(dtype, None, 2)
    expected = dense_tile.block(panels, rows, form, np.empty((m, n), dtype))
    rounding = 20 * np.finfo(dtype).eps * (1 + np.abs(expected).max())
    out = layout.block(left, right, np.empty((m, n), dtype), 2)
    np.testing.assert_allclose(out, expected, rtol=0, atol=rounding)
    own = layout.expand(dtype, None, 2)
    square = layout.block(left, own, np.empty((n, n), dtype), 2, half=True)
    whole = dense_tile.block(
        panels, dense_tile.expand(X, form, dtype), form, np.empty((n, n), dtype)
    )
    np.testing.assert_allclose(square, whole, rtol=0, atol=rounding * (1 + np.abs(whole).max()))
    np.testing.assert_array_equal(square, square.T)
    sums = layout.dot(left, right, coef, 2)[:n]
    expected_sums = dense_tile.dot(panels, rows, form, coef)[:n]
    np.testing.assert_allclose(sums, expected_sums, rtol=0, atol=m * rounding)
    norms = (X.astype(float) ** 2).sum(axis=1)
    np.testing.assert_allclose(layout.squared_norms(left)[:n], norms, rtol=1e-6)


@pytest.mark.small
def test_rows_are_chosen_by_number(sparse_layout):
    X = sp.csr_array(sparse_rows(np.random.default_rng(0), 20, 6, np.float64))
    layout, numbers = sparse_layout(X, Linear().forms), np.array([7, 3, 3, 0])
    left, right = layout.pack(np.float64, numbers, 1), layout.expand(np.float64, numbers, 1)
    values = layout.block(left, right, np.empty((4, 4)), 1)
    np.testing.assert_allclose(values, (X @ X.T).toarray()[np.ix_(numbers, numbers)], atol=1e-15)


@pytest.mark.small
def test_no_rows_give_no_values(sparse_layout):
    X = sp.csr_array(sparse_rows(np.random.default_rng(0), 20, 6, np.float64))
    layout, none = sparse_layout(X, Linear().forms), np.arange(0)
    left, right = layout.pack(np.float64, none, 1), layout.expand(np.float64, none, 1)
    assert layout.block(left, right, np.empty((0, 0)), 1).shape == (0, 0)
    all_left = layout.pack(np.float64, None, 1)
    np.testing.assert_array_equal(layout.dot(all_left, right, np.empty(0), 1)[:20], np.zeros(20))


@pytest.mark.small
def test_compressed_as_scipy_does_unless_too_dense():
    X = sparse_rows(np.random.default_rng(0), 15, 9, np.float32)
    np.testing.assert_array_equal(sparse_tile.compress(X, 0.5).toarray(), X)
    assert sparse_tile.compress(X, 0.01) is None


@pytest.mark.small
def test_the_tile_follows_the_data():
    X = sparse_rows(np.random.default_rng(0), 20, 40, np.float64)
    kind = {
        "mostly zeros": (RBF(0.1), X, SparseLayout),
        "CSR": (RBF(0.1), sp.csr_matrix(X), SparseLayout),
        "full": (RBF(0.1), X + 1, DenseLayout),
        "mostly zeros, but far from the origin": (RBF(100.0), X, DenseLayout),
        "so far that only differences are exact": (RBF(1e4), X, type(None)),
        "CSR of very many columns": (Linear(), sp.csr_array((5, LONGEST + 1)), IndexLayout),
        "very many columns, mostly zeros": (Linear(), np.eye(5, LONGEST + 1), IndexLayout),
        "very many columns, full": (Linear(), np.ones((5, LONGEST + 1)), DenseLayout),
        "no function of the inner product": (Laplacian(0.1), X, type(None)),
        "no numbers": (Linear(), np.array([["a"]], dtype=object), type(None)),
    }
    for name, (kernel, data, expected) in kind.items():
        assert isinstance(layout_of(kernel, data), expected), name


@pytest.mark.small
def test_an_entry_listed_twice_counts_twice():
    twice = sp.csr_array(
        (np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2)
    )
    layout = layout_of(Linear(), twice)
    left, right = layout.pack(np.float64, None, 1), layout.expand(np.float64, None, 1)
    assert layout.block(left, right, np.empty((1, 1)), 1) == 34
    assert twice.nnz == 3
