"""A search and leave-one-out find what a loop over fits finds: the same b, the same weights."""

import numpy as np
import pytest
import sklearn.svm
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold

from fuzz.searches import removal_differs, search_differs
from maxmargin import SVC, SVCCV, SVR, SVRCV
from maxmargin.kernels import RBF
from maxmargin.problem import DualProblem

BATCH = 10


@pytest.mark.parametrize("first", range(0, 40, BATCH))
def test_random_searches(first):
    assert [why for seed in range(first, first + BATCH) if (why := search_differs(seed))] == []


@pytest.mark.parametrize("first", range(0, 40, BATCH))
def test_random_removals(first):
    assert [why for seed in range(first, first + BATCH) if (why := removal_differs(seed))] == []


def test_a_removal_after_which_every_variable_is_at_its_bound():
    assert removal_differs(5300056) == ""


def test_where_every_variable_is_at_its_bound_a_search_chooses_the_b_of_a_fit():
    X, y = load_breast_cancer(return_X_y=True)
    X, folds = (X - X.mean(axis=0)) / X.std(axis=0), StratifiedKFold(5)
    options = {"class_weight": "balanced"}
    search = SVCCV(Cs=[0.001, 0.01], gammas=[1e-3], cv=folds, calibration=None, **options)
    scores = search.fit(X, y).cv_results_["mean_test_score"]
    for C, score in zip((0.001, 0.01), scores, strict=True):
        machine = SVC(C=C, gamma=1e-3, **options)
        loop = [machine.fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds.split(X, y)]
        assert score == pytest.approx(np.mean(loop))


def test_rounding_of_the_sum_does_not_move_b():
    """b is the middle of its interval, also if Σβ = 0 leaves one β beside its bound."""
    box = {"lower": np.array([0.0, -1.0]), "upper": np.array([1.0, 0.0])}
    p = DualProblem(linear=np.array([-1.0, 1.0]), **box)
    gradient = np.array([-0.75, 0.25])
    for beside in (0.0, 1e-16):
        (b,) = p.offsets(np.array([1.0 - beside, -1.0]), gradient)
        assert b == 0.25


@pytest.mark.parametrize("C", [2.0**-7, 0.01, 0.003])
@pytest.mark.parametrize("rows_of_first", [24, 16, 11])
def test_b_is_the_middle_where_every_variable_is_at_its_bound(C, rows_of_first):
    """LIBSVM's rule, also if Σβ = 0 holds only but for rounding of C n / (2 n₁).

    Where the sum is exact, scikit-learn has the same b. Elsewhere one of its variables is 1e-14 C
    beside its bound, and its b is that row's: one or the other end of what KKT allows.
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(48, 2)), np.arange(48) >= rows_of_first
    X[y] += 1
    options = {"C": C, "gamma": 0.1, "class_weight": "balanced", "tol": 1e-9}
    machine = SVC(**options).fit(X, y)
    beta = np.where(y, C * 24 / y.sum(), -C * 24 / (~y).sum())
    slope = np.where(y, 1.0, -1.0) - RBF(0.1)(X, X) @ beta
    middle = (slope[~y].max() + slope[y].min()) / 2
    assert machine.intercept_[0] == pytest.approx(middle, abs=1e-9)
    if C == 2.0**-7 and rows_of_first != 11:  # every product is exact
        theirs = sklearn.svm.SVC(**options).fit(X, y)
        assert theirs.intercept_[0] == pytest.approx(middle, abs=1e-7)


@pytest.mark.parametrize(("kind", "tuned"), [(SVC, SVCCV), (SVR, SVRCV)])
def test_a_repeated_training_row_is_a_row_of_that_weight(kind, tuned):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(60, 2)), {"class_weight": "balanced"} if kind is SVC else {}
    y = X[:, 0] + rng.normal(size=60)
    y = y > 0.5 if kind is SVC else y
    train = rng.integers(0, 60, 60)
    test = np.setdiff1d(np.arange(60), train)
    search = tuned(Cs=[1.0], gammas=[0.5], cv=[(train, test)], refit=False, tol=1e-8, **weight)
    machine = kind(gamma=0.5, tol=1e-8, **weight)
    loop = machine.fit(X[train], y[train]).score(X[test], y[test])
    assert search.fit(X, y).cv_results_["split0_test_score"][0] == pytest.approx(loop, abs=1e-5)
    counts = np.bincount(train, minlength=60)
    once = machine.fit(X, y, counts) if kind is SVR else None
    assert once is None or once.score(X[test], y[test]) == pytest.approx(loop, abs=1e-5)
