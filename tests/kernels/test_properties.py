"""What a kernel says of itself holds on data, and of a compound what its parts allow."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from maxmargin import SVC
from maxmargin.kernels import (
    RBF,
    Constant,
    Kernel,
    Laplacian,
    Linear,
    Pairwise,
    Polynomial,
    Precomputed,
    Sigmoid,
    Vectorized,
)
from naive_machines import kernel_matrix


def letters(A, B):
    """Common letters of two words."""
    return np.array([[len(set(a) & set(b)) for b in B] for a in A], float)


NUMERIC = [
    Linear(),
    3 * Linear(),
    Linear() + 0.5 * Linear(),
    Polynomial(2, 0.3, 0.7),
    Polynomial(3, 0.3, -0.7),
    RBF(0.3),
    Laplacian(0.3),
    Sigmoid(0.3, 0.7),
    Constant(0.4),
    Constant(2.5),
    0.5 * RBF(0.3),
    2 * RBF(0.3),
    RBF(0.3) * Laplacian(0.2),
    RBF(0.3) * RBF(0.2),
    RBF(0.3) + Linear(),
    RBF(0.3) + 1,
    0.5 * (RBF(0.3) + Polynomial(2, 0.3, 1.0)) * Laplacian(0.1) + 0.25,
    Pairwise(lambda x, z: x @ z),
    Vectorized(lambda A, B: A @ B.T),
]


def rows(seed, scale=1.0):
    return scale * np.random.default_rng(seed).normal(size=(9, 3))


@pytest.mark.small
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 3), st.sampled_from(NUMERIC))
def test_properties_hold_on_any_rows(seed, scale, kernel):
    X = rows(seed, scale)
    K = kernel(X, X)
    if kernel.in_unit_interval:
        assert K.min() >= 0
        assert K.max() <= 1
    if kernel.translation_invariant:
        assert_allclose(kernel(X + 2, X + 2), K, rtol=1e-9)
    if kernel.positive_definite:
        values = np.linalg.eigvalsh(K)
        assert values[0] >= -1e-13 * len(K) * max(values[-1], 1)
    if kernel.is_linear:
        (form,) = kernel.forms
        assert_allclose(K, form.scale * X @ X.T, atol=1e-12)
    if kernel.radial:
        squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        assert_allclose(kernel.squared_distances(K), squares, atol=1e-8 * (1 + squares.max()))


@pytest.mark.small
@pytest.mark.parametrize("kernel", NUMERIC[:-2], ids=str)
def test_the_sum_of_its_forms_is_the_kernel(kernel):
    X, Z = rows(0), rows(1)
    if kernel.forms is not None:
        squares = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1)
        total = np.sum([form.of(X @ Z.T, squares) for form in kernel.forms], axis=0)
        assert_allclose(total, kernel(X, Z), rtol=1e-10, atol=1e-12)
        invariant = all(form.translation_invariant for form in kernel.forms)
        assert invariant == kernel.translation_invariant


@pytest.mark.small
def test_which_kernels_say_what():
    def those(name):
        return [kernel for kernel in NUMERIC if getattr(kernel, name)]

    bounded = [RBF(0.3), Laplacian(0.3), Constant(0.4), 0.5 * RBF(0.3)]
    bounded += [RBF(0.3) * Laplacian(0.2), RBF(0.3) * RBF(0.2)]
    assert those("in_unit_interval") == bounded
    assert those("is_linear") == NUMERIC[:3]
    assert those("radial") == [RBF(0.3), 0.5 * RBF(0.3), 2 * RBF(0.3)]
    unknown = [Polynomial(3, 0.3, -0.7), Sigmoid(0.3, 0.7), *NUMERIC[-2:]]
    assert [kernel for kernel in NUMERIC if not kernel.positive_definite] == unknown
    assert those("takes_objects") == [Constant(0.4), Constant(2.5), *NUMERIC[-2:]]
    assert those("precomputed") == []


@pytest.mark.small
def test_sums_and_multiples_have_few_terms():
    assert len((RBF(0.3) + Linear() + 1 + 2 * Linear()).forms) == 2
    assert len((0.5 * RBF(0.3)).forms) == len((3 * Linear() + 2).forms) == 1
    (form,) = (RBF(0.3) * (2 * RBF(0.2))).forms
    assert form.factor == 2
    assert_allclose(form.square, RBF(0.5).forms[0].square)
    for kernel in (RBF(0.3) * Linear(), RBF(0.3) + Laplacian(0.3), (RBF(0.3) + 1) * RBF(0.3)):
        assert kernel.forms is None


@pytest.mark.small
def test_a_kernel_and_a_number_make_a_kernel_or_an_error_at_once():
    X = rows(0)
    assert_allclose((Linear() + 1)(X, X), X @ X.T + 1)
    assert_allclose((0.5 + RBF(0.3)).diagonal(X), np.full(9, 1.5))
    assert sum([RBF(0.3), Linear()]) == RBF(0.3) + Linear()
    with pytest.raises(ValueError, match=r"≥ 0 and finite, got -1"):
        Linear() + -1
    with pytest.raises(ValueError, match=r"positive and finite, got 0"):
        0 * Linear()
    for wrong in ("one", None, [1.0]):
        with pytest.raises(TypeError, match="unsupported operand"):
            Linear() + wrong
        with pytest.raises(TypeError, match=r"unsupported operand|can't multiply"):
            Linear() * wrong


@pytest.mark.small
def test_compounds_of_a_function_of_objects_take_objects():
    words = np.array(["abc", "abd", "xyz"], dtype=object)
    kernel = 0.5 * Vectorized(letters) + Vectorized(letters) * Vectorized(letters) + 1
    assert kernel.takes_objects
    K = letters(words, words)
    numbers = np.array([2, 0])
    expected = (0.5 * K + K * K + 1)[np.ix_(numbers, numbers)]
    assert_allclose(kernel.entries(words, numbers, numbers), expected)
    assert_allclose(kernel.diagonal(words), (0.5 * K + K * K + 1).diagonal())
    assert not (Vectorized(letters) + RBF(0.3)).takes_objects


@dataclass(frozen=True)
class Letters(Kernel):
    gamma: float | str = 1.0

    def __call__(self, X, Z):
        return self.gamma * letters(X, Z)


@pytest.mark.small
@pytest.mark.parametrize("as_rows", [np.array, list, lambda words: [set(word) for word in words]])
def test_a_kernel_of_ones_own_takes_what_a_function_does(as_rows):
    words, y = ["abc", "abd", "xyz", "xyw"], [0, 0, 1, 1]
    alone = SVC(kernel=lambda X, Z: 2 * letters(X, Z)).fit(as_rows(words), y)
    for kernel in (2 * Letters(), Letters(2.0), 2 * Vectorized(letters)):
        machine = SVC(kernel=kernel).fit(as_rows(words), y)
        unseen = as_rows(["abz", "xyb"])
        assert_allclose(machine.decision_function(unseen), alone.decision_function(unseen))
    with pytest.raises(ValueError, match=r'gamma="scale" is computed .* give gamma as a number'):
        SVC(kernel=Letters("scale")).fit(as_rows(words), y)


@pytest.mark.small
def test_entries_are_those_of_the_rows_in_the_dtype_asked_for():
    X, i, j = rows(0), np.array([3, 0, 3]), np.array([1, 8])
    expected = kernel_matrix("rbf", X, gamma=0.3)[np.ix_(i, j)]
    kernel = RBF(0.3) + 1.0
    for given_as in (np.float64, np.float32):
        for dtype, digits in ((np.float64, 1e-6), (np.float32, 1e-5)):
            values = kernel.entries(X.astype(given_as), i, j, dtype)
            assert values.dtype == dtype
            assert_allclose(values, expected + 1, rtol=digits)
    assert_allclose(kernel.rows(X, i), X[i])


@pytest.mark.small
def test_a_matrix_computed_elsewhere_is_cut_in_both_directions():
    K, i, j = rows(0) @ rows(0).T, np.array([3, 0]), np.array([1, 8, 2])
    for kernel, expected in (
        (Precomputed(), K),
        (0.5 * Precomputed() + 1, 0.5 * K + 1),
        (Precomputed() * Precomputed(), K * K),
    ):
        assert kernel.precomputed
        assert_allclose(kernel.entries(K, i, j), expected[np.ix_(i, j)])
        assert_allclose(kernel.diagonal(K), expected.diagonal())
        assert_allclose(kernel.rows(K, i), K[np.ix_(i, i)])
        assert_allclose(kernel(K[:, j], K[j]), expected[:, j])
    with pytest.raises(ValueError, match=r"with 3 rows needs as many columns, got \(9, 2\)"):
        Precomputed()(K[:, :2], K[:3])
    for mixed in (lambda: Precomputed() + RBF(), lambda: Linear() * Precomputed()):
        with pytest.raises(TypeError, match=r"Precomputed\(\) takes a kernel matrix and .* data"):
            mixed()


@pytest.mark.small
def test_a_kernel_of_ones_own_promises_nothing_unless_it_says_so():
    kernel = Kernel()
    assert kernel.forms is None
    assert kernel.positive_definite is None
    promises = ("in_unit_interval", "translation_invariant", "is_linear", "radial")
    assert not any(getattr(kernel, name) for name in (*promises, "precomputed"))
    assert kernel.takes_objects
    with pytest.raises(TypeError, match="Kernel does not tell distances"):
        kernel.squared_distances(np.ones(1))


# --- frequencies: k(x, z) = E cos ωᵀ(x − z) ----------------------------------------------


@pytest.mark.small
@pytest.mark.parametrize("kernel", [RBF(0.4), Laplacian(0.4), RBF(0.2) * Laplacian(0.3)], ids=str)
def test_frequencies_are_drawn_from_the_spectral_measure(kernel):
    count, X = 20_000, rows(0, 0.5)
    omega = kernel.frequencies(count, 3, np.random.RandomState(0))
    assert omega.shape == (count, 3)
    angles = (X[:, None] - X[None]) @ omega.T
    assert_allclose(np.cos(angles).mean(axis=2), kernel(X, X), atol=5 / np.sqrt(count))


@pytest.mark.small
def test_kernels_without_a_spectral_measure_name_what_has_one():
    for kernel in (Linear(), Polynomial(2, 0.3), 2 * RBF(0.3), RBF(0.3) + Laplacian(0.3)):
        with pytest.raises(ValueError, match=r"no spectral measure .* 'rbf' and 'laplacian'"):
            kernel.frequencies(5, 3, np.random.RandomState(0))
    for kernel in (Laplacian(0.3), RBF(0.3) * RBF(0.2)):
        with pytest.raises(ValueError, match="orthogonal=True needs the RBF"):
            kernel.frequencies(5, 3, np.random.RandomState(0), orthogonal=True)
