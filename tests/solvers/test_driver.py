"""The driver does not trust a solver: a user's own may err, but not say what is not so."""

from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons

from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Sigmoid
from maxmargin.problem import Ending, Status
from maxmargin.solvers import BlockSMO, LinearSolver, SecondOrderSMO, Solver
from problems import CASES, PROBLEMS
from truth import Truth

NO_OFFSET, OVERLAPPING, SQUARED = PROBLEMS["no offset"], PROBLEMS["overlapping"], CASES["squared"]


@dataclass(frozen=True)
class ProjectedGradient(Solver):
    """β = clip(β − rate · G): what a user might write, without a thought of counting."""

    rate: float = 0.02
    takes_groups: ClassVar[tuple[int, ...]] = (0,)

    def iterate(self, state):
        p, everything = state.problem, np.arange(state.problem.size)
        while True:
            state.move_to(
                everything, np.clip(state.beta - self.rate * state.gradient, p.lower, p.upper)
            )
            yield


@dataclass(frozen=True)
class Once(Solver):
    """A solver of one outer iteration, which does `move` to the state."""

    move: object = None
    ending: Ending | None = None

    def iterate(self, state):
        self.move(state)
        yield
        return self.ending


def solve(solver, case):
    return solver.solve(case.problem, case.matrix())


def test_a_solver_of_four_lines_reaches_the_optimum():
    solver = ProjectedGradient(tol=1e-4)
    solution = solve(solver, NO_OFFSET)
    assert solution.status is Status.CONVERGED
    Truth.of(NO_OFFSET).assert_proven(solver, solution)
    steps = solution.history["steps"]
    assert solution.n_iter == steps[-1] > 0
    np.testing.assert_array_equal(np.diff(steps), 1)


def test_who_does_not_count_is_still_counted_and_out_of_time(monkeypatch):
    """`move_to` counts. The clock of this test goes a second ahead whenever it is looked at."""
    ticks = count()
    monkeypatch.setattr("maxmargin.solvers.state.perf_counter", lambda: float(next(ticks)))
    solution = solve(ProjectedGradient(rate=1e-6, max_time=100.0), NO_OFFSET)
    assert solution.status is Status.OUT_OF_TIME
    assert 0 < solution.n_iter < 100
    assert solution.beta.any()


def test_who_does_not_count_is_out_of_iterations():
    solution = solve(ProjectedGradient(rate=1e-6, max_iter=7), NO_OFFSET)
    assert (solution.status, solution.n_iter) == (Status.OUT_OF_ITERATIONS, 7)


def leave_the_box(state):
    state.move_to(np.array([3]), np.array([2.0]) * (state.problem.upper + state.problem.lower)[3])


def change_the_sum(state):
    state.move_to(np.array([3]), np.array([0.5]) * (state.problem.upper + state.problem.lower)[3])


def lose_a_number(state):
    state.beta[3] = np.nan


@pytest.mark.parametrize(
    ("move", "case", "message"),
    [
        (leave_the_box, NO_OFFSET, r"Once left the box: β_3 = .* is not in .*; clip each step"),
        (lose_a_number, NO_OFFSET, r"Once left the box: β_3 = nan is not in"),
        (change_the_sum, OVERLAPPING, r"Once changed a sum that is fixed: Σβ of group 0 is .*0\.5"),
    ],
)
def test_what_proves_nothing_is_refused(move, case, message):
    with pytest.raises(ValueError, match=message):
        solve(Once(move=move), case)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_dual_without_bound_is_refused(fit_intercept):
    """The sigmoid is not positive semidefinite: along some direction the dual rises for ever."""
    X, y = make_moons(40, noise=0.1, random_state=0)
    problem = c_svc(2 * y - 1, np.inf, fit_intercept=fit_intercept)
    with pytest.raises(ValueError, match="the dual has no bound: C is infinite"):
        BlockSMO().solve(problem, Gram(Sigmoid(gamma=1.0, coef0=1.0), X))


def nothing(state):
    pass


def falsify_the_gradient(state):
    state.gradient = np.zeros_like(state.gradient)


def forget_the_gradient(state):
    state.beta = state.problem.feasible(0.1 * (state.problem.lower + state.problem.upper))
    state.gradient = np.zeros_like(state.gradient)


@pytest.mark.parametrize("ending", [None, Ending(Status.CONVERGED, "trust me")])
@pytest.mark.parametrize("move", [nothing, falsify_the_gradient, forget_the_gradient])
@pytest.mark.parametrize("case", [NO_OFFSET, OVERLAPPING], ids=["no offset", "offset"])
def test_nobody_can_claim_convergence(move, ending, case):
    solver = Once(move=move, ending=ending)
    solution = solve(solver, case)
    assert solution.status is Status.STAGNATED
    Truth.of(case).assert_proven(solver, solution)


@dataclass(frozen=True)
class Guess(LinearSolver):
    """Any numbers at all as β and as the model."""

    ending: Ending | None = None

    def iterate(self, state):
        random = np.random.default_rng(self.seed)
        state.beta = 10 * random.normal(size=state.rows.n)
        state.coef, state.offset = random.normal(size=state.rows.d), 1.0
        state.steps += 1
        yield
        return self.ending


@given(seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_a_guess_is_made_feasible_and_gets_the_gap_it_deserves(seed):
    solver = Guess(seed=seed, ending=Ending(Status.CONVERGED, "trust me"))
    solution = solve(solver, SQUARED)
    assert solution.status is Status.STAGNATED
    Truth.of(SQUARED).assert_proven(solver, solution)


def test_the_progress_line_says_that_the_proof_is_running():
    notes, begun = set(), []

    class Kept(SecondOrderSMO):
        def begin(self, problem, matrix, start):
            begun.append(super().begin(problem, matrix, start))
            return begun[-1]

    class Told(Gram):
        def dot(self, *given, **options):
            notes.update(state.note for state in begun)
            return super().dot(*given, **options)

    X = np.random.default_rng(0).normal(size=(600, 3))
    gram = Told(RBF(1.0), X, threads=1)
    solution = Kept().solve(c_svc(np.where(X[:, 0] > 0.1, 1, -1), C=1.0), gram)
    assert solution.status is Status.CONVERGED
    assert "the proof: gradients of all rows, in float64" in notes
    assert begun[0].note == ""
