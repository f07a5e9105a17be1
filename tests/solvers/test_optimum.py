"""Every solver on every problem: the same optimum, the same certificate, or the true gap."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import make_moons

import naive
from maxmargin.certificate import Certificate
from maxmargin.formulations import c_svc
from maxmargin.gram import ON_DEMAND_ROWS, Gram
from maxmargin.kernels import RBF
from maxmargin.problem import Status
from maxmargin.solvers import SOLVERS, InteriorPoint
from maxmargin.solvers.polish import polish
from maxmargin.solvers.state import NEGLIGIBLE, exact_gradient
from problems import EXACT, PROBLEMS, SIMPLE, takes


@cache
def optimum(name):
    """The certificate of the interior point, polished to the last digits."""
    case, gram = PROBLEMS[name], PROBLEMS[name].gram()
    solution = InteriorPoint(tol=1e-5).solve(case.problem, gram)
    assert solution.status is Status.CONVERGED
    return Certificate.of(case.problem, polish(case.problem, gram, solution))


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("key", EXACT)
def test_solvers_with_a_guarantee_reach_the_optimum(key, name):
    solver, case = EXACT[key], PROBLEMS[name]
    problem = case.problem
    if not takes(solver, problem):
        with pytest.raises(ValueError, match=r"cannot take .*: use \w+SMO|use CoordinateDescent"):
            solver.solve(problem, case.gram())
        return
    proof = Certificate.of(problem, solver.solve(problem, case.gram()))
    assert proof.status is Status.CONVERGED
    assert proof.kkt_violation <= solver.tol
    assert proof.dual == pytest.approx(optimum(name).dual, rel=1e-6)
    assert proof.primal == pytest.approx(optimum(name).primal, rel=1e-6)


@pytest.mark.parametrize("name", [n for n, case in PROBLEMS.items() if case.easy])
@pytest.mark.parametrize("key", SIMPLE)
def test_simple_solvers_reach_the_optimum_of_easy_problems(key, name):
    case = PROBLEMS[name]
    proof = Certificate.of(case.problem, SIMPLE[key].solve(case.problem, case.gram()))
    assert proof.status is Status.CONVERGED
    assert proof.dual == pytest.approx(optimum(name).dual, rel=1e-6)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("key", SIMPLE)
def test_simple_solvers_report_their_true_gap(key, name):
    solver, case = SIMPLE[key], PROBLEMS[name]
    problem, gram = case.problem, case.gram()
    if not takes(solver, problem):
        with pytest.raises(ValueError, match=r"cannot take .*: use \w+"):
            solver.solve(problem, gram)
        return
    solution = solver.solve(problem, gram)
    proof = Certificate.of(problem, solution)
    everything = np.arange(gram.n)
    K = naive.on_variables(problem, gram.block(everything, everything))
    true = naive.violation(problem, K, solution.beta)
    assert proof.kkt_violation == pytest.approx(true, abs=1e-9 * np.abs(K).max())
    assert proof.dual == pytest.approx(-naive.objective(problem, K, solution.beta))
    assert (proof.status is Status.CONVERGED) == (true <= solver.tol)
    rounding = 1e-9 * abs(optimum(name).dual)
    assert proof.dual - rounding <= optimum(name).dual <= proof.primal + rounding


@pytest.mark.parametrize("key", [key for key in SOLVERS if SOLVERS[key].takes_groups != (0,)])
def test_beyond_the_whole_matrix_in_float32_first(key):
    """Entries are float32 where that is enough: then the certificate is true to a part of tol."""
    X, y = make_moons(ON_DEMAND_ROWS + 50, noise=0.25, random_state=0)
    problem, gram = c_svc(2 * y - 1, 1.0), Gram(RBF(2.0), X)
    assert gram.precision == np.float32
    solver = SOLVERS[key](tol=1e-3, max_iter=2_000 if key in SIMPLE else 20_000)
    solution = solver.solve(problem, gram)
    proof = Certificate.of(problem, solution)
    assert (proof.status is Status.CONVERGED) == (proof.kkt_violation <= 1e-3)
    if key not in SIMPLE:
        assert proof.status is Status.CONVERGED
        assert proof.relative_gap < 1e-4
    exact = replace(solution, gradient=exact_gradient(problem, gram, solution.beta))
    true = Certificate.of(problem, exact)
    assert true.kkt_violation == pytest.approx(proof.kkt_violation, abs=NEGLIGIBLE * solver.tol)
    slack = NEGLIGIBLE * solver.tol * np.abs(solution.beta).sum()
    assert true.dual == pytest.approx(proof.dual, abs=slack)
    assert true.primal == pytest.approx(proof.primal, abs=slack)
