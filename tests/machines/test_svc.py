"""SVC solves the same problem as scikit-learn's, to more digits, and proves it."""

from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import datasets, svm
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC
from maxmargin.resources.memory import SMALLEST, kept_memory, release_memory
from naive_machines import binary_coefficients, kernel_matrix, pairs_of, svc_dual, svc_optimum
from naive_machines import svc_primal as primal_of

KERNELS = ["linear", "poly", "rbf"]


def generated(rows, columns, **options):
    return datasets.make_classification(rows, columns, n_informative=6, **options)


DATA = {
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "1000 rows": lambda: generated(1000, 10, flip_y=0.05, class_sep=2.0, random_state=0),
    "2000 rows": lambda: generated(2000, 20, flip_y=0.1, random_state=1),
    "5000 rows": lambda: generated(5000, 8, flip_y=0.02, class_sep=2.0, random_state=2),
}

# Every kernel and C with and without weights where that is quick; elsewhere each of them once.
CASES = [
    *product(["iris", "wine", "breast cancer"], KERNELS, [0.01, 1.0, 1000.0], [False, True]),
    ("digits", "linear", 0.01, False),
    ("digits", "poly", 1.0, True),
    ("digits", "rbf", 1000.0, False),
    ("1000 rows", "linear", 1.0, True),
    ("1000 rows", "poly", 0.01, False),
    ("1000 rows", "rbf", 1000.0, True),
    ("2000 rows", "linear", 0.01, True),
    ("2000 rows", "poly", 1.0, False),
    ("2000 rows", "rbf", 1000.0, False),
    ("5000 rows", "rbf", 1.0, True),
]


@pytest.mark.parametrize(("name", "kernel", "C", "weighted"), CASES)
def test_it_agrees_with_scikit_learn(name, kernel, C, weighted):
    X, y = DATA[name]()
    X = StandardScaler().fit_transform(X)
    X, held_out, y, _ = train_test_split(X, y, random_state=0)
    weight = np.random.default_rng(0).uniform(0.2, 3, len(y)) if weighted else None
    shape = {"gamma": 1 / X.shape[1], "coef0": 1.0}
    ours = SVC(C=C, kernel=kernel, tol=1e-6, **shape).fit(X, y, weight)
    # Ties in votes go to the larger sum of decision values: what scikit-learn calls break_ties.
    theirs = svm.SVC(C=C, kernel=kernel, tol=1e-8, break_ties=True, **shape).fit(X, y, weight)

    K = pairwise_kernels(X, metric=kernel, filter_params=True, degree=3, **shape)
    bound = C * (np.ones(len(y)) if weight is None else weight)
    best = sum(best_dual(K, beta, bound, pair) for beta, pair in binary_problems(theirs, y))
    assert ours.certificate_.dual >= best - 1e-6 * abs(best)
    assert np.mean(ours.predict(held_out) == theirs.predict(held_out)) >= 0.999


def binary_problems(machine, y):
    """β and the signs (0 for rows of other classes) of each binary machine."""
    labels = np.searchsorted(machine.classes_, y)
    for beta, (a, b) in zip(binary_coefficients(machine, y), pairs_of(machine), strict=True):
        yield beta, np.where(labels == a, 1.0, np.where(labels == b, -1.0, 0.0))


def best_dual(K, beta, bound, sign):
    """The better of scikit-learn's dual value and, where that is quick, an interior-point QP's."""
    rows = np.flatnonzero(sign)
    K, beta, bound, sign = K[np.ix_(rows, rows)], beta[rows], bound[rows], sign[rows]
    value = svc_dual(K, np.abs(beta), sign)
    return max(value, svc_optimum(K, sign, bound)) if len(rows) <= 150 else value


@pytest.mark.small
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("stop_early", [False, True])
@pytest.mark.filterwarnings("ignore:SVC stopped")
def test_the_certificate_is_what_the_definitions_say(multiclass, fit_intercept, stop_early):
    X, y = datasets.load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    weight = np.linspace(0.5, 2, len(y))
    limit = 5 if stop_early else -1
    machine = SVC(gamma=0.7, C=2.0, max_iter=limit, multiclass=multiclass)
    machine.set_params(fit_intercept=fit_intercept).fit(X, y, weight)
    K = kernel_matrix("rbf", X, gamma=0.7)
    if multiclass == "ovo":
        problems = list(binary_problems(machine, y))
    else:
        betas = np.zeros((3, len(y)))
        betas[:, machine.support_] = machine.dual_coef_
        problems = [(betas[c], np.where(y == c, 1.0, -1.0)) for c in range(3)]
    assert len(machine.certificates_) == len(problems)
    for proof, (beta, sign), b in zip(
        machine.certificates_, problems, machine.intercept_, strict=True
    ):
        bound = 2.0 * weight * np.abs(sign)
        alpha = beta * sign
        assert_allclose(proof.dual, svc_dual(K, alpha, sign), rtol=1e-12)
        assert_allclose(proof.primal, primal_of(K, alpha, sign, b, bound), rtol=1e-12)
        assert_allclose(proof.gap, proof.primal - proof.dual, rtol=1e-12, atol=1e-14)
        assert proof.gap >= -1e-12 * proof.primal
        scale = max(abs(proof.primal), abs(proof.dual))
        assert_allclose(proof.relative_gap, proof.gap / scale, rtol=1e-12)
        violation = worst_violation(K, beta, sign, bound, fit_intercept)
        assert_allclose(proof.kkt_violation, violation, atol=1e-12)
    total = machine.certificate_
    assert_allclose(total.dual, sum(proof.dual for proof in machine.certificates_))
    assert_allclose(total.gap, sum(proof.gap for proof in machine.certificates_), atol=1e-12)
    assert total.kkt_violation == max(proof.kkt_violation for proof in machine.certificates_)


def worst_violation(K, beta, sign, bound, fit_intercept):
    """The largest −G that can rise minus the smallest that can fall; without an offset, from 0."""
    minus_gradient = sign - K @ beta
    lower, upper = np.where(sign > 0, 0, -bound), np.where(sign > 0, bound, 0)
    rise = minus_gradient[(sign != 0) & (beta < upper)].max()
    fall = minus_gradient[(sign != 0) & (beta > lower)].min()
    return max(rise - fall, 0.0) if fit_intercept else max(rise, -fall, 0.0)


def test_many_classes_are_decided_in_memory_that_is_used_again():
    """And what is returned has memory of its own: it keeps none of that."""
    y = np.repeat(np.arange(40), 3)
    X = np.random.default_rng(0).normal(size=(len(y), 4)) + y[:, None]
    machine = SVC(decision_function_shape="ovo").fit(X, y)
    alone = np.concatenate([machine.decision_function(row[None]) for row in X])
    release_memory()
    values = machine.decision_function(X)
    assert values.nbytes > SMALLEST
    assert kept_memory() > 0
    assert values.flags.owndata
    assert_allclose(values, alone, atol=1e-10)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_ambiguous_rows_are_those_whose_machines_disagree(multiclass):
    """Votes counted here from the decision values of every binary machine."""
    centres = 2.4 * np.array([(np.cos(a), np.sin(a)) for a in np.arange(5) * 0.4 * np.pi])
    X, y = datasets.make_blobs(150, centers=centres, cluster_std=0.75, random_state=0)
    machine = SVC(kernel="linear", multiclass=multiclass, decision_function_shape="ovo").fit(X, y)
    rows = np.random.default_rng(0).uniform(-6, 6, (2000, 2))
    decisions = machine.decision_function(rows)
    if multiclass == "ovr":
        expected = (decisions > 0).sum(axis=1) != 1
    else:
        votes = np.zeros((len(rows), 5))
        for k, (a, b) in enumerate(combinations(range(5), 2)):
            winner = np.where(decisions[:, k] > 0, a, b)
            votes[np.arange(len(rows)), winner] += 1
        expected = np.sort(votes, axis=1)[:, -1] == np.sort(votes, axis=1)[:, -2]
    assert 0 < expected.mean() < 1
    np.testing.assert_array_equal(machine.ambiguous(rows), expected)


def test_of_two_classes_no_row_is_ambiguous():
    X, y = datasets.make_moons(40, noise=0.2, random_state=0)
    assert not SVC().fit(X, y).ambiguous(X).any()
