"""What observers are told, and that nobody else pays for it."""

from itertools import pairwise

import numpy as np
import pytest

from maxmargin.problem import Status
from maxmargin.solvers import (
    BlockSMO,
    CoordinateDescent,
    MaximalViolatingPairSMO,
    PlattSMO,
    RandomPairSMO,
    SecondOrderSMO,
    SimplifiedSMO,
)
from problems import ALL, EXACT, PROBLEMS, SIMPLE, ordinary

OVERLAPPING = PROBLEMS["overlapping"]


class Observer:
    def __init__(self, every, most=np.inf):
        self.every, self.most, self.told = every, most, []

    def __call__(self, now):
        copy = now.beta.copy()
        self.told.append((now, copy))
        return len(self.told) >= self.most


MOVES_OFFSET = {"random-pair"}  # also at a pair that takes no step


@pytest.mark.parametrize("key", ALL)
def test_what_is_told_is_what_happens(key):
    """From record to record the costs grow, and β moves no farther than the movement told."""
    case, observer = ordinary(key), Observer("iteration")
    solution = ALL[key].solve(case.problem, case.matrix(), observe=observer)
    assert len(observer.told) == len(solution.history) > 1
    for (now, _), record in zip(observer.told, solution.history, strict=True):
        assert (now.objective, now.gap, now.violation) == tuple(record)[:3]
        assert now.distance == now.criterion.of(now.values)
        assert now.tol == ALL[key].tol
    for (before, old), (now, new) in pairwise(observer.told):
        moved = np.abs(new - old).sum()
        assert now.movement >= moved * (1 - 1e-12)
        assert now.movement == 0 or moved > 0 or key in MOVES_OFFSET
        for cost in ("steps", "kernel_evaluations", "seconds"):
            assert getattr(now, cost) >= getattr(before, cost)
    np.testing.assert_allclose(new, solution.beta, atol=1e-12)


@pytest.mark.parametrize("key", [*EXACT, *SIMPLE])
def test_every_step_is_told_and_adds_up(key):
    solver, case = ALL[key], ordinary(key)
    problem, observer = case.problem, Observer("step")
    solution = solver.solve(problem, case.matrix(), observe=observer)
    before, movement = np.zeros(problem.size), 0.0
    for now, beta in observer.told:
        if now.step is None:
            assert now.movement >= movement - 1e-12
            assert now.movement <= movement + 1e-12 or key in MOVES_OFFSET
            movement = 0.0
            continue
        step, moved = now.step, beta - before
        assert step.why
        assert set(np.flatnonzero(moved)) <= set(step.indices)
        if not np.isnan(step.clipped):
            assert step.low <= step.clipped <= step.high
            assert step.clipped == pytest.approx(np.clip(step.unclipped, step.low, step.high))
            signs = np.array([1.0, -1.0][: len(step.indices)])
            np.testing.assert_allclose(moved[list(step.indices)], signs * step.clipped, atol=1e-12)
        assert now.movement >= np.abs(moved).sum() - 1e-12
        before, movement = beta, now.movement
    np.testing.assert_array_equal(before, solution.beta)


@pytest.mark.parametrize(
    ("solver", "why"),
    [
        (SecondOrderSMO(), "i: worst violator, j: largest gain with i"),
        (MaximalViolatingPairSMO(), "the pair that violates KKT most"),
        (PlattSMO(), "i: violator among all, j: next of all variables"),
        (SimplifiedSMO(), "i: next violator of the sweep, j: random"),
        (RandomPairSMO(), "both at random"),
        (BlockSMO(), "working set"),
    ],
)
def test_a_step_says_why(solver, why):
    observer = Observer("step")
    solver.solve(OVERLAPPING.problem, OVERLAPPING.matrix(), observe=observer)
    assert next(now.step.why for now, _ in observer.told if now.step) == why


def test_platt_tells_both_heuristics():
    observer = Observer("step")
    PlattSMO().solve(OVERLAPPING.problem, OVERLAPPING.matrix(), observe=observer)
    reasons = {now.step.why for now, _ in observer.told if now.step}
    assert "i: violator among the free, j: largest |E_i − E_j| of the free" in reasons
    assert "i: violator among all, j: largest |E_i − E_j| of the free" in reasons


def test_coordinate_descent_takes_the_largest_decrease():
    """ΔW = −δ(½δK_pp + G_p), of all variables, recomputed here from scratch at each step."""
    case = PROBLEMS["no offset"]
    problem, gram, observer = case.problem, case.matrix(), Observer("step", most=20)
    CoordinateDescent().solve(problem, gram, observe=observer)
    before, everything = np.zeros(problem.size), np.arange(problem.size)
    K = gram.block(everything, everything)
    for now, beta in observer.told:
        if now.step is None:
            continue
        G = K @ before + problem.linear
        delta = np.clip(before - G / np.diag(K), problem.lower, problem.upper) - before
        decrease = -delta * (0.5 * delta * np.diag(K) + G)
        assert decrease[now.step.indices[0]] == pytest.approx(decrease.max())
        before = beta


def test_an_observer_of_iterations_is_told_of_no_steps():
    observer = Observer("iteration")
    solution = SecondOrderSMO().solve(OVERLAPPING.problem, OVERLAPPING.matrix(), observe=observer)
    assert all(now.step is None for now, _ in observer.told)
    assert len(observer.told) == len(solution.history)
    for (now, _), record in zip(observer.told, solution.history, strict=True):
        assert (now.objective, now.gap, now.steps) == (
            record["objective"],
            record["gap"],
            record["steps"],
        )


def test_watching_changes_nothing():
    solutions = [
        PlattSMO().solve(OVERLAPPING.problem, OVERLAPPING.matrix(), observe=observe)
        for observe in (None, Observer("iteration"), Observer("step"))
    ]
    for solution in solutions[1:]:
        np.testing.assert_array_equal(solution.beta, solutions[0].beta)


@pytest.mark.parametrize("every", ["iteration", "step"])
def test_an_observer_that_has_seen_enough_ends_the_solve(every):
    observer = Observer(every, most=3)
    solution = SimplifiedSMO().solve(OVERLAPPING.problem, OVERLAPPING.matrix(), observe=observer)
    assert solution.status is Status.INTERRUPTED
    assert len(observer.told) == 3


def test_an_unknown_rhythm_is_refused():
    with pytest.raises(ValueError, match="'iteration' or 'step', got 'minute'"):
        SecondOrderSMO().solve(
            OVERLAPPING.problem, OVERLAPPING.matrix(), observe=Observer("minute")
        )
