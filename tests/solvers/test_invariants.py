"""What holds for every solver at every moment of every solve."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.certificate import Certificate
from maxmargin.formulations import c_svc, epsilon_svr, nu_svc, one_class
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.solvers import SOLVERS
from problems import EXACT, SIMPLE, takes


@st.composite
def dual_problems(draw):
    """A random problem of a random machine, its Gram matrix, and the largest bound."""
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
    return problem, Gram(kernel, X), C


@pytest.mark.parametrize("key", [*EXACT, *SIMPLE])
@settings(max_examples=25, deadline=None)
@given(case=dual_problems())
def test_feasible_rising_and_certified(key, case):
    solver = {**EXACT, **SIMPLE}[key]
    problem, gram, C = case
    if not takes(solver, problem):
        return
    seen = []

    def observe(now):
        beta = now.state.beta
        assert np.all((problem.lower <= beta) & (beta <= problem.upper))
        for g, total in enumerate(problem.sums):
            assert abs(beta[problem.group == g].sum() - total) <= 1e-12 * C
        seen.append(now.objective)
        scale = abs(now.objective) + abs(now.gap)
        assert now.gap >= -1e-9 * scale

    solution = replace(solver, tol=1e-5, max_iter=3000).solve(problem, gram, observe=observe)
    assert all(later >= earlier - 1e-9 * abs(later) for earlier, later in pairwise(seen))
    proof = Certificate.of(problem, solution)
    assert proof.gap >= -1e-9 * (abs(proof.primal) + abs(proof.dual))
    assert (proof.status.value == "converged") == (proof.kkt_violation <= 1e-5)


def test_every_solver_is_tested():
    assert set(SOLVERS) <= {*EXACT, *SIMPLE}
