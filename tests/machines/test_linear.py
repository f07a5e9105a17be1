"""Linear machines: the optimum, its proof, and the ways to it."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from maxmargin import SVC, SVR, LinearSVC, LinearSVR


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def primal(machine, X, y, squared, C):
    """½‖w‖² + C Σ loss, written out."""
    signs = np.where(y == machine.classes_[1], 1, -1)
    slack = np.maximum(0, 1 - signs * (X @ machine.coef_[0] + machine.intercept_))
    return 0.5 * machine.coef_[0] @ machine.coef_[0] + C * np.sum(slack**2 if squared else slack)


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_without_offset_the_optimum_is_liblinears(cancer, loss, C):
    X, y = cancer
    ours = LinearSVC(loss=loss, C=C, fit_intercept=False, tol=1e-8, max_iter=-1).fit(X, y)
    theirs = svm.LinearSVC(
        loss=loss, C=C, fit_intercept=False, tol=1e-9, max_iter=10**6, dual=True, random_state=0
    ).fit(X, y)
    best = primal(theirs, X, y, loss == "squared_hinge", C)
    assert primal(ours, X, y, loss == "squared_hinge", C) <= best * (1 + 1e-6)
    proof = ours.certificate_
    assert proof.primal == pytest.approx(primal(ours, X, y, loss == "squared_hinge", C), rel=1e-9)
    assert -1e-9 * proof.primal <= proof.gap <= 1e-8 * proof.primal * 1.01


def test_the_offset_is_not_regularised(cancer):
    X, y = cancer
    shifted = X + 100.0
    linear = LinearSVC(loss="hinge", C=0.1, tol=1e-8, max_iter=-1).fit(shifted, y)
    kernel = SVC(kernel="linear", C=0.1, tol=1e-8).fit(shifted, y)
    assert linear.certificate_.primal == pytest.approx(kernel.certificate_.primal, rel=1e-6)
    unshifted = LinearSVC(loss="hinge", C=0.1, tol=1e-8, max_iter=-1).fit(X, y)
    np.testing.assert_allclose(linear.coef_, unshifted.coef_, atol=1e-4)


def test_squared_hinge_with_offset_is_the_smooth_minimum(cancer):
    X, y = cancer
    signs, C = np.where(y == 1, 1.0, -1.0), 0.1

    def objective(v):
        slack = np.maximum(0, 1 - signs * (X @ v[:-1] + v[-1]))
        slope = -2 * C * signs * slack
        value = 0.5 * v[:-1] @ v[:-1] + C * slack @ slack
        return value, np.append(v[:-1] + slope @ X, slope.sum())

    found = minimize(objective, np.zeros(X.shape[1] + 1), jac=True, method="BFGS", tol=1e-10)
    machine = LinearSVC(C=C, tol=1e-9).fit(X, y)
    assert machine.certificate_.primal == pytest.approx(found.fun, rel=1e-7)
    np.testing.assert_allclose(np.append(machine.coef_[0], machine.intercept_), found.x, atol=1e-4)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_regression(loss):
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X), y / 50
    machine = LinearSVR(loss=loss, C=0.3, epsilon=0.2, tol=1e-8, max_iter=-1).fit(X, y)
    excess = np.maximum(0, np.abs(y - X @ machine.coef_ - machine.intercept_) - 0.2)
    loss_sum = np.sum(excess**2 if loss.startswith("squared") else excess)
    value = 0.5 * machine.coef_ @ machine.coef_ + 0.3 * loss_sum
    assert machine.certificate_.primal == pytest.approx(value, rel=1e-9)
    assert machine.certificate_.gap <= 1e-8 * value * 1.01
    if loss == "epsilon_insensitive":
        kernel = SVR(kernel="linear", C=0.3, epsilon=0.2, tol=1e-8).fit(X, y)
        assert value == pytest.approx(kernel.certificate_.primal, rel=1e-6)


@pytest.mark.parametrize("solver", ["auto", "dual", "interior-point"])
def test_every_exact_solver_finds_the_same_machine(cancer, solver):
    X, y = cancer
    machine = LinearSVC(loss="hinge", C=0.05, solver=solver, tol=1e-7, max_iter=-1).fit(X, y)
    reference = SVC(kernel="linear", C=0.05, tol=1e-8).fit(X, y)
    assert machine.certificate_.status.value == "converged"
    assert machine.certificate_.primal == pytest.approx(reference.certificate_.primal, rel=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [30.0, 1000.0])
def test_many_digits_at_a_large_C(cancer, C, fit_intercept):
    """Rounding stops interior point at 1e-5 or so here; the free variables are then solved for."""
    X, y = cancer
    proof = LinearSVC(loss="hinge", C=C, fit_intercept=fit_intercept, tol=1e-8).fit(X, y)
    assert proof.certificate_.status.value == "converged"
    assert proof.certificate_.relative_gap <= 1e-8


def test_the_warning_says_what_ended_the_fit(cancer):
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match=r"iterations \(passes over the data taken: 3\)"):
        LinearSVC(solver="dual", tol=1e-9, max_iter=3).fit(X, y)


def test_sgd_comes_close_and_says_how_close(cancer):
    X, y = cancer
    exact = LinearSVC(loss="hinge", C=0.05).fit(X, y).certificate_.primal
    machine = LinearSVC(loss="hinge", C=0.05, solver="sgd", tol=0.05, random_state=0).fit(X, y)
    proof = machine.certificate_
    assert proof.dual <= exact * (1 + 1e-9) <= proof.primal * (1 + 1e-6)
    assert proof.relative_gap <= 0.05


def pegasos(X, y, C, passes):
    """Pegasos as published, on (x, 1): η = 1/λt, the projection, the mean of the second half."""
    Z, n = np.c_[X, np.ones(len(X))], len(X)
    lam, rng, w, mean = 1 / (n * C), np.random.default_rng(0), np.zeros(X.shape[1] + 1), 0.0
    for t in range(1, passes * n + 1):
        i = rng.integers(n)
        w = (1 - 1 / t) * w + (y[i] * (Z[i] @ w) < 1) * y[i] * Z[i] / (lam * t)
        w *= min(1, 1 / np.sqrt(lam * (w @ w + 1e-300)))
        mean = mean + (t > passes * n // 2) * w
    w = mean / (passes * n - passes * n // 2)
    return 0.5 * w[:-1] @ w[:-1] + C * np.maximum(0, 1 - y * (Z @ w)).sum()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("spread", [1.0, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_sgd_on_unscaled_blobs_is_no_worse_than_the_textbook(seed, spread):
    X, y = make_blobs(100, centers=2, cluster_std=spread, random_state=seed)
    exact = LinearSVC(loss="hinge", tol=1e-8).fit(X, y).certificate_.primal
    machine = LinearSVC(loss="hinge", solver="sgd", random_state=0).fit(X, y)
    found = primal(machine, X, y, squared=False, C=1.0)
    assert found <= 1.5 * exact
    assert found <= pegasos(X, 2 * y - 1, 1.0, machine.n_iter_) * 1.01


def test_sgd_takes_the_same_steps_wherever_the_rows_lie(cancer):
    X, y = cancer
    here, there = (
        LinearSVC(solver="sgd", random_state=0).partial_fit(rows, y, classes=[0, 1])
        for rows in (X, X + 16.0)
    )
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-8)
    np.testing.assert_allclose(
        there.decision_function(X + 16.0), here.decision_function(X), rtol=1e-6, atol=1e-6
    )


def test_sgd_learns_from_blocks(cancer):
    X, y = cancer
    machine = LinearSVC(loss="hinge", solver="sgd", random_state=0)
    for rows in np.array_split(np.arange(len(y)), 10):
        machine.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert machine.score(X, y) > 0.9


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_rows_are_dense_rows(index):
    X, y = load_iris(return_X_y=True)
    rows = sp.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    dense, sparse = LinearSVC(tol=1e-10).fit(X, y), LinearSVC(tol=1e-10).fit(rows, y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-4)
    assert sparse.coef_.shape == (3, 4)
    single = LinearSVC().fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.coef_, dense.coef_, atol=1e-2)


def test_one_epoch_of_fit_is_one_partial_fit(cancer):
    X, y = cancer
    online = LinearSVC(solver="sgd", random_state=3).partial_fit(X, y, classes=[0, 1])
    with pytest.warns(ConvergenceWarning, match="out of iterations"):
        fitted = LinearSVC(solver="sgd", random_state=3, max_iter=1).fit(X, y)
    np.testing.assert_allclose(online.coef_, fitted.coef_, rtol=1e-12)
    np.testing.assert_allclose(online.intercept_, fitted.intercept_, rtol=1e-12)


def test_partial_fit_is_for_sgd():
    with pytest.raises(AttributeError, match=r"no attribute 'partial_fit': .* solver='sgd'"):
        LinearSVC().partial_fit(np.eye(2), [0, 1], classes=[0, 1])


def test_partial_fit_names_a_label_it_has_not_been_told_of():
    machine = LinearSVC(solver="sgd").partial_fit(np.eye(2), [0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="row 1 has the label 2"):
        machine.partial_fit(np.eye(2), [0, 2])


@pytest.mark.parametrize("machine", [LinearSVC(loss="hinge"), LinearSVC(), LinearSVR()], ids=str)
def test_weights_are_repetitions_and_zero_is_absence(machine):
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = clone(machine).fit(X, y, sample_weight=times)
    repeated = clone(machine).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-5)
