"""Every machine of the family takes every form of input: sparse, float32, kernels, weights."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_blobs
from sklearn.utils import compute_class_weight

from maxmargin import (
    SVC,
    SVR,
    KernelPerceptron,
    KernelRegressor,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Perceptron,
)
from maxmargin.machines.validation import class_numbers
from maxmargin.solvers import SGD

KERNEL_MACHINES = [SVC(), SVR(), NuSVC(), NuSVR(), OneClassSVM(nu=0.2), KernelRegressor()]
LINEAR_MACHINES = [
    LinearSVC(),
    LinearSVR(),
    LinearSVC(solver=SGD(), tol=10.0),
    LinearSVR(solver=SGD(), tol=10.0),
]
PERCEPTRONS = [Perceptron(), KernelPerceptron()]
ALL = [*KERNEL_MACHINES, *LINEAR_MACHINES, *PERCEPTRONS]


def data(machine):
    X, y = make_blobs(60, centers=2, cluster_std=1.2, random_state=0)
    return X / 4, y if is_classifier(machine) else X[:, 0] - X[:, 1] ** 2 / 10


def answers(machine, X, y, at=None, **weights):
    fitted = clone(machine).fit(X, y, **weights)
    at = X if at is None else at
    scores = fitted.predict if not hasattr(fitted, "decision_function") else None
    return (scores or fitted.decision_function)(at)


def square(A, B):
    product = A @ B.T
    return (1 + (product.toarray() if sp.issparse(product) else product)) ** 2


@pytest.mark.parametrize("machine", ALL, ids=str)
def test_sparse_and_float32_rows_give_the_same_machine(machine):
    X, y = data(machine)
    expected = answers(machine, X, y)
    np.testing.assert_allclose(answers(machine, sp.csr_array(X), y), expected, atol=1e-9)
    np.testing.assert_allclose(answers(machine, X.astype(np.float32), y), expected, atol=1e-4)


@pytest.mark.parametrize("machine", [*KERNEL_MACHINES, KernelPerceptron()], ids=str)
def test_a_kernel_of_ones_own_and_its_matrix_give_the_same_machine(machine):
    X, y = data(machine)
    own = clone(machine).set_params(kernel=square)
    K = clone(machine).set_params(kernel="precomputed")
    expected = answers(own, X, y)
    np.testing.assert_allclose(answers(K, square(X, X), y), expected, atol=1e-9)
    single = answers(K, square(X, X).astype(np.float32), y)
    np.testing.assert_allclose(single, expected, atol=1e-3)
    np.testing.assert_allclose(answers(own, sp.csr_array(X), y), expected, atol=1e-9)


@pytest.mark.parametrize("machine", [*KERNEL_MACHINES, *LINEAR_MACHINES[:2]], ids=str)
def test_a_row_without_weight_is_absent(machine):
    X, y = data(machine)
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    some = weights > 0
    if "gamma" in machine.get_params():
        machine = clone(machine).set_params(gamma=1.0)
    whole = answers(machine, X, y, sample_weight=weights)
    part = answers(machine, X[some], y[some], at=X, sample_weight=weights[some])
    np.testing.assert_allclose(whole, part, atol=1e-3)


@pytest.mark.newest
@pytest.mark.parametrize("machine", [SVC(gamma=1), NuSVC(gamma=1, nu=0.2), LinearSVC()], ids=str)
def test_balanced_classes_are_scikit_learns_and_those_of_the_rows_that_are_there(machine):
    """A row counts as often as its weight says in LinearSVC, and once in the others."""
    X, y = data(machine)
    machine = clone(machine).set_params(class_weight="balanced")
    weights = np.random.default_rng(0).uniform(0.1, 2, len(y))
    weights[y == y[0]] *= 2
    counts = {"sample_weight": weights} if isinstance(machine, LinearSVC) else {}
    theirs = compute_class_weight("balanced", classes=np.unique(y), y=y, **counts)
    ours = machine.fit(X, y, sample_weight=weights).class_weight_
    np.testing.assert_allclose(ours, theirs)
    weights[::3] = 0
    there = machine.fit(X, y, sample_weight=weights).class_weight_
    some = weights > 0
    absent = machine.fit(X[some], y[some], sample_weight=weights[some]).class_weight_
    np.testing.assert_allclose(there, absent)


@pytest.mark.parametrize("machine", [SVC(gamma=1), LinearSVC()], ids=str)
def test_the_weight_of_a_class_is_that_of_its_rows(machine):
    X, y = data(machine)
    by_class = answers(clone(machine).set_params(class_weight={0: 2.0}), X, y)
    by_row = answers(machine, X, y, sample_weight=np.where(y == 0, 2.0, 1.0))
    np.testing.assert_allclose(by_class, by_row, atol=1e-6)


LABELS = {
    "far apart": np.array([-(10**9), 10**9, 7]),
    "at the end of int8": np.array([-128, 127, 0], np.int8),
    "at the end of uint64": np.array([2**64 - 1, 2**64 - 2, 0], np.uint64),
    "floats": np.array([-1.0, 2.0, 5.0]),
    "truths": np.array([True, False]),
    "words": np.array(["b", "a", "c"]),
}


@pytest.mark.small
@pytest.mark.parametrize("some", LABELS.values(), ids=LABELS)
def test_classes_are_numbered_in_their_order(some):
    y = some[np.random.default_rng(0).integers(len(some), size=300)]
    classes, numbers = class_numbers(y)
    assert classes.dtype == y.dtype
    assert classes.tolist() == sorted(set(y.tolist()))
    assert (classes[numbers] == y).all()
