"""Shapley values against all 2^d coalitions."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest

from maxmargin import (
    SVC,
    SVR,
    SVRCV,
    KernelRegressor,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    explain,
)
from maxmargin.kernels import RBF, Laplacian, Linear

D = 6


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, D))
    return X, X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.1 * rng.normal(size=80)


def brute(f, x, background, players):
    """φ by its definition: the gain of each player over all coalitions of the others."""
    names = list(dict.fromkeys(players))
    count = len(names)

    def v(coalition):
        rows = background.copy()
        for j, name in enumerate(players):
            if name in coalition:
                rows[:, j] = x[j]
        return f(rows).mean(axis=0)

    found = []
    for name in names:
        others = [each for each in names if each != name]
        total = 0.0
        for size in range(count):
            weight = factorial(size) * factorial(count - 1 - size) / factorial(count)
            for coalition in combinations(others, size):
                total += weight * (v({*coalition, name}) - v({*coalition}))
        found.append(total)
    return np.array(found)


KERNELS = [
    RBF(gamma=0.3),
    Laplacian(gamma=0.2),
    RBF(gamma=0.1) * Laplacian(gamma=0.1),
    2 * RBF(gamma=0.3) + Laplacian(gamma=0.1) + 1,
    Linear(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_values_are_those_of_all_coalitions(kernel, data):
    X, y = data
    machine = SVR(kernel=kernel).fit(X, y)
    found = explain(machine, X[:3], background=X[40:45])
    for x, values in zip(X[:3], found.values, strict=True):
        np.testing.assert_allclose(
            values, brute(machine.predict, x, X[40:45], range(D)), atol=1e-11
        )


@pytest.mark.parametrize("d", [1, 2, 5, 10])
def test_any_number_of_columns(d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(20, d))
    machine = KernelRegressor(gamma=0.2).fit(X, rng.normal(size=20))
    found = explain(machine, X[:1], background=X[1:3])
    expected = brute(machine.predict, X[0], X[1:3], range(d))
    np.testing.assert_allclose(found.values[0], expected, atol=1e-12)


MACHINES = [
    SVC(gamma=0.2),
    SVC(gamma=0.2, multiclass="ovr"),
    NuSVC(nu=0.2),
    NuSVR(),
    OneClassSVM(),
    LinearSVC(),
    LinearSVR(),
    SVC(approximation="nystroem", n_components=20, random_state=0),
    SVRCV(Cs=[1.0], gammas=[0.1], cv=2),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_the_values_of_every_machine_add_up_to_its_decision(machine, classes, data):
    X, y = data
    labels = np.digitize(y, np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1]))
    if hasattr(machine, "decision_function_shape"):
        machine.set_params(decision_function_shape="ovo")
    classifies = hasattr(machine, "class_weight")
    machine.fit(X, labels if classifies else y)
    decide = getattr(machine, "decision_function", machine.predict)
    found = explain(machine, X, background=X[:7])
    np.testing.assert_allclose(found.outputs, decide(X), atol=1e-9)
    np.testing.assert_allclose(found.base_values, decide(X[:7]).mean(axis=0), atol=1e-9)
    assert found.error < 1e-10
    assert found.values.shape[:2] == X.shape
    assert found.importances.shape == (D,)
    assert len(found.functions) == (1 if found.outputs.ndim == 1 else found.outputs.shape[1])


def test_columns_of_one_group_are_one_player(data):
    X, y = data
    machine = SVR().fit(X, y)
    groups = ["a", "b", "a", "c", "c", "a"]
    found = explain(machine, X[:2], background=X[5:8], groups=groups)
    assert found.names == ("a", "b", "c")
    expected = [brute(machine.predict, x, X[5:8], groups) for x in X[:2]]
    np.testing.assert_allclose(found.values, expected, atol=1e-12)


def test_a_column_that_no_machine_uses_has_no_value(data):
    X, y = data
    X = np.column_stack([X, np.ones(len(X))])
    found = explain(SVR().fit(X, y), X, background=X)
    assert not found.values[:, -1].any()


def test_rows_come_in_tiles_on_threads(data, monkeypatch):
    X, y = data
    machine = SVR().fit(X, y)
    whole = explain(machine, X, background=X, n_jobs=1)
    monkeypatch.setattr("maxmargin.explanations.shapley.AT_ONCE", 50)
    parts = explain(machine, X, background=X, n_jobs=3)
    np.testing.assert_allclose(parts.values, whole.values, atol=1e-12)


def test_the_background_is_the_mean_of_the_support_vectors(data):
    X, y = data
    machine = SVR().fit(X, y)
    middle = machine.support_vectors_.mean(axis=0)[None]
    np.testing.assert_array_equal(
        explain(machine, X).values, explain(machine, X, background=middle).values
    )


def test_far_columns_lose_nothing_to_zero_factors():
    """Factors that underflow to 0 are multiplied, never divided by."""
    X = np.array([[0.0, 0.0], [1e3, 1.0], [2.0, 1e3]])
    machine = KernelRegressor(gamma=1.0, ridge=0.1).fit(X, [1.0, 2.0, 3.0])
    found = explain(machine, X, background=X)
    expected = [brute(machine.predict, x, X, range(2)) for x in X]
    np.testing.assert_allclose(found.values, expected, atol=1e-14)


def test_errors_say_what_is_wrong(data):
    X, y = data
    machine = SVR().fit(X, y)
    with pytest.raises(ValueError, match="no product over columns"):
        explain(SVR(kernel="poly").fit(X, y), X)
    with pytest.raises(ValueError, match="precomputed"):
        explain(SVR(kernel="precomputed").fit(X @ X.T, y), X @ X.T)
    with pytest.raises(ValueError, match="nystroem"):
        explain(SVR(approximation="rff").fit(X, y), X)
    with pytest.raises(ValueError, match=r"background has the shape \(80, 3\)"):
        explain(machine, X, background=X[:, :3])
    with pytest.raises(ValueError, match="background has no rows"):
        explain(machine, X, background=X[:0])
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="X has nan at row 3, column 2"):
        explain(machine, X)
    with pytest.raises(ValueError, match="groups names 2 columns"):
        explain(machine, X[:2], groups=["a", "b"])


@pytest.mark.filterwarnings("default")  # what shap imports has warnings of its own
def test_shap_finds_the_same_from_all_coalitions(data):
    from shap import KernelExplainer

    X, y = data
    machine = SVR().fit(X, y)
    found = explain(machine, X[:2], background=X[:10])
    theirs = KernelExplainer(machine.predict, X[:10])
    values = theirs.shap_values(X[:2], nsamples=2**D, l1_reg=0, silent=True)
    np.testing.assert_allclose(found.values, values, atol=1e-9)
    given = found.to_shap()
    np.testing.assert_array_equal(given.values, found.values)
    assert given.feature_names == list(found.names)
