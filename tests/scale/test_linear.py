"""Linear machines and standardised columns over partitions: what all rows at once give."""

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_array
from sklearn import preprocessing
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline

from maxmargin import SVC, LinearSVC, LinearSVR, load, save
from maxmargin.datasets import moons
from maxmargin.scale import ArrayPartitions, StandardScaler

IRIS, SPECIES = load_iris(return_X_y=True)
BODY, DISEASE = load_diabetes(return_X_y=True)
X, Y = moons(2000, seed=4)
LOSSES = ["hinge", "squared_hinge"]


def same(parts, whole):
    assert parts.certificate_.status.value == "converged"
    assert parts.certificate_.dual == pytest.approx(whole.certificate_.dual, rel=1e-5)
    assert parts.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=1e-5)
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=5e-3 * np.abs(whole.coef_).max())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("offset", [True, False])
def test_the_machine_is_that_of_all_rows(loss, C, offset):
    options = {"loss": loss, "C": C, "fit_intercept": offset}
    same(LinearSVC(**options).fit(ArrayPartitions(X, Y, rows=300)), LinearSVC(**options).fit(X, Y))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_several_classes_with_weights_far_from_the_origin_or_sparse(loss, kind):
    rows = kind(IRIS + (1000 if kind is np.asarray else 0))
    weights = np.arange(150) % 3 * 1.0
    machine = LinearSVC(loss=loss, class_weight="balanced")
    parts = machine.fit(ArrayPartitions(rows, SPECIES, weights, rows=40))
    assert parts.coef_.shape == (3, 4)
    score = parts.score(ArrayPartitions(rows, SPECIES, rows=40))
    assert score == parts.score(rows, SPECIES)
    same(parts, LinearSVC(loss=loss, class_weight="balanced").fit(rows, SPECIES, weights))


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_regression(loss):
    options = {"loss": loss, "epsilon": 5.0, "C": 10.0}
    data = ArrayPartitions(20 * BODY, DISEASE, rows=100)
    parts, whole = (LinearSVR(**options) for _ in range(2))
    same(parts.fit(data), whole.fit(20 * BODY, DISEASE))
    assert parts.score(data) == pytest.approx(parts.score(20 * BODY, DISEASE))


def test_what_needs_all_rows_at_once_says_so():
    data = ArrayPartitions(X, Y)
    with pytest.raises(ValueError, match="penalty='l1' and multi_class='crammer_singer' need all"):
        LinearSVC(penalty="l1", dual=False).fit(data)
    with pytest.raises(ValueError, match="solver='sgd' needs all rows at once"):
        LinearSVC(solver="sgd").fit(data)
    with pytest.raises(ValueError, match="LinearSVR needs labels: the partitions have none"):
        LinearSVR().fit(ArrayPartitions(X))


def test_columns_are_those_of_the_table():
    table = pandas.DataFrame(X, columns=["a", "b"])
    clf = LinearSVC().fit(ArrayPartitions(table, Y, rows=500))
    assert clf.feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.parametrize("options", [{}, {"with_mean": False}, {"with_std": False}])
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_are_standardised_as_scikit_learn_does(options, weighted):
    rows = np.column_stack([1e6 + X, np.full(len(X), 7.0)])
    weights = np.arange(len(X)) % 3 * 1.0 if weighted else None
    ours = StandardScaler(**options).fit(ArrayPartitions(rows, None, weights, rows=300))
    theirs = preprocessing.StandardScaler(**options).fit(rows, None, weights)
    np.testing.assert_allclose(ours.transform(rows), theirs.transform(rows), atol=1e-8)
    parts = ours.transform(ArrayPartitions(rows, rows=300))
    np.testing.assert_allclose(parts.block(1).X, theirs.transform(rows)[300:600], atol=1e-8)


def test_sparse_rows_are_scaled_and_not_centred():
    rows = ArrayPartitions(csr_array(IRIS), SPECIES, rows=50)
    with pytest.raises(ValueError, match="pass with_mean=False"):
        StandardScaler().fit(rows)
    ours = StandardScaler(with_mean=False).fit(rows)
    theirs = preprocessing.StandardScaler(with_mean=False).fit(csr_array(IRIS))
    np.testing.assert_allclose(ours.scale_, theirs.scale_)


@pytest.mark.parametrize("machine", [SVC(), SVC(approximation="rff", n_components=20), LinearSVC()])
def test_a_pipeline_is_fitted_scored_and_saved(machine, tmp_path):
    stretched = X * [1.0, 1000.0]
    data = ArrayPartitions(stretched, Y, rows=300)
    model = make_pipeline(StandardScaler(), machine).fit(data)
    assert model.score(data) == pytest.approx(model.score(stretched, Y))
    assert model.score(data) > 0.8
    save(model, tmp_path / "model.maxmargin")
    again = load(tmp_path / "model.maxmargin")
    np.testing.assert_array_equal(again.predict(stretched), model.predict(stretched))
    np.testing.assert_array_equal(model.predict(data), model.predict(stretched))
