"""The Gram matrix in parts is the Gram matrix, and takes no more memory than it may."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from maxmargin import SVC
from maxmargin.core import native
from maxmargin.gram import Gram, cross_dot
from maxmargin.gram.held import HeldGram
from maxmargin.kernels import (
    RBF,
    Laplacian,
    Linear,
    Pairwise,
    Polynomial,
    Precomputed,
    Sigmoid,
    Vectorized,
)

# A little more than is held whole, and just enough to be held whole.
SIZES = {"in parts": 2100, "whole": 300}
MB = 2**20


def product_of_rows(x, z):
    return x @ z


KERNELS = [
    Linear(),
    Polynomial(degree=3, gamma=0.2, coef0=1.0),
    RBF(gamma=0.2),
    Laplacian(gamma=0.2),
    Sigmoid(gamma=0.1),
    0.5 * RBF(gamma=0.2) + Linear(),
    Vectorized(lambda A, B: np.asarray((A @ B.T).todense() if sp.issparse(A) else A @ B.T)),
    Pairwise(product_of_rows),
]
FORMS = {
    "dense": np.asarray,
    "single": np.float32,
    "CSR": sp.csr_array,
    "CSR, single": lambda X: sp.csr_array(X.astype(np.float32)),
    "CSR, 64-bit indices": lambda X: with_long_indices(sp.csr_array(X)),
}


def with_long_indices(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def rows_of(n, columns=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, columns))
    X[rng.uniform(size=X.shape) < 0.3] = 0
    return X


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_parts_are_those_of_the_matrix(kernel, size, form):
    X = rows_of(SIZES[size])
    given = FORMS[form](X)
    K = kernel(X, X)
    gram = Gram(kernel, given, threads=2)
    rng = np.random.default_rng(1)
    i, j, coef = rng.integers(len(X), size=37), rng.permutation(len(X))[:51], rng.normal(size=51)
    # A float32 entry keeps about seven digits of the largest term, not of the result.
    digits = {np.float64: 1e-5 if "single" in form else 1e-10, np.float32: 2e-5}
    for dtype, digit in digits.items():
        close = {"rtol": digit, "atol": digit * np.abs(K).max()}
        assert_allclose(gram.block(i, j, dtype), K[np.ix_(i, j)], **close)
        assert_allclose(gram.square(i, dtype), K[np.ix_(i, i)], **close)
        assert_allclose(gram.row(3, dtype), K[3], **close)
        several = {"rtol": digit, "atol": 51 * close["atol"]}
        assert_allclose(gram.dot(j, coef, dtype), K[:, j] @ coef, **several)
        assert_allclose(gram.dot(j, coef, dtype, rows=i), K[np.ix_(i, j)] @ coef, **several)
        assert_allclose(gram.dot(j, coef, dtype, again=True), K[:, j] @ coef, **several)
        both = np.concatenate([i, j])  # some rows may be kept by now, others are not
        assert_allclose(gram.square(both, dtype), K[np.ix_(both, both)], **close)
        assert gram.dot(j, coef, dtype).dtype == np.float64
    assert_allclose(gram.diagonal, K.diagonal(), rtol=1e-6)
    some = np.flatnonzero(np.arange(len(X)) % 3 == 0)
    close = {"rtol": digits[np.float64], "atol": digits[np.float64] * np.abs(K).max()}
    part = gram.take(some)
    assert_allclose(part.block([0, 5], [1, 2]), K[np.ix_(some[[0, 5]], some[[1, 2]])], **close)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [2, 64, 701])
def test_entries_between_0_and_1_fit_into_16_bits(form, size):
    X = rows_of(SIZES["in parts"])
    gram = Gram(RBF(gamma=0.2), FORMS[form](X), threads=2)
    assert gram.entries_round
    i = np.random.default_rng(1).integers(len(X), size=size)
    out = np.empty((size, size), np.uint16)
    for _ in range(2):
        before = gram.evaluations
        rounded = gram.square(i, np.float32, out=out)
        assert gram.evaluations == before + size * (size + 1) // 2
        assert_array_equal(rounded, rounded.T)
        assert_allclose(
            rounded / native.UNIT, RBF(gamma=0.2)(X[i], X[i]), rtol=0, atol=0.5 / native.UNIT + 1e-6
        )
        gram.row(i[0], np.float32)  # that it is kept, in float32, changes nothing


@pytest.mark.small
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(degree=2), Sigmoid(), Laplacian()])
def test_16_bits_are_for_kernels_that_stay_between_0_and_1_in_a_tile(kernel):
    assert not Gram(kernel, rows_of(20)).entries_round


@pytest.mark.small
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_matrix_computed_elsewhere(dtype):
    X = rows_of(60)
    K = (X @ X.T).astype(dtype)
    gram = Gram(Precomputed(), K)
    assert_array_equal(gram.block([1, 2], [3]), K[[1, 2]][:, [3]])
    assert_array_equal(gram.row(4), K[4])
    assert_allclose(gram.dot([5, 6], [1.0, -2.0]), K[:, 5] - 2 * K[:, 6], rtol=1e-6)
    assert_array_equal(gram.take(np.array([7, 9])).block([0], [1]), [[K[7, 9]]])


@pytest.mark.small
def test_rows_may_be_objects_if_the_kernel_takes_them():
    def common_letters(A, B):
        return np.array([[len(set(a) & set(b)) for b in B] for a in A], float)

    words = np.array(["abc", "abd", "acd", "xyz"], dtype=object)
    gram, K = Gram(0.5 * Vectorized(common_letters) + 1, words), common_letters(words, words)
    assert_allclose(gram.block([0, 3], [1, 2]), 0.5 * K[np.ix_([0, 3], [1, 2])] + 1)
    assert_allclose(gram.take(np.array([2, 1])).row(0), 0.5 * K[2, [2, 1]] + 1)
    coef = np.array([[1.0, -1.0]])
    assert_allclose(cross_dot(gram.kernel, words, words[:2], coef), 0.5 * K[:, :2] @ coef.T)


@pytest.mark.parametrize("size", [10, 1100])
def test_a_kernel_of_ones_own_is_not_asked_for_no_rows(size):
    def needs_rows(A, B):
        return A @ B.T + 0 * (A.max() + B.max())  # the maximum of nothing is an error

    gram = Gram(Vectorized(needs_rows), rows_of(size))
    assert_array_equal(gram.dot(np.array([], int), []), np.zeros(size))
    assert gram.block([0], np.array([], int)).shape == (1, 0)


@pytest.mark.parametrize("form", ["dense", "single", "CSR"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_prediction_in_tiles_is_the_product(kernel, form):
    X, Z = rows_of(80), rows_of(50)[::-1].copy()
    coef = np.random.default_rng(2).normal(size=(3, 50))
    expected = kernel(X, Z) @ coef.T
    for lines in (slice(0, 1), slice(0, 3)):
        product = cross_dot(kernel, FORMS[form](X), FORMS[form](Z), coef[lines], threads=2)
        assert_allclose(product, expected[:, lines], rtol=1e-4, atol=1e-3)
    nothing = cross_dot(kernel, FORMS[form](X), FORMS[form](Z)[:0], coef[:, :0])
    assert_array_equal(nothing, np.zeros((80, 3)))


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("form", ["tiles", "held"])
@pytest.mark.parametrize("size", SIZES)
def test_a_reflected_matrix_has_the_signs_of_its_rows(size, form, twice):
    """Blocks, squares, rows and products; also with distances from differences."""
    X, rng = rows_of(SIZES[size]), np.random.default_rng(0)
    gram = Gram(RBF(0.2), X, threads=1) if form == "tiles" else HeldGram(RBF(0.2)(X, X))
    rows = rng.integers(0, len(X), len(X)) if twice else np.arange(len(X))
    signs, some, coef = rng.choice([-1.0, 1.0], len(X)), np.array([1, 5, 7]), [1.0, -2.0, 0.5]
    K = signs[:, None] * RBF(0.2)(X[rows], X[rows]) * signs
    part = gram.reflected(rows if twice else None, signs)
    for _ in range(2 if form == "tiles" else 1):
        assert_allclose(part.block(some, some[:2]), K[np.ix_(some, some[:2])], atol=1e-9)
        assert_allclose(part.square(some), K[np.ix_(some, some)], atol=1e-9)
        assert_allclose(part.row(5), K[5], atol=1e-9)
        assert_allclose(part.dot(some, coef), coef @ K[some], atol=1e-9)
        assert_allclose(part.dot(some, coef, rows=some), (coef @ K[some])[some], atol=1e-9)
        if form == "tiles":
            part.use_differences()


def test_evaluations_are_counted():
    gram = Gram(RBF(gamma=1.0), rows_of(2100))
    gram.block(np.arange(10), np.arange(20))
    assert gram.evaluations == 200
    gram.dot(np.arange(5), np.ones(5))
    assert gram.evaluations == 200 + 5 * 2100


# --- memory ------------------------------------------------------------------------------


def peak_of(function):
    """The most memory that `function` held at once, in bytes, beyond what there was."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        function()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("budget", [0.1, 1.0, 4.0])
def test_kept_rows_stay_within_the_budget(budget):
    """No cliff where the matrix does not fit (oneDAL issue 369): only recomputation."""
    n = 3000
    gram = Gram(Laplacian(gamma=0.2), rows_of(n), cache_size=budget, threads=1)
    room = max(int(budget / 3 * MB / (4 * n)), 3)  # whole rows of float32 that fit in a third

    def ask_for_many():
        for i in range(120):
            gram.row(i, np.float32)

    ask_for_many()  # compiles
    gram._cache = None
    gram.evaluations = 0
    assert peak_of(ask_for_many) <= 4 * n * room + 0.5 * MB
    assert gram.evaluations == 120 * n
    gram.row(119, np.float32)  # still there
    assert gram.evaluations == 120 * n
    gram.row(0, np.float32)  # there if there was room for all
    assert gram.evaluations == (120 if room >= 120 else 121) * n


def test_the_result_does_not_depend_on_the_budget():
    X = rows_of(1300)
    y = X[:, 0] * X[:, 1] > 0
    duals = [
        SVC(kernel="laplacian", cache_size=budget).fit(X, y).certificate_.dual
        for budget in (0.01, 100.0)
    ]
    assert_allclose(*duals, rtol=1e-6)


@pytest.mark.parametrize("kernel", [Linear(), RBF(gamma=1e-3)], ids=str)
def test_single_precision_data_are_not_copied_to_double(kernel):
    """scikit-learn issue 18825. Products in float64 convert some rows at a time."""
    X = np.random.default_rng(0).normal(size=(1100, 4000)).astype(np.float32)
    everything, coef = np.arange(len(X)), np.ones(len(X))

    def prove():
        gram = Gram(kernel, X, cache_size=0.1)
        gram.dot(everything[:20], coef[:20], np.float32)
        gram.dot(everything, coef, np.float64)
        gram.block(everything[:50], everything, np.float64)

    prove()  # compiles
    assert peak_of(prove) < 1.5 * X.nbytes  # some slices of 64 rows in float64


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [900, 1100])
def test_products_are_read_from_a_matrix_that_is_held(n, dtype):
    X = np.random.default_rng(0).normal(size=(n, 3))
    gram, K = Gram(RBF(gamma=0.2), X), RBF(gamma=0.2)(X, X)
    assert_allclose(gram.held(dtype), K, rtol=1e-5 if dtype == np.float32 else 1e-12)
    count, coef = gram.evaluations, np.random.default_rng(1).normal(size=50)
    some = np.arange(7, 57)
    assert_allclose(gram.dot(some, coef, dtype), K[:, some] @ coef, atol=1e-5)
    assert gram.evaluations == count
    assert gram.held(dtype) is gram.held(dtype)
