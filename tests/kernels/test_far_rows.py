"""Entries and certificates are true wherever the rows lie and however narrow the kernel is."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import SVC, SVCCV, SVR, NuSVC, OneClassSVM
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial


def exact_rbf(X, Z, gamma):
    """exp(−γ‖x − z‖²) from differences in extended precision."""
    X, Z = np.asarray(X, np.longdouble), np.asarray(Z, np.longdouble)
    scaled = (X[:, None, :] - Z[None, :, :]) * np.sqrt(np.longdouble(gamma))
    return np.exp(-(scaled**2).sum(axis=2)).astype(float)


def timestamps(n=200):
    rng = np.random.default_rng(0)
    seconds = 1.7e9 + np.sort(rng.uniform(0, 3.15e7, n)).round()
    return np.c_[seconds, rng.normal(size=n)], rng.integers(0, 2, n)


def true_violation(K, y, beta, C):
    """The largest −G that can rise minus the smallest that can fall."""
    slope = y - K @ beta
    lower, upper = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    return slope[beta < upper].max() - slope[beta > lower].min()


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e9, 1e12])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e4, 1e100])
@pytest.mark.parametrize("spread", [1e-2, 1.0, 1e6, 1e12])
def test_entries_of_any_scale_offset_and_gamma(offset, scale, spread):
    """γ‖x − z‖² from 1e-2 to 1e12 for the farthest rows; a neighbour is near each."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 3))
    X = scale * (np.vstack([X, X + 1e-3 * rng.normal(size=X.shape) / np.sqrt(spread)]) + offset)
    farthest = ((X[:, None] / scale - X[None] / scale) ** 2).sum(2).max()
    gamma = spread / farthest / scale / scale
    want, every = exact_rbf(X, X, gamma), np.arange(len(X))
    for rows in (X, sp.csr_array(X)):
        np.testing.assert_allclose(RBF(gamma)(rows, rows), want, rtol=0, atol=1e-7)
        np.testing.assert_allclose(
            Gram(RBF(gamma), rows).block(every, every), want, rtol=0, atol=1e-7
        )


@pytest.mark.parametrize("scale", [1e-40, 1e-25, 1e-10, 1e15])
def test_entries_of_float32_rows_whose_squares_float32_has_not(scale):
    rng = np.random.default_rng(1)
    X = (scale * (1e5 + rng.normal(size=(12, 3)))).astype(np.float32)
    farthest = ((X[:, None].astype(float) / scale - X[None].astype(float) / scale) ** 2).sum(2)
    gamma = 1 / farthest.max() / scale / scale
    want, every = exact_rbf(X, X, gamma), np.arange(len(X))
    for rows in (X, sp.csr_array(X)):
        entries = Gram(RBF(gamma), rows).block(every, every)
        np.testing.assert_allclose(entries, want, rtol=0, atol=1e-7)


def test_a_certificate_on_timestamps_is_true():
    X, labels = timestamps()
    machine = SVC(gamma=1.0, C=10.0).fit(X, labels)
    y, beta = np.where(labels == machine.classes_[1], 1.0, -1.0), np.zeros(len(X))
    beta[machine.support_] = machine.dual_coef_[0]
    K = exact_rbf(X, X, 1.0)
    violation = true_violation(K, y, beta, 10.0)
    assert violation <= machine.tol
    assert machine.certificate_.kkt_violation == pytest.approx(violation, abs=1e-6)
    dual = np.abs(beta).sum() - 0.5 * beta @ K @ beta
    assert machine.certificate_.dual == pytest.approx(dual, rel=1e-9)
    np.testing.assert_allclose(
        machine.decision_function(X), K @ beta + machine.intercept_[0], atol=1e-6
    )


KERNELS = {
    "sum": (RBF(1.0) + 1e-20 * Linear(), lambda X: exact_rbf(X, X, 1.0) + 1e-20 * X @ X.T),
    "multiple": (2.0 * RBF(1.0), lambda X: 2 * exact_rbf(X, X, 1.0)),
    "product": (RBF(0.5) * RBF(0.5), lambda X: exact_rbf(X, X, 1.0)),
    "with others": (
        RBF(1.0) * Polynomial(1, 0.0, 1.0) + Laplacian(1e9),
        lambda X: exact_rbf(X, X, 1.0) + np.eye(len(X)),
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_composed_kernels_far_from_the_origin(name):
    kernel, truth = KERNELS[name]
    X, _ = timestamps(60)
    every = np.arange(len(X))
    np.testing.assert_allclose(Gram(kernel, X).block(every, every), truth(X), atol=1e-7)


@pytest.mark.parametrize(
    "machine", [SVR(gamma=17.0), NuSVC(nu=0.5, gamma=17.0), OneClassSVM(gamma=17.0)]
)
def test_machines_on_rows_of_a_large_scale(machine):
    """A dual that is a bound lies below the primal of the machine itself."""
    rng = np.random.default_rng(3)
    X = 1e8 + 1e4 * rng.normal(size=(60, 2))
    X[30:] = X[:30] + 0.1 * rng.normal(size=(30, 2))
    y = rng.integers(0, 2, 60)
    machine.fit(X, y)
    K = exact_rbf(X, X[machine.support_], 17.0)
    values = K @ np.ravel(machine.dual_coef_) + machine.intercept_[0]
    decide = getattr(machine, "decision_function", machine.predict)
    np.testing.assert_allclose(np.ravel(decide(X)), values, atol=1e-6)
    assert machine.certificate_.status.value == "converged"


def test_float32_rows_of_large_integers_are_told_apart():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 1000, (300, 50)).astype(np.float32)
    y = rng.integers(0, 2, 300)
    assert SVC(gamma=17.0, C=10.0).fit(X, y).score(X, y) == 1.0


def test_a_search_on_timestamps_is_that_of_a_loop():
    X, y = timestamps(120)
    X = np.repeat(X[:60], 2, axis=0) + np.tile([[0.0, 0.0], [0.0, 0.01]], (60, 1))
    y = np.repeat(y[:60], 2)
    train, test = np.arange(0, 120, 2), np.arange(1, 120, 2)
    search = SVCCV(Cs=[1.0, 10.0], gammas=[1.0, 1e-3], cv=[(train, test)]).fit(X, y)
    cells = (search.cv_results_[name] for name in ("param_C", "param_gamma", "split0_test_score"))
    for C, gamma, score in zip(*cells, strict=True):
        loop = SVC(C=C, gamma=gamma).fit(X[train], y[train]).score(X[test], y[test])
        assert score == pytest.approx(loop)
