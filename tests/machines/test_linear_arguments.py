"""LinearSVC and LinearSVR take every argument of scikit-learn's, and mean what it means."""

import inspect
import io
import sys
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.preprocessing import scale

from maxmargin import SVC, LinearSVC, LinearSVR, l1_min_c
from maxmargin.machines.progress import GapBar
from maxmargin.problem import Ending, Status
from maxmargin.solvers import SGD

IRIS = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


@pytest.mark.small
@pytest.mark.parametrize("ours", [LinearSVC, LinearSVR])
def test_the_arguments_are_scikit_learns_and_then_ours(ours):
    theirs = inspect.signature(getattr(svm, ours.__name__)).parameters
    mine = inspect.signature(ours).parameters
    assert list(mine)[: len(theirs)] == list(theirs)
    for name, parameter in theirs.items():
        assert mine[name].kind is parameter.kind
        assert mine[name].default == parameter.default or name == "tol"
    assert ours(**getattr(svm, ours.__name__)().get_params()).get_params()["tol"] == 1e-4


def refusal(machine):
    """What is said of the arguments, or nothing."""
    try:
        machine.fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.small
@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("dual", [True, False, "auto"])
def test_a_combination_is_refused_in_scikit_learns_words(penalty, loss, dual):
    given = {"penalty": penalty, "loss": loss, "dual": dual}
    ours, theirs = refusal(LinearSVC(**given)), refusal(svm.LinearSVC(**given))
    if dual == "auto":  # theirs has chosen by the time it refuses
        ours, theirs = ours.partition(", Parameters")[0], theirs.partition(", Parameters")[0]
    assert ours == theirs


@pytest.mark.small
def test_the_regressor_refuses_what_scikit_learns_does():
    X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]
    for machine in (svm.LinearSVR, LinearSVR):
        with pytest.raises(
            ValueError, match=r"penalty='l2' and loss='epsilon_ins.*when dual=False"
        ):
            machine(dual=False).fit(X, y)
        machine(dual=False, loss="squared_epsilon_insensitive").fit(X, y)


def l1_value(machine, X, y, C):
    slack = np.maximum(0, 1 - np.where(y == 1, 1, -1) * (X @ machine.coef_[0] + machine.intercept_))
    return np.abs(machine.coef_).sum() + C * np.sum(slack**2)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_without_offset_the_l1_machine_is_liblinears(cancer, C):
    X, y = cancer
    given = {"penalty": "l1", "dual": False, "C": C, "fit_intercept": False}
    ours = LinearSVC(**given).fit(X, y)
    theirs = svm.LinearSVC(**given, tol=1e-9, max_iter=10**5, random_state=0).fit(X, y)
    assert ours.certificate_.primal == pytest.approx(l1_value(theirs, X, y, C), rel=1e-7)
    assert ours.certificate_.primal == pytest.approx(l1_value(ours, X, y, C), rel=1e-10)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_array_equal(ours.coef_ == 0, np.abs(theirs.coef_) < 1e-6)


def test_with_offset_it_is_the_limit_of_liblinears(cancer):
    """A large constant column has a small coefficient: LIBLINEAR's penalty on it vanishes."""
    X, y = cancer
    ours = LinearSVC("l1", C=0.1).fit(X, y)
    theirs = svm.LinearSVC(
        "l1", dual=False, C=0.1, intercept_scaling=1e4, tol=1e-8, max_iter=10**5, random_state=0
    ).fit(X, y)
    assert ours.certificate_.primal <= l1_value(theirs, X, y, 0.1) * (1 + 1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=5e-3)


def test_the_l1_machine_selects_columns_dense_or_sparse(cancer):
    X, y = cancer
    dense = SelectFromModel(LinearSVC(penalty="l1", dual=False, C=0.02)).fit(X, y)
    sparse = SelectFromModel(LinearSVC(penalty="l1", dual=False, C=0.02)).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(dense.get_support(), sparse.get_support())
    assert 0 < dense.get_support().sum() < X.shape[1] / 2
    assert not np.any(dense.estimator_.coef_[:, ~dense.get_support()])


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_l1_min_c_is_where_the_first_column_enters(fit_intercept):
    X, y = IRIS
    C = l1_min_c(X, y, fit_intercept=fit_intercept)
    below, above = (
        LinearSVC("l1", C=share * C, fit_intercept=fit_intercept).fit(X, y)
        for share in (0.999, 1.001)
    )
    assert not below.coef_.any()
    assert above.coef_.any()


@pytest.mark.small
def test_l1_min_c_is_scikit_learns_where_the_machines_are_the_same():
    X, y = IRIS
    for rows in (X, sp.csr_array(X)):
        ours = l1_min_c(rows, y, fit_intercept=False)
        assert ours == pytest.approx(svm.l1_min_c(rows, y, fit_intercept=False))
    assert l1_min_c(X, y, loss="log") == svm.l1_min_c(X, y, loss="log")
    with pytest.raises(ValueError, match="Ill-posed l1_min_c"):
        l1_min_c(np.zeros((4, 2)), [0, 1, 0, 1])


def crammer_singer_value(machine, X, y, C):
    f = X @ machine.coef_.T + machine.intercept_
    others = f + (machine.classes_ != y[:, None])
    slack = others.max(axis=1) - f[np.arange(len(y)), np.searchsorted(machine.classes_, y)]
    return 0.5 * np.sum(machine.coef_**2) + C * slack.sum()


def test_without_offsets_crammer_singer_is_liblinears():
    X, y = load_digits(return_X_y=True)
    X, C = X / 16, 0.1
    given = {"multi_class": "crammer_singer", "C": C, "fit_intercept": False}
    ours = LinearSVC(**given).fit(X, y)
    theirs = svm.LinearSVC(**given, tol=1e-6, max_iter=10**5, random_state=0).fit(X, y)
    best = crammer_singer_value(theirs, X, y, C)
    assert ours.certificate_.primal == pytest.approx(best, rel=2e-6)
    assert ours.certificate_.primal == pytest.approx(crammer_singer_value(ours, X, y, C), rel=1e-10)
    assert ours.certificate_.dual <= best * (1 + 1e-9)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-2)


def test_crammer_singer_of_two_classes_is_the_kernel_machine_with_twice_the_C(cancer):
    X, y = cancer
    ours = LinearSVC(multi_class="crammer_singer", C=0.05, tol=1e-8, max_iter=-1).fit(X, y)
    kernel = SVC(kernel="linear", C=0.1, tol=1e-8).fit(X, y)
    assert ours.coef_.shape == (1, X.shape[1])
    assert ours.intercept_.shape == (1,)
    np.testing.assert_allclose(ours.coef_, kernel.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, kernel.intercept_, atol=1e-2)
    assert 2 * ours.certificate_.primal == pytest.approx(kernel.certificate_.primal, rel=1e-6)


def test_crammer_singer_labels_may_be_words_and_rows_sparse():
    X, y = IRIS
    names = np.array(["a", "b", "c"])[y]
    dense = LinearSVC(multi_class="crammer_singer").fit(X, names)
    sparse = LinearSVC(multi_class="crammer_singer").fit(sp.csr_array(X), names)
    assert dense.coef_.shape == (3, 4)
    assert dense.intercept_.shape == (3,)
    assert dense.score(X, names) > 0.95
    assert dense.certificate_.primal == pytest.approx(sparse.certificate_.primal, rel=2e-6)


NEW = [LinearSVC("l1"), LinearSVC(multi_class="crammer_singer")]


@pytest.mark.parametrize("machine", NEW, ids=str)
def test_weights_are_repetitions_and_zero_is_absence(machine):
    X, y = IRIS
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = clone(machine).set_params(tol=1e-9, max_iter=-1).fit(X, y, sample_weight=times)
    repeated = clone(machine).set_params(tol=1e-9, max_iter=-1)
    repeated.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    primal = repeated.certificate_.primal
    assert weighted.certificate_.primal == pytest.approx(primal, rel=1e-8)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


@pytest.mark.parametrize("machine", NEW, ids=str)
def test_class_weights_multiply_C(machine):
    X, y = IRIS
    weight = np.array([1.0, 2.0, 0.5])
    by_class = clone(machine).set_params(class_weight=dict(enumerate(weight))).fit(X, y)
    by_row = clone(machine).fit(X, y, sample_weight=weight[y])
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)


@pytest.mark.small
def test_the_new_problems_have_their_own_solvers():
    X, y = IRIS
    for machine, solver in product(NEW, ("dual", "newton", "sgd", SGD())):
        with pytest.raises(ValueError, match="solver='auto' chooses the solver by the problem"):
            clone(machine).set_params(solver=solver).fit(X, y)
    with pytest.raises(AttributeError, match="needs penalty='l2' and multi_class='ovr'"):
        LinearSVC("l1", solver="sgd").partial_fit(X, y, classes=[0, 1, 2])


@pytest.mark.small
@pytest.mark.parametrize("machine", [LinearSVC(), LinearSVR()], ids=str)
def test_a_missing_partial_fit_says_what_has_it(machine):
    assert not hasattr(machine, "partial_fit")
    missing = f"This '{type(machine).__name__}' has no attribute 'partial_fit': partial_fit needs "
    with pytest.raises(AttributeError, match=f"{missing}solver='sgd', not 'auto'"):
        machine.partial_fit([[0.0], [1.0]], [0, 1])


def test_sgd_that_comes_no_closer_does_not_blame_rounding(cancer):
    with pytest.warns(ConvergenceWarning, match=r"stagnated.*take solver='auto'") as caught:
        LinearSVC(solver="sgd", tol=1e-9).fit(*cancer)
    assert "rounding" not in str(caught[0].message)


@pytest.mark.small
def test_an_interrupted_linear_machine_is_not_told_of_a_warm_start():
    assert "warm_start" not in LinearSVC()._solver().advice(Ending(Status.INTERRUPTED, ""))
    assert "warm_start" not in LinearSVC.__init__.__code__.co_varnames


@pytest.mark.parametrize(
    "machine",
    [
        *NEW,
        LinearSVC(),
        LinearSVC(loss="hinge"),
        LinearSVC(solver="dual"),
        LinearSVC(loss="hinge", solver="interior-point"),
        LinearSVC(solver="sgd", loss="hinge", C=0.05, tol=0.3),
        LinearSVR(C=0.1),
    ],
    ids=str,
)
def test_the_bar_of_a_converged_fit_ends_at_100_percent(machine, monkeypatch):
    bars = []

    class Remembered(GapBar):
        def __init__(self, *given):
            super().__init__(*given)
            bars.append(self)

    monkeypatch.setattr("maxmargin.machines.progress.GapBar", Remembered)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    machine = clone(machine).set_params(verbose=1).fit(scale(IRIS[0]), IRIS[1])
    assert machine.certificate_.status is Status.CONVERGED
    assert [task.percentage for task in bars[0]._bars.tasks] == [pytest.approx(100)]
