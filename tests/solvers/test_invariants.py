"""What holds for every solver at every moment of every solve."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linear_problems import KINDS, LinearCase
from maxmargin.formulations import c_svc, epsilon_svr, nu_svc, one_class
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.solvers import LINEAR_SOLVERS, SOLVERS, FeatureNewton
from problems import ALL, FEATURE_EXACT, LINEAR_EXACT, LINEAR_SIMPLE, Case, FeatureCase, takes
from truth import Truth


@st.composite
def dual_problems(draw, kind=Case):
    """A random problem of a random machine."""
    n = draw(st.integers(4, 14))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = random.normal(size=(n, 2))
    if draw(st.booleans()):
        X = np.round(X)  # duplicate rows
    y = np.where(np.arange(n) % 2, 1, -1)
    C = draw(st.sampled_from([1e-3, 1.0, 100.0]))
    bounds = C * random.choice([1.0, 0.5, 0.0], n, p=[0.8, 0.15, 0.05])
    bounds[:2] = C
    kernel = draw(st.sampled_from([Linear(), RBF(1.0), Polynomial(degree=2, gamma=1.0, coef0=1.0)]))
    machine = draw(st.sampled_from(["c-svc", "no offset", "svr", "nu-svc", "one-class"]))
    problem = {
        "c-svc": lambda: c_svc(y, bounds),
        "no offset": lambda: c_svc(y, bounds, fit_intercept=False),
        "svr": lambda: epsilon_svr(random.normal(size=n), bounds, 0.1),
        "nu-svc": lambda: nu_svc(y, np.full(n, C), 0.4, n * C),
        "one-class": lambda: one_class(np.full(n, C), 0.5),
    }[machine]()
    return kind(lambda: (problem, kernel, X))


linear_problems = st.builds(
    LinearCase,
    loss=st.sampled_from(list(KINDS)),
    fit_intercept=st.booleans(),
    cost=st.sampled_from([1e-3, 0.1, 10.0]),
    decades=st.sampled_from([0.0, 3.0]),
    shift=st.sampled_from([0.0, 5.0]),
    repeated=st.booleans(),
    csr=st.booleans(),
    rows=st.integers(2, 14),
    columns=st.integers(1, 6),
    seed=st.integers(0, 10**6),
)


def problems_for(key):
    if key in {**LINEAR_EXACT, **LINEAR_SIMPLE}:
        return linear_problems
    return dual_problems(FeatureCase if key in FEATURE_EXACT else Case)


@pytest.mark.parametrize("key", ALL)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_feasible_rising_and_proven(key, data):
    case = data.draw(problems_for(key))
    solver, truth, seen = replace(ALL[key], tol=1e-5, max_iter=3000), Truth.of(case), []
    if not takes(solver, case):
        return

    def observe(now):
        rounding = truth.rounding(now.beta)
        truth.assert_feasible(now.beta)
        assert now.objective == pytest.approx(truth.objective(now.beta), abs=rounding)
        assert now.gap >= -rounding - 1e-11 * abs(now.values.primal)
        seen.append((now.objective, rounding))

    solution = solver.solve(case.problem, case.matrix(), observe=observe)
    truth.assert_proven(solver, solution)
    # β on features follows a proximal step of w; an interior point follows the central path.
    if key not in FEATURE_EXACT and key != "interior-point":
        for (earlier, some), (later, more) in pairwise(seen):
            assert later >= earlier - some - more


def test_every_solver_is_tested():
    tested = {type(solver) for solver in ALL.values()}
    assert tested == {*SOLVERS.values(), *LINEAR_SOLVERS.values(), FeatureNewton}
