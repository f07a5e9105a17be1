"""A warm start ends where a cold one does, in fewer steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import make_classification

from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM

X, y = make_classification(
    600, 8, n_informative=6, n_classes=3, n_clusters_per_class=1, random_state=0
)
target = X[:, 0] + np.sin(X[:, 1])
weight = np.random.default_rng(0).uniform(0.8, 1.2, len(y))

# What changes between two fits: a parameter, the number of rows, their weights.
CHANGES = {
    "C": ({"C": 1.2}, (600, None), (600, None)),
    "weights": ({}, (600, None), (600, weight)),
    "appended rows": ({}, (580, None), (600, None)),
}
MACHINES = [
    SVC(C=1.0),
    SVC(C=1.0, multiclass="ovr"),
    SVC(C=1.0, fit_intercept=False),
    SVC(C=1.0, solver="second-order"),
    NuSVC(nu=0.3),
    SVR(C=1.0),
    NuSVR(C=1.0),
    OneClassSVM(nu=0.2),
]


def fit(machine, rows, weights):
    values = y if hasattr(machine, "class_weight") else target
    return machine.fit(X[:rows], values[:rows], weights)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_it_continues(machine, change):
    parameters, before, after = CHANGES[change]
    parameters = {name: parameters[name] for name in parameters if name in machine.get_params()}
    warm = fit(clone(machine).set_params(warm_start=True), *before)
    fit(warm.set_params(**parameters), *after)
    cold = fit(clone(machine).set_params(**parameters), *after)
    assert warm.certificate_.n_iter < cold.certificate_.n_iter
    assert_allclose(warm.certificate_.dual, cold.certificate_.dual, rtol=1e-6)


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_a_solved_problem_takes_no_step(machine):
    warm = fit(clone(machine).set_params(warm_start=True), 600, None)
    dual = warm.certificate_.dual
    fit(warm, 600, None)
    assert np.sum(warm.n_iter_) == 0
    assert_allclose(warm.certificate_.dual, dual, rtol=1e-12)


@pytest.mark.small
def test_a_hard_margin_may_follow_a_soft_one():
    separable = SVC(kernel="linear", C=1.0, warm_start=True).fit(X[:60], X[:60, 0] > 0)
    separable.set_params(C=np.inf).fit(X[:60], X[:60, 0] > 0)
    cold = SVC(kernel="linear", C=np.inf).fit(X[:60], X[:60, 0] > 0)
    assert_allclose(separable.margin_, cold.margin_, rtol=1e-6)


@pytest.mark.small
def test_what_cannot_be_continued_says_so():
    machine = SVC(warm_start=True).fit(X[:60], y[:60])
    with pytest.raises(ValueError, match="with new ones appended: had 60 rows, got 50"):
        machine.fit(X[:50], y[:50])
    with pytest.raises(ValueError, match=r"the same classes as before: had \[0, 1, 2\]"):
        machine.fit(X[:60], y[:60] + 1)


def test_a_path_of_C_takes_fewer_steps_upwards_and_downwards():
    """Also where most are free; where none is at its bound, a larger C has the same solution."""
    costs, rows, labels = np.logspace(-2, 4, 7), X[:200], y[:200]
    cold = [SVC(C=C).fit(rows, labels).n_iter_.sum() for C in costs]
    for path in (costs, costs[::-1]):
        machine = SVC(warm_start=True)
        warm = [machine.set_params(C=C).fit(rows, labels).n_iter_.sum() for C in path]
        assert sum(warm) < 0.75 * sum(cold)
    hard = SVC(C=1e6, warm_start=True).fit(rows, labels)
    assert np.abs(hard.dual_coef_).max() < 1e6
    assert hard.set_params(C=1e7).fit(rows, labels).n_iter_.sum() == 0
