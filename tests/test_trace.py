"""A solve as a table."""

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

import maxmargin
import naive
from maxmargin import trace
from maxmargin.certificate import Certificate
from maxmargin.solvers import BlockSMO, PlattSMO, RandomPairSMO, SecondOrderSMO
from problems import ALL, EXACT, PROBLEMS, SIMPLE, ordinary


@pytest.mark.parametrize("key", [*EXACT, *SIMPLE])
def test_the_last_line_is_the_certificate(key):
    solver, case = ALL[key], ordinary(key)
    table = trace(solver, case.problem, case.matrix())
    solution = solver.solve(case.problem, case.matrix())
    proof = Certificate.of(solution)
    last = table.iloc[-1]
    assert isinstance(table, pd.DataFrame)
    assert last["objective"] == pytest.approx(proof.dual)
    assert last["gap"] == pytest.approx(proof.gap, abs=1e-9 * abs(proof.dual))
    assert last["steps"] == proof.n_iter


def test_accuracy_and_loss_are_those_of_the_model():
    case = PROBLEMS["overlapping"]
    problem, gram = case.problem, case.matrix()
    y = -problem.linear
    table = trace(SecondOrderSMO(), problem, gram)
    solution = SecondOrderSMO().solve(problem, gram)
    K = gram.block(np.arange(gram.n), np.arange(gram.n))
    decision = K @ solution.beta + solution.offsets[0]
    assert table["accuracy"].iloc[-1] == np.mean(np.sign(decision) == y)
    assert table["loss"].iloc[-1] == pytest.approx(np.maximum(0, 1 - y * decision).sum())
    primal = naive.hinge_primal(K, y, solution.beta, solution.offsets[0], np.ones(len(y)))
    assert table["objective"].iloc[-1] + table["gap"].iloc[-1] == pytest.approx(primal)


def test_movement_is_the_reviews_criterion():
    """It never falls to ε, for b goes to and fro; the gap falls all the same."""
    case = PROBLEMS["overlapping"]
    table = trace(RandomPairSMO(tol=1e-9, sweeps=200), case.problem, case.matrix())
    assert (table["movement"].iloc[1:] > 1.0).all()
    assert table["gap"].iloc[-1] < 1e-2 * table["gap"].iloc[1]


def test_a_solver_may_be_given_by_its_name():
    case = PROBLEMS["overlapping"]
    by_name = trace("platt", case.problem, case.matrix())
    by_object = trace(PlattSMO(), case.problem, case.matrix())
    columns = ["steps", "gap", "movement", "kernel_evaluations"]
    assert by_name[columns].equals(by_object[columns])
    with pytest.raises(ValueError, match="there is no solver 'plat'; there are block, "):
        trace("plat", case.problem, case.matrix())


@pytest.mark.parametrize("every", ["iteration", "step"])
def test_a_machine_is_traced_as_it_is_fitted(every):
    X, y = load_iris(return_X_y=True)
    machine = maxmargin.SVC(solver="platt")
    table = trace(machine, X, y, every=every)
    assert not hasattr(machine, "certificate_")  # a copy was fitted
    ends = table.groupby("problem").tail(1)
    proofs = machine.fit(X, y).certificates_
    assert ends["steps"].tolist() == [proof.n_iter for proof in proofs]
    if every == "iteration":
        assert_allclose(ends["objective"], [proof.dual for proof in proofs])


@pytest.mark.parametrize("machine", [maxmargin.NuSVC(nu=0.2), maxmargin.OneClassSVM()])
def test_a_problem_solved_in_several_goes_has_one_number(machine):
    X, y = load_iris(return_X_y=True)
    table = trace(machine, X, y)
    assert table["problem"].nunique() == len(machine.fit(X, y).certificates_)


def test_machines_that_no_dual_solver_trains_are_refused():
    X, y = load_iris(return_X_y=True)
    for machine in (maxmargin.LinearSVC(), maxmargin.SVC(approximation="rff")):
        with pytest.raises(TypeError, match="trace watches the solvers of the dual problem"):
            trace(machine, X, y)


def test_steps_have_lines_of_their_own():
    case = PROBLEMS["overlapping"]
    table = trace(PlattSMO(), case.problem, case.matrix(), every="step")
    assert table["steps"].tolist() == list(range(1, len(table) + 1))
    assert {"indices", "why", "unclipped", "clipped", "low", "high", "offset"} <= set(table)
    assert table["objective"].is_monotonic_increasing


@pytest.mark.parametrize("name", ["regressor", "nu regressor"])
def test_a_regressor_has_no_accuracy(name):
    case = PROBLEMS[name]
    assert trace(BlockSMO(), case.problem, case.matrix())["accuracy"].isna().all()


@pytest.mark.parametrize("name", ["nu classifier", "novelty", "no offset", "weighted"])
def test_other_machines_have_one(name):
    case = PROBLEMS[name]
    assert trace(BlockSMO(), case.problem, case.matrix())["accuracy"].between(0.5, 1).iloc[-1]


def test_without_pandas_it_says_what_to_do(monkeypatch):
    case = PROBLEMS["worked example"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        maxmargin.trace(BlockSMO(), case.problem, case.matrix())
