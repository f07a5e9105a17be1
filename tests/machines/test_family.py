"""SVR, NuSVC, NuSVR and OneClassSVM: the optimum, its proof, what ν promises, no offset."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import datasets, svm
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import StandardScaler

import maxmargin
from naive_machines import (
    svr_dual,
)

SHAPE = {"gamma": 0.1, "coef0": 1.0}


def scaled(X, y):
    return StandardScaler().fit_transform(X), y


def generated(rows):
    X, y = datasets.make_classification(rows, 6, n_informative=5, n_redundant=0, random_state=3)
    return scaled(X, X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + y)


DATA = {
    "diabetes": lambda: scaled(*datasets.load_diabetes(return_X_y=True)),
    "breast cancer": lambda: scaled(*datasets.load_breast_cancer(return_X_y=True)),
    "generated": lambda: generated(400),
    "1500 rows": lambda: generated(1500),
}
CASES = [
    *product(
        ["diabetes", "breast cancer", "generated"],
        ["linear", "poly", "rbf"],
        ["SVR", "NuSVR", "NuSVC", "OneClassSVM"],
        [False, True],
    ),
    *[("1500 rows", "rbf", name, True) for name in ["SVR", "NuSVR", "NuSVC", "OneClassSVM"]],
]


def options_of(name, data):
    if name in ("SVR", "NuSVR"):
        return {"C": 20.0 if data == "diabetes" else 2.0}
    return {"nu": 0.5 if name == "NuSVC" else 0.2}


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


# On some of these data NuSVC finds no margin at ν = 0.5, and says so; the optimum is compared.
@pytest.mark.filterwarnings("ignore:there is no margin")
@pytest.mark.parametrize(("data", "kernel", "name", "weighted"), CASES)
def test_it_agrees_with_scikit_learn(data, kernel, name, weighted):
    X, y = DATA[data]()
    if name == "NuSVC":
        y = (y > np.median(y)) if data != "breast cancer" else y
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    new = np.random.default_rng(1).normal(X.mean(axis=0), X.std(axis=0), (200, X.shape[1]))
    options = {**options_of(name, data), **SHAPE, "kernel": kernel}
    ours = getattr(maxmargin, name)(tol=1e-8, **options).fit(X, y, weight)
    theirs = getattr(svm, name)(tol=1e-8, **options).fit(X, y, weight)

    K = pairwise_kernels(X, metric=kernel, filter_params=True, degree=3, **SHAPE)
    value = dual_value(name, theirs, K, y, weight)
    assert_allclose(ours.certificate_.dual, dual_value(name, ours, K, y, weight), rtol=1e-8)
    assert ours.certificate_.dual >= value - 1e-6 * abs(value)
    decide = "predict" if "SVR" in name else "decision_function"
    assert_allclose(getattr(ours, decide)(new), getattr(theirs, decide)(new), atol=1e-3)
