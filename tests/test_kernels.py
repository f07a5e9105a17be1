"""Kernels: their formulas, their sums and products, and functions of one's own."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm

from maxmargin import SVC
from maxmargin.kernels import (
    RBF,
    Laplacian,
    Linear,
    Pairwise,
    Polynomial,
    Sigmoid,
    Vectorized,
)

rng = np.random.default_rng(0)
X, Z = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
FORMULAS = {
    Linear(): lambda x, z: x @ z,
    Polynomial(3, 0.5, 1.0): lambda x, z: (0.5 * x @ z + 1) ** 3,
    RBF(0.5): lambda x, z: np.exp(-0.5 * np.sum((x - z) ** 2)),
    Laplacian(0.5): lambda x, z: np.exp(-0.5 * np.sum(np.abs(x - z))),
    Sigmoid(0.5, 0.1): lambda x, z: np.tanh(0.5 * x @ z + 0.1),
    Linear() + 2.0 * RBF(0.5): lambda x, z: x @ z + 2 * np.exp(-0.5 * np.sum((x - z) ** 2)),
    Linear() * RBF(0.5): lambda x, z: (x @ z) * np.exp(-0.5 * np.sum((x - z) ** 2)),
}


@pytest.mark.small
@pytest.mark.parametrize("kernel", FORMULAS, ids=str)
def test_values_are_the_formula(kernel):
    formula = FORMULAS[kernel]
    expected = np.array([[formula(x, z) for z in Z] for x in X])
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(sp.csr_array(X), sp.csr_array(Z)), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), [formula(x, x) for x in X], rtol=1e-12)


@pytest.mark.small
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 1.0), RBF(1.0), Sigmoid(1.0)], ids=str)
def test_single_precision_stays_single(kernel):
    assert kernel(X.astype(np.float32), Z.astype(np.float32)).dtype == np.float32


@pytest.mark.small
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_gamma_is_scikit_learns(gamma, form):
    y = np.arange(7) % 2
    reference = svm.SVC(gamma=gamma).fit(form(X), y)._gamma
    assert RBF(gamma).bind(form(X)).gamma == pytest.approx(reference, rel=1e-12)


def test_a_function_never_sees_all_rows_twice():
    rows = rng.normal(size=(3000, 2))
    labels = (rows[:, 0] > 0).astype(int)
    shapes = []

    def recorded(A, B):
        shapes.append((A.shape[0], B.shape[0]))
        return A @ B.T

    ours = SVC(kernel=recorded).fit(rows, labels)
    assert max(a * b for a, b in shapes) < 3000 * 3000
    np.testing.assert_array_equal(
        ours.predict(rows), SVC(kernel="linear").fit(rows, labels).predict(rows)
    )


def test_a_function_of_two_rows_is_compiled():
    def histogram(x, z):
        return np.minimum(np.abs(x), np.abs(z)).sum()

    expected = [[histogram(x, z) for z in Z] for x in X]
    np.testing.assert_allclose(Pairwise(histogram)(X, Z), expected)


@pytest.mark.small
def test_what_is_no_kernel_is_refused():
    with pytest.raises(ValueError, match="positive and finite"):
        -1.0 * RBF(1.0)
    with pytest.raises(ValueError, match=r"must return shape \(7, 5\)"):
        Vectorized(lambda A, B: A)(X, Z)
