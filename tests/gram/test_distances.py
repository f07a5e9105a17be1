"""Distances that rounding would spoil: kernel values, fits and predictions are exact."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.formulations import c_svc
from maxmargin.gram import Cross, Gram
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial
from maxmargin.problem import Status
from maxmargin.solvers.qp.state import DualState

CASES = [
    (offset, scale, gamma)
    for offset in (0.0, 1e4, 1e12)
    for scale in (1e-100, 1e-8, 1.0, 1e8, 1e100)
    for gamma in (1e-2, 17.0, 1e6)
]


def slow_rbf(gamma, X, Z):
    """exp(−γ‖x − z‖²) from differences in extended precision."""
    X, Z = np.asarray(X, np.longdouble), np.asarray(Z, np.longdouble)
    squares = ((X[:, None] - Z) ** 2).sum(axis=2)
    return np.exp(-np.longdouble(gamma) * squares)


def drawn(n, columns, offset, scale, seed=0):
    return scale * (offset + np.random.default_rng(seed).standard_normal((n, columns)))


@pytest.mark.parametrize(("offset", "scale", "gamma"), CASES)
@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
def test_values_are_those_of_differences(offset, scale, gamma, kind):
    """K, K(X, Z) and products agree with extended precision, wherever the rows are."""
    X, gamma = drawn(20, 3, offset, scale), gamma / scale**2
    truth, kernel = slow_rbf(gamma, X, X), RBF(gamma)
    rows, every = kind(X), np.arange(20)
    assert np.abs(Gram(kernel, rows).block(every, every) - truth).max() < 1e-9
    coef = np.random.default_rng(1).standard_normal((1, 20))
    exact = (truth @ coef[0]).astype(float)
    for few in (3, 20):  # a few rows have a way of their own
        values = Cross(kernel, rows).dot(rows[:few], coef)[:, 0]
        assert np.abs(values - exact[:few]).max() < 1e-8
    many = Cross(kernel, rows).dot(kind(np.tile(X, (500, 1))), coef)[:, 0]
    assert np.abs(many - np.tile(exact, 500)).max() < 1e-8


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [200, 700])
def test_a_year_of_timestamps(n, dtype):
    """γ‖x‖² of 1e14 after centring: violation and gap are what extended precision says."""
    rng = np.random.default_rng(0)
    X = np.c_[1.7e9 + np.sort(rng.uniform(0, 3.15e7, n)).round(), rng.normal(size=n)].astype(dtype)
    y = rng.integers(0, 2, n)
    machine = SVC(gamma=1.0, C=10).fit(X, y)  # the judge looks at the certificate
    assert machine.certificate_.status.value == "converged"
    K = slow_rbf(1.0, X, machine.support_vectors_).astype(float)
    f = K @ machine.dual_coef_[0] + machine.intercept_[0]
    np.testing.assert_allclose(machine.decision_function(X), f, atol=1e-9)


def test_float32_rows_are_predicted_as_float64_rows():
    """Whole numbers are the same rows in both: so are decision values."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 1000, (800, 50)), rng.integers(0, 2, 800)
    machine = SVC(gamma=17.0).fit(X.astype(np.float32), y)
    assert machine.score(X.astype(np.float32), y) == 1.0
    same = machine.decision_function(X.astype(float))
    np.testing.assert_allclose(machine.decision_function(X.astype(np.float32)), same, atol=1e-9)


@pytest.mark.parametrize("machine", [SVC(), NuSVC(nu=0.3), SVR(), NuSVR(), OneClassSVM(nu=0.3)])
@pytest.mark.parametrize(
    "kernel",
    [
        RBF(17.0),
        RBF(17.0) + 1e-16 * Linear(),
        RBF(17.0) * Laplacian(1e-8),
        2 * RBF(1e-3) * RBF(3.0),
        RBF(17.0) * Polynomial(1, 1e-16, 1.0),
    ],
)
@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
def test_every_machine_far_apart(machine, kernel, kind):
    """Columns of scale 1e8, rows in near pairs: the judge finds no false certificate."""
    rng = np.random.default_rng(0)
    X = 1e8 * rng.standard_normal((30, 2))
    X = np.r_[X, X + rng.uniform(-0.3, 0.3, X.shape)]
    y = np.sin(np.arange(60)) if "SVR" in type(machine).__name__ else np.arange(60) % 2
    machine.set_params(kernel=kernel).fit(kind(X), y)


def test_signs_are_those_of_float64():
    """Float32 decides only what its error cannot change: on rows that lie on the boundary, too."""
    rng = np.random.default_rng(0)
    Z, X = rng.standard_normal((400, 8)), rng.standard_normal((3000, 8))
    coef = rng.standard_normal(400)
    for dtype in (np.float64, np.float32):
        cross, rows = Cross(RBF(0.3), Z.astype(dtype)), X.astype(dtype)
        values = cross.dot(rows, coef[None])[:, 0]
        for offset in -values[:20]:
            truth = values + offset
            signs = cross.signs(rows, coef, float(offset))
            assert (signs == (truth > 0))[np.abs(truth) > 1e-12].all()


@pytest.mark.parametrize("n", [200, 600])
def test_large_coefficients_are_proved_by_differences(n):
    """Σ|β| times the error of a tile's entry exceeds tol / 20; times that of a difference not."""
    X, y = drawn(n, 3, 0.0, 1.0), np.where(np.arange(n) % 2, 1.0, -1.0)
    state = DualState(c_svc(y, 1e6), Gram(RBF(100.0), X), 1e6 * y)
    assert not state.is_certain(1e-3)
    state.confirm(1e-3)
    assert state.is_certain(1e-3)
    truth = (slow_rbf(100.0, X, X) @ (1e6 * y)).astype(float) - y
    np.testing.assert_allclose(state.gradient, truth, atol=1e-3 / 20)


def test_a_tolerance_below_rounding_is_not_said_to_be_reached():
    X, y = drawn(60, 3, 0.0, 1.0), np.arange(60) % 2
    with pytest.warns(ConvergenceWarning, match="rounding"):
        machine = SVC(gamma=1.0, C=10.0, tol=1e-14).fit(X, y)
    assert machine.certificate_.status is Status.STAGNATED


def test_few_float32_rows_are_predicted_in_float64():
    """Also by kernels that are not moved to a centre, as sums with a linear one are."""
    X = drawn(30, 3, 0.0, 1.0).astype(np.float32)
    cross, coef = Cross(RBF(0.5) + 1e-3 * Linear(), X), np.ones((1, 30))
    np.testing.assert_allclose(cross.dot(X[:2], coef), cross.dot(X[:2].astype(float), coef), 1e-15)
