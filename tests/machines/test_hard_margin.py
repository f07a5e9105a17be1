"""C = ∞: the widest street between the classes, or the news that there is none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from sklearn.datasets import load_iris, make_blobs
from sklearn.preprocessing import scale

from maxmargin import SVC, SVR
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


# --- regression: every error within ε -----------------------------------------------------------


def wave(seed, n=60):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    return X, np.sin(X[:, 0]) + 0.1 * random.normal(size=n)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_no_error_exceeds_the_tube(epsilon, fit_intercept):
    X, y = wave(0)
    options = {"epsilon": epsilon, "gamma": 2.0, "fit_intercept": fit_intercept, "tol": 1e-6}
    hard = SVR(C=np.inf, **options).fit(X, y)
    assert np.abs(y - hard.predict(X)).max() <= epsilon + 1e-6
    assert hard.certificate_.relative_gap < 1e-6
    soft = SVR(C=1e3 * np.abs(hard.dual_coef_).max(), **options).fit(X, y)
    assert_allclose(hard.certificate_.dual, soft.certificate_.dual, rtol=1e-5)
    assert_allclose(hard.predict(X), soft.predict(X), atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_a_tube_that_no_line_stays_in_is_an_error(seed):
    X, y = wave(seed)
    narrowest = closest_line(X, y)
    options = {"C": np.inf, "kernel": "linear"}
    wide = SVR(epsilon=1.01 * narrowest, **options).fit(X, y)
    assert np.abs(y - wide.predict(X)).max() <= 1.01 * narrowest + 1e-3
    with pytest.raises(ValueError, match="a finite C, a larger epsilon, or a kernel"):
        SVR(epsilon=0.8 * narrowest, **options).fit(X, y)


def closest_line(X, y):
    """The least ε for which some wᵀx + b is within ε of every target, by linear programming."""
    n, d = X.shape
    rows = np.column_stack([X, np.ones(n)])
    A = np.block([[rows, -np.ones((n, 1))], [-rows, -np.ones((n, 1))]])
    free = [(None, None)] * (d + 2)
    return linprog([0] * (d + 1) + [1], A, np.concatenate([y, -y]), bounds=free).fun


def test_a_tube_around_all_targets_needs_no_weights():
    X, y = wave(0)
    machine = SVR(C=np.inf, epsilon=np.ptp(y) / 2 + 0.01).fit(X, y)
    assert len(machine.support_) == 0
    assert machine.certificate_.primal == machine.certificate_.dual == 0


def test_a_row_without_weight_need_not_be_in_the_tube():
    X, y = wave(0)
    far = np.append(y, 100.0)
    weight = np.append(np.ones(len(y)), 0.0)
    machine = SVR(C=np.inf, epsilon=0.5, tol=1e-6)
    assert_allclose(
        machine.fit(np.vstack([X, [[0.0, 0.0]]]), far, weight).predict(X),
        SVR(C=np.inf, epsilon=0.5, tol=1e-6, gamma=machine.kernel_.gamma).fit(X, y).predict(X),
        atol=1e-4,
    )


def test_coefficients_that_grow_without_end_do_not_blame_the_kernel_alone():
    """Twice the same rows, with targets too far apart for any function."""
    X = scale(load_iris().data)
    with pytest.raises(ValueError, match=r"not all constraints can be satisfied|no function"):
        SVR(C=np.inf).fit(np.vstack([X, X]), np.append(X[:, 0], X[:, 0] + 1))
