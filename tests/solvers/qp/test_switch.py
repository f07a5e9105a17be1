"""The switch: what it promises about the work of a fit, whatever the data."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from maxmargin import SVC
from maxmargin.formulations import c_svc, epsilon_svr, nu_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.problem import Status
from maxmargin.solvers import BlockInteriorPoint, BlockSMO
from maxmargin.solvers.driver import Run
from maxmargin.solvers.qp import switch
from maxmargin.solvers.qp.work import EXACT


def moons(C, gamma=0.5, n=600):
    X, y = make_moons(n, noise=0.4, random_state=0)
    return c_svc(2.0 * y - 1, C), Gram(RBF(gamma), X)


def regression(C, n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    return epsilon_svr(y, np.full(n, C), 0.01), Gram(RBF(0.25), X)


def nu_problem():
    X, y = make_moons(400, noise=0.4, random_state=0)
    return nu_svc(2.0 * y - 1, np.ones(400), 0.3, 400), Gram(RBF(1.0), X)


PROBLEMS = {
    "easy": lambda: moons(1.0),
    "wide bounds": lambda: moons(1e4),
    "a valley": lambda: moons(1e6, 0.05),
    "regression": lambda: regression(1.0),
    "regression, wide bounds": lambda: regression(1e5),
    "two groups": nu_problem,
}


@pytest.fixture
def accounts(monkeypatch):
    """SMO's account, the second-order method's and that of its trials, in this order."""
    made = []

    class Kept(switch.Account):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr(switch, "Account", Kept)
    return made


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_second_order_method_spends_no_more_than_its_share(accounts, name):
    """But for the last block, and for an SMO that has stalled: then it is alone."""
    problem, gram = PROBLEMS[name]()
    shares, prices = [], [0.0]
    finish = BlockInteriorPoint()

    class Priced(BlockInteriorPoint):
        def price(self, state):
            prices.append(finish.price(state))
            return prices[-1]

    def observe(now):
        if len(accounts) == 3:
            smo, second, trials = (account.work for account in accounts)
            shares.append(second - switch.AHEAD * smo - max(prices))
            shares.append(trials - 2 * switch.TRIALS * smo - max(prices))

    solution = BlockSMO(finish=Priced()).solve(problem, gram, observe=observe)
    assert solution.status is Status.CONVERGED
    assert max(shares, default=0.0) <= max(prices)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_fit_costs_no_more_than_a_small_multiple_of_the_better_method(name):
    """In counted work: so the same on every machine."""

    def cost(solver, entry):
        problem, gram = PROBLEMS[name]()
        state = solver.begin(problem, gram, None)
        state.most_steps = solver.most_steps(problem)
        solution = Run(solver, state, None).solution()
        work = state.work + entry * state.entry * state.kernel_evaluations
        return work if solution.status is Status.CONVERGED else np.inf

    alone = cost(BlockSMO(finish=None), 1.0), cost(BlockInteriorPoint(), EXACT)
    problem, gram = PROBLEMS[name]()
    block = BlockInteriorPoint().price(BlockSMO().begin(problem, gram, None))
    assert cost(BlockSMO(), 1.0) <= (1 + switch.AHEAD + switch.TRIALS) * (min(alone) + block)


def test_a_fit_has_the_same_bits_in_every_run():
    X, y = make_moons(1200, noise=0.4, random_state=0)
    first, second = (SVC(C=1e6, gamma=0.1).fit(X, y).dual_coef_ for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_smo_alone_is_smo_alone():
    words = []
    problem, gram = moons(1e6, 0.05)
    BlockSMO(finish=None, max_iter=200_000).solve(
        problem, gram, observe=lambda now: words.append(now.method)
    )
    assert set(words) <= {"", "active set"}
