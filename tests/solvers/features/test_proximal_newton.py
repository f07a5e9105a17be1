"""A proximal step is the minimum of ψ, and Newton's method goes down to it."""

from itertools import islice, pairwise

import numpy as np
import pytest

import naive
from maxmargin.gram import Gram
from maxmargin.kernels import Precomputed
from maxmargin.problem import DualProblem
from maxmargin.solvers import InteriorPoint
from maxmargin.solvers.features.proximal_newton import ProximalNewton
from problems import FEATURE_PROBLEMS, Squares

# With and without offset, a sum that is not zero, two variables on a row, more columns than rows.
NAMES = ["overlapping", "no offset", "weighted", "novelty", "regressor", "precomputed"]
CASES = {name: FEATURE_PROBLEMS[f"{name}, on features"] for name in NAMES}


def begun(case, seed=0, width=0.3):
    """Newton's method at a random point, from a random anchor of the box."""
    problem, gram = case.problem, case.matrix()
    random = np.random.default_rng(seed)
    anchor = problem.lower + random.uniform(size=problem.size) * (problem.upper - problem.lower)
    w = random.normal(size=gram.columns) / np.sqrt(gram.columns)
    b = float(random.normal()) if problem.n_groups else 0.0
    return ProximalNewton(problem, gram, w, b, width, anchor)


def psi(case, newton, w, b):
    Z = Squares().transform(case.make()[2])
    anchors = newton.anchor, newton.anchor_b, newton.one
    return naive.proximal(case.problem, Z, w, b, newton.delta, *anchors)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_that_of_finite_differences(name, seed):
    """∇ψ in w and b/κ."""
    case, h = CASES[name], 1e-5
    newton = begun(case, seed)
    newton.b += 0.1 * newton.one  # away from b⁰
    newton.update()
    directions = np.eye(len(newton.w))[:6]
    for k, step in enumerate(directions):
        rise = psi(case, newton, newton.w + h * step, newton.b)
        fall = psi(case, newton, newton.w - h * step, newton.b)
        assert newton.slope[k] == pytest.approx((rise - fall) / (2 * h), rel=1e-4, abs=1e-4)
    db = h * newton.one
    rise, fall = (psi(case, newton, newton.w, newton.b + step) for step in (db, -db))
    assert newton.slope[-1] == pytest.approx((rise - fall) / (2 * h), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_every_step_of_newtons_method_lowers_psi(name):
    case = CASES[name]
    newton = begun(case)
    values = [psi(case, newton, newton.w, newton.b)]
    for _ in range(12):
        newton.step()
        values.append(psi(case, newton, newton.w, newton.b))
    scale = 1e-12 * max(map(abs, values))
    assert all(later <= earlier + scale for earlier, later in pairwise(values))
    assert values[-1] < values[0]


@pytest.mark.parametrize("name", CASES)
def test_the_end_is_the_proximal_step_of_the_dual(name):
    """½βᵀK̂β + pᵀβ + ½δ‖β − β⁰‖² + b⁰(Σβ − d) + ½κ²(Σβ − d)² over the box, by interior point."""
    case = CASES[name]
    newton, problem = begun(case), case.problem
    for _ in range(100):
        newton.step()
    assert np.abs(newton.slope).max() <= 1e-8 * (1 + np.abs(newton.w).max())
    Z = problem.on_variables(Squares().transform(case.make()[2]))
    d = problem.sums[0] if problem.n_groups else 0.0
    K = Z @ Z.T + newton.delta * np.eye(problem.size) + newton.one**2
    linear = problem.linear - newton.delta * newton.anchor + newton.anchor_b - newton.one**2 * d
    step = DualProblem(linear, problem.lower, problem.upper, np.zeros(0))
    best = InteriorPoint(tol=1e-5).solve(step, Gram(Precomputed(), K)).beta
    np.testing.assert_allclose(newton.beta, best, atol=1e-5 * np.abs(best).max())


@pytest.mark.parametrize("name", CASES)
def test_what_is_kept_along_is_what_it_stands_for(name):
    """Zw, Zᵀβ, what Σβ lacks, and ẐᵀẐ of the free variables, after rows have come and gone."""
    case = CASES[name]
    newton, problem = begun(case), case.problem
    Z = Squares().transform(case.make()[2])
    free = np.zeros(0, int)
    for _ in range(6):
        inside = (problem.lower < newton.reach) & (newton.reach < problem.upper)
        free = problem.row_of(np.flatnonzero(inside))
        newton.step()
    np.testing.assert_allclose(newton.scores, Z @ newton.w, rtol=1e-9, atol=1e-9)
    on_variables = problem.on_variables(Z)
    np.testing.assert_allclose(newton.image, newton.beta @ on_variables, rtol=1e-9, atol=1e-9)
    assert np.all((problem.lower <= newton.beta) & (newton.beta <= problem.upper))
    if problem.n_groups:
        assert newton.excess == pytest.approx(newton.beta.sum() - problem.sums[0])
    if len(free) > len(newton.w):
        hat = np.column_stack([Z[free], np.full(len(free), newton.one)])
        lower = np.tril_indices(len(newton.slope))
        np.testing.assert_allclose(newton.matrix[lower], (hat.T @ hat)[lower], rtol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_the_linear_system_is_solved_either_way(name):
    """(δI + ẐᵀẐ) x = δ∇ψ for few rows, by Woodbury's identity, and for many."""
    case = CASES[name]
    newton = begun(case)
    Z = Squares().transform(case.make()[2])
    for count in (0, 1, 3, len(Z)):
        hat = np.column_stack([Z[:count], np.full(count, newton.one)])
        H = newton.delta * np.eye(len(newton.slope)) + hat.T @ hat
        expected = np.linalg.solve(H, newton.delta * newton.slope)
        np.testing.assert_allclose(newton._solve(np.arange(count)), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_rounds_close_the_gap_which_is_never_negative(name):
    case = CASES[name]
    newton = begun(case)
    gaps, dones = [], 0
    for done in islice(newton.rounds(), 60):
        gaps.append(newton.gap)
        dones += done
    assert min(gaps) >= -1e-12
    assert dones > 5
    assert gaps[-1] <= 1e-6


def test_without_an_offset_to_find_its_anchor_stays():
    newton = begun(CASES["overlapping"])
    b = newton.anchor_b
    for _ in islice(newton.rounds(offset=False), 30):
        assert newton.anchor_b == b
