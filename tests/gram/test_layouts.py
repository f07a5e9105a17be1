"""Sums and multiples of kernels are computed by the tiles, on every layout of rows."""

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from maxmargin import SVC
from maxmargin.gram import Cross, Gram, cross_dot, index_tile
from maxmargin.gram.entries import TiledEntries, entries_of
from maxmargin.gram.layouts import LONGEST, DenseLayout, IndexLayout, SparseLayout, layout_of
from maxmargin.kernels import RBF, DotKernel, Form, Linear, Polynomial, Sigmoid
from naive_machines import kernel_matrix

OPTIONS = {"gamma": 0.3, "coef0": 0.5, "degree": 3}
TERMS = {
    "linear": Linear(),
    "poly": Polynomial(3, 0.3, 0.5),
    "rbf": RBF(0.3),
    "sigmoid": Sigmoid(0.3, 0.5),
}
COMPOUNDS = [
    {"rbf": 0.5},
    {"rbf": 2.0},
    {"poly": 1.5},
    {"sigmoid": 0.5},
    {"rbf": 1.0, "linear": 0.2},
    {"linear": 0.2, "sigmoid": 0.5, "rbf": 3.0, "poly": 0.1},
]
compounds = pytest.mark.parametrize("weights", COMPOUNDS, ids=str)


def compound(weights):
    return reduce(add, [weight * TERMS[name] for name, weight in weights.items()])


def truth(weights, X, Z):
    """Σ weight · k(x, z), each k by its formula, in float64."""
    X, Z = np.asarray(X, float), np.asarray(Z, float)
    return sum(weight * kernel_matrix(name, X, Z, **OPTIONS) for name, weight in weights.items())


def rows(seed, n, columns=7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    X[rng.random(X.shape) < 0.6] = 0
    return X


def as_index(X, forms):
    X = sp.csr_array(X)
    return IndexLayout(X, forms, index_tile.common_columns(X))


LAYOUTS = {
    "dense": lambda X, forms: DenseLayout(X, forms),
    "sparse": lambda X, forms: SparseLayout(sp.csr_array(X), forms),
    "index": as_index,
}


@pytest.mark.small
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@compounds
def test_compounds_are_the_sums_of_their_formulas(weights, layout, dtype):
    X, Z = rows(0, 41).astype(dtype), rows(1, 30).astype(dtype)
    laid = LAYOUTS[layout](X, compound(weights).forms)
    left, right = laid.pack(dtype, None, 1), laid.like(Z).expand(dtype, None, 1)
    expected, coef = truth(weights, Z, X), np.linspace(-1, 1, 30)
    digits = 20 * np.finfo(dtype).eps * (1 + np.abs(expected).max())
    block = laid.block(left, right, np.full((30, 41), np.nan, dtype), 1)
    assert_allclose(block, expected, rtol=0, atol=digits)
    assert_allclose(laid.dot(left, right, coef, 1)[:41], coef @ expected, rtol=0, atol=30 * digits)
    expected = truth(weights, X, X)
    digits = 20 * np.finfo(dtype).eps * (1 + np.abs(expected).max())
    empty = np.full((41, 41), np.nan, dtype)
    square = laid.block(left, laid.expand(dtype, None, 1), empty, 1, half=True)
    assert_allclose(square, expected, rtol=0, atol=digits)
    assert_array_equal(square, square.T)


@pytest.mark.parametrize("make", [np.asarray, np.float32, sp.csr_array], ids=["64", "32", "CSR"])
@pytest.mark.parametrize("columns", [7, LONGEST + 1], ids=["short", "long"])
@compounds
def test_compounds_through_the_gram_matrix_and_prediction(weights, columns, make):
    X = np.zeros((1100, columns))
    X[:, :7] = rows(2, 1100)
    kernel, given = compound(weights), make(X)
    gram = Gram(kernel, given, threads=2)
    assert isinstance(entries_of(gram.kernel, given, 1), TiledEntries)
    i, j, coef = np.arange(1090, 1100), np.arange(40), np.linspace(-1, 1, 40)
    K = truth(weights, X[:, :7], X[np.concatenate([i, j]), :7])
    of_i, of_j = K[:, :10], K[:, 10:]
    single = given.dtype == np.float32
    for dtype, digits in ((np.float64, 1e-5 if single else 1e-10), (np.float32, 1e-5)):
        close = {"rtol": 0, "atol": digits * np.abs(K).max()}
        sums = {"rtol": 0, "atol": 40 * digits * np.abs(K).max()}
        assert_allclose(gram.block(i, j, dtype), of_i[j].T, **close)
        assert_allclose(gram.square(i, dtype), of_i[i], **close)
        assert_allclose(gram.row(1095, dtype), of_i[:, 5], **close)
        assert_allclose(gram.dot(j, coef, dtype), of_j @ coef, **sums)
        assert_allclose(gram.dot(j, coef, dtype, again=True), of_j @ coef, **sums)
    assert_allclose(gram.diagonal[i], of_i[i].diagonal(), rtol=1e-5)
    lines = np.vstack([coef, coef[::-1]])
    for some in (lines[:1], lines):
        product = cross_dot(kernel, given, given[j], some, 2)
        assert_allclose(product, of_j @ some.T, rtol=0, atol=1e-4 * np.abs(K).max())
    if not single:
        values = cross_dot(kernel, given, given[j], coef[None], 2)[:, 0]
        signs = Cross(kernel, given[j], 2).signs(given, coef, -values[3] + 1e-9)
        assert_array_equal(signs, values - values[3] + 1e-9 > 0)


@pytest.mark.small
def test_rows_are_centred_only_if_every_term_allows_it():
    X = rows(3, 20) + 5.0
    assert layout_of(0.5 * RBF(0.3), X).centre is not None
    assert layout_of(RBF(0.3) + RBF(2.0) + 1, X).centre is not None
    assert layout_of(RBF(0.3) + Linear(), X).centre is None
    assert layout_of(Linear() + 1, X).centre is None


@pytest.mark.small
def test_16_bits_are_for_single_terms():
    X = rows(4, 300) + 1.0
    for kernel, rounds in ((0.5 * RBF(0.3), True), (2 * RBF(0.3), False), (RBF(0.3) + 1, False)):
        assert Gram(kernel, X).entries_round == rounds


# --- a kernel with a tile of its own -----------------------------------------------------


@dataclass(frozen=True)
class Hermite(DotKernel):
    """k(x, z) = (1 + xᵀz)² + 3 exp(−‖x − z‖²), by its forms alone."""

    positive_definite = True

    @property
    def forms(self):
        g = np.log2(np.e)
        return Form(2, offset=1.0), Form(None, 2 * g, -g, factor=3.0)


def test_a_kernel_that_gives_its_forms_has_a_tile():
    X = rows(5, 1200, columns=4)
    expected = [
        [(1 + x @ z) ** 2 + 3 * np.exp(-((x - z) ** 2).sum()) for z in X[:30]] for x in X[:40]
    ]
    assert_allclose(Hermite()(X[:40], X[:30]), expected, rtol=1e-12)
    gram = Gram(Hermite(), X)
    assert isinstance(gram._entries, TiledEntries)
    assert_allclose(gram.block(np.arange(40), np.arange(30)), expected, rtol=1e-10)
    assert_allclose(gram.diagonal[:30], np.diagonal(expected), rtol=1e-12)
    y = X[:, 0] * X[:, 1] > 0.1
    ours = SVC(kernel=Hermite()).fit(X, y)
    same = SVC(kernel=lambda A, B: (1 + A @ B.T) ** 2 + 3 * RBF(1.0)(A, B)).fit(X, y)
    assert_allclose(ours.certificate_.dual, same.certificate_.dual, rtol=1e-3)
    assert ours.certificate_.relative_gap <= 1e-3
    assert_array_equal(ours.predict(X[:200]), same.predict(X[:200]))
