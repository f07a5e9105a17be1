"""Every solver on every problem: the same optimum, the same certificate, or the true gap."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_moons

from maxmargin.certificate import Certificate
from maxmargin.formulations import c_svc
from maxmargin.gram.matrix import HELD_ROWS, Gram
from maxmargin.kernels import RBF
from maxmargin.problem import Status
from maxmargin.solvers import SOLVERS, Criterion
from maxmargin.solvers.qp.state import exact_gradient
from problems import ALL_EXACT, ALL_SIMPLE, CASES, SIMPLE, pairs, takes
from truth import optimum, truth_of


def assert_between(name, values):
    rounding = 1e-9 * abs(optimum(name))
    assert values.dual - rounding <= optimum(name) <= values.primal + rounding


def assert_refused(solver, case):
    with pytest.raises(ValueError, match=r"cannot take .*: use \w+|needs a loss .* take solver="):
        solver.solve(case.problem, case.matrix())


@pytest.mark.parametrize(("key", "name"), pairs(ALL_EXACT))
def test_solvers_with_a_guarantee_reach_the_optimum(key, name):
    solver, case = ALL_EXACT[key], CASES[name]
    if not takes(solver, case):
        assert_refused(solver, case)
        return
    solution = solver.solve(case.problem, case.matrix())
    assert solution.status is Status.CONVERGED
    truth_of(name).assert_proven(solver, solution)
    assert_between(name, solution.values)
    assert solution.values.dual == pytest.approx(optimum(name), rel=1e-6)
    assert solution.values.primal == pytest.approx(optimum(name), rel=1e-6)


@pytest.mark.parametrize(("key", "name"), pairs(ALL_SIMPLE))
def test_simple_solvers_report_their_true_gap_and_end_easy_problems(key, name):
    solver, case = ALL_SIMPLE[key], CASES[name]
    if not takes(solver, case):
        assert_refused(solver, case)
        return
    solution = solver.solve(case.problem, case.matrix())
    truth_of(name).assert_proven(solver, solution)
    assert_between(name, solution.values)
    if case.easy:
        assert solution.status is Status.CONVERGED
        within = solver.tol if solver.criterion is Criterion.GAP else 1e-6
        assert solution.values.dual == pytest.approx(optimum(name), rel=within)


@pytest.mark.parametrize("key", [key for key in SOLVERS if SOLVERS[key].takes_groups != (0,)])
def test_the_proof_is_of_float64_where_steps_are_of_float32(key):
    """Whatever entries steps were chosen by: the values are those of float64 entries."""
    X, y = make_moons(HELD_ROWS + 1200, noise=0.25, random_state=0)
    problem, gram = c_svc(2 * y - 1, 1.0), Gram(RBF(2.0), X)
    assert gram.precision == np.float32
    solver = SOLVERS[key](tol=1e-3, max_iter=2_000 if key in SIMPLE else 20_000)
    solution = solver.solve(problem, gram)
    proof = Certificate.of(solution)
    assert (proof.status is Status.CONVERGED) == (proof.kkt_violation <= 1e-3)
    if key not in SIMPLE:
        assert proof.status is Status.CONVERGED
        assert proof.relative_gap < 1e-4
    gradient = exact_gradient(problem, gram, solution.beta)
    values = problem.values(solution.beta, gradient)
    true = Certificate.of(replace(solution, gradient=gradient, values=values))
    assert true.kkt_violation == pytest.approx(proof.kkt_violation, abs=1e-12)
    assert true.dual == pytest.approx(proof.dual, rel=1e-12)
    assert true.primal == pytest.approx(proof.primal, rel=1e-12)


@pytest.mark.parametrize(("C", "tol"), [(1.0, 1e-3), (100.0, 1e-3), (1e5, 1e-3), (1.0, 1e-10)])
def test_a_small_proof_is_of_float64_whatever_steps_were_chosen_by(C, tol):
    """Steps by float32 entries, where C and tol allow: the values are exact all the same."""
    X, y = make_moons(HELD_ROWS - 12, noise=0.25, random_state=0)
    problem, gram = c_svc(2 * y - 1, C), Gram(RBF(2.0), X)
    solution = SOLVERS["block"](tol=tol).solve(problem, gram)
    assert solution.status is Status.CONVERGED
    exact = problem.values(solution.beta, exact_gradient(problem, gram, solution.beta))
    assert solution.values.dual == pytest.approx(exact.dual, rel=1e-11)
    assert solution.values.primal == pytest.approx(exact.primal, rel=1e-11)
    assert solution.values.violation == pytest.approx(exact.violation, abs=1e-13 * C)


@pytest.mark.small
@pytest.mark.parametrize(("n", "C"), [(10, 1e6), (100, 1.0), (50, 1e12)])
def test_the_sum_of_a_feasible_point_may_be_off_by_rounding_only(n, C):
    """A step across a box of width C rounds β by up to ε C, however small β is in the end."""
    rng, signs = np.random.default_rng(0), np.where(np.arange(n) % 2, 1.0, -1.0)
    problem, beta = c_svc(signs, C), np.zeros(n)
    rising, falling = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
    for _ in range(20 * n):
        i, j = rng.choice(rising), rng.choice(falling)
        t = rng.uniform(-min(beta[i], -beta[j]), min(C - beta[i], C + beta[j]))
        beta[i], beta[j] = min(max(beta[i] + t, 0), C), max(min(beta[j] - t, 0), -C)
    problem.check_feasible(beta, "rounded steps")
    wrong = np.zeros(n)
    wrong[rising[0]] = 1e-12 * n * C
    with pytest.raises(ValueError, match="changed a sum that is fixed"):
        problem.check_feasible(wrong, "a wrong step")
