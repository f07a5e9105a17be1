"""The interior point, step by step: each of its parts keeps the promise of its name."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from maxmargin import trace
from maxmargin.problem import Status
from maxmargin.solvers import DualState, InteriorPoint
from maxmargin.solvers.textbook.interior_point import (
    SMALLER,
    Iterate,
    barrier,
    newton_step,
    program,
    start,
    step_length,
)
from problems import PROBLEMS

NAMES = ["overlapping", "large C", "regressor", "nu classifier", "no offset", "hard margin"]


def points(name, count):
    """The program of a problem, and its first points with the step from each and its length."""
    case = PROBLEMS[name]
    state = DualState(case.problem, case.matrix(), None)
    qp = program(state)
    point = start(state.problem, qp)
    for _ in range(count):
        μ = barrier(qp, point)
        step = newton_step(qp, point, μ)
        t = step_length(qp, point, step)
        yield qp, point, μ, step, t
        point = Iterate(*(now + t * change for now, change in zip(point, step, strict=True)))


@pytest.mark.parametrize("name", NAMES)
def test_the_newton_step_solves_the_linearised_conditions(name):
    for (K, p, A, d, l, u), (β, b, v, w), μ, (Δβ, Δb, Δv, Δw), _ in points(name, 5):
        scale = np.abs(K @ Δβ).max() + np.abs(v).max() + np.abs(w).max()
        force = K @ (β + Δβ) + p + (b + Δb) @ A - (v + Δv) + (w + Δw)
        assert_allclose(force, 0, atol=1e-7 * scale)
        assert_allclose(A @ (β + Δβ), d, atol=1e-7 * np.abs(β).sum())
        for multiplier, change, room, move in ((v, Δv, β - l, Δβ), (w, Δw, u - β, -Δβ)):
            has = room < np.inf
            products = (multiplier * move)[has] + (multiplier + change)[has] * room[has]
            assert_allclose(products, μ, rtol=1e-6, atol=1e-6 * μ)


def inside(qp, point, step, t):
    """Whether t times the step leaves β inside the box and the multipliers positive."""
    β, _, v, w = (now + t * change for now, change in zip(point, step, strict=True))
    rooms = β - qp.l, qp.u - β, v[qp.l > -np.inf], w[qp.u < np.inf]
    return all((room > 0).all() for room in rooms)


@pytest.mark.parametrize("name", NAMES)
def test_the_step_length_is_the_longest_that_stays_inside(name):
    for qp, point, _, step, t in points(name, 8):
        assert 0 < t <= 1
        assert inside(qp, point, step, t)
        assert t == 1 or not inside(qp, point, step, t / 0.98)


def test_the_barrier_is_a_tenth_of_the_mean_product():
    for qp, (β, _, v, w), μ, *_ in points("overlapping", 8):
        assert pytest.approx(SMALLER * np.mean([v * (β - qp.l), w * (qp.u - β)])) == μ


def test_every_newton_step_is_a_frame_inside_the_box():
    case = PROBLEMS["overlapping"]
    seen = []

    def observer(now):
        if now.step is not None:
            seen.append((now.step.why, now.state.beta.copy(), now.steps))

    observer.every = "step"
    solution = InteriorPoint().solve(case.problem, case.matrix(), observe=observer)
    newton = [each for each in seen if each[0].startswith("Newton step: barrier μ = ")]
    assert solution.status is Status.CONVERGED
    assert [steps for *_, steps in newton] == list(range(1, solution.n_iter + 1))
    for _, beta, _ in newton:
        assert case.problem.free(beta).all()
        assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()
    assert not case.problem.free(seen[-1][1]).all()
    barriers = [float(why.split()[5].rstrip(",")) for why, *_ in newton]
    assert barriers == sorted(barriers, reverse=True)


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_reaches_many_digits(name):
    case = PROBLEMS[name]
    solution = InteriorPoint(tol=1e-8).solve(case.problem, case.matrix())
    assert solution.status is Status.CONVERGED
    assert solution.n_iter <= 40


def test_its_trace_has_a_line_for_each_step():
    case = PROBLEMS["overlapping"]
    table = trace("interior-point", case.problem, case.matrix(), every="step")
    assert table["why"].iloc[0].startswith("Newton step")
    assert table["gap"].iloc[-1] < 1e-3 * table["gap"].iloc[0]
