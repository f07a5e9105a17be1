"""Bad input never hangs, never crashes, never yields a silent wrong model: it is named."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from maxmargin import (
    SVC,
    SVR,
    KernelPerceptron,
    LinearSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Perceptron,
)
from maxmargin.formulations import nu_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Pairwise, Polynomial
from maxmargin.problem import Status
from maxmargin.solvers import SecondOrderSMO

pytestmark = pytest.mark.small

X, y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)
MACHINES = [SVC(), NuSVC(nu=0.4), SVR(), NuSVR(), OneClassSVM()]
SUPERVISED = MACHINES[:4]
every_machine = pytest.mark.parametrize("machine", MACHINES, ids=str)
every_supervised = pytest.mark.parametrize("machine", SUPERVISED, ids=str)


def with_value(value, row=7, column=2):
    broken = X.copy()
    broken[row, column] = value
    return broken


@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array, sp.csc_array, pd.DataFrame])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
@every_machine
def test_what_is_not_a_number_is_named_by_row_and_column(machine, value, word, form):
    broken = form(with_value(value))
    with pytest.raises(ValueError, match=rf"X contains {word}.*row 7, column 2"):
        machine.fit(broken, y)
    fitted = machine.fit(form(X), y)
    with pytest.raises(ValueError, match=rf"X contains {word}.*row 7, column 2"):
        fitted.predict(broken)


def test_a_missing_value_of_pandas_is_named_too():
    frame = pd.DataFrame(X, columns=list("abcd")).convert_dtypes()
    frame.iloc[7, 2] = pd.NA
    with pytest.raises(ValueError, match=r"X contains NaN.*row 7, column 2"):
        SVC().fit(frame, y)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
@every_supervised
def test_what_is_not_a_number_in_y_is_named_by_row(machine, value, word):
    target = y.astype(float)
    target[9] = value
    with pytest.raises(ValueError, match=rf"y contains {word} \(first at row 9\)"):
        machine.fit(X, target)


@pytest.mark.parametrize("machine", [SVC(), NuSVC()], ids=str)
def test_one_class(machine):
    with pytest.raises(ValueError, match=r"greater than one; got 1 class \('only'\)"):
        machine.fit(X, np.full(60, "only"))


@every_machine
def test_empty(machine):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        machine.fit(X[:0], y[:0])
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        machine.fit(X[:, :0], y)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        machine.fit(X, y).predict(X[:0])


@every_supervised
def test_lengths_that_differ(machine):
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[60, 59\]"):
        machine.fit(X, y[:59])


@every_machine
def test_weights_of_another_length(machine):
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(59,\), expected \(60,\)"):
        machine.fit(X, y, np.ones(59))


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
@pytest.mark.parametrize("machine", [*MACHINES, LinearSVC()], ids=str)
def test_a_weight_that_is_no_number_is_named_by_row(machine, value, word):
    weights = np.ones(60)
    weights[9] = value
    with pytest.raises(ValueError, match=rf"sample_weight contains {word} \(first at row 9\)"):
        machine.fit(X, y, weights)


@every_machine
def test_weights_that_are_all_zero(machine):
    with pytest.raises(ValueError, match=r"at least one non-zero|zero or negative weights"):
        machine.fit(X, y, np.zeros(60))
    with pytest.raises(ValueError, match="all samples have zero or negative weights"):
        machine.fit(X, y, -np.ones(60))


@pytest.mark.parametrize("machine", [SVC(), NuSVC(nu=0.4)], ids=str)
def test_weights_that_leave_one_class(machine):
    with pytest.raises(ValueError, match="positive weights belong to the same class"):
        machine.fit(X, y, y.astype(float))


@every_machine
def test_a_row_without_weight_is_absent(machine):
    weight = np.where(np.arange(60) < 5, 0.0, 1.0)
    machine.fit(X, y, weight)
    with_zeros = machine.predict(X)
    machine.fit(X[5:], y[5:])
    assert_allclose(with_zeros, machine.predict(X), atol=1e-3)


BAD_PARAMETERS = [
    *[{"C": C} for C in (0.0, -1.0, np.nan, "1")],
    *[{"gamma": gamma} for gamma in (-0.1, np.nan, np.inf, "wide")],
    *[{"tol": tol} for tol in (0.0, -1e-3)],
    *[{"nu": nu} for nu in (0.0, -0.1, 1.1)],
    *[{"degree": degree} for degree in (-1, 2.5)],
    {"epsilon": -0.1},
    {"coef0": np.inf},
    {"kernel": "gaussian"},
    {"cache_size": 0},
    {"max_iter": -2},
    {"max_time": 0.0},
    {"solver": "fastest"},
    {"multiclass": "one"},
    {"class_weight": "fair"},
    {"n_jobs": 0.5},
]


@pytest.mark.parametrize("bad", BAD_PARAMETERS, ids=str)
def test_parameters_out_of_range_are_named(bad):
    ((name, value),) = bad.items()
    for machine in MACHINES:
        if name in machine.get_params():
            broken = type(machine)(**bad)
            with pytest.raises(ValueError, match=f"The '{name}' parameter of"):
                broken.fit(X, y)
            assert broken.get_params()[name] is value  # the constructor keeps what it was given


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, None, 0.0])
def test_weights_of_classes_that_are_none_are_named(weight):
    first, *_ = np.unique(y).tolist()
    words = "same class" if weight == 0 else f"class_weight of class {first!r} is"
    for kind in (SVC, NuSVC, LinearSVC, Perceptron, KernelPerceptron):
        with pytest.raises(ValueError, match=words):
            kind(class_weight={first: weight}).fit(X, y)


def test_kernels_check_their_own_parameters():
    with pytest.raises(ValueError, match=r"gamma of RBF must be .* ≥ 0, got -1"):
        RBF(gamma=-1.0)
    with pytest.raises(ValueError, match=r"degree=2.5 must be a whole number"):
        Polynomial(degree=2.5)
    with pytest.raises(ValueError, match="factor must be positive and finite, got -1"):
        -1.0 * RBF()
    with pytest.raises(ValueError, match="n_jobs=0 has no meaning"):
        SVC(n_jobs=0).fit(X, y)


@every_machine
def test_not_fitted_yet(machine):
    with pytest.raises(NotFittedError):
        type(machine)().predict(X)


@every_machine
def test_another_number_of_columns(machine):
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4"):
        machine.fit(X, y).predict(X[:, :3])


# --- a user's kernel ---------------------------------------------------------------------


def test_a_user_kernel_of_the_wrong_shape():
    def total(A, B):
        return np.sum(A @ B.T, axis=1)

    with pytest.raises(ValueError, match=r"kernel 'total' .* must return shape \(1, 1\), got"):
        SVC(kernel=total).fit(X, y)


def test_a_user_kernel_that_is_not_finite():
    def root(A, B):
        with np.errstate(invalid="ignore"):
            return np.sqrt(A @ B.T)

    with pytest.raises(ValueError, match="kernel 'root' returned nan for rows"):
        SVC(kernel=root).fit(X, y)
    with pytest.raises(ValueError, match="returned nan for rows"):
        SVC(kernel=Pairwise(lambda x, z: np.sqrt(x @ z))).fit(X, y)


def test_a_user_kernel_of_objects_may_return_objects():
    of_numbers = SVC(kernel=lambda A, B: A @ B.T).fit(X, y).decision_function(X)
    machine = SVC(kernel=lambda A, B: A @ B.T).fit(X.astype(object), y)
    assert_allclose(machine.decision_function(X.astype(object)), of_numbers, rtol=1e-12)


# --- data that are hard to live with -----------------------------------------------------


@every_machine
def test_constant_features_do_no_harm(machine):
    padded = np.column_stack([np.full(60, 3.0), X, np.zeros(60)])
    machine.set_params(gamma=0.3).fit(X, y)
    expected = machine.predict(X)
    assert_allclose(machine.fit(padded, y).predict(padded), expected, atol=1e-6)
    machine.set_params(gamma="scale")


@pytest.mark.parametrize("machine", [SVC(), SVR(), NuSVR(), OneClassSVM()], ids=str)
def test_nothing_but_constant_features(machine):
    machine.fit(np.ones((60, 2)), y)
    assert machine.certificate_.status is Status.CONVERGED
    assert len(np.unique(machine.predict(np.ones((5, 2))))) == 1


def test_where_nothing_parts_the_classes_nu_says_so():
    with pytest.warns(UserWarning, match=r"no margin at nu=0.4.*raise nu if the classes overlap"):
        machine = NuSVC(nu=0.4).fit(np.ones((60, 2)), y)
    assert np.all(np.isfinite(machine.decision_function(np.ones((5, 2)))))


def test_several_pairs_without_margin_are_one_warning(recwarn):
    NuSVC(nu=0.3).fit(np.ones((60, 2)), np.arange(60) % 3)
    assert [str(each.message)[:53] for each in recwarn] == [
        "there is no margin at nu=0.3 in 3 of 3 problems: ρ = "
    ]


def test_a_margin_that_vanishes_while_a_share_of_it_is_aimed_at_has_converged():
    problem = nu_svc(2.0 * y - 1, np.ones(60), 0.4, 60)
    solution = SecondOrderSMO().solve(problem, Gram(RBF(1.0), 0 * X))
    for status in (Status.OUT_OF_ITERATIONS, Status.OUT_OF_TIME):
        ended = NuSVC()._settled(replace(solution, status=status), none=1e-12)
        assert (ended.status is Status.CONVERGED) == (status is Status.OUT_OF_ITERATIONS)


@every_machine
def test_duplicated_rows(machine):
    twice, labels = np.vstack([X, X, X[:10]]), np.concatenate([y, y, 1 - y[:10]])
    machine.fit(twice, labels)
    assert machine.certificate_.status is Status.CONVERGED
    assert machine.certificate_.relative_gap < 1e-3


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "laplacian"])
@pytest.mark.parametrize("size", [1e8, 1e20])
@every_machine
def test_huge_values_end_with_a_reason(machine, size, kernel, recwarn):
    machine = type(machine)(kernel=kernel, max_iter=20_000)
    if isinstance(machine, NuSVC):
        machine.set_params(nu=0.4)
    machine.fit(size * X, y)
    proof = machine.certificate_
    reasons = {warning.category for warning in recwarn}
    if proof.status is Status.CONVERGED:
        assert proof.kkt_violation <= machine.tol
    else:
        assert ConvergenceWarning in reasons
    assert reasons <= {ConvergenceWarning, UserWarning}
    assert np.all(np.isfinite(machine.predict(size * X)))


@pytest.mark.filterwarnings("ignore:the kernel is indefinite")  # the sigmoid
@pytest.mark.filterwarnings("ignore:there is no margin")
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "laplacian"])
@every_machine
def test_values_without_kernel_are_refused(machine, kernel):
    broken = with_value(1e160)
    machine = type(machine)(kernel=kernel)
    with pytest.raises(ValueError, match="row 7 of X is too large: its squared norm overflows"):
        machine.fit(broken, y)
    fitted = machine.fit(X, y)
    with pytest.raises(ValueError, match="row 7 of X is too large"):
        fitted.predict(broken)
    with pytest.raises(ValueError, match="overflows float32"):
        fitted.predict(with_value(1e20).astype(np.float32))


def test_a_power_that_overflows_is_refused():
    with pytest.raises(ValueError, match=r"kernel of row 7 with itself is inf.*degree"):
        SVC(kernel="poly", gamma=1.0).fit(with_value(1e60), y)


@pytest.mark.parametrize("classes", [(7, 3), (40, 2), (1, 2), (29, 31)])
def test_an_infeasible_nu_names_the_largest_feasible(classes):
    labels = np.repeat([0, 1], classes)
    rows = np.random.default_rng(0).normal(size=(len(labels), 2)) + labels[:, None]
    with pytest.raises(ValueError, match=r"specified nu is infeasible: nu=0.99") as caught:
        NuSVC(nu=0.99).fit(rows, labels)
    largest = float(re.search(r"enough for nu=([\d.e-]+) at most", str(caught.value))[1])
    assert_allclose(largest, 2 * min(classes) / sum(classes))
    NuSVC(nu=largest).fit(rows, labels)
