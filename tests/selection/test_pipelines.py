"""A search over a pipeline finds what GridSearchCV over it finds."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KernelCenterer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    StandardScaler,
)

from maxmargin import SVC, SVCCV, SVR, leave_one_out, load, save, tune
from maxmargin.plots import SearchDisplay

RNG = np.random.default_rng(0)
IRIS = load_iris(return_X_y=True)
SCALES = np.array([1e-3, 1.0, 1e3, 10.0])  # so that an unscaled column decides everything
ROWS = RNG.permutation(150)[:90]
X, Y = IRIS[0][ROWS] * SCALES, IRIS[1][ROWS]
DIABETES = tuple(part[:80] for part in load_diabetes(return_X_y=True, scaled=False))
TOWNS = np.array(["Bergen", "Oslo", "Tromsø"])
MIXED = pd.DataFrame({"town": TOWNS[RNG.integers(3, size=80)], "size": RNG.normal(size=80)})
BOUGHT = np.where((MIXED["town"] == "Oslo") ^ (MIXED["size"] > 0.3), "yes", "no")
MIXED.loc[::9, "size"] = np.nan


class Shrunk(StandardScaler):
    """Scales the rows it is fitted to in another way than others, as TargetEncoder does."""

    def fit_transform(self, X, y=None):
        return 0.8 * self.fit(X).transform(X)


columns = make_column_transformer(
    (OneHotEncoder(), ["town"]),
    (make_pipeline(SimpleImputer(), StandardScaler()), ["size"]),
    sparse_threshold=1.0,
)
LEARNERS = {
    "scaled": (make_pipeline(StandardScaler(), SVC()), X, Y),
    "two steps": (make_pipeline(MinMaxScaler(), Normalizer(), SVC(multiclass="ovr")), X, Y),
    "float32": (make_pipeline(StandardScaler(), SVC()), X.astype(np.float32), Y),
    "lists": (make_pipeline(StandardScaler(), SVC()), X.tolist(), Y.tolist()),
    "frames": (make_pipeline(StandardScaler().set_output(transform="pandas"), SVC()), X, Y),
    "balanced": (make_pipeline(StandardScaler(), SVC(class_weight="balanced")), X, Y),
    "mixed, sparse": (make_pipeline(columns, SVC()), MIXED, BOUGHT),
    "fitted rows differ": (make_pipeline(Shrunk(), SVC()), X, Y),
    "machine alone": (make_pipeline(SVC()), IRIS[0][ROWS], Y),
}
CS, GAMMAS = [0.1, 10.0], ["scale", 0.05, 0.5, "auto"]


def compared(pipeline, X, y, name="svc", **options):
    """The search and scikit-learn's."""
    plain = clone(pipeline).set_params(**{f"{name}__tol": 1e-6})
    found = tune(plain, X, y, Cs=CS, gammas=GAMMAS, **options)
    grid = {f"{name}__C": CS, f"{name}__gamma": GAMMAS}
    return found, GridSearchCV(plain, grid, **options)


def assert_same(found, wanted):
    """The same score of every cell on every fold."""
    cells = {
        tuple(sorted(params.items())): k for k, params in enumerate(found.cv_results_["params"])
    }
    for k, params in enumerate(wanted.cv_results_["params"]):
        own = cells[tuple(sorted(params.items()))]
        for fold in range(wanted.n_splits_):
            key = f"split{fold}_test_score"
            assert found.cv_results_[key][own] == pytest.approx(
                wanted.cv_results_[key][k], abs=1e-5
            )
    assert found.best_score_ == pytest.approx(wanted.best_score_, abs=1e-5)


@pytest.mark.parametrize("kind", LEARNERS)
def test_every_score_is_that_of_grid_search_over_the_pipeline(kind):
    pipeline, X, y = LEARNERS[kind]
    found, wanted = compared(pipeline, X, y, cv=StratifiedKFold(3, shuffle=True, random_state=0))
    assert_same(found, wanted.fit(X, y))
    best = clone(pipeline).set_params(svc__tol=1e-6, **found.best_params_).fit(X, y)
    assert np.array_equal(found.best_estimator_.predict(X), best.predict(X))


def test_a_regressor():
    X, y = DIABETES
    pipeline = make_pipeline(StandardScaler(), SVR(epsilon=1.0))
    found, wanted = compared(pipeline, X, y, "svr", cv=3)
    assert_same(found, wanted.fit(X, y))


def test_rows_that_no_fold_or_several_folds_hold_out():
    cv = ShuffleSplit(3, train_size=0.5, test_size=0.3, random_state=1)
    found, wanted = compared(*LEARNERS["scaled"], cv=cv)
    assert_same(found, wanted.fit(X, Y))
    assert np.isnan(found.decisions()).all(axis=1).any()


def test_groups():
    groups = np.arange(len(Y)) % 7
    pipeline, X, y = LEARNERS["scaled"]
    plain = clone(pipeline).set_params(svc__tol=1e-6)
    found = tune(plain, X, y, Cs=CS, gammas=[0.1], cv=GroupKFold(3), groups=groups)
    grid = {"svc__C": CS, "svc__gamma": [0.1]}
    assert_same(found, GridSearchCV(plain, grid, cv=GroupKFold(3)).fit(X, y, groups=groups))


def test_weights_are_the_machines():
    weights = RNG.uniform(0.1, 2, len(Y))
    pipeline, cv = make_pipeline(StandardScaler(), SVC(tol=1e-6)), StratifiedKFold(3)
    found = tune(
        pipeline, X, Y, Cs=[1], gammas=["scale"], cv=cv, sample_weight=weights, scoring="accuracy"
    )
    for k, (train, test) in enumerate(cv.split(X, Y)):
        own = clone(pipeline).fit(X[train], Y[train], svc__sample_weight=weights[train])
        score = own.score(X[test], Y[test], weights[test])
        assert found.cv_results_[f"split{k}_test_score"][0] == pytest.approx(score)


def test_a_finer_grid_and_cells_that_are_given_up():
    pipeline, X, y = LEARNERS["scaled"]
    refined = tune(pipeline, X, y, Cs=3, gammas=3, refine=True, cv=3)
    assert set(refined.best_params_) == {"svc__C", "svc__gamma"}
    assert refined.cv_results_["stage"].max() > 0
    for early in ("racing", "halving"):
        found = tune(pipeline, np.tile(X, (9, 1)), np.tile(y, 9), Cs=3, gammas=3, early=early)
        assert found.best_score_ > 0.9


def test_a_rule_that_wins_stays_while_C_is_refined():
    found = tune(SVC(), *IRIS, Cs=[0.1, 1, 10], gammas=["scale"], refine=True, cv=3)
    assert {params["gamma"] for params in found.cv_results_["params"]} == {"scale"}
    assert len(found.cells) > 3


class NeedsNegative(StandardScaler):
    """Cannot be fitted to positive numbers alone."""

    def fit(self, X, y=None):
        if (X >= 0).all():
            raise ValueError("there is no negative number")
        return super().fit(X)


def test_transformers_that_fail_on_a_fold():
    data = np.abs(X)
    data[0, 0] = -1.0
    pipeline = make_pipeline(NeedsNegative(), SVC())
    with pytest.raises(ValueError, match=r"every cell failed; fold 0 .* no negative number"):
        tune(pipeline, data, Y, Cs=CS, gammas=[0.1], cv=3)


def test_what_cannot_be_searched():
    with pytest.raises(TypeError, match=r"pipeline that ends in one, not StandardScaler"):
        tune(make_pipeline(SVC(), StandardScaler()), X, Y)
    with pytest.raises(ValueError, match="cannot be given a kernel matrix"):
        tune(make_pipeline(KernelCenterer(), SVC(kernel="precomputed")), X @ X.T, Y)
    with pytest.raises(ValueError, match="'median', which is no rule"):
        tune(SVC(), X, Y, gammas=["median"])


def test_rules_in_model_files_and_pictures(tmp_path):
    clf = SVCCV(Cs=CS, gammas=GAMMAS).fit(*IRIS)
    save(clf, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.best_params_ == clf.best_params_
    assert again.cv_results_["params"] == clf.cv_results_["params"]
    display = SearchDisplay.from_search(clf)
    assert len(display.gammas) == len(GAMMAS)


def test_leaving_out_rows_of_a_pipeline_says_what_is_possible():
    pipeline = make_pipeline(StandardScaler(), SVC())
    with pytest.raises(TypeError, match="fitted again without each row"):
        leave_one_out(pipeline, X, Y)
    left = leave_one_out(pipeline[-1], pipeline[:-1].fit_transform(X, Y), Y)
    assert left.error < 0.2
