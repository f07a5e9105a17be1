"""SVCCV and SVRCV: probabilities and intervals keep what they promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, SVCCV, SVR, SVRCV, tune
from maxmargin.kernels import RBF
from maxmargin.selection.calibration import agree

X, Y = make_classification(500, 6, random_state=0, flip_y=0.15)
TRAIN, TEST = slice(0, 250), slice(250, None)
SMALL = {"Cs": [0.1, 1, 10], "gammas": [0.03, 0.3]}


@pytest.mark.parametrize(
    "calibration",
    ["sigmoid", "isotonic", pytest.param("temperature", marks=pytest.mark.newest)],
)
@pytest.mark.parametrize("data", ["two classes", "three classes"])
def test_probabilities_are_coherent_and_as_good_as_with_fits_of_their_own(calibration, data):
    if data == "two classes":
        train, test = (X[TRAIN], Y[TRAIN]), (X[TEST], Y[TEST])
    else:
        rows, classes = load_iris(return_X_y=True)
        order = np.random.default_rng(0).permutation(150)
        train, test = ((rows[part], classes[part]) for part in (order[:90], order[90:]))
    machine = SVCCV(**SMALL, calibration=calibration).fit(*train)
    p = machine.predict_proba(test[0])
    assert p.sum(axis=1) == pytest.approx(1)
    if calibration == "temperature":
        assert (machine.classes_[p.argmax(axis=1)] == machine.predict(test[0])).all()
    theirs = CalibratedClassifierCV(SVC(**machine.best_params_), method=calibration, cv=5)
    expected = log_loss(test[1], theirs.fit(*train).predict_proba(test[0]))
    assert log_loss(test[1], p) <= expected + 0.05


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_agreement_moves_no_further_than_it_must(seed, classes):
    rng = np.random.default_rng(seed)
    p, predicted = rng.dirichlet(np.ones(classes), 10), rng.integers(classes, size=10)
    moved = agree(p, predicted)
    np.testing.assert_array_equal(moved.argmax(axis=1), predicted)
    np.testing.assert_allclose(moved.sum(axis=1), 1)
    already = p.argmax(axis=1) == predicted
    np.testing.assert_allclose(moved[already], p[already])
    # Any other distribution whose largest entry is that class is at least as far from p.
    other = rng.dirichlet(np.ones(classes), 10)
    other[np.arange(10), predicted] = other.max(axis=1)
    other /= other.sum(axis=1, keepdims=True)
    assert np.all(np.linalg.norm(moved - p, axis=1) <= np.linalg.norm(other - p, axis=1) + 1e-12)


def test_without_calibration_there_are_no_probabilities():
    machine = SVCCV(**SMALL, calibration=None).fit(X[TRAIN], Y[TRAIN])
    with pytest.raises(AttributeError, match="calibration=None"):
        machine.predict_proba(X[TEST])


def test_an_estimator_is_its_search():
    machine = SVCCV(**SMALL).fit(X[TRAIN], Y[TRAIN])
    search = tune(SVC(), X[TRAIN], Y[TRAIN], **SMALL)
    assert machine.best_params_ == search.best_params_
    assert machine.best_score_ == search.best_score_
    assert search.best_params_["C"] == machine.C_
    plain = SVC(**search.best_params_).fit(X[TRAIN], Y[TRAIN])
    assert machine.decision_function(X[TEST]) == pytest.approx(plain.decision_function(X[TEST]))
    assert machine.certificate_.dual == pytest.approx(plain.certificate_.dual)


def test_it_works_inside_a_pipeline_and_a_cross_validation():
    pipe = make_pipeline(StandardScaler(), SVCCV(**SMALL, cv=3))
    scores = cross_val_score(pipe, X[TRAIN], Y[TRAIN], cv=2)
    assert scores.min() > 0.7


def test_refit_false_only_searches():
    machine = SVCCV(**SMALL, refit=False).fit(X[TRAIN], Y[TRAIN])
    assert machine.best_params_["C"] in SMALL["Cs"]
    with pytest.raises(AttributeError, match="refit=True"):
        machine.predict(X[TEST])


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_it_scores_by_what_it_was_chosen_by(scoring):
    machine = SVCCV(**SMALL, scoring=scoring).fit(X[TRAIN], Y[TRAIN])
    weights = np.random.default_rng(0).uniform(0.1, 3, 250)
    scorer = get_scorer(scoring or "accuracy")
    expected = scorer(machine, X[TEST], Y[TEST], sample_weight=weights)
    assert machine.score(X[TEST], Y[TEST], weights) == pytest.approx(expected)
    numbers = SVRCV(**SMALL, scoring=scoring and "neg_mean_absolute_error").fit(X[TRAIN], Y[TRAIN])
    scorer = get_scorer("neg_mean_absolute_error" if scoring else "r2")
    assert numbers.score(X[TEST], Y[TEST]) == pytest.approx(scorer(numbers, X[TEST], Y[TEST]))


def test_a_function_chooses_the_cell_whose_probabilities_are_calibrated():
    def smallest(table):
        return int(np.argmin(table["param_C"]))

    machine = SVCCV(**SMALL, refit=smallest).fit(X[TRAIN], Y[TRAIN])
    assert machine.C_ == 0.1
    one = SVCCV(Cs=[0.1], gammas=[machine.best_params_["gamma"]]).fit(X[TRAIN], Y[TRAIN])
    assert machine.predict_proba(X[TEST]) == pytest.approx(one.predict_proba(X[TEST]), abs=1e-3)


def wave(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 6, (n, 1))
    return x, np.sin(x[:, 0]) + rng.normal(0, 0.1 + 0.1 * x[:, 0])


@pytest.mark.parametrize("method", ["cv+", "jackknife+"])
def test_intervals_cover_what_they_promise(method):
    """The share of held-out rows inside is within three standard errors of the promise."""
    machine = SVRCV(Cs=[1, 10], gammas=[0.5], cv=KFold(5, shuffle=True, random_state=0))
    inside, count = 0, 0
    for seed in range(5):
        machine.fit(*wave(100, seed))
        x, y = wave(400, 100 + seed)
        low, high = machine.predict_interval(x, coverage=0.8, method=method).T
        inside, count = inside + np.count_nonzero((low <= y) & (y <= high)), count + len(y)
    # Rows of one training set share it: its own chance is that of 100 rows, five times.
    error = np.sqrt(0.8 * 0.2 * (1 / count + 1 / 500))
    assert abs(inside / count - 0.8) <= 3 * error


def test_more_coverage_is_wider_and_all_of_it_is_everything():
    machine = SVRCV(Cs=[1], gammas=[0.5], cv=5).fit(*wave(60, 0))
    x, _ = wave(20, 1)
    widths = [np.diff(machine.predict_interval(x, coverage=c))[:, 0] for c in (0.5, 0.9)]
    assert (widths[0] < widths[1]).all()
    assert np.isinf(machine.predict_interval(x, coverage=0.999)).all()
    with pytest.raises(ValueError, match=r"coverage=1\.5"):
        machine.predict_interval(x, coverage=1.5)


@pytest.mark.parametrize("gamma", [0.5, "scale"])
def test_the_folds_of_the_search_are_the_models_of_cv_plus(gamma):
    """Intervals are recomputed here from machines fitted anew to each fold.

    The rule "scale" gives each of them a γ of its own.
    """
    x, y = wave(40, 0)
    cv = KFold(4)
    machine = SVRCV(Cs=[2.0], gammas=None, gamma=gamma, cv=cv, tol=1e-7).fit(x, y)
    new, _ = wave(5, 1)
    folds = list(cv.split(x))
    models = [SVR(C=2.0, gamma=gamma, tol=1e-7).fit(x[a], y[a]) for a, _ in folds]
    centre = np.vstack(
        [np.tile(m.predict(new), (len(b), 1)) for m, (_, b) in zip(models, folds, strict=True)]
    )
    residual = np.concatenate(
        [abs(y[b] - m.predict(x[b])) for m, (_, b) in zip(models, folds, strict=True)]
    )
    upper = np.sort(centre + residual[:, None], axis=0)
    lower = np.sort(centre - residual[:, None], axis=0)
    # α(n + 1) = 0.2 · 41 = 8.2, so the 8th smallest and the 33rd
    expected = np.column_stack([lower[7], upper[32]])
    assert machine.predict_interval(new, coverage=0.8) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("method", ["cv+", "jackknife+"])
def test_rows_of_no_weight_do_not_widen_intervals(method):
    x, y = wave(40, 0)
    there = np.arange(40) % 5 > 0
    folds = [np.arange(40) % 4 == k for k in range(4)]
    part = {"Cs": [2.0], "gammas": [0.5], "tol": 1e-7}
    machine = SVRCV(**part, cv=[(~fold, fold) for fold in folds])
    machine.fit(x, np.where(there, y, 1e3), sample_weight=there.astype(float))
    fewer = SVRCV(**part, cv=[(~fold[there], fold[there]) for fold in folds])
    fewer.fit(x[there], y[there])
    new, _ = wave(5, 1)
    found, expected = (m.predict_interval(new, 0.8, method) for m in (machine, fewer))
    assert found == pytest.approx(expected, abs=1e-5)


def test_intervals_take_what_predict_takes():
    x, y = wave(40, 0)
    K, new = RBF(0.5)(x, x), x[:5]
    machine = SVRCV(Cs=[2.0], kernel="precomputed", cv=4).fit(K, y)
    expected = machine.predict_interval(K[:5])
    assert machine.predict_interval(K[:5].tolist()) == pytest.approx(expected)
    with pytest.raises(ValueError, match="NaN"):
        machine.predict_interval(np.full((1, 40), np.nan))
    sparse = SVRCV(Cs=[2.0], gammas=[0.5], cv=4).fit(csr_array(x), y)
    assert sparse.predict_interval(new) == pytest.approx(expected, abs=1e-3)
