"""A kernel that is not positive semidefinite has no bound, and no certificate claims one."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin import SVC, SVR, NuSVC, OneClassSVM
from maxmargin.certificate import Certificate, IndefiniteCertificate
from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import Linear
from maxmargin.solvers import SecondOrderSMO

X = np.random.default_rng(0).standard_normal((80, 3))
y = (np.sin(2 * X[:, 0]) + X[:, 1] > 0).astype(int)


def test_the_sigmoid_of_the_issue():
    data, labels = load_breast_cancer(return_X_y=True)
    data = StandardScaler().fit_transform(data)
    machine = SVC(kernel="sigmoid", gamma=1, coef0=-1)
    with pytest.warns(UserWarning, match="kernel is indefinite.*no bound") as caught:
        machine.fit(data, labels)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    shown = str(machine.certificate_)
    assert "stationary point of an indefinite kernel: ‖w‖² = -" in shown
    assert "gap" not in shown


KERNELS = {
    "negative definite": (lambda A, B: -A @ B.T, "‖w‖² = -"),
    "asymmetric": (lambda A, B: A @ B.T + A[:, :1], r"k\(x, z\) and k\(z, x\)"),
    "a difference": (lambda A, B: A @ B.T - 1.5 * A[:, :1] @ B[:, :1].T, "eigenvalue -"),
    "a distance": (lambda A, B: np.abs(A[:, :1] - B[:, :1].T), "eigenvalue -"),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("machine", [SVC(C=0.1), SVR(C=0.1), OneClassSVM()], ids=str)
def test_what_can_be_seen_for_nothing_is_said(machine, name):
    kernel, _ = KERNELS[name]
    machine = type(machine)(kernel=kernel, max_iter=2000)
    with pytest.warns(UserWarning, match="kernel is indefinite.*no bound") as caught:
        machine.fit(X, y)
    assert len([each for each in caught if "indefinite" in str(each.message)]) == 1
    assert isinstance(machine.certificate_, IndefiniteCertificate)


@pytest.mark.parametrize("name", ["negative definite", "asymmetric"])
def test_the_evidence_is_named(name):
    kernel, evidence = KERNELS[name]
    with pytest.warns(UserWarning, match=evidence):
        SVC(kernel=kernel, C=0.1, max_iter=2000).fit(X, y)


def test_a_fit_that_stopped_names_no_gap():
    kernel, _ = KERNELS["asymmetric"]
    with pytest.warns(match="indefinite|stopped") as caught:
        SVC(kernel=kernel, max_iter=5).fit(X, y)
    (message,) = [str(w.message) for w in caught if w.category is ConvergenceWarning]
    assert "there is no bound" in message
    assert "take a kernel that is symmetric and positive semidefinite, or raise max_iter" in message
    assert "the duality gap" not in message


def test_every_stage_of_a_fit_together_warns_once():
    with pytest.warns(UserWarning, match="indefinite") as caught:
        SVC(kernel="sigmoid", gamma=1, coef0=-1, probability=True, max_iter=500).fit(X, y)
    assert len([each for each in caught if "indefinite" in str(each.message)]) == 1


def test_rounding_of_float32_rows_is_no_evidence():
    rows = load_iris().data.astype(np.float32)
    machine = SVC(kernel=lambda A, B: A @ B.T).fit(rows, load_iris().target)
    assert type(machine.certificate_) is Certificate


@pytest.mark.parametrize("seed", range(4))
def test_rounding_of_a_vanishing_w_is_no_evidence(seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.standard_normal((50, 2)), rng.integers(0, 2, 50)
    for machine in (NuSVC(nu=0.5), OneClassSVM()):
        for options, given in [
            ({"kernel": lambda A, B: A @ B.T}, rows),
            ({"kernel": "precomputed"}, rows @ rows.T),
        ]:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "there is no margin")
                proof = machine.set_params(**options).fit(given, labels).certificate_
            assert type(proof) is Certificate


@pytest.mark.parametrize("kernel", ["linear", "rbf", lambda A, B: (A @ B.T + 1) ** 2])
def test_a_kernel_of_which_nothing_is_seen_has_its_bound(kernel):
    machine = SVC(kernel=kernel).fit(X, y)
    assert type(machine.certificate_) is Certificate


def test_it_is_kept_in_a_file(tmp_path):
    with pytest.warns(UserWarning, match="indefinite"):
        machine = SVC(kernel="sigmoid", gamma=1, coef0=-1, max_iter=500).fit(X, y)
    maxmargin.save(machine, tmp_path / "machine.mm")
    assert maxmargin.load(tmp_path / "machine.mm").certificate_ == machine.certificate_


@dataclass(frozen=True)
class LeavesTheBox(SecondOrderSMO):
    """A solver of the user's that forgets a bound."""

    def iterate(self, state):
        state.beta[:2] = [state.problem.upper[0] + 5, -state.problem.upper[0] - 5]
        state.steps += 1
        yield


def test_a_solver_that_leaves_the_box_is_an_error():
    with pytest.raises(ValueError, match=r"LeavesTheBox left the box: β_0 = .* clip each step"):
        SVC(solver=LeavesTheBox(), max_iter=1).fit(X, y)


def test_a_gap_of_rounding_errors_is_not_negative():
    problem, gram = c_svc(np.where(y > 0, 1.0, -1.0), 1.0), Gram(Linear(), X)
    solution = SecondOrderSMO().solve(problem, gram)
    values = solution.values._replace(primal=1.0, dual=1.0 + 1e-15)
    proof = Certificate.of(replace(solution, values=values))
    assert (proof.gap, proof.relative_gap) == (0.0, 0.0)


def manhattan(A, B):
    """−‖x − z‖₁: positive semidefinite where Σβ = 0, and indefinite elsewhere."""
    return -np.abs(A[:, None] - B).sum(axis=2)


@pytest.mark.parametrize("machine", [SVC(), SVC(C=100.0), SVR(), NuSVC(nu=0.3)], ids=str)
@pytest.mark.parametrize("given", [False, True])
def test_with_an_offset_only_vectors_of_sum_0_count(machine, given):
    """A conditionally positive definite kernel has an optimum, and its certificate a bound."""
    rows = manhattan(X, X) if given else X
    machine = type(machine)(**machine.get_params())
    machine.set_params(kernel="precomputed" if given else manhattan).fit(rows, y)
    assert type(machine.certificate_) is Certificate
    assert machine.certificate_.status.value == "converged"


def test_the_optimum_does_not_depend_on_what_an_offset_absorbs():
    """−‖x − z‖₁ and ‖x‖₁ + ‖z‖₁ − ‖x − z‖₁, which is positive semidefinite, have one optimum."""
    norms = np.abs(X).sum(axis=1)
    K = manhattan(X, X)
    found = [SVC(kernel="precomputed", tol=1e-9).fit(M, y) for M in (K, K + norms + norms[:, None])]
    assert found[0].certificate_.dual == pytest.approx(found[1].certificate_.primal, rel=1e-8)


@pytest.mark.parametrize("machine", [SVC(fit_intercept=False), OneClassSVM(nu=0.3)], ids=str)
def test_without_an_offset_all_vectors_count(machine):
    machine = type(machine)(**machine.get_params()).set_params(kernel=manhattan, max_iter=2000)
    with pytest.warns(UserWarning, match="kernel is indefinite"):
        machine.fit(X, y)
    assert isinstance(machine.certificate_, IndefiniteCertificate)


def test_a_large_matrix_is_tested_where_the_sum_is_0():
    rows = np.random.default_rng(1).standard_normal((400, 3))
    labels = rows[:, 0] > 0
    machine = SVC(kernel="precomputed").fit(manhattan(rows, rows), labels)
    assert type(machine.certificate_) is Certificate
