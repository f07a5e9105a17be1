"""The family against scikit-learn, interior points, and what ν promises."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import scale

import maxmargin
from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.kernels import RBF
from maxmargin.solvers import InteriorPoint


def data(kind):
    if kind in ("SVR", "NuSVR"):
        X, y = load_diabetes(return_X_y=True)
        return scale(X)[:200], y[:200] / 50
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:200], y[:200]


def dual_value(kind, machine, X, y):
    """The dual of a fitted machine from its coefficients alone; ν machines are rescaled by ρ."""
    coef, K = machine.dual_coef_[0], RBF(gamma=0.1)(*2 * [X[machine.support_]])
    quadratic = coef @ K @ coef / 2
    linear = coef @ y[machine.support_] if kind in ("SVR", "NuSVR") else 0.0
    return linear - quadratic - (0.2 * np.abs(coef).sum() if kind == "SVR" else 0.0)


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("SVR", {"C": 2.0, "epsilon": 0.2}),
        ("NuSVR", {"C": 2.0, "nu": 0.3}),
        ("NuSVC", {"nu": 0.2}),
        ("OneClassSVM", {"nu": 0.15}),
    ],
)
def test_the_optimum_is_scikit_learns(kind, parameters):
    X, y = data(kind)
    ours = getattr(maxmargin, kind)(gamma=0.1, tol=1e-8, **parameters).fit(X, y)
    theirs = getattr(svm, kind)(gamma=0.1, tol=1e-8, **parameters).fit(X, y)
    values = [dual_value(kind, machine, X, y) for machine in (ours, theirs)]
    assert values[0] == pytest.approx(values[1], rel=1e-6)
    method = "decision_function" if hasattr(ours, "decision_function") else "predict"
    np.testing.assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), atol=1e-3)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    np.testing.assert_array_equal(ours.support_, theirs.support_)


@pytest.mark.parametrize("nu", [0.1, 0.3])
def test_nu_bounds_errors_from_above_and_support_vectors_from_below(nu):
    X, y = data("NuSVC")
    classifier = NuSVC(nu=nu, gamma=0.1, tol=1e-6).fit(X, y)
    margins = np.where(y == 1, 1, -1) * classifier.decision_function(X)
    assert np.mean(margins < 1 - 1e-4) <= nu <= len(classifier.support_) / 200
    detector = OneClassSVM(nu=nu, gamma=0.1, tol=1e-6).fit(X)
    assert np.mean(detector.decision_function(X) < -1e-6) <= nu <= len(detector.support_) / 200
    X, y = data("NuSVR")
    regressor = NuSVR(nu=nu, gamma=0.1, tol=1e-6).fit(X, y)
    outside = np.abs(y - regressor.predict(X)) > regressor.epsilon_ + 1e-4
    assert np.mean(outside) <= nu <= len(regressor.support_) / 200


@pytest.mark.parametrize("machine", [SVC(C=3.0), SVR(C=3.0)], ids=str)
def test_without_offset_the_optimum_is_the_interior_points(machine):
    X, y = data(type(machine).__name__)
    machine.set_params(fit_intercept=False, tol=1e-10).fit(X, y)
    found = machine.certificate_.dual
    machine.set_params(solver=InteriorPoint(), tol=1e-6).fit(X, y)
    assert machine.certificate_.dual == pytest.approx(found, rel=1e-8)
    assert machine.intercept_ == [0.0]
