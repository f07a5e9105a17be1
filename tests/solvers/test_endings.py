"""A status never lies: it is computed from where β is, whatever rule ended the solver."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from maxmargin import SVC
from maxmargin.certificate import Certificate
from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import Linear
from maxmargin.problem import DualProblem, Status
from maxmargin.solvers import (
    SOLVERS,
    Chunking,
    CoordinateDescent,
    Decomposition,
    InteriorPoint,
    PlattSMO,
    RandomPairSMO,
    SecondOrderSMO,
    SimplifiedSMO,
)
from problems import EXACT, PROBLEMS, SIMPLE, takes

OVERLAPPING = PROBLEMS["overlapping"]


def solve(solver, **options):
    problem = OVERLAPPING.problem
    solution = solver.solve(problem, OVERLAPPING.gram(), **options)
    return solution, Certificate.of(problem, solution)


def test_too_few_passes_end_out_of_iterations():
    solution, proof = solve(SimplifiedSMO(tol=1e-6, max_passes=1))
    assert solution.status is Status.OUT_OF_ITERATIONS
    assert solution.why == "1 sweeps found no j that moves"
    assert proof.kkt_violation > 1e-6


def test_little_movement_is_not_convergence():
    """The review's criterion: a sweep that hardly moved says nothing about optimality."""
    solution, proof = solve(RandomPairSMO(tol=1e-6))
    assert solution.status is Status.STAGNATED
    assert solution.why.startswith("a sweep moved")
    assert proof.relative_gap > 1e-4


def test_sweeps_run_out():
    solution, _ = solve(RandomPairSMO(sweeps=2))
    assert (solution.status, solution.why) == (Status.OUT_OF_ITERATIONS, "2 sweeps made")


@pytest.mark.parametrize("key", [*EXACT, *SIMPLE])
def test_limits_hold_and_leave_a_feasible_point(key):
    solver = {**EXACT, **SIMPLE}[key]
    case = PROBLEMS["overlapping" if 1 in solver.takes_groups else "no offset"]
    problem = case.problem
    for limit, status in (
        ({"max_iter": 3}, Status.OUT_OF_ITERATIONS),
        ({"max_time": 1e-9}, Status.OUT_OF_TIME),
    ):
        solution = replace(solver, tol=1e-9, **limit).solve(problem, case.gram())
        assert solution.status is status
        assert np.all((problem.lower <= solution.beta) & (solution.beta <= problem.upper))
        assert np.abs(solution.beta.sum() * problem.n_groups) < 1e-12


@pytest.mark.parametrize("key", ["second-order", "platt", "simplified", "random-pair"])
def test_solvers_of_single_steps_stop_at_the_very_step(key):
    solution, _ = solve(replace({**EXACT, **SIMPLE}[key], max_iter=7))
    assert solution.n_iter == 7


@pytest.mark.parametrize("key", [*EXACT, *SIMPLE])
def test_a_solved_problem_is_solved_at_once(key):
    solver = replace({**EXACT, **SIMPLE}[key], tol=1e-3)
    case = PROBLEMS["overlapping" if takes(solver, OVERLAPPING.problem) else "no offset"]
    start = SecondOrderSMO(tol=1e-6).solve(case.problem, case.gram()).beta
    solution = solver.solve(case.problem, case.gram(), start=start)
    assert (solution.status, solution.n_iter) == (Status.CONVERGED, 0)


@pytest.mark.parametrize("key", [*EXACT, *SIMPLE])
def test_ctrl_c_keeps_what_there_is(key):
    solver = replace({**EXACT, **SIMPLE}[key], tol=1e-9)
    case = PROBLEMS["overlapping" if takes(solver, OVERLAPPING.problem) else "no offset"]

    def press(now):
        if now.steps:
            raise KeyboardInterrupt

    solution = solver.solve(case.problem, case.gram(), observe=press)
    assert (solution.status, solution.why) == (Status.INTERRUPTED, "asked to stop")
    assert solution.beta.any()


@pytest.mark.parametrize("outer", [Chunking, Decomposition])
def test_ctrl_c_inside_the_inner_solver_ends_the_outer_one(outer, monkeypatch):
    def interrupted(self, state):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(SecondOrderSMO, "iterate", interrupted)
    assert solve(outer())[0].status is Status.INTERRUPTED


@pytest.mark.parametrize("outer", [Chunking, Decomposition])
def test_the_inner_solver_has_only_the_time_that_is_left(outer):
    case = PROBLEMS["large C"]
    solver = outer(tol=1e-12, max_time=0.05, inner=SimplifiedSMO(max_passes=10**9))
    assert solver.solve(case.problem, case.gram()).status is Status.OUT_OF_TIME


def test_what_a_solver_cannot_take_is_refused_at_once_with_one_that_can():
    X = np.zeros((4, 1))
    y = np.array([-1, -1, 1, 1])
    gram = Gram(Linear(), X)
    two = DualProblem(
        -y.astype(float), -np.ones(4), np.ones(4), np.zeros(2), group=np.array([0, 0, 1, 1])
    )
    with pytest.raises(ValueError, match=r"PlattSMO cannot .* two sum .*ν machine.*use BlockSMO"):
        PlattSMO().solve(two, gram)
    none = c_svc(y, 1.0, fit_intercept=False)
    with pytest.raises(ValueError, match=r"SimplifiedSMO .* no sum .*use CoordinateDescent"):
        SimplifiedSMO().solve(none, gram)
    with pytest.raises(ValueError, match=r"RandomPairSMO cannot take C = ∞ .*use BlockSMO"):
        RandomPairSMO().solve(c_svc(y, np.inf), gram)
    with pytest.raises(ValueError, match=r"CoordinateDescent .* sum constraint .*use BlockSMO"):
        CoordinateDescent().solve(c_svc(y, 1.0), gram)
    with pytest.raises(ValueError, match=r"InteriorPoint\(largest=3\) cannot take 4 .*use Block"):
        InteriorPoint(largest=3).solve(c_svc(y, 1.0), gram)
    with pytest.raises(ValueError, match=r"PlattSMO cannot take .* two sum"):
        Chunking(inner=PlattSMO()).solve(two, gram)
    with pytest.raises(ValueError, match="4 variables but the Gram matrix 3 rows"):
        SecondOrderSMO().solve(c_svc(y, 1.0), Gram(Linear(), X[:3]))


@pytest.mark.parametrize(
    ("solver", "option"),
    [
        (SimplifiedSMO, {"max_passes": 0}),
        (RandomPairSMO, {"sweeps": 0}),
        (RandomPairSMO, {"max_passes": 0}),
        (Chunking, {"violators": 0}),
        (Decomposition, {"size": 3}),
        (InteriorPoint, {"largest": 0}),
    ],
)
def test_senseless_options_are_refused(solver, option):
    with pytest.raises(ValueError, match=f"{solver.__name__}: {next(iter(option))} must be"):
        solver(**option)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "piqp", None)
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[qp\]'"):
        solve(InteriorPoint())


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_is_selectable_by_name_and_as_an_object(name):
    X = np.array([[0.0], [1.0], [3.0], [4.0]])
    y = np.array([0, 0, 1, 1])
    offset = name != "coordinate-descent"
    by_name, by_object = (
        SVC(C=5.0, kernel="linear", solver=solver, fit_intercept=offset).fit(X - 2, y)
        for solver in (name, SOLVERS[name]())
    )
    assert by_name.score(X - 2, y) == 1.0
    np.testing.assert_array_equal(by_name.dual_coef_, by_object.dual_coef_)
