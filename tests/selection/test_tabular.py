"""Tables: columns made ready, the learned metric, and the machines that choose both."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE

from maxmargin import SVR, KernelRegressor, LearnedMetric, NuSVC, TabularSVC, TabularSVR
from maxmargin.kernels import RBF, Laplacian, Linear
from maxmargin.machines.expansion import expansion_of
from maxmargin.selection.table_columns import MISSING, OTHER, TableCodes

random = np.random.default_rng(0)
X = random.normal(size=(120, 5))
Y = (X[:, 1] * X[:, 3] > 0).astype(int)
T = np.sin(2 * X[:, 1]) + 0.1 * X[:, 3]
QUICK = {"rounds": 1, "powers": [0.5], "cv": 2, "random_state": 0}


def frame(rows=120):
    """A table with numbers, words, booleans and holes."""
    table = pd.DataFrame(X[:rows, :2], columns=["a", "b"])
    table["word"] = np.array(["red", "green", "blue"])[np.arange(rows) % 3]
    table["flag"] = X[:rows, 2] > 0
    table.loc[::7, "a"] = np.nan
    table.loc[::11, "word"] = None
    return table


LABELS = np.where(frame()["word"].eq("red") ^ frame()["flag"], "yes", "no")


@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.3), Linear(), RBF(0.3) + 2 * RBF(0.1)])
def test_gradients_are_those_of_the_function(kernel):
    machine = SVR(kernel=kernel).fit(X[:60], T[:60])
    rows, step = X[60:70], 1e-6
    wanted = [
        (((machine.predict(rows + e) - machine.predict(rows - e)) / (2 * step)) ** 2).mean()
        for e in step * np.eye(5)
    ]
    assert expansion_of(machine).mean_squared_gradient(rows) == pytest.approx(wanted, rel=1e-4)


def test_the_functions_of_all_pairs_of_classes_count():
    machine = NuSVC(nu=0.2, gamma=0.3).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    found = expansion_of(machine).mean_squared_gradient(X)
    assert found.argmax() == 0


def test_a_learned_metric_finds_the_columns_that_matter():
    metric = LearnedMetric([KernelRegressor(gamma=1.0), SVR(gamma=1.0)]).fit(X, T)
    assert set(np.argsort(-metric.weights_)[:1]) == {1}
    assert metric.transform(X) == pytest.approx(X * metric.weights_)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_metric_does_not_depend_on_the_unit_of_all_columns(kernel):
    metric = LearnedMetric([SVR(kernel=kernel, gamma=1.0)], kernel=kernel)
    once, again = metric.fit_transform(X, T), metric.fit_transform(1024 * X, T)
    assert once == pytest.approx(again, rel=1e-6)


def test_codes_of_a_table():
    table = frame()
    codes = TableCodes().fit(table)
    coded = codes.transform(table)
    assert sorted(codes.categories_) == [2, 3]
    assert np.isnan(coded[0, 0])
    assert coded[0, 2] == MISSING
    new = table.head(2).assign(word=["violet", "red"])
    assert codes.transform(new)[:, 2].tolist() == [OTHER, coded[3, 2]]


def test_the_same_table_of_other_libraries_has_the_same_codes():
    table = frame()
    codes = TableCodes().fit(table)
    coded = codes.transform(table)
    as_category = table.astype({"word": "category"})
    for other in (as_category, pl.from_pandas(table), table.to_numpy(object)):
        assert np.array_equal(TableCodes().fit_transform(other), coded, equal_nan=True)


def test_a_column_that_held_numbers_refuses_words():
    codes = TableCodes().fit(frame())
    with pytest.raises(ValueError, match="'a' held numbers in training; now it has 'much'"):
        codes.transform(frame().assign(a="much"))


def test_a_listed_column_must_be_there():
    with pytest.raises(ValueError, match="'colour', which is no name of a column"):
        TableCodes(["colour"]).fit(frame())


def test_a_table_as_it_comes():
    clf = TabularSVC(**QUICK).fit(frame(), LABELS)
    assert clf.score(frame(), LABELS) > 0.85
    assert clf.certificate_.status.value == "converged"
    assert clf.feature_names_in_.tolist() == ["a", "b", "word", "flag"]
    assert clf.feature_importances_.sum() == pytest.approx(1)
    assert set(np.argsort(-clf.feature_importances_)[:2]) == {2, 3}
    assert clf.predict_proba(frame()).sum(axis=1) == pytest.approx(np.ones(120))
    unseen = frame().assign(word="violet")
    assert set(clf.predict(unseen)) <= {"yes", "no"}


def test_a_regressor_has_intervals_in_the_units_of_its_target():
    reg = TabularSVR(**QUICK).fit(X, 1000 * T)
    low, high = reg.predict_interval(X[:5]).T
    assert np.all(low < reg.predict(X[:5]))
    assert np.all(reg.predict(X[:5]) < high)
    assert reg.score(X, 1000 * T) > 0.9


def test_the_plain_search_is_among_what_is_tried():
    reg = TabularSVR(**QUICK).fit(X, T)
    first = reg.trials_[0]
    assert (first.recipe.preparation, first.recipe.kernel) == ("standardised", "rbf")
    assert not first.recipe.rounds
    assert reg.best_score_ >= first.score


def test_validation_is_not_fooled_by_a_metric_learned_on_noise():
    labels = np.random.default_rng(5).integers(0, 2, 120)
    noise = np.random.default_rng(6).normal(size=(120, 40))
    assert TabularSVC(**QUICK).fit(noise, labels).best_score_ < 0.7


def test_a_class_of_one_row_is_never_held_out():
    labels = np.where(np.arange(120) == 50, 2, Y)
    assert set(TabularSVC(**QUICK).fit(X, labels).classes_) == {0, 1, 2}


def test_importances_choose_columns():
    choice = RFE(TabularSVR(rounds=0, cv=2, random_state=0), n_features_to_select=1, step=4)
    assert choice.fit(X, T).support_[1]


def test_what_cannot_be_learned_is_said():
    with pytest.raises(ValueError, match="one class only"):
        TabularSVC().fit(X, np.ones(120))
    with pytest.raises(ValueError, match="n_samples=4 is too few for cv=3"):
        TabularSVR().fit(X[:4], T[:4])
    with pytest.raises(ValueError, match="infinity in column '1'"):
        TabularSVR().fit(np.where([0, 1, 0, 0, 0], np.inf, X), T)
    with pytest.raises(NotFittedError):
        TabularSVC().predict(X)
