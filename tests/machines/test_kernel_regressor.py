"""Kernel regression: the exact solution, and the lectures' descent toward it."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge

from maxmargin import KernelRegressor
from maxmargin.kernels import RBF


@pytest.fixture(scope="module")
def data():
    X, y = load_diabetes(return_X_y=True)
    return X[:150] * 10, y[:150] / 100


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("weighted", [False, True])
def test_exact_is_kernel_ridge(data, kernel, weighted):
    X, y = data
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y)) if weighted else None
    ours = KernelRegressor(kernel=kernel, gamma=0.1, coef0=1, ridge=0.3).fit(X, y, weight)
    theirs = KernelRidge(kernel=kernel, gamma=0.1, coef0=1, alpha=0.3).fit(X, y, weight)
    np.testing.assert_allclose(ours.dual_coef_[0], theirs.dual_coef_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8, atol=1e-8)


@pytest.mark.small
def test_an_epoch_is_the_lectures_rule():
    X = np.array([[0.0], [0.5], [1.0], [2.0]])
    t = np.array([1.0, 2.0, 0.0, -1.0])
    K, alpha, batch = RBF(gamma=1.0)(X, X), 0.3, 2
    beta = np.zeros(4)
    for rows in np.array_split(np.random.RandomState(0).permutation(4), 2):
        beta[rows] = beta[rows] + alpha / batch * (t[rows] - (K @ beta)[rows])
    machine = KernelRegressor(
        gamma=1.0,
        ridge=0,
        solver="sgd",
        batch_size=batch,
        learning_rate=alpha,
        epochs=1,
        random_state=0,
    ).fit(X, t)
    np.testing.assert_allclose(machine.dual_coef_[0], beta[machine.support_], rtol=1e-12)
    assert machine.history_["loss"][0] == pytest.approx(0.5 * np.mean((t - K @ beta) ** 2))


def test_descent_arrives_at_the_exact_solution(data):
    X, y = data
    exact = KernelRegressor(ridge=1.0).fit(X, y)
    descent = KernelRegressor(ridge=1.0, solver="sgd", epochs=400, random_state=1).fit(X, y)
    best = exact.history_["objective"][0]
    assert descent.history_["objective"][-1] == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(descent.predict(X), exact.predict(X), atol=1e-3)


def test_a_rate_that_diverges_is_named_with_the_largest_that_does_not(data):
    X, y = data
    machine = KernelRegressor(solver="sgd", epochs=200, random_state=0)
    limit = machine.fit(X, y).largest_rate_
    machine.set_params(learning_rate=0.8 * limit).fit(X, y)
    with pytest.raises(ValueError, match=r"diverges.*largest stable rate") as caught:
        machine.set_params(learning_rate=3 * limit).fit(X, y)
    assert f"{limit:.3g}" in str(caught.value)


def test_duplicates_cannot_be_interpolated():
    with pytest.raises(ValueError, match="Raise ridge"):
        KernelRegressor(ridge=0.0, gamma=1.0).fit([[0.0], [0.0], [1.0]], [1.0, 2.0, 3.0])
