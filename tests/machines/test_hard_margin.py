"""C = ∞: the widest street between the classes, or the news that there is none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_blobs

from maxmargin import SVC
from maxmargin.kernels import RBF
from naive_machines import quadratic_program

pytestmark = pytest.mark.small


def two_blobs(seed, gap=4.0):
    return make_blobs(40, centers=[[0, 0], [gap, gap]], cluster_std=0.6, random_state=seed)


@pytest.mark.parametrize("seed", range(5))
def test_the_margin_is_the_geometric_one(seed):
    X, y = two_blobs(seed)
    machine = SVC(C=np.inf, kernel="linear", tol=1e-8).fit(X, y)
    sign = np.where(y == 1, 1, -1)
    distances = sign * machine.decision_function(X) / np.linalg.norm(machine.coef_)
    assert_allclose(machine.margin_, distances.min(), rtol=1e-6)
    assert_allclose(machine.margin_, widest(X, sign), rtol=1e-6)


def widest(X, sign):
    """The margin by definition: ‖w‖ smallest with y(wᵀx + b) ≥ 1, as the distance of the hulls."""
    A = np.array([sign > 0, sign < 0], float)
    Q = X @ X.T * np.outer(sign, sign)
    weights = quadratic_program(Q, np.zeros(len(X)), np.zeros(len(X)), np.ones(len(X)), A, [1, 1])
    return np.linalg.norm((weights * sign) @ X) / 2


def test_two_points():
    machine = SVC(C=np.inf, kernel="linear").fit([[0.0, 0.0], [3.0, 4.0]], [0, 1])
    assert_allclose(machine.margin_, 2.5)
    assert_allclose(machine.decision_function([[1.5, 2.0]]), 0, atol=1e-12)


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_far_from_the_origin_the_street_is_as_wide(offset):
    X, y = two_blobs(0)
    near = SVC(C=np.inf, kernel="linear").fit(X, y)
    far = SVC(C=np.inf, kernel="linear").fit(X + offset, y)
    assert_allclose(far.margin_, near.margin_, rtol=1e-3)


def test_without_an_offset_the_street_runs_through_the_origin():
    X, y = two_blobs(0)
    X = X - [2.0, 2.0]
    machine = SVC(C=np.inf, kernel="linear", fit_intercept=False, tol=1e-8).fit(X, y)
    sign = np.where(y == 1, 1, -1)
    distances = sign * (X @ machine.coef_[0]) / np.linalg.norm(machine.coef_)
    assert_allclose(machine.margin_, distances.min(), rtol=1e-6)
    with pytest.raises(ValueError, match="not separable"):
        SVC(C=np.inf, kernel="linear", fit_intercept=False).fit(X + 10.0, y)


def test_in_the_space_of_a_kernel():
    X, y = load_iris(return_X_y=True)
    machine = SVC(C=np.inf, kernel=RBF(gamma=5.0), tol=1e-8).fit(X[50:], y[50:])
    assert machine.score(X[50:], y[50:]) == 1
    sign = np.where(y[50:] == 2, 1, -1)
    closest = np.min(sign * machine.decision_function(X[50:]))
    beta = machine.dual_coef_[0]
    norm = np.sqrt(beta @ RBF(gamma=5.0)(machine.support_vectors_, machine.support_vectors_) @ beta)
    assert_allclose(machine.margin_, closest / norm, rtol=1e-6)


def test_one_margin_for_each_pair():
    X, y = make_blobs(60, centers=[[0, 0], [6, 0], [0, 9]], cluster_std=0.5, random_state=0)
    together = SVC(C=np.inf, kernel="linear", tol=1e-8).fit(X, y).margin_
    pairs = [(0, 1), (0, 2), (1, 2)]
    alone = [
        SVC(C=np.inf, kernel="linear", tol=1e-8).fit(X[y != c], y[y != c]).margin_
        for c in (2, 1, 0)
    ]
    assert len(together) == len(pairs)
    assert_allclose(together, alone, rtol=1e-6)


def test_a_large_penalty_comes_to_the_same():
    X, y = two_blobs(0)
    hard = SVC(C=np.inf, kernel="linear", tol=1e-8).fit(X, y)
    soft = SVC(C=1e6, kernel="linear", tol=1e-8).fit(X, y)
    assert_allclose(hard.coef_, soft.coef_, rtol=1e-6)
    assert not hasattr(soft, "margin_")


def test_rows_without_weight_are_absent():
    X, y = two_blobs(0)
    y[0] = 1 - y[0]  # in the midst of the others: not separable with it
    weight = np.ones(len(y))
    weight[0] = 0
    machine = SVC(C=np.inf, kernel="linear", tol=1e-8).fit(X, y, weight)
    without = SVC(C=np.inf, kernel="linear", tol=1e-8).fit(X[1:], y[1:])
    assert_allclose(machine.margin_, without.margin_, rtol=1e-6)


@pytest.mark.parametrize("solver", ["block", "second-order"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_same_row_in_both_classes_is_an_error(kernel, solver):
    X, y = two_blobs(0)
    X, y = np.vstack([X, X[:1]]), np.append(y, 1 - y[0])
    with pytest.raises(ValueError, match="not separable"):
        SVC(C=np.inf, kernel=kernel, solver=solver).fit(X, y)


@pytest.mark.parametrize("solver", ["block", "second-order"])
@pytest.mark.parametrize("seed", range(3))
def test_overlapping_classes_are_an_error(seed, solver):
    X, y = two_blobs(seed, gap=0.5)
    with pytest.raises(ValueError, match="Use a finite C, or a kernel that separates them"):
        SVC(C=np.inf, kernel="linear", solver=solver).fit(X, y)
