"""Perceptrons: the loop of the slides, Novikoff's bound, blocks, budgets."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_circles

from maxmargin import KernelPerceptron, Perceptron
from maxmargin.kernels import RBF


def textbook(K, y):
    """The slides' kernel perceptron for labels ±1, one epoch: the signed mistakes."""
    coef = np.zeros(len(y))
    for i in range(len(y)):
        if y[i] * (K[i] @ coef) <= 0:
            coef[i] += y[i]
    return coef


@pytest.mark.small
@given(seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_two_classes_are_the_textbook_perceptron(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(25, 2)), np.where(rng.random(25) > 0.5, 1, -1)
    y[:2] = 1, -1
    linear = Perceptron(fit_intercept=False, max_iter=1).fit(X, y)
    np.testing.assert_allclose(linear.coef_[0], textbook(X @ X.T, y) @ X, atol=1e-12)
    kernel = KernelPerceptron(gamma=1.0, max_iter=1).fit(X, y)
    coef = textbook(RBF(gamma=1.0)(X, X), y)
    np.testing.assert_array_equal(np.sort(kernel.support_), np.flatnonzero(coef))
    np.testing.assert_allclose(kernel.dual_coef_[0], coef[kernel.support_])


@pytest.mark.parametrize("centers", [2, 4])
@pytest.mark.parametrize("machine", [Perceptron(), KernelPerceptron(gamma=0.5)])
def test_separable_rows_end_without_mistakes_within_the_bound(machine, centers):
    X, y = make_blobs(200, centers=centers, cluster_std=0.3, random_state=3)
    machine.fit(X, y)
    assert machine.mistakes_[-1] == 0
    assert machine.score(X, y) == 1
    assert machine.n_mistakes_ <= machine.novikoff_bound_ < np.inf


@pytest.mark.small
def test_overlapping_rows_have_no_bound():
    machine = Perceptron(max_iter=5).fit([[0.0], [0.0], [1.0]], [0, 1, 1])
    assert machine.n_iter_ == 5
    assert machine.novikoff_bound_ == np.inf


@pytest.mark.parametrize("machine", [Perceptron(max_iter=1), KernelPerceptron(gamma=1, max_iter=1)])
def test_blocks_make_an_epoch(machine):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    whole = machine.fit(X, y)
    scores, mistakes = whole.decision_function(X), whole.n_mistakes_
    online = type(machine)(**machine.get_params())
    for rows in np.array_split(np.arange(len(y)), 4):
        online.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert online.n_mistakes_ == mistakes
    np.testing.assert_allclose(online.decision_function(X), scores, atol=1e-9)


@pytest.mark.parametrize("machine", [Perceptron(), KernelPerceptron(gamma=1.0)])
def test_sparse_rows_are_dense_rows(machine):
    X, y = make_blobs(80, centers=3, random_state=0)
    dense = machine.fit(X, y).decision_function(X)
    np.testing.assert_allclose(machine.fit(sp.csr_array(X), y).decision_function(X), dense)


def test_a_budget_holds_and_forgets_the_oldest():
    X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    machine = KernelPerceptron(gamma=2.0, budget=15, max_iter=3)
    machine.fit(X, y)
    assert len(machine.support_vectors_) <= 15
    K = RBF(gamma=2.0)(X, machine.support_vectors_)
    np.testing.assert_allclose(machine.decision_function(X), K @ machine.dual_coef_[0])
    assert machine.score(X, y) > 0.9


@pytest.mark.small
def test_what_cannot_be_learned_is_refused():
    with pytest.raises(ValueError, match="row 1 has the label 7, which is not among the classes"):
        Perceptron().partial_fit([[0.0], [1.0]], [0, 7], classes=[0, 1])
    with pytest.raises(ValueError, match="partial_fit needs the rows"):
        KernelPerceptron(kernel="precomputed").partial_fit(np.eye(2), [0, 1], classes=[0, 1])


def weighted_textbook(K, y, weights):
    """`textbook` with steps of the rows' weights, until an epoch has no mistakes; the mistakes."""
    coef, mistakes = np.zeros(len(y)), []
    while True:
        before = len(mistakes)
        for i in range(len(y)):
            if weights[i] > 0 and y[i] * (K[i] @ coef) <= 0:
                coef[i] += weights[i] * y[i]
                mistakes.append(i)
        if len(mistakes) == before:
            return coef, mistakes


@pytest.mark.parametrize("machine", [Perceptron(fit_intercept=False), KernelPerceptron(gamma=0.5)])
@pytest.mark.parametrize("seed", range(4))
def test_weights_multiply_the_steps_and_the_bound_stays_true(machine, seed):
    X, y = make_blobs(60, centers=[[-2, -1], [2, 1]], cluster_std=0.8, random_state=seed)
    scale = {0: 0.2, 1: 5.0}
    machine.set_params(class_weight=scale).fit(X, y)
    K = X @ X.T if isinstance(machine, Perceptron) else RBF(gamma=0.5)(X, X)
    weights = np.where(y == 0, scale[0], scale[1])
    coef, mistakes = weighted_textbook(K, np.where(y == 0, -1, 1), weights)
    np.testing.assert_allclose(machine.decision_function(X), K @ coef, atol=1e-9)
    assert machine.n_mistakes_ == len(mistakes) <= machine.novikoff_bound_ < np.inf
    # The argument bounds the weight of the mistakes; their number follows by the lightest.
    assert weights[mistakes].sum() <= machine.novikoff_bound_ * scale[0]


@pytest.mark.parametrize("machine", [Perceptron(), KernelPerceptron()])
def test_rows_without_weight_are_absent(machine):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(y))
    X, y = X[order], y[order]
    weights = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    present = weights > 0
    classes = np.unique(y)
    whole = clone(machine).partial_fit(X, y, classes, sample_weight=weights)
    part = clone(machine).partial_fit(
        X[present], y[present], classes, sample_weight=weights[present]
    )
    np.testing.assert_allclose(whole.decision_function(X), part.decision_function(X))
    assert whole.n_mistakes_ == part.n_mistakes_
    without = clone(machine).set_params(class_weight={0: 0}).fit(X, y)
    assert not (without.predict(X) == 0).all()


@pytest.mark.parametrize("machine", [Perceptron(), KernelPerceptron(gamma=1.0)])
def test_weights_of_classes_and_of_rows_multiply(machine):
    X, y = make_blobs(50, centers=3, cluster_std=3, random_state=1)
    classes, own = np.unique(y), np.random.default_rng(0).random(50) + 0.5
    by_class = clone(machine).set_params(class_weight={0: 3.0, 1: 0.5})
    by_class.partial_fit(X, y, classes, sample_weight=own)
    product = own * np.array([3.0, 0.5, 1.0])[y]
    by_row = clone(machine).partial_fit(X, y, classes, sample_weight=product)
    np.testing.assert_allclose(by_class.decision_function(X), by_row.decision_function(X))
    with pytest.raises(ValueError, match="needs all labels at once"):
        clone(machine).set_params(class_weight="balanced").partial_fit(X, y, classes)
    balanced = clone(machine).set_params(class_weight="balanced").fit(X, y)
    by_hand = {k: len(y) / 3 / count for k, count in enumerate(np.bincount(y))}
    by_hand = clone(machine).set_params(class_weight=by_hand).fit(X, y)
    np.testing.assert_allclose(balanced.decision_function(X), by_hand.decision_function(X))


@pytest.mark.small
def test_a_bound_is_claimed_for_the_rows_it_knows_only():
    X, y = make_blobs(60, centers=2, cluster_std=0.3, random_state=3)
    machine = Perceptron().partial_fit(X[:30], y[:30], classes=[0, 1])
    machine.partial_fit(X[30:], y[30:])
    assert machine.novikoff_bound_ == np.inf
