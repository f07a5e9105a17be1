"""Kernels are their formulas, dense or sparse, and compose as kernels do."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.svm import SVC as TheirSVC

from maxmargin import SVC
from maxmargin.kernels import (
    RBF,
    Kernel,
    Laplacian,
    Linear,
    Pairwise,
    Polynomial,
    Precomputed,
    Product,
    Scaled,
    Sigmoid,
    Sum,
    Vectorized,
    as_kernel,
)
from naive_machines import kernel_matrix

rng = np.random.default_rng(0)
X, Z = rng.normal(size=(12, 5)), rng.normal(size=(7, 5))
X[rng.uniform(size=X.shape) < 0.4] = 0  # a sparse copy has something to leave out
Z[2] = X[3]

NAMED = {
    "linear": Linear(),
    "poly": Polynomial(degree=3, gamma=0.3, coef0=0.7),
    "rbf": RBF(gamma=0.3),
    "laplacian": Laplacian(gamma=0.3),
    "sigmoid": Sigmoid(gamma=0.3, coef0=0.7),
}
named = pytest.mark.parametrize("name", NAMED)
EXPECTED = {name: kernel_matrix(name, X, Z, gamma=0.3, coef0=0.7, degree=3) for name in NAMED}


@pytest.mark.small
@named
def test_each_is_its_formula_row_by_row(name):
    assert_allclose(NAMED[name](X, Z), EXPECTED[name], rtol=1e-12)
    assert_allclose(NAMED[name].diagonal(X), NAMED[name](X, X).diagonal(), rtol=1e-12)


@pytest.mark.small
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
@named
def test_sparse_is_dense(name, make):
    kernel = NAMED[name]
    for left, right in [(make(X), make(Z)), (make(X), Z), (X, make(Z))]:
        if name == "laplacian" and not (sp.issparse(left) and sp.issparse(right)):
            continue  # scikit-learn's Manhattan distances take both dense or both sparse
        values = kernel(left, right)
        assert isinstance(values, np.ndarray)
        assert_allclose(values, EXPECTED[name], rtol=1e-12)
    assert_allclose(kernel.diagonal(make(X)), kernel.diagonal(X), rtol=1e-12)


@pytest.mark.small
@named
def test_single_precision_in_single_precision_out(name):
    values = NAMED[name](X.astype(np.float32), Z.astype(np.float32))
    assert_allclose(values, EXPECTED[name], rtol=1e-4, atol=1e-5)
    if name not in ("laplacian", "rbf"):  # distances are in double precision
        assert values.dtype == np.float32
    assert NAMED[name].diagonal(X.astype(np.float32)).dtype == np.float64


@pytest.mark.small
@pytest.mark.parametrize("make", [np.array, sp.csr_array])
@named
def test_rows_of_two_precisions(name, make):
    values = NAMED[name](make(X.astype(np.float32)), make(Z))
    assert_allclose(values, EXPECTED[name], rtol=1e-4, atol=1e-5)


@pytest.mark.small
def test_whole_numbers_are_numbers():
    whole = np.arange(6).reshape(3, 2)
    for kernel in NAMED.values():
        assert_allclose(kernel(whole, whole), kernel(whole.astype(float), whole.astype(float)))


@pytest.mark.small
@pytest.mark.parametrize("degree", [0, 1, 2, 5])
def test_powers(degree):
    expected = kernel_matrix("poly", X, Z, gamma=0.3, coef0=-0.5, degree=degree)
    assert_allclose(Polynomial(degree, gamma=0.3, coef0=-0.5)(X, Z), expected, rtol=1e-10)


@pytest.mark.small
def test_sums_products_and_multiples():
    a, b = RBF(gamma=0.3), Linear()
    A, B = a(X, Z), b(X, Z)
    assert_allclose((a + b)(X, Z), A + B)
    assert_allclose((a * b)(X, Z), A * B)
    for multiple in (2.5 * a, a * 2.5, np.float64(2.5) * a, a * np.float32(2.5)):
        assert_allclose(multiple(X, Z), 2.5 * A)
    nested = 0.5 * (a + b) * a + 3 * b
    assert_allclose(nested(X, Z), 0.5 * (A + B) * A + 3 * B)
    assert_allclose(nested.diagonal(X), nested(X, X).diagonal())
    assert (a + b, a * b, 2 * a) == (Sum(a, b), Product(a, b), Scaled(2.0, a))
    assert_allclose(nested(sp.csr_array(X), sp.csr_array(Z)), nested(X, Z))


@pytest.mark.small
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-3, 10), st.integers(1, 4), st.floats(0, 5))
def test_they_are_positive_semidefinite(seed, gamma, degree, coef0):
    rows = np.random.default_rng(seed).normal(size=(15, 3))
    rbf, poly = RBF(gamma), Polynomial(degree, gamma, coef0)
    kernels = [Linear(), poly, rbf, Laplacian(gamma), rbf + poly, rbf * poly, 3 * rbf]
    for kernel in kernels:
        K = kernel(rows, rows)
        assert_allclose(K, K.T, rtol=1e-12)
        smallest, largest = np.linalg.eigvalsh(K)[[0, -1]]
        assert smallest >= -1e-13 * len(K) * largest
        assert np.all(kernel.diagonal(rows) >= 0)


@pytest.mark.small
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize("rule", ["scale", "auto"])
def test_gamma_rules_are_those_of_scikit_learn(rule, make):
    labels = np.arange(12) % 2
    theirs = TheirSVC(gamma=rule).fit(make(X), labels)._gamma
    assert_allclose(RBF(rule).bind(make(X)).gamma, theirs, rtol=1e-6)
    assert_allclose(SVC(gamma=rule).fit(make(X), labels).kernel_.gamma, theirs, rtol=1e-6)


@pytest.mark.small
def test_gamma_of_constant_data_is_one():
    assert RBF("scale").bind(np.ones((5, 2))).gamma == 1
    assert RBF("scale").bind(sp.csr_array(np.zeros((5, 2)))).gamma == 1


@pytest.mark.small
def test_a_row_of_weight_two_counts_in_gamma_as_two_rows():
    weights = np.arange(1, 13)
    twice = np.repeat(X, weights, axis=0)
    expected = RBF("scale").bind(twice).gamma
    assert_allclose(RBF("scale").bind(X, weights.astype(float)).gamma, expected)
    assert_allclose(RBF("scale").bind(sp.csr_array(X), weights.astype(float)).gamma, expected)


@pytest.mark.small
def test_binding_reaches_inside_and_leaves_numbers_alone():
    kernel = 2 * (RBF("scale") + Polynomial(gamma="auto") * Laplacian(gamma=0.5))
    bound = kernel.bind(X)
    assert isinstance(bound.kernel.left.gamma, float)
    assert bound.kernel.right.left.gamma == 1 / 5
    assert bound.kernel.right.right.gamma == 0.5
    assert kernel.kernel.left.gamma == "scale"  # the original is as it was
    assert bound.bind(X) == bound


@pytest.mark.small
@pytest.mark.parametrize("kernel", [RBF(), Polynomial(), Sigmoid(), Laplacian()], ids=str)
def test_without_data_a_rule_is_no_number(kernel):
    with pytest.raises(ValueError, match="gamma='scale' needs data"):
        kernel(X, Z)


@pytest.mark.filterwarnings("ignore:the kernel is indefinite")  # the sigmoid
@pytest.mark.small
@pytest.mark.parametrize("kernel", [*NAMED.values(), 2 * RBF() + Linear()], ids=str)
def test_a_machine_takes_a_kernel_object(kernel):
    labels = np.arange(12) % 2
    machine = SVC(kernel=kernel).fit(X, labels)
    assert clone(machine).kernel == kernel
    bound = kernel.bind(X)
    values = bound(Z, machine.support_vectors_) @ machine.dual_coef_[0] + machine.intercept_
    assert_allclose(machine.decision_function(Z), values, rtol=1e-6, atol=1e-8)


@pytest.mark.small
def test_names():
    options = {"degree": 2, "gamma": 0.1, "coef0": 0.5}
    assert as_kernel("poly", **options) == Polynomial(2, 0.1, 0.5)
    assert as_kernel("precomputed", **options) == Precomputed()
    assert as_kernel(RBF(3.0), **options) == RBF(3.0)
    with pytest.raises(ValueError, match="kernel='gaussian' is not one of"):
        as_kernel("gaussian", **options)
    with pytest.raises(TypeError, match="Kernel does not define"):
        Kernel()(X, Z)


# --- a user's own kernel -----------------------------------------------------------------


def cosine(x, z):
    """Of the angle between (x, 1) and (z, 1)."""
    return (1 + x @ z) / np.sqrt((1 + x @ x) * (1 + z @ z))


@pytest.mark.small
@pytest.mark.parametrize("make", [np.asarray, np.float32, sp.csr_array])
def test_a_function_of_two_rows(make):
    expected = [[cosine(x, z) for z in Z] for x in X]
    for kernel in (Pairwise(cosine), Pairwise(njit(cosine))):
        assert_allclose(kernel(make(X), make(Z)), expected, rtol=1e-5, atol=1e-6)
        assert_allclose(kernel.diagonal(make(X)), [cosine(x, x) for x in X], rtol=1e-5)


@pytest.mark.small
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_function_of_two_blocks(make):
    kernel = Vectorized(lambda A, B: (A @ B.T) ** 2)
    assert_allclose(kernel(make(X), make(Z)), (X @ Z.T) ** 2)
    assert_allclose(kernel.diagonal(make(X)), ((X @ X.T) ** 2).diagonal())


@pytest.mark.small
@pytest.mark.parametrize("kernel", [lambda A, B: (A @ B.T + 1) ** 2, Pairwise(cosine)])
def test_a_machine_takes_a_function(kernel):
    labels = np.arange(12) % 3
    machine = SVC(kernel=kernel, tol=1e-8).fit(X, labels)
    values = kernel(X, X)
    by_matrix = SVC(kernel="precomputed", tol=1e-8).fit(values, labels)
    assert_allclose(machine._decisions(X), by_matrix._decisions(values), atol=1e-6)


@pytest.mark.small
def test_a_kernel_of_strings():
    def common_letters(A, B):
        return np.array([[len(set(a) & set(b)) for b in B] for a in A], float)

    words = ["abc", "abd", "acd", "xyz", "xyw", "xzw"]
    machine = SVC(kernel=common_letters).fit(words, [0, 0, 0, 1, 1, 1])
    assert_array_equal(machine.predict(["aaa", "zzz", "bcd"]), [0, 1, 0])
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[6, 5\]"):
        SVC(kernel=common_letters).fit(words, [0, 0, 0, 1, 1])


def test_the_whole_matrix_is_never_asked_for():
    """scikit-learn's callable kernels get the training set twice: its issue 13668 and others."""
    rows = 3000
    data = np.random.default_rng(0).normal(size=(rows, 2))
    labels = data[:, 0] * data[:, 1] > 0
    blocks = []

    def rbf(A, B):
        blocks.append((len(A), len(B)))
        return RBF(gamma=1.0)(A, B)

    machine = SVC(kernel=rbf).fit(data, labels)
    machine.predict(data)
    largest = max(a * b for a, b in blocks)
    assert largest <= 2**20 < rows**2
    same = SVC(kernel="rbf", gamma=1.0).fit(data, labels)
    assert_allclose(machine.certificate_.dual, same.certificate_.dual, rtol=1e-5)
