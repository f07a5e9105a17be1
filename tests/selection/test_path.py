"""Solutions along C are those of fits of their own, with their errors."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons, make_regression
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import LeaveOneOut, check_cv, cross_val_predict, cross_val_score

from maxmargin import SVC, SVR, NuSVR, c_path

CS = [0.1, 1.0, 10.0]
MOONS = make_moons(60, noise=0.3, random_state=0)
NUMBERS = make_regression(40, 3, noise=10, random_state=0)
CASES = {
    "two classes": (SVC(gamma=1.0), *MOONS),
    "three classes": (SVC(gamma=0.5), *(each[::3] for each in load_iris(return_X_y=True))),
    "numbers": (SVR(gamma=0.3), NUMBERS[0], NUMBERS[1] / np.std(NUMBERS[1])),
    "numbers, ν": (NuSVR(gamma=0.3, nu=0.4), NUMBERS[0], NUMBERS[1] / np.std(NUMBERS[1])),
}


@pytest.mark.parametrize("case", CASES)
def test_every_point_of_the_path_is_a_fit_of_its_own(case):
    machine, X, y = CASES[case]
    machine = clone(machine).set_params(tol=1e-7)
    path = c_path(machine, X, y, CS, cv=3)
    for k, C in enumerate(CS):
        own = clone(machine).set_params(C=C).fit(X, y)
        left = cross_val_predict(own, X, y, cv=LeaveOneOut())
        if case.startswith("numbers"):
            expected = mean_squared_error(y, own.predict(X)), mean_squared_error(y, left)
            folds = -cross_val_score(own, X, y, cv=3, scoring="neg_mean_squared_error").mean()
        else:
            expected = np.mean(own.predict(X) != y), np.mean(left != y)
            folds = 1 - cross_val_score(own, X, y, cv=3).mean()
        assert path.dual[k] == pytest.approx(own.certificate_.dual, rel=1e-5)
        assert path.primal[k] == pytest.approx(own.certificate_.primal, rel=1e-5)
        found = path.training_error[k], path.loo_error[k], path.cv_error[k]
        assert found == pytest.approx((*expected, folds), abs=1e-4)
        if case == "two classes":
            free = np.count_nonzero(np.abs(own.dual_coef_) < C)
            assert (path.free[k], path.bounded[k]) == (free, len(own.support_) - free)
    assert (path.violation <= 1e-7).all()


def test_the_margin_shrinks_as_C_grows():
    path = c_path(SVC(gamma=1.0), *MOONS, 8, cv=None, loo=False)
    assert (np.diff(path.margin) < 0).all()
    assert np.isnan(path.loo_error).all()


@pytest.mark.parametrize("case", ["two classes", "numbers"])
def test_all_errors_are_weighted(case):
    machine, X, y = CASES[case]
    machine = clone(machine).set_params(tol=1e-7)
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    path = c_path(machine, X, y, [1.0], cv=3, sample_weight=weights)
    own = clone(machine).fit(X, y, weights)
    numbers = case == "numbers"
    splits = [*check_cv(3, y, classifier=not numbers).split(X, y)]

    def error(rows, predicted):
        wrong = (y[rows] - predicted) ** 2 if numbers else y[rows] != predicted
        return np.average(wrong, weights=weights[rows])

    def without(test):
        train = np.setdiff1d(np.arange(len(y)), test)
        return clone(machine).fit(X[train], y[train], weights[train]).predict(X[test])

    every = np.arange(len(y))
    left = np.concatenate([without([row]) for row in every])
    folds = np.mean([error(test, without(test)) for _, test in splits])
    found = path.training_error[0], path.loo_error[0], path.cv_error[0]
    assert found == pytest.approx(
        (error(every, own.predict(X)), error(every, left), folds), abs=1e-4
    )
    if not numbers:
        used = np.isin(every, own.support_)
        share = np.average(used, weights=weights)
        assert path.bounds["support vectors"][0] == pytest.approx(share)
