"""ν machines without an offset: Σ|β| is fixed, of both classes or of both sides of the tube."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM, leave_one_out
from maxmargin.io import load, save
from maxmargin.kernels import RBF
from maxmargin.machines.proof import prove
from maxmargin.selection import tune
from maxmargin.solvers import SecondOrderSMO


def data(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("n", [80, 700])
@pytest.mark.parametrize("nu", [0.2, 0.7])
def test_the_classifier_is_the_one_class_machine_of_the_points_y_phi(n, nu):
    X, t = data(n)
    y = np.where(t > 1, 1, -1)  # few: with an offset, ν of .7 has no solution
    machine = NuSVC(nu=nu, gamma=0.5, fit_intercept=False, tol=1e-6).fit(X, y)
    K = RBF(0.5)(X, X)
    other = OneClassSVM(nu=nu, kernel="precomputed", tol=1e-6).fit(y[:, None] * K * y, None)
    values = other.score_samples(y[:, None] * K * y) / other.offset_
    np.testing.assert_allclose(y * machine.decision_function(X), values, atol=1e-4)
    assert machine.intercept_ == [0.0]
    errors = np.mean(y * machine.decision_function(X) < 1 - 1e-4)
    assert errors <= nu <= len(machine.support_) / n
    C = 1 / machine._rho_[0]
    values = SVC(C=C, gamma=0.5, fit_intercept=False, tol=1e-6).fit(X, y).decision_function(X)
    np.testing.assert_allclose(machine.decision_function(X), values, atol=1e-3)


@pytest.mark.parametrize("n", [80, 400])
@pytest.mark.parametrize("nu", [0.2, 1.0])
def test_the_regressor_is_the_svr_with_the_epsilon_that_it_found(n, nu):
    X, y = data(n)
    machine = NuSVR(nu=nu, C=2.0, gamma=0.5, fit_intercept=False, tol=1e-6).fit(X, y)
    assert machine.intercept_ == [0.0]
    assert machine.epsilon_ >= -1e-6
    other = SVR(C=2.0, gamma=0.5, epsilon=max(machine.epsilon_, 0.0), fit_intercept=False, tol=1e-6)
    np.testing.assert_allclose(machine.predict(X), other.fit(X, y).predict(X), atol=1e-3)
    outside = np.abs(machine.predict(X) - y) > machine.epsilon_ + 1e-4
    assert outside.mean() <= nu <= len(machine.support_) / n


@pytest.mark.parametrize("kind", [NuSVC, NuSVR])
def test_every_form_of_the_data_has_the_same_model(kind):
    X, t = data()
    y = t > 0.5 if kind is NuSVC else t
    options = {"nu": 0.4, "fit_intercept": False, "tol": 1e-6}
    dense = kind(gamma=0.5, **options).fit(X, y)
    f = dense.decision_function(X) if kind is NuSVC else dense.predict(X)
    K = RBF(0.5)(X, X)
    for rows, machine in (
        (sp.csr_array(X), kind(gamma=0.5, **options)),
        (K, kind(kernel="precomputed", **options)),
        (X, kind(gamma=0.5, solver=SecondOrderSMO(), **options)),
        (X, kind(gamma=0.5, warm_start=True, **options)),
    ):
        machine.fit(rows, y).fit(rows, y)
        found = machine.decision_function(rows) if kind is NuSVC else machine.predict(rows)
        np.testing.assert_allclose(np.ravel(found), f, atol=1e-4)
        assert machine.certificate_.status.value == "converged"


def test_weights_classes_and_balance():
    X, y = load_iris(return_X_y=True)
    counts = np.random.default_rng(0).integers(1, 4, len(y))
    options = {"nu": 0.3, "gamma": 0.3, "fit_intercept": False, "tol": 1e-6}
    for shape in ("ovo", "ovr"):
        weighted = NuSVC(**options, multiclass=shape).fit(X, y, counts)
        again = np.repeat(np.arange(len(y)), counts)
        repeated = NuSVC(**options, multiclass=shape).fit(X[again], y[again])
        np.testing.assert_allclose(
            weighted.decision_function(X), repeated.decision_function(X), atol=1e-3
        )
        balanced = NuSVC(**options, multiclass=shape, class_weight="balanced").fit(X, y == 1)
        assert balanced.intercept_ == [0.0]
        assert balanced.certificate_.status.value == "converged"


def test_rows_that_differ_by_less_than_their_distance_from_the_origin():
    X, t = data()
    far = 1.7e9 + 1e6 * X
    for machine, y in ((NuSVC(nu=0.2), t > 1), (NuSVR(nu=0.2), t)):
        machine.set_params(gamma=1e-12, fit_intercept=False, tol=1e-6)
        assert machine.fit(far, y).certificate_.status.value == "converged"


def test_a_model_is_proved_again_and_kept_in_a_file(tmp_path):
    X, t = data()
    for machine, y in ((NuSVC(nu=0.2), t > 1), (NuSVR(nu=0.2), t)):
        machine.set_params(fit_intercept=False).fit(X, y)
        again = load(save(machine, tmp_path / "model") or tmp_path / "model")
        np.testing.assert_array_equal(again.predict(X), machine.predict(X))
        assert again.get_params()["fit_intercept"] is False
        proof = prove(again, X, y)
        assert proof.kkt_violation == pytest.approx(machine.certificate_.kkt_violation, abs=1e-9)
        assert proof.primal == pytest.approx(machine.certificate_.primal)


def test_what_needs_plain_sums_says_so():
    X, t = data()
    with pytest.raises(ValueError, match=r"NuSVC\(fit_intercept=False\): use cross_val_predict"):
        leave_one_out(NuSVC(fit_intercept=False), X, t > 0)
    with pytest.raises(ValueError, match=r"NuSVR\(fit_intercept=False\): use GridSearchCV"):
        tune(NuSVR(fit_intercept=False), X, t)


def test_every_row_may_be_a_margin_error():
    X, t = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there may be no margin at ν = 1
        machine = NuSVC(nu=1.0, fit_intercept=False).fit(X, t > 1)
    assert len(machine.support_) == len(X)
