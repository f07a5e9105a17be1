"""A solve as a table."""

import sys

import numpy as np
import pandas as pd
import pytest

import maxmargin
import naive
from maxmargin import trace
from maxmargin.certificate import Certificate
from maxmargin.solvers import BlockSMO, PlattSMO, RandomPairSMO, SecondOrderSMO
from problems import EXACT, PROBLEMS, SIMPLE, takes


def test_the_name_is_the_function():
    """Though a module of the package has the same name."""
    import maxmargin.trace

    assert callable(maxmargin.trace)


@pytest.mark.parametrize("key", [*EXACT, *SIMPLE])
def test_the_last_line_is_the_certificate(key):
    solver = {**EXACT, **SIMPLE}[key]
    name = "overlapping" if takes(solver, PROBLEMS["overlapping"].problem) else "no offset"
    case = PROBLEMS[name]
    table = trace(solver, case.problem, case.gram())
    solution = solver.solve(case.problem, case.gram())
    proof = Certificate.of(case.problem, solution)
    last = table.iloc[-1]
    assert isinstance(table, pd.DataFrame)
    assert last["objective"] == pytest.approx(proof.dual)
    assert last["gap"] == pytest.approx(proof.gap, abs=1e-9 * abs(proof.dual))
    assert last["steps"] == proof.n_iter


def test_accuracy_and_loss_are_those_of_the_model():
    case = PROBLEMS["overlapping"]
    problem, gram = case.problem, case.gram()
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
    """Its last sweep is the first that moved at most ε; there β is, and the gap is not zero."""
    case = PROBLEMS["overlapping"]
    table = trace(RandomPairSMO(tol=1e-9), case.problem, case.gram())
    assert (table["movement"].iloc[1:] > 1e-6).all()
    assert table["gap"].iloc[-1] > 1e-3


def test_steps_have_lines_of_their_own():
    case = PROBLEMS["overlapping"]
    table = trace(PlattSMO(), case.problem, case.gram(), every="step")
    assert table["steps"].tolist() == list(range(1, len(table) + 1))
    assert {"indices", "why", "unclipped", "clipped", "low", "high", "offset"} <= set(table)
    assert table["objective"].is_monotonic_increasing


@pytest.mark.parametrize("name", ["regressor", "nu regressor"])
def test_a_regressor_has_no_accuracy(name):
    case = PROBLEMS[name]
    assert trace(BlockSMO(), case.problem, case.gram())["accuracy"].isna().all()


@pytest.mark.parametrize("name", ["nu classifier", "novelty", "no offset", "weighted"])
def test_other_machines_have_one(name):
    case = PROBLEMS[name]
    assert trace(BlockSMO(), case.problem, case.gram())["accuracy"].between(0.5, 1).iloc[-1]


def test_without_pandas_it_says_what_to_do(monkeypatch):
    case = PROBLEMS["worked example"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        maxmargin.trace(BlockSMO(), case.problem, case.gram())
