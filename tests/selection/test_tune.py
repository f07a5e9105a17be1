"""A search gives what a plain loop gives: every cell is compared with fits of its own."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, SVR, NuSVC, tune
from maxmargin.kernels import RBF, Linear
from maxmargin.selection.grid import Grid

TIGHT = 1e-7  # where decisions near zero could be either
BINARY = make_classification(70, 4, random_state=0, flip_y=0.2)
THREE = load_iris(return_X_y=True)
NUMBERS = make_regression(60, 3, noise=10, random_state=0)
NUMBERS = NUMBERS[0], NUMBERS[1] / np.std(NUMBERS[1])


def by_hand(machine, X, y, cell, folds, weights=None):
    """The scores of one cell, by a machine of its own for each fold."""
    scores = []
    for train, test in folds:
        own = clone(machine).set_params(**cell)
        shown = X[np.ix_(train, train)] if own.kernel == "precomputed" else X[train]
        asked = X[np.ix_(test, train)] if own.kernel == "precomputed" else X[test]
        own.fit(shown, y[train], None if weights is None else weights[train])
        scores.append(own.score(asked, y[test], None if weights is None else weights[test]))
    return scores


GAMMAS = {"Cs": [0.1, 1, 30], "gammas": [0.05, 0.5]}
CASES = {
    "two classes": (SVC(), *BINARY, GAMMAS),
    "three classes, one against one": (SVC(), *THREE, GAMMAS),
    "three classes, one against the rest": (SVC(multiclass="ovr"), *THREE, GAMMAS),
    "balanced": (SVC(class_weight="balanced"), *BINARY, GAMMAS),
    "no offset": (SVC(fit_intercept=False), *BINARY, GAMMAS),
    "sparse": (SVC(), sparse.csr_array(BINARY[0]), BINARY[1], GAMMAS),
    "linear": (SVC(kernel="linear"), *BINARY, {"Cs": [0.1, 1]}),
    "polynomial": (SVC(kernel="poly", degree=2, coef0=1), *BINARY, GAMMAS),
    "laplacian": (SVC(kernel="laplacian"), *BINARY, GAMMAS),
    "own kernel": (SVC(kernel=lambda A, B: (A @ B.T + 1) ** 2), *BINARY, {"Cs": [0.1, 1]}),
    "multiple of a kernel": (SVC(kernel=2 * RBF(1.0)), *BINARY, GAMMAS),
    "kernel object": (SVC(kernel=RBF(1.0) + Linear()), *BINARY, GAMMAS),
    "γ by a rule": (SVC(), *BINARY, {"Cs": [0.1, 1], "gammas": None}),
    "precomputed": (
        SVC(kernel="precomputed"),
        RBF(0.3)(BINARY[0], BINARY[0]),
        BINARY[1],
        {"Cs": 3},
    ),
    "another solver": (SVC(solver="second-order"), *BINARY, GAMMAS),
    "numbers": (SVR(), *NUMBERS, GAMMAS),
    "numbers, ε too": (SVR(), *NUMBERS, GAMMAS | {"epsilons": [0.01, 0.3]}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_cell_is_that_of_a_plain_loop(case):
    machine, X, y, values = CASES[case]
    machine = clone(machine).set_params(tol=TIGHT)
    cv = KFold(3, shuffle=True, random_state=0)
    search = tune(machine, X, y, cv=cv, **values)
    folds, table = list(cv.split(X, y)), search.cv_results_
    for number, cell in enumerate(table["params"]):
        ours = [table[f"split{k}_test_score"][number] for k in range(3)]
        assert ours == pytest.approx(by_hand(machine, X, y, cell, folds), abs=1e-5), cell
    assert table["converged"].all()
    assert table["violation"].max() <= TIGHT
    assert search.best_score_ == table["mean_test_score"].max()
    assert search.best_estimator_.get_params()["C"] == search.best_params_["C"]
    assert search.best_estimator_.certificate_.kkt_violation <= TIGHT


def test_weights_count_in_fits_and_scores():
    X, y = BINARY
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    machine, cv = SVC(tol=TIGHT), list(StratifiedKFold(3).split(X, y))
    search = tune(machine, X, y, cv=cv, **GAMMAS, sample_weight=weights)
    for number, cell in enumerate(search.cv_results_["params"]):
        ours = [search.cv_results_[f"split{k}_test_score"][number] for k in range(3)]
        assert ours == pytest.approx(by_hand(machine, X, y, cell, cv, weights), abs=1e-9)


@pytest.mark.parametrize("cache_size", [1e-3, 0.1, 0.12, 100])
def test_the_memory_budget_changes_nothing(cache_size):
    X, y = BINARY
    free = tune(SVC(tol=TIGHT), X, y, **GAMMAS)
    bound = tune(SVC(tol=TIGHT, cache_size=cache_size), X, y, **GAMMAS)
    ours, theirs = (s.cv_results_["mean_test_score"] for s in (bound, free))
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_the_results_are_those_of_grid_search():
    X, y = THREE
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}
    theirs = GridSearchCV(SVC(tol=TIGHT), grid, cv=3).fit(X, y)
    ours = tune(SVC(tol=TIGHT), X, y, Cs=grid["C"], gammas=grid["gamma"], cv=3)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_index_ == theirs.best_index_
    for name in ("mean_test_score", "std_test_score", "rank_test_score", "param_C"):
        assert list(ours.cv_results_[name]) == pytest.approx(list(theirs.cv_results_[name])), name


def test_groups_stay_together():
    X, y = BINARY
    groups = np.arange(len(y)) // 7
    search = tune(SVC(), X, y, **GAMMAS, cv=GroupKFold(4), groups=groups)
    assert search.n_splits_ == 4
    for fold in search.folds:
        assert not {*groups[fold.train]} & {*groups[fold.test]}


def test_default_ranges_follow_the_data():
    X, y = BINARY
    near, far = (tune(SVC(), scale * X, y, Cs=2, gammas=3, cv=2) for scale in (1.0, 10.0))
    gammas = [np.unique(s.cv_results_["param_gamma"].data) for s in (near, far)]
    assert gammas[0] == pytest.approx(100 * gammas[1])
    assert near.best_score_ == far.best_score_
    Cs = np.unique(near.cv_results_["param_C"].data)
    assert np.log10(Cs[-1] / Cs[0]) == pytest.approx(6)


def test_refine_goes_beyond_an_edge_and_then_closer():
    X = np.random.default_rng(0).uniform(-1, 1, (120, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)  # needs a γ of some size
    coarse = {"Cs": [0.1, 1, 10], "gammas": [1e-3, 1e-2, 1e-1], "cv": 3}
    plain = tune(SVC(), X, y, **coarse)
    assert any("edge" in note for note in plain.notes)
    fine = tune(SVC(), X, y, **coarse, refine=True)
    assert fine.best_score_ > plain.best_score_
    assert any("goes on" in note for note in fine.notes)
    assert any("finer" in note for note in fine.notes)
    assert fine.cv_results_["stage"].max() > 1


@pytest.mark.parametrize("early", ["racing", "halving"])
def test_stopping_early_drops_cells_and_keeps_a_good_one(early):
    X, y = make_classification(600, 5, random_state=1, flip_y=0.1)
    values = {"Cs": [0.01, 0.1, 1], "gammas": [0.001, 0.01, 0.1]}
    every = tune(SVC(), X, y, **values)
    some = tune(SVC(), X, y, **values, early=early)
    assert (some.cv_results_["status"] == "dropped").any()
    assert some.best_score_ >= every.best_score_ - 0.02
    best = every.cv_results_["params"].index(some.best_params_)
    assert some.best_score_ == pytest.approx(every.cv_results_["mean_test_score"][best])


def test_the_one_standard_error_cell_is_simpler_and_as_good():
    X, y = BINARY
    search = tune(SVC(), X, y, Cs=6, gammas=3)
    scores = [search.cv_results_[f"split{k}_test_score"][search.best_index_] for k in range(5)]
    error = np.std(scores, ddof=1) / np.sqrt(5)
    simple = search.one_standard_error_index_
    assert search.cv_results_["mean_test_score"][simple] >= search.best_score_ - error
    assert search.cv_results_["params"][simple]["C"] <= search.best_params_["C"]


BAD = {
    "a value that is not positive": (SVC(), {"Cs": [1, 0]}, r"Cs\[1\]=0"),
    "a negative γ": (SVC(), {"gammas": [-1.0]}, r"gammas\[0\]=-1"),
    "no values": (SVC(), {"Cs": []}, "Cs must be a number of values or a line"),
    "words": (SVC(), {"Cs": "many"}, "Cs must be a number of values or a line"),
    "a row that there is not": (SVC(), {"cv": [([0, 1], [500])]}, "fold 0 has rows that are not"),
    "a score that is never a number": (
        SVC(),
        {"Cs": 2, "gammas": 2, "scoring": lambda *_: np.nan},
        "'score' is NaN in fold 0 of C=0.01",
    ),
    "zero values": (SVC(), {"Cs": 0}, "Cs=0 must be at least 1"),
    "ε of a classifier": (SVC(), {"epsilons": 3}, "SVC has none"),
    "a score of probabilities": (SVC(), {"scoring": "neg_log_loss"}, "predict_proba"),
    "several scores": (SVC(), {"scoring": ["accuracy", "f1"]}, "refit must name"),
    "an unknown rule": (SVC(), {"early": "sprint"}, "early='sprint' is not one of"),
    "a fold without weight": (
        SVC(),
        {"cv": KFold(2), "sample_weight": np.arange(70) // 35},
        "fold 0 holds out no row that has a weight",
    ),
    "racing by a score that is never a number": (
        SVC(),
        {"Cs": 2, "gammas": 2, "scoring": lambda *_: np.nan, "early": "racing"},
        "'score' is NaN in fold 0 of C=0.01",
    ),
    "several scores at once": (
        SVC(),
        {"Cs": 2, "gammas": 2, "scoring": lambda *_: {"one": 1, "two": 2}},
        "a scorer must return a number; for several give a dict of scorers",
    ),
    "features": (SVC(approximation="rff"), {}, "approximation=None"),
    "no time": (SVC(), {"max_time": 0}, "max_time=0 must be positive"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_named(case):
    machine, options, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        tune(machine, *BINARY, **options)


def test_cells_without_a_score_do_not_lose_the_others():
    def score(machine, X, y):
        return np.nan if machine.gamma > 0.2 else float(np.mean(machine.predict(X) == y))

    search = tune(SVC(), *BINARY, Cs=[1.0, 10.0], gammas=[0.1, 0.3, 1.0], cv=3, scoring=score)
    assert search.best_params_["gamma"] == 0.1
    assert np.isnan(search.cv_results_["mean_test_score"]).sum() == 4


def test_other_machines_are_refused():
    with pytest.raises(TypeError, match=r"SVC, SVR or NuSVR, .* not NuSVC"):
        tune(NuSVC(), *BINARY)
    with pytest.raises(TypeError, match="that ends in one, not StandardScaler"):
        tune(make_pipeline(SVC(), StandardScaler()), *BINARY)


def test_a_fold_without_a_class_is_named():
    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    with pytest.raises(ValueError, match="fold 0 trains without a row of class 0"):
        tune(SVC(), X, y, cv=KFold(2))


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_a_class_with_one_row_is_named():
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1, 2], [6, 5, 1])
    with pytest.raises(ValueError, match="trains without a row of class 2"):
        tune(SVC(), X, y, cv=5)


def test_unsorted_and_repeated_values_are_put_in_order():
    X, y = BINARY
    ours = tune(SVC(), X, y, Cs=[10, 0.1, 10], gammas=[0.5, 0.05])
    assert [cell["C"] for cell in ours.cv_results_["params"]] == [0.1, 0.1, 10, 10]


class OneClassError(Exception):
    """As a library of a user may have it."""


@pytest.mark.parametrize("error", [RuntimeError, AssertionError, OneClassError])
def test_a_failed_cell_does_not_lose_the_others(error):
    X, y = BINARY

    def score(machine, X, y):
        predicted = machine.predict(X)
        if np.mean(predicted) in (0.0, 1.0):
            raise error("only one class")
        return float(np.mean(predicted == y))

    with pytest.warns(Warning, match=r"fits failed.*only one class"):
        search = tune(SVC(), X, y, Cs=[1e-6, 1.0], gammas=[0.1], scoring=score)
    assert search.cv_results_["status"].tolist() == ["failed", "finished"]
    assert search.best_params_["C"] == 1


def test_if_every_cell_fails_the_error_names_the_first():
    def score(machine, X, y):
        raise RuntimeError("no")

    with pytest.raises(ValueError, match=r"every cell failed; fold 0 of C=1, gamma=0\.1: no"):
        tune(SVC(), *BINARY, Cs=[1.0], gammas=[0.1], scoring=score)


def test_refine_takes_an_epsilon_of_zero_and_single_values():
    X, y = NUMBERS
    coarse = {"Cs": [0.1, 1, 10], "gammas": [0.01, 0.1, 1], "epsilons": [0, 0.1, 0.5], "cv": 3}
    search = tune(SVR(), X, y, **coarse, refine=True)
    assert np.unique(search.cv_results_["param_epsilon"].data).size > 3
    only = tune(SVC(), *BINARY, Cs=[1.0], gammas=[0.1], cv=3, refine=True)
    assert (len(only.cells), only.notes) == (1, [])


def test_a_coarse_grid_goes_on_by_decades():
    """Not by its own steps, which would soon lead to C = 10¹³."""
    grid, notes = Grid({"C": np.array([1e-2, 10, 1e4])}).around({"C": 1e4})
    assert grid.axes["C"] == pytest.approx([1e4, 1e5, 1e6, 1e7])
    assert notes == ["the best C=1e+04 is the largest tried: the grid goes on to 1e+07"]
