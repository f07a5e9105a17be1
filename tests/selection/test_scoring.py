"""Scores: one or several, names or functions, weighted or not, and what may choose by them."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from maxmargin import SVC, tune

TIGHT = 1e-7  # where decisions near zero could be either
BINARY = make_classification(70, 4, random_state=0, flip_y=0.2)
GAMMAS = {"Cs": [0.1, 1, 30], "gammas": [0.05, 0.5]}


def test_a_scorer_may_read_the_parameters_of_the_cell():
    def score(machine, X, y):
        params = machine.get_params()
        assert (params["C"], params["gamma"]) == (machine.C, machine.gamma)
        return float(np.mean(machine.predict(X) == y)) - 1e-3 * np.log10(machine.C)

    X, y = BINARY
    search = tune(SVC(tol=TIGHT), X, y, Cs=[1.0, 10.0], gammas=[0.1, 0.3], cv=3, scoring=score)
    grid = {"C": [1.0, 10.0], "gamma": [0.1, 0.3]}
    theirs = GridSearchCV(SVC(tol=TIGHT), grid, cv=3, scoring=score).fit(X, y)
    mean = search.cv_results_["mean_test_score"]
    assert mean == pytest.approx(theirs.cv_results_["mean_test_score"])


def test_a_scorer_that_asks_for_more_is_told_what_there_is():
    def score(machine, X, y):
        return -len(machine.support_)

    with pytest.raises(ValueError, match=r"fold 0 of C=1.*cannot ask for 'support_'"):
        tune(SVC(), *BINARY, Cs=[1.0], gammas=[0.1], scoring=score)


def test_several_scores_and_those_of_decision_values():
    X, y = BINARY
    scoring = {"auc": "roc_auc", "f1": make_scorer(f1_score)}
    search = tune(SVC(tol=TIGHT), X, y, **GAMMAS, cv=3, scoring=scoring, refit="auc")
    best = SVC(tol=TIGHT, **search.best_params_)
    for name, scorer in scoring.items():
        expected = cross_val_score(best, X, y, cv=3, scoring=scorer)
        found = [search.cv_results_[f"split{k}_test_{name}"][search.best_index_] for k in range(3)]
        assert found == pytest.approx(expected)


@pytest.mark.newest
def test_scorers_are_weighted_as_those_of_grid_search():
    X, y = BINARY
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    grid = {"C": [0.1, 1.0], "gamma": [0.05, 0.5]}
    options = {"cv": 3, "scoring": ["roc_auc", "f1"], "refit": "f1"}
    theirs = GridSearchCV(SVC(tol=TIGHT), grid, **options).fit(X, y, sample_weight=weights)
    ours = tune(
        *(SVC(tol=TIGHT), X, y),
        **(options | {"Cs": grid["C"], "gammas": grid["gamma"], "sample_weight": weights}),
    )
    assert {*theirs.cv_results_} <= {*ours.cv_results_}
    for name in ("roc_auc", "f1"):
        found, expected = (s.cv_results_[f"mean_test_{name}"] for s in (ours, theirs))
        assert found == pytest.approx(expected), name


def test_weights_reach_the_scorers_that_request_them():
    X, y = BINARY
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    cells = {"Cs": [1.0], "gammas": [0.5], "cv": 3, "sample_weight": weights}
    with config_context(enable_metadata_routing=True):
        asked = make_scorer(f1_score).set_score_request(sample_weight=True)
        not_asked = make_scorer(f1_score).set_score_request(sample_weight=False)
        with_weights, without = (
            tune(SVC(), X, y, **cells, scoring=scorer) for scorer in (asked, not_asked)
        )
    plain = tune(SVC(), X, y, **cells, scoring=make_scorer(f1_score))
    assert with_weights.best_score_ == plain.best_score_
    assert without.best_score_ != plain.best_score_


def test_a_function_may_choose_the_cell():
    X, y = BINARY

    def worst(table):
        return int(np.argmin(table["mean_test_score"]))

    search = tune(SVC(tol=TIGHT), X, y, **GAMMAS, cv=3, refit=worst)
    assert search.best_score_ == search.cv_results_["mean_test_score"].min()
    assert search.best_params_["C"] == search.best_estimator_.C
    best = SVC(tol=TIGHT, **search.best_params_)
    expected = cross_val_predict(best, X, y, cv=3, method="decision_function")
    assert search.decisions()[:, 0] == pytest.approx(expected, abs=1e-4)
    with pytest.raises(ValueError, match="refit chose 99, which is not the number of a finished"):
        tune(SVC(), X, y, **GAMMAS, cv=3, refit=lambda table: 99)


def test_several_scores_without_refit_are_a_table():
    search = tune(SVC(), *BINARY, **GAMMAS, cv=3, scoring=["f1", "roc_auc"], refit=False)
    assert search.best_score_ == search.cv_results_["mean_test_f1"].max()
    assert not hasattr(search, "best_estimator_")
