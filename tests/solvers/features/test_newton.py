"""The solver on features: from few rows to all, in float64 or float32, kept or computed again."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_moons

import naive
from maxmargin.features.feature_gram import FeatureGram
from maxmargin.formulations import c_svc, epsilon_svr
from maxmargin.gram import DataMatrix
from maxmargin.losses import EpsilonInsensitive, Hinge
from maxmargin.problem import LinearProblem, Status
from maxmargin.solvers import FeatureNewton, LinearInteriorPoint
from maxmargin.solvers.features.newton import FEWEST, LEVEL, part
from problems import FEATURE_PROBLEMS, Squares

MANY = LEVEL * FEWEST + 500  # enough for a first solution of fewer rows
X, labels = make_moons(MANY, noise=0.3, random_state=0)
y = 2.0 * labels - 1
TARGET = np.sin(2 * X[:, 0]) + X[:, 1]
COST = np.full(MANY, 0.5)
Z = Squares().transform(X)
MACHINES = {
    "classifier": (c_svc(y, COST), LinearProblem(y, COST, Hinge())),
    "without offset": (
        c_svc(y, COST, fit_intercept=False),
        LinearProblem(y, COST, Hinge(), fit_intercept=False),
    ),
    "regressor": (
        epsilon_svr(TARGET, COST, 0.1),
        LinearProblem(TARGET, COST, EpsilonInsensitive(0.1)),
    ),
}
# Features in MB: all in float64, all in float32, some again and again.
BUDGETS = {"float64": 100.0, "float32": 4 * Z.size / 2**20 + 0.01, "some": 3 * Z.size / 2**20}


def assert_proven(problem, solution, rounding):
    """The values are those of w, b and β, by the definition."""
    assert np.all((problem.lower <= solution.beta) & (solution.beta <= problem.upper))
    if problem.n_groups:
        assert abs(solution.beta.sum()) <= 1e-12 * np.abs(solution.beta).sum()
    w, image = solution.coef, problem.on_rows(solution.beta) @ Z
    G = problem.on_variables(Z @ w) + problem.linear
    primal = naive.primal(problem, w @ w, G, solution.offsets)
    assert solution.values.primal == pytest.approx(primal, rel=rounding)
    dual = -problem.linear @ solution.beta - 0.5 * image @ image
    assert solution.values.dual == pytest.approx(dual, rel=rounding)
    np.testing.assert_allclose(solution.gradient, G, rtol=rounding, atol=rounding * np.abs(w).sum())


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("budget", BUDGETS)
def test_the_optimum_of_many_rows_is_that_of_the_linear_machine(name, budget, monkeypatch):
    monkeypatch.setattr("maxmargin.features.feature_gram.TILE_ENTRIES", 1000)
    problem, linear = MACHINES[name]
    best = LinearInteriorPoint(tol=1e-9).solve(linear, DataMatrix(Z)).values.primal
    gram = FeatureGram(X, Squares(), cache_size=BUDGETS[budget])
    assert (gram.dtype == np.float64) == (budget == "float64")
    assert (gram.resident < gram.n) == (budget == "some")
    solution = FeatureNewton(tol=1e-5).solve(problem, gram)
    assert solution.status is Status.CONVERGED
    rounding = 1e-10 if budget == "float64" else 1e-5
    assert_proven(problem, solution, rounding)
    assert solution.values.dual <= best * (1 + rounding)
    assert best <= solution.values.primal * (1 + rounding)
    assert solution.values.primal == pytest.approx(best, rel=1e-5 + rounding)
    assert (gram.evaluations > Z.size + Z.shape[1]) == (budget == "some")


@pytest.mark.parametrize("limit", [{"max_iter": 0}, {"max_iter": 2}, {"max_time": 1e-9}], ids=str)
@pytest.mark.parametrize("name", MACHINES)
def test_a_limit_leaves_what_was_learned(name, limit):
    problem, _ = MACHINES[name]
    gram = FeatureGram(X, Squares())
    solution = FeatureNewton(tol=1e-9, **limit).solve(problem, gram)
    expected = Status.OUT_OF_TIME if "max_time" in limit else Status.OUT_OF_ITERATIONS
    assert solution.status is expected
    assert solution.n_iter == limit.get("max_iter", 0)
    assert solution.values.gap > 0
    assert_proven(problem, solution, 1e-10)


@pytest.mark.parametrize("name", MACHINES)
def test_a_warm_start_ends_sooner_at_the_same_place(name):
    problem, _ = MACHINES[name]
    solver, gram = FeatureNewton(tol=1e-4), FeatureGram(X, Squares())
    rough = replace(solver, max_iter=6).solve(problem, gram)
    cold = solver.solve(problem, gram)
    warm = solver.solve(problem, gram, start=cold.beta + 1e-3 * (rough.beta - cold.beta))
    assert warm.status is cold.status is Status.CONVERGED
    assert warm.n_iter < cold.n_iter
    assert warm.values.primal == pytest.approx(cold.values.primal, rel=2e-4)


def test_an_infeasible_start_is_made_feasible():
    case = FEATURE_PROBLEMS["overlapping, on features"]
    problem = case.problem
    cold = FeatureNewton(tol=1e-9).solve(problem, case.matrix())
    start = np.random.default_rng(0).normal(size=problem.size)
    warm = FeatureNewton(tol=1e-9).solve(problem, case.matrix(), start=start)
    assert warm.status is Status.CONVERGED
    np.testing.assert_allclose(warm.coef, cold.coef, atol=1e-6)


@pytest.mark.parametrize("name", MACHINES)
def test_a_part_of_the_problem_is_that_of_some_rows(name):
    """Every variable of those rows and no other, in the order of the rows that are kept."""
    problem, _ = MACHINES[name]
    rows = np.array([2, 3, 70, 4000])
    some = part(problem, rows)
    whole = problem.row_of(np.arange(problem.size))
    expected = [i for i in range(problem.size) if whole[i] in set(rows)]
    np.testing.assert_array_equal(some.linear, problem.linear[expected])
    np.testing.assert_array_equal(some.upper, problem.upper[expected])
    np.testing.assert_array_equal(some.lower, problem.lower[expected])
    np.testing.assert_array_equal(rows[some.row_of(np.arange(some.size))], whole[expected])
