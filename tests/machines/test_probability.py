"""Probabilities: calibrated on rows held out, to the data as they are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split

from maxmargin import SVC, NuSVC
from maxmargin.machines.multiclass import OneVersusOne
from maxmargin.machines.probability import couple, platt

pytestmark = pytest.mark.small

MACHINES = [
    SVC(probability=True, random_state=0),
    SVC(probability=True, random_state=0, multiclass="ovr"),
    SVC(probability=True, random_state=0, kernel="linear", class_weight="balanced"),
    SVC(probability=True, random_state=0, fit_intercept=False),
    NuSVC(probability=True, random_state=0, nu=0.4),
]


def noisy(classes, rows=150, seed=0):
    return make_classification(
        rows,
        4,
        n_informative=3,
        n_redundant=0,
        n_classes=classes,
        n_clusters_per_class=1,
        flip_y=0.15,
        random_state=seed,
    )


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_each_row_has_a_distribution(machine, classes):
    X, y = noisy(classes)
    machine.fit(X, y)
    everywhere = np.random.default_rng(0).uniform(-4, 4, (500, 4))
    for rows in (X, everywhere):
        p = machine.predict_proba(rows)
        assert p.shape == (len(rows), classes)
        assert np.all((p >= 0) & (p <= 1))
        assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
        assert_allclose(np.exp(machine.predict_log_proba(rows)), p)
    assert machine.probA_.shape == machine.probB_.shape == machine.intercept_.shape


def test_rows_without_weight_are_in_no_fold():
    X, y = noisy(2)
    there = np.arange(len(y)) % 3 > 0
    machine = SVC(probability=True, gamma=0.5, random_state=0)
    without = clone(machine).fit(X[there], y[there]).predict_proba(X)
    weight = there.astype(float)
    assert_allclose(machine.fit(X, y, weight).predict_proba(X), without, atol=1e-6)
    weight[np.flatnonzero(y == 1)[1:]] = 0
    weight[np.flatnonzero(y == 1)[0]] = 1
    with pytest.raises(ValueError, match="class 1 has one"):
        machine.fit(X, y, weight)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_they_say_more_than_the_shares_of_the_classes(classes, multiclass):
    X, y = noisy(classes, rows=500)
    X, held_out, y, truth = train_test_split(X, y, random_state=0)
    machine = SVC(probability=True, random_state=0, multiclass=multiclass).fit(X, y)
    shares = np.tile(np.bincount(y) / len(y), (len(truth), 1))
    assert log_loss(truth, machine.predict_proba(held_out)) < 0.9 * log_loss(truth, shares)


def test_of_a_hundred_rows_said_to_be_seventy_percent_about_seventy_are():
    X, y = noisy(2, rows=900)
    X, held_out, y, truth = train_test_split(X, y, test_size=0.5, random_state=0)
    p = SVC(probability=True, random_state=0).fit(X, y).predict_proba(held_out)[:, 1]
    for low in (0.0, 0.5):
        said = (p >= low) & (p < low + 0.5)
        assert_allclose(truth[said].mean(), p[said].mean(), atol=0.06)


def rare(rows=4000):
    X, y = make_classification(rows, 12, weights=[0.95], flip_y=0.02, random_state=0)
    return train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)


def test_class_weights_do_not_move_probabilities():
    """Platt's sigmoid is that of the decisions alone, as scikit-learn's."""
    X, held_out, y, truth = rare()
    options = {"C": 1.0, "gamma": 0.05, "class_weight": "balanced"}
    ours = SVC(probability=True, random_state=0, **options).fit(X, y)
    theirs = CalibratedClassifierCV(svm.SVC(**options), ensemble=False, cv=5).fit(X, y)
    scores = [brier_score_loss(truth, m.predict_proba(held_out)[:, 1]) for m in (ours, theirs)]
    assert_allclose(*scores, atol=1e-3)


def test_rows_said_to_be_likely_are_so_also_with_class_weights():
    X, held_out, y, truth = rare()
    machine = SVC(probability=True, random_state=0, class_weight="balanced").fit(X, y)
    p = machine.predict_proba(held_out)[:, 1]
    said = p > 0.5
    error = np.sqrt(0.25 / said.sum())
    assert abs(truth[said].mean() - p[said].mean()) < 3 * error


def test_the_seed_decides_the_folds():
    X, y = noisy(2)
    first, again, other = (
        SVC(probability=True, random_state=seed).fit(X, y).predict_proba(X) for seed in (0, 0, 1)
    )
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_precomputed_kernel_is_cut_both_ways():
    X, y = noisy(3)
    by_rows = SVC(probability=True, random_state=0, gamma=0.25).fit(X, y)
    by_matrix = SVC(probability=True, random_state=0, kernel="precomputed")
    K = rbf_kernel(X, gamma=0.25)
    assert_allclose(by_matrix.fit(K, y).predict_proba(K), by_rows.predict_proba(X), atol=1e-6)


def test_rows_without_weight_do_not_calibrate():
    X, y = noisy(2)
    wrong = np.arange(len(y)) % 5 == 0
    y[wrong] = 1 - y[wrong]
    weight = np.where(wrong, 0.0, 1.0)
    machine = SVC(probability=True, random_state=0).fit(X, y, weight)
    misled = SVC(probability=True, random_state=0).fit(X, y)
    right = ~wrong
    assert log_loss(y[right], machine.predict_proba(X[right])) < log_loss(
        y[right], misled.predict_proba(X[right])
    )


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_far_from_all_data_they_are_still_probabilities(classes, multiclass):
    X, y = noisy(classes)
    machine = SVC(probability=True, random_state=0, kernel="linear", multiclass=multiclass)
    far = 1e6 * np.random.default_rng(0).normal(size=(50, 4))
    p = machine.fit(X, y).predict_proba(far)
    assert_allclose(p.sum(axis=1), 1)
    assert np.all(machine.predict_log_proba(far) <= 0)


def test_platt_recovers_a_logistic_curve():
    rng = np.random.default_rng(0)
    f = rng.normal(size=20_000)
    positive = rng.uniform(size=len(f)) < 1 / (1 + np.exp(-3 * f + 0.5))
    slope, shift = platt(f, positive, np.ones(len(f)))
    assert_allclose([slope, shift], [-3, 0.5], atol=0.1)


def test_platt_counts_a_row_of_weight_two_twice():
    rng = np.random.default_rng(0)
    f, positive = rng.normal(size=50), rng.uniform(size=50) < 0.5
    counts = rng.integers(1, 4, 50)
    twice = np.repeat(np.arange(50), counts)
    weighted = platt(f, positive, counts.astype(float))
    assert_allclose(weighted, platt(f[twice], positive[twice], np.ones(len(twice))), atol=1e-5)


def test_coupling_undoes_pairing():
    p = np.random.default_rng(0).dirichlet(np.ones(4), 20)
    pairs = OneVersusOne(np.arange(4)).pairs
    r = np.column_stack([p[:, a] / (p[:, a] + p[:, b]) for a, b in pairs])
    assert_allclose(couple(r, pairs, 4), p, atol=1e-12)


def test_only_if_asked_for():
    X, y = noisy(2)
    machine = SVC().fit(X, y)
    assert not hasattr(machine, "predict_proba")
    assert len(machine.probA_) == len(machine.probB_) == 0
    machine.probability = True
    with pytest.raises(NotFittedError, match=r"fitted with probability=False.*fit again"):
        machine.predict_proba(X)
    assert_allclose(machine.fit(X, y).predict_proba(X).sum(axis=1), 1)


def test_the_default_of_scikit_learn_asks_for_none():
    X, y = noisy(2)
    for machine in (SVC(probability="deprecated"), NuSVC(probability="deprecated")):
        assert not hasattr(machine.fit(X, y), "predict_proba")


def test_a_class_of_one_row_cannot_be_held_out():
    X, y = noisy(2)
    labels = np.where(np.arange(len(y)) == 3, "rare", "common")
    with pytest.raises(ValueError, match="class 'rare' has one"):
        SVC(probability=True).fit(X, labels)
