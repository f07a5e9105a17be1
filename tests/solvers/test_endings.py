"""A status never lies: it is computed from where β is, whatever rule ended the solver."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from maxmargin import SVC, LinearSVC, trace
from maxmargin.certificate import Certificate
from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import Linear
from maxmargin.problem import DualProblem, Ending, Interrupted, Status
from maxmargin.solvers import (
    SOLVERS,
    Chunking,
    CoordinateDescent,
    Decomposition,
    DualState,
    InteriorPoint,
    PlattSMO,
    RandomPairSMO,
    SecondOrderSMO,
    SimplifiedSMO,
    Solver,
)
from problems import ALL, CASES, PROBLEMS, ordinary

OVERLAPPING = PROBLEMS["overlapping"]
OTHERS = {
    "use BlockSMO for a Gram": OVERLAPPING,
    "FeatureNewton for a FeatureGram": CASES["overlapping, on features"],
    "Automatic for a DataMatrix": CASES["hinge"],
}


def solve(solver, **options):
    problem = OVERLAPPING.problem
    solution = solver.solve(problem, OVERLAPPING.matrix(), **options)
    return solution, Certificate.of(solution)


def test_too_few_passes_end_out_of_iterations():
    solution, proof = solve(SimplifiedSMO(tol=1e-6, max_passes=1))
    assert solution.status is Status.OUT_OF_ITERATIONS
    assert solution.why == "1 sweeps found no j that moves"
    assert proof.kkt_violation > 1e-6


def test_a_solver_that_yields_for_ever_without_a_step_is_ended():
    class Idle(Solver):
        def iterate(self, state):
            while True:
                yield

    solution, _ = solve(Idle())
    assert (solution.status, solution.n_iter) == (Status.STAGNATED, 0)
    assert solution.why == "found no step to take"


def test_little_movement_is_not_convergence():
    """A sweep that hardly moved says nothing about optimality."""
    solution, proof = solve(RandomPairSMO(tol=1e-6, movement=1e9))
    assert solution.status is Status.STAGNATED
    assert solution.why.startswith("a sweep moved")
    assert proof.relative_gap > 1e-4


def test_the_movement_of_the_offset_keeps_the_reviews_criterion_from_ending_a_run():
    """b is set at every pair, and pairs of variables at their bounds do not agree on it."""
    moved = []
    solver = RandomPairSMO(tol=1e-6, sweeps=200)
    solution, proof = solve(solver, observe=lambda now: moved.append(now.movement))
    assert solution.why == "200 sweeps made"
    assert min(moved[1:]) > 1.0
    assert proof.relative_gap < 1e-2


def test_random_pairs_are_the_reviews():
    """Every pair, b and its three curves as its code has them, but for the strict test of b."""
    problem, gram = OVERLAPPING.problem, OVERLAPPING.matrix()
    n, y, C = problem.size, -problem.linear, problem.upper.max()
    K = gram.block(np.arange(n), np.arange(n))
    alpha, b, curves = np.zeros(n), 0.0, []
    random = np.random.default_rng(0)
    for _ in range(5):
        move = 0.0
        for i in random.integers(n, size=n // 2).tolist():
            j = int(i + random.integers(1, n)) % n
            E = K[[i, j]] @ (alpha * y) + b - y[[i, j]]
            new_j = alpha[j] + y[j] * (E[0] - E[1]) / (K[i, i] + K[j, j] - 2 * K[i, j])
            total = alpha[j] + y[i] * y[j] * alpha[i]
            low, high = (total - C, total) if y[i] == y[j] else (total, C + total)
            new_j = np.clip(new_j, max(0, low), min(C, high))
            new_i = alpha[i] + y[i] * y[j] * (alpha[j] - new_j)
            change = y[[i, j]] * ([new_i, new_j] - alpha[[i, j]])
            of_i, of_j = b - E - K[np.ix_([i, j], [i, j])] @ change
            inside = [1e-12 < a < C - 1e-12 for a in (new_i, new_j)]
            new_b = of_i if inside[0] else of_j if inside[1] else (of_i + of_j) / 2
            move += np.abs(change).sum() + abs(new_b - b)
            alpha[[i, j]], b = (new_i, new_j), new_b
        margin = y * (K @ (alpha * y) + b)
        curves.append([move, np.maximum(0, 1 - margin).sum() * C, np.mean(margin > 0)])
    start = DualState(problem, gram, None).offsets[0]  # 0, where neither class is rare
    assert start == pytest.approx(0)
    ours = trace(RandomPairSMO(sweeps=5, tol=1e-9), problem, gram)
    assert_allclose(ours[["movement", "loss", "accuracy"]].iloc[1:6], curves, rtol=1e-4)


def test_sweeps_run_out():
    solution, _ = solve(RandomPairSMO(sweeps=2))
    assert (solution.status, solution.why) == (Status.OUT_OF_ITERATIONS, "2 sweeps made")


@pytest.mark.parametrize("key", ALL)
@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ({"max_iter": 0}, Status.OUT_OF_ITERATIONS),
        ({"max_iter": 1}, Status.OUT_OF_ITERATIONS),
        ({"max_time": 1e-9}, Status.OUT_OF_TIME),
    ],
)
def test_limits_hold_and_leave_a_feasible_point(key, limit, status):
    solver, case = replace(ALL[key], tol=1e-9, **limit), ordinary(key)
    solution = solver.solve(case.problem, case.matrix())
    assert solution.status is status
    assert Certificate.of(solution).gap > 0
    dual, beta = case.as_dual()[0], case.variables(solution.beta)
    assert np.all((dual.lower <= beta) & (beta <= dual.upper))
    assert np.abs(beta.sum() * dual.n_groups) < 1e-12


@pytest.mark.parametrize("key", ["second-order", "platt", "simplified", "random-pair"])
def test_solvers_of_single_steps_stop_at_the_very_step(key):
    solution, _ = solve(replace(ALL[key], max_iter=7))
    assert solution.n_iter == 7


@pytest.mark.parametrize("key", ALL)
def test_a_solved_problem_is_solved_at_once(key):
    solver, case = replace(ALL[key], tol=1e-3), ordinary(key)
    dual, gram = case.as_dual()
    beta = SecondOrderSMO(tol=1e-12).solve(dual, gram).beta
    solution = solver.solve(case.problem, case.matrix(), start=beta)
    assert (solution.status, solution.n_iter) == (Status.CONVERGED, 0)
    np.testing.assert_allclose(solution.beta, beta, atol=1e-12)


@pytest.mark.parametrize("key", ALL)
def test_ctrl_c_keeps_what_there_is(key):
    solver, case = replace(ALL[key], tol=1e-9), ordinary(key)

    def press(now):
        if now.steps:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        solver.solve(case.problem, case.matrix(), observe=press)
    solution = stopped.value.solution
    assert (solution.status, solution.why) == (Status.INTERRUPTED, "Ctrl-C")
    assert solution.n_iter > 0
    assert solution.beta.any()
    rose = solution.values.dual > solution.history["objective"][0]
    assert rose or key == "interior-point"  # it begins in the middle of the box, not at 0


@pytest.mark.parametrize("key", ALL)
def test_an_observer_can_end_it_before_it_begins(key):
    case = ordinary(key)
    solution = ALL[key].solve(case.problem, case.matrix(), observe=lambda now: True)
    assert (solution.status, solution.why) == (Status.INTERRUPTED, "asked to stop")
    assert (solution.n_iter, len(solution.history)) == (0, 1)


@pytest.mark.parametrize("outer", [Chunking, Decomposition])
def test_ctrl_c_inside_the_inner_solver_ends_the_outer_one(outer, monkeypatch):
    def interrupted(self, state):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(SecondOrderSMO, "iterate", interrupted)
    with pytest.raises(Interrupted) as stopped:
        solve(outer())
    assert stopped.value.solution.status is Status.INTERRUPTED


@pytest.mark.parametrize("outer", [Chunking, Decomposition])
def test_the_inner_solver_has_only_the_time_that_is_left(outer):
    case = PROBLEMS["large C"]
    solver = outer(tol=1e-12, max_time=0.05, inner=SimplifiedSMO(max_passes=10**9))
    assert solver.solve(case.problem, case.matrix()).status is Status.OUT_OF_TIME


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


@pytest.mark.parametrize("key", ALL)
def test_what_is_for_another_family_is_refused_with_one_that_can(key):
    mine = ordinary(key)
    for family, case in OTHERS.items():
        if type(case.matrix()) is not type(mine.matrix()):
            for check in (ALL[key].check, ALL[key].solve):
                with pytest.raises(ValueError, match=rf"cannot take .*, it solves .*: .*{family}"):
                    check(case.problem, case.matrix())


@pytest.mark.parametrize(
    ("solver", "option"),
    [
        (SimplifiedSMO, {"max_passes": 0}),
        (RandomPairSMO, {"sweeps": 0}),
        (Chunking, {"violators": 0}),
        (Decomposition, {"size": 3}),
        (InteriorPoint, {"largest": 0}),
    ],
)
def test_senseless_options_are_refused(solver, option):
    with pytest.raises(ValueError, match=f"{solver.__name__}: {next(iter(option))} must be"):
        solver(**option)


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


# --- what a machine takes as its solver, and what it says of it ---------------------------------

ROWS, LABELS = PROBLEMS["overlapping"].make()[2], -OVERLAPPING.problem.linear


@pytest.mark.parametrize("machine", [SVC, LinearSVC])
def test_what_is_no_solver_is_refused_with_the_reason(machine):
    class Mine:
        def solve(self, problem, gram, *, start=None, observe=None):
            return PlattSMO().solve(problem, gram, start=start, observe=observe)

    with pytest.raises(TypeError, match=r"is a class: give an object of it, solver=PlattSMO\(\)"):
        machine(solver=PlattSMO).fit(ROWS, LABELS)
    with pytest.raises(TypeError, match=r"is no Solver: .* Derive its class .* define `iterate`"):
        machine(solver=Mine()).fit(ROWS, LABELS)


@pytest.mark.parametrize("name", sorted({*SOLVERS} - {"coordinate-descent"}))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_machine_shows_the_certificate_of_its_solvers_own_answer(name):
    """Nothing is polished afterwards: a textbook's algorithm is judged by what it found."""
    machine = SVC(solver=name, gamma=1.0, tol=1e-2).fit(ROWS, LABELS)
    shown = replace(machine.certificate_, seconds=0.0)
    _, own = solve(SOLVERS[name](tol=1e-2))
    assert shown == replace(own, seconds=0.0)


class Forgetful(Solver):
    """Moves the variables of a working set by `move_to`, and counts nothing itself."""

    def iterate(self, state):
        problem = state.problem
        while True:
            i = int(np.argmax(np.where(state.beta < problem.upper, -state.gradient, -np.inf)))
            j = int(np.argmin(np.where(state.beta > problem.lower, -state.gradient, np.inf)))
            room = min(problem.upper[i] - state.beta[i], state.beta[j] - problem.lower[j])
            t = min((state.gradient[j] - state.gradient[i]) / 2, room)
            state.move_to(np.array([i, j]), state.beta[[i, j]] + [t, -t])
            yield


def test_moving_variables_counts_as_a_step():
    machine = SVC(solver=Forgetful(), gamma=1.0).fit(ROWS, LABELS)
    assert machine.certificate_.status is Status.CONVERGED
    assert machine.n_iter_[0] > 10
    solution, _ = solve(Forgetful(max_iter=7))
    assert (solution.status, solution.n_iter) == (Status.OUT_OF_ITERATIONS, 7)


def test_advice_fits_the_solver():
    """By what ended it: also with max_iter given, simplified SMO may find no j."""
    endings = {
        "raise max_passes=1 ": SimplifiedSMO(max_passes=1, max_iter=10**6, tol=1e-9),
        "raise max_iter, ": SimplifiedSMO(max_iter=5),
        "raise sweeps=1 ": RandomPairSMO(sweeps=1, max_iter=10**6, tol=1e-9),
        "lower movement=1e+09 ": RandomPairSMO(movement=1e9, tol=1e-9),
        "raise max_time, ": RandomPairSMO(max_time=0),
    }
    for advice, solver in endings.items():
        solution, _ = solve(solver)
        assert solver.advice(Ending(solution.status, solution.why)).startswith(advice)
