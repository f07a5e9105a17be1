"""scikit-learn's own examination of an estimator, for every public one: nothing left out."""

from collections import Counter

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.estimator_checks import check_estimator

import maxmargin
from maxmargin import (
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    KernelPerceptron,
    KernelRegressor,
    LearnedMetric,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    Nystroem,
    OneClassSVM,
    Perceptron,
    QuantileSVR,
    RandomFourierFeatures,
    TabularSVC,
    TabularSVR,
)

ESTIMATORS = [
    SVC(),
    SVC(kernel="precomputed"),
    SVC(approximation="rff"),
    SVC(approximation="nystroem"),
    SVR(),
    SVR(approximation="rff"),
    SVR(approximation="nystroem"),
    # The checks' own data have three classes of 10, 10 and 20 rows and worse: with ν = 0.5 a class
    # would have to hold more weight than it has rows, and NuSVC says so, as scikit-learn's does.
    NuSVC(nu=0.35),
    NuSVR(),
    QuantileSVR(),
    QuantileSVR(quantiles=0.9, noncrossing=True),
    OneClassSVM(),
    LinearSVC(),
    LinearSVC(penalty="l1"),
    LinearSVC(multi_class="crammer_singer"),
    LinearSVR(),
    KernelRegressor(),
    KernelRegressor(solver="sgd"),
    Perceptron(),
    KernelPerceptron(),
    RandomFourierFeatures(),
    Nystroem(),
    # One C: a check weighs a class with 1000 and another with 1e-4, and looks at predictions; among
    # several, the search would rightly choose the C that makes up for it.
    SVCCV(Cs=[1.0], gammas=2, cv=2),
    SVRCV(Cs=2, gammas=2, cv=2),
    LearnedMetric(),
    # Fewer pipelines to try, on fewer rows: the checks fit hundreds of times.
    TabularSVC(powers=[0.5], rounds=1, cv=2, search_rows=40),
    TabularSVR(powers=[0.5], rounds=1, cv=2, search_rows=40),
]


# Some checks deserve the warnings they get: one takes the mean off a Gram matrix, which makes it
# indefinite; one (check_classifiers_one_label_sample_weights) takes random numbers for a kernel
# matrix, which is not symmetric; one labels rows at random, and no direction parts the classes; one
# allows a few steps only.
@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("default:the kernel is indefinite")
@pytest.mark.filterwarnings("default:the precomputed kernel is not symmetric")
@pytest.mark.filterwarnings("default:there is no margin")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_every_check_passes(estimator):
    checks = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = [check for check in checks if check["status"] != "passed"]
    assert Counter(check["status"] for check in checks).keys() == {"passed"}, failed


@pytest.mark.small
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_defaults_are_valid(estimator):
    machine = type(estimator)()
    constraints = machine._parameter_constraints
    validate_parameter_constraints(constraints, machine.get_params(deep=False), str(machine))


class Careless(maxmargin.SVC):
    def __init__(self, C=-1.0):
        super().__init__(C=C)


@pytest.mark.small
def test_a_default_that_is_not_valid_is_refused_and_a_valid_value_is_not():
    X, y = [[0.0], [1.0]], [0, 1]
    with pytest.raises(ValueError, match="The 'C' parameter of Careless must be"):
        Careless().fit(X, y)
    assert Careless(C=1.0).fit(X, y).score(X, y) == 1


@pytest.mark.small
def test_every_public_estimator_is_examined():
    public = [getattr(maxmargin, name) for name in maxmargin.__all__]
    estimators = {
        each for each in public if isinstance(each, type) and issubclass(each, BaseEstimator)
    }
    assert {type(estimator) for estimator in ESTIMATORS} == estimators
