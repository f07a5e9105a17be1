"""SVR, NuSVC, NuSVR and OneClassSVM: the optimum, its proof, what ν promises, no offset."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import datasets, svm
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from naive_machines import (
    kernel_matrix,
    nu_svc_primal,
    nu_svr_primal,
    one_class_primal,
    svc_optimum,
    svr_dual,
    svr_optimum,
    svr_primal,
)

SHAPE = {"gamma": 0.1, "coef0": 1.0}


def scaled(X, y):
    return StandardScaler().fit_transform(X), y


def diabetes():
    X, y = datasets.load_diabetes(return_X_y=True)
    return scaled(X, (y - y.mean()) / y.std())


def generated(rows):
    X, y = datasets.make_classification(rows, 6, n_informative=5, n_redundant=0, random_state=3)
    return scaled(X, X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + y)


DATA = {
    "diabetes": diabetes,
    "breast cancer": lambda: scaled(*datasets.load_breast_cancer(return_X_y=True)),
    "generated": lambda: generated(400),
    "1500 rows": lambda: generated(1500),
}
REGRESSORS, NU = ["SVR", "NuSVR"], ["NuSVC", "OneClassSVM"]
CASES = [
    *product(["diabetes", "generated"], ["linear", "poly", "rbf"], REGRESSORS, [False, True]),
    # With a linear kernel these data have no margin at any ν: w = 0 is the optimum.
    *product(["diabetes", "generated", "breast cancer"], ["poly", "rbf"], NU, [False, True]),
    ("breast cancer", "linear", "NuSVC", True),
    ("1500 rows", "rbf", "NuSVR", True),
    ("1500 rows", "rbf", "OneClassSVM", True),
]


OPTIONS = {"SVR": {"C": 2.0}, "NuSVR": {"C": 2.0}, "NuSVC": {"nu": 0.5}, "OneClassSVM": {"nu": 0.2}}


def coefficients(machine, rows, total=None):
    """β over all rows, scaled so that Σ|β| is `total` (ν machines divide theirs by ρ)."""
    beta = np.zeros(rows)
    beta[machine.support_] = machine.dual_coef_[0]
    return beta if total is None else beta * total / np.abs(beta).sum()


def dual_value(name, machine, K, y, weight):
    """The dual objective of a fitted machine of either library, by its definition."""
    if name in ("SVR", "NuSVR"):
        epsilon = machine.epsilon if name == "SVR" else 0.0
        return svr_dual(K, coefficients(machine, len(y)), y, epsilon)
    beta = coefficients(machine, len(y), machine.nu * weight.sum())
    return -0.5 * beta @ K @ beta


@pytest.mark.parametrize(("data", "kernel", "name", "weighted"), CASES)
def test_it_agrees_with_scikit_learn(data, kernel, name, weighted):
    X, y = DATA[data]()
    if name == "NuSVC":
        y = (y > np.median(y)) if data != "breast cancer" else y
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    new = np.random.default_rng(1).normal(X.mean(axis=0), X.std(axis=0), (200, X.shape[1]))
    options = {**OPTIONS[name], **SHAPE, "kernel": kernel}
    ours = getattr(maxmargin, name)(tol=1e-8, **options).fit(X, y, weight)
    theirs = getattr(svm, name)(tol=1e-8, **options).fit(X, y, weight)

    K = pairwise_kernels(X, metric=kernel, filter_params=True, degree=3, **SHAPE)
    value = dual_value(name, theirs, K, y, weight)
    assert_allclose(ours.certificate_.dual, dual_value(name, ours, K, y, weight), rtol=1e-8)
    assert ours.certificate_.dual >= value - 1e-6 * abs(value)
    decide = "predict" if "SVR" in name else "decision_function"
    assert_allclose(getattr(ours, decide)(new), getattr(theirs, decide)(new), atol=1e-3)


# --- the proof ---------------------------------------------------------------------------


def small():
    X, y = generated(60)
    return (
        X,
        y,
        np.random.default_rng(0).uniform(0.5, 2, len(y)),
        kernel_matrix("rbf", X, gamma=0.3),
    )


def assert_proves(proof, dual, primal):
    assert_allclose(proof.dual, dual, rtol=1e-10)
    assert_allclose(proof.primal, primal, rtol=1e-10)
    assert_allclose(proof.gap, proof.primal - proof.dual, atol=1e-14)
    assert proof.gap >= -1e-12 * abs(proof.primal)


@pytest.mark.small
@pytest.mark.filterwarnings("ignore:.* stopped")
@pytest.mark.parametrize("max_iter", [-1, 20])
class TestTheCertificateIsWhatTheDefinitionsSay:
    def test_svr(self, max_iter):
        X, y, weight, K = small()
        machine = SVR(gamma=0.3, C=2.0, epsilon=0.05, max_iter=max_iter).fit(X, y, weight)
        beta, b = coefficients(machine, 60), machine.intercept_[0]
        dual, primal = svr_dual(K, beta, y, 0.05), svr_primal(K, beta, y, b, 0.05, 2 * weight)
        assert_proves(machine.certificate_, dual, primal)

    def test_nu_svr(self, max_iter):
        X, y, weight, K = small()
        machine = NuSVR(gamma=0.3, C=2.0, nu=0.3, max_iter=max_iter).fit(X, y, weight)
        beta, b, epsilon = coefficients(machine, 60), machine.intercept_[0], machine.epsilon_
        primal = nu_svr_primal(K, beta, y, b, epsilon, 0.3, 2 * weight)
        assert_proves(machine.certificate_, svr_dual(K, beta, y, 0.0), primal)

    def test_nu_svc(self, max_iter):
        X, y, weight, K = small()
        sign = np.where(y > np.median(y), 1.0, -1.0)
        machine = NuSVC(gamma=0.3, nu=0.3, max_iter=max_iter).fit(X, sign, weight)
        beta = coefficients(machine, 60, 0.3 * weight.sum())
        rho = np.abs(beta).max() / np.abs(machine.dual_coef_).max()
        b = rho * machine.intercept_[0]
        primal = nu_svc_primal(K, beta, sign, b, rho, 0.3, weight)
        assert_proves(machine.certificate_, -0.5 * beta @ K @ beta, primal)

    def test_one_class(self, max_iter):
        X, _, weight, K = small()
        machine = OneClassSVM(gamma=0.3, nu=0.3, max_iter=max_iter).fit(X, None, weight)
        beta = coefficients(machine, 60)
        primal = one_class_primal(K, beta, machine.offset_[0], 0.3, weight)
        assert_proves(machine.certificate_, -0.5 * beta @ K @ beta, primal)


# --- what ν promises ---------------------------------------------------------------------


@pytest.mark.small
@pytest.mark.parametrize("nu", [0.1, 0.3, 0.55])
class TestNuBoundsTheShares:
    """ν is an upper bound on the share of margin errors and a lower one on support vectors."""

    def test_nu_svc(self, nu):
        X, y = generated(80)
        sign = np.where(y > np.median(y), 1, -1)
        machine = NuSVC(nu=nu, gamma=1.0, tol=1e-8).fit(X, sign)
        inside_the_margin = sign * machine.decision_function(X) < 1 - 1e-6
        assert inside_the_margin.mean() <= nu + 1e-9
        assert len(machine.support_) / 80 >= nu - 1e-9

    def test_nu_svr(self, nu):
        X, y = generated(80)
        machine = NuSVR(nu=nu, tol=1e-8).fit(X, y)
        outside_the_tube = np.abs(machine.predict(X) - y) > machine.epsilon_ + 1e-6
        assert outside_the_tube.mean() <= nu + 1e-9
        assert len(machine.support_) / 80 >= nu - 1e-9

    def test_one_class(self, nu):
        X, _ = generated(80)
        machine = OneClassSVM(nu=nu, tol=1e-8).fit(X)
        assert np.mean(machine.predict(X) == -1) <= nu + 1e-9
        assert len(machine.support_) / 80 >= nu - 1e-9


@pytest.mark.small
def test_nu_svr_is_svr_with_the_tube_it_found():
    X, y = generated(80)
    nu = NuSVR(nu=0.3, C=2.0, tol=1e-8).fit(X, y)
    tube = SVR(epsilon=nu.epsilon_, C=2.0, tol=1e-8).fit(X, y)
    assert_allclose(nu.predict(X), tube.predict(X), atol=1e-6)


@pytest.mark.small
def test_nu_svc_is_svc_with_the_penalty_it_found():
    X, y = generated(80)
    labels = y > np.median(y)
    nu = NuSVC(nu=0.3, gamma=1.0, tol=1e-8).fit(X, labels)
    C = np.abs(nu.dual_coef_).max()
    svc = SVC(C=C, gamma=1.0, tol=1e-8).fit(X, labels)
    assert_allclose(nu.decision_function(X), svc.decision_function(X), atol=1e-6)
    weighted = {"class_weight": {False: 1.0, True: 3.0}}
    nu = NuSVC(nu=0.3, gamma=1.0, tol=1e-8, **weighted).fit(X, labels)
    svc = SVC(C=C, gamma=1.0, tol=1e-8, **weighted).fit(X, labels)
    assert_allclose(nu.decision_function(X), svc.decision_function(X), atol=1e-6)


# --- without offset ----------------------------------------------------------------------

without_offset = pytest.mark.parametrize(
    ("kernel", "C", "seed"), [*product(["linear", "poly", "rbf"], [0.1, 10.0], [0, 1])]
)
every_solver = pytest.mark.parametrize("solver", ["block", "coordinate-descent"])


@every_solver
@without_offset
def test_svc_without_offset_is_the_optimum(kernel, C, seed, solver):
    X, y = datasets.make_classification(80, 4, random_state=seed)
    X = StandardScaler().fit_transform(X) + 0.5
    options = {"kernel": kernel, "fit_intercept": False, "solver": solver, "tol": 1e-7}
    machine = SVC(C=C, **options, **SHAPE).fit(X, y)
    K = kernel_matrix(kernel, X, **SHAPE)
    optimum = svc_optimum(K, np.where(y == 1, 1.0, -1.0), C, fit_intercept=False)
    assert_allclose(machine.certificate_.dual, optimum, rtol=1e-8)
    assert machine.intercept_ == 0
    assert_allclose(machine.certificate_.gap, 0, atol=1e-6 * abs(optimum))


@every_solver
@without_offset
def test_svr_without_offset_is_the_optimum(kernel, C, seed, solver):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=60)
    options = {"kernel": kernel, "fit_intercept": False, "solver": solver, "tol": 1e-7}
    machine = SVR(C=C, epsilon=0.1, **options, **SHAPE).fit(X, y)
    K = kernel_matrix(kernel, X, **SHAPE)
    optimum = svr_optimum(K, y, 0.1, C, fit_intercept=False)
    assert_allclose(machine.certificate_.dual, optimum, rtol=1e-8)
    assert machine.intercept_ == 0
