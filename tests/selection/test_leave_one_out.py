"""Every leave-one-out prediction is compared with a real retraining."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from maxmargin import SVC, SVR, LinearSVC, NuSVC, NuSVR, leave_one_out
from maxmargin.kernels import RBF

TIGHT = 1e-7
X, Y = make_classification(45, 4, random_state=0, flip_y=0.2)
TWICE = np.vstack([X, X[:6]]), np.concatenate([Y, 1 - Y[:6]])  # the same rows, of both classes
IRIS = tuple(each[::4] for each in load_iris(return_X_y=True))
R = make_regression(40, 3, noise=10, random_state=0)
R = R[0], R[1] / np.std(R[1])
EVEN = np.random.default_rng(2).normal(size=(20, 3))
NOISY = EVEN, EVEN[:, 0] + np.random.default_rng(3).normal(size=20)
WEIGHTS = np.random.default_rng(0).uniform(0.2, 3, 45)
CASES = {
    "free and bounded": (SVC(gamma=0.3), X, Y, None),
    "all but few bounded": (SVC(C=0.01, gamma=0.3), X, Y, None),
    "none free: b is no one number": (SVC(C=0.01, gamma=0.3), EVEN, np.arange(20) % 2, None),
    "none bounded": (SVC(C=1e4, gamma=2.0), X, Y, None),
    "hard margin": (SVC(C=np.inf, gamma=0.5), EVEN, (EVEN[:, 0] > 0).astype(int), None),
    "hard margin, no offset": (
        *(SVC(C=np.inf, gamma=0.5, fit_intercept=False), EVEN, (EVEN[:, 0] > 0).astype(int), None),
    ),
    "duplicates of both classes": (SVC(C=10, gamma=0.3), *TWICE, None),
    "ties: points on a grid": (SVC(C=2, gamma=0.5), np.round(X), Y, None),
    "weights": (SVC(gamma=0.3), X, Y, WEIGHTS),
    "weights of zero": (SVC(gamma=0.3), X, Y, np.where(WEIGHTS > 1, WEIGHTS, 0)),
    "balanced": (SVC(gamma=0.3, class_weight="balanced"), X, Y, None),
    "no offset": (SVC(gamma=0.3, fit_intercept=False), X, Y, None),
    "linear": (SVC(kernel="linear"), X, Y, None),
    "one against one": (SVC(C=10, gamma=0.5), *IRIS, None),
    "one against the rest": (SVC(C=10, gamma=0.5, multiclass="ovr"), *IRIS, None),
    "one against one, balanced": (
        *(SVC(gamma=0.5, class_weight="balanced"), IRIS[0][5:, :2], IRIS[1][5:], None),
    ),
    "one against the rest, balanced": (
        SVC(gamma=0.5, class_weight="balanced", multiclass="ovr"),
        *(IRIS[0][5:, :2], IRIS[1][5:], np.where(WEIGHTS[:33] > 1, WEIGHTS[:33], 0)),
    ),
    "ν": (NuSVC(nu=0.4, gamma=0.3), X, Y, None),
    "ν, three classes": (NuSVC(nu=0.2, gamma=0.3), *IRIS, None),
    "numbers": (SVR(C=3, gamma=0.3, epsilon=0.1), *R, None),
    "numbers, wide tube": (SVR(C=30, gamma=0.3, epsilon=0.8), *R, WEIGHTS[:40]),
    "numbers, none free": (SVR(C=0.05, gamma=0.1), *NOISY, None),
    "numbers, none free, no offset": (SVR(C=0.05, gamma=0.1, fit_intercept=False), *NOISY, None),
    "numbers, no bound": (SVR(C=np.inf, gamma=0.5, epsilon=0.3), *NOISY, None),
    "numbers, ν": (NuSVR(C=3, nu=0.4, gamma=0.3), *R, None),
}


def retrained(machine, X, y, weights):
    """Decision values of every row by a machine fitted to the others."""
    found = []
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        own = clone(machine).fit(X[others], y[others], None if weights is None else weights[others])
        found.append(own._decisions(X[[row]])[0])
    return np.array(found)


@pytest.mark.parametrize("case", CASES)
def test_every_row_is_that_of_a_real_retraining(case):
    machine, X, y, weights = CASES[case]
    machine = clone(machine).set_params(tol=TIGHT)
    left = leave_one_out(machine, X, y, sample_weight=weights)
    there = np.ones(len(y), bool) if weights is None else weights > 0
    theirs = retrained(machine, X, y, weights)
    assert left.decisions[there] == pytest.approx(theirs[there], abs=3e-5)
    assert len(left.certificates) == len(y)
    assert max(proof.kkt_violation for proof in left.certificates) <= TIGHT


@pytest.mark.parametrize("case", ["free and bounded", "one against one", "numbers"])
def test_a_row_that_is_no_support_vector_keeps_its_prediction(case):
    machine, X, y, _ = CASES[case]
    full = clone(machine).fit(X, y)
    left = leave_one_out(machine, X, y)
    assert not left.retrained.all()
    kept = ~left.retrained
    assert {*np.flatnonzero(left.retrained)} == {*full.support_}
    assert left.predictions[kept] == pytest.approx(full.predict(X[kept]), abs=2e-3)


@settings(max_examples=25)
@given(st.integers(0, 1000), st.floats(-2, 3), st.floats(-2, 1), st.integers(29, 31))
@example(1, -1.5, 0.0, 31)  # without a row no support vector is free, and b leaps: no ξα
def test_the_bounds_hold(seed, log_C, log_gamma, n):
    X, y = make_classification(n, 4, random_state=seed, flip_y=0.2)
    left = leave_one_out(SVC(C=10**log_C, gamma=10**log_gamma), X, y)
    assert "support vectors" in left.bounds
    assert all(left.error <= bound.value + 1e-12 for bound in left.bounds.values())
    assert all(each.seconds >= 0 for each in (left.span, *left.bounds.values()))


def test_where_every_row_changes_the_problem_there_is_no_bound():
    """A row that is no support vector may lose its prediction there."""
    for machine in (NuSVC(nu=0.3), SVC(class_weight="balanced")):
        assert not leave_one_out(machine, X, Y).bounds


def test_the_span_is_exact_where_no_support_vector_changes_its_kind():
    rows = np.random.default_rng(0).normal(size=(30, 2))
    y = np.where(np.arange(30) % 2, 1.0, -1.0) + 0.1 * rows[:, 0]
    left = leave_one_out(SVR(C=1e4, gamma=8.0, epsilon=0.0, tol=TIGHT), rows, y)
    assert left.retrained.all()  # interpolation: every row is a free support vector
    assert left.span.value == pytest.approx(left.error, rel=1e-3)


def test_a_precomputed_kernel_and_threads_give_the_same():
    ours = leave_one_out(SVC(C=1, gamma=0.3, tol=TIGHT), X, Y, n_jobs=1)
    K = RBF(0.3)(X, X)
    theirs = leave_one_out(SVC(C=1, kernel="precomputed", tol=TIGHT), K, Y, n_jobs=2)
    assert ours.decisions == pytest.approx(theirs.decisions, abs=1e-5)


LONE = np.vstack([EVEN, [[9.0, -9.0, 0.0]]]), np.r_[np.arange(20) % 2, 2]


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_the_only_row_of_a_class_is_predicted_by_a_machine_without_the_class(multiclass):
    machine = SVC(C=10, gamma=0.3, multiclass=multiclass, tol=TIGHT)
    left = leave_one_out(machine, *LONE)
    assert left.predictions.tolist() == cross_val_predict(machine, *LONE, cv=LeaveOneOut()).tolist()
    assert left.certificates[20].status.value == "converged"


def test_the_only_row_of_one_of_two_classes_is_predicted_as_the_other():
    """scikit-learn has no machine of one class; that of the remaining rows is a constant."""
    left = leave_one_out(SVC(), LONE[0], LONE[1] == 2)
    assert not left.predictions[20]
    assert left.decisions[20] == pytest.approx(-1)


def test_a_nu_that_fails_without_a_row_is_an_error_that_names_the_row_and_its_class():
    with pytest.raises(ValueError, match=r"without row 20, of class 2: .*nu.* Use an SVC"):
        leave_one_out(NuSVC(nu=0.05), *LONE)


def test_what_it_cannot_take_is_named():
    with pytest.raises(TypeError, match="leave_one_out takes an SVC"):
        leave_one_out(LinearSVC(), X, Y)
    with pytest.raises(ValueError, match="class_weight=None"):
        leave_one_out(NuSVC(class_weight="balanced"), X, Y)
    with pytest.raises(ValueError, match="set cache_size="):
        leave_one_out(SVC(cache_size=0.01), X, Y)
    with pytest.raises(ValueError, match="not separable"):
        leave_one_out(SVC(C=np.inf, kernel="linear"), X, Y)
    with pytest.raises(ValueError, match="no function of this kernel comes that close"):
        leave_one_out(SVR(C=np.inf, kernel="linear", epsilon=0.01), *R)
