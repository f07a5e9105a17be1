"""The two variables of a regressor's row: never both, at no cost."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.formulations import epsilon_svr, nu_svr
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.problem import Status
from maxmargin.solvers import BlockSMO
from maxmargin.solvers.qp.working_set import apart

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
K = X @ X.T
Y = RNG.normal(size=30)


@given(st.integers(0, 1000), st.booleans(), st.sampled_from([0.0, 0.1, 2.0]))
def test_what_both_have_in_common_is_taken_away(seed, fit_intercept, epsilon):
    p = epsilon_svr(Y, np.full(30, 3.0), epsilon, fit_intercept=fit_intercept)
    beta = p.feasible(np.random.default_rng(seed).uniform(p.lower, p.upper))
    moved = apart(p, beta)
    assert not ((moved[:30] != 0) & (moved[30:] != 0)).any()
    np.testing.assert_allclose(p.on_rows(moved), p.on_rows(beta), atol=1e-14)
    p.check_feasible(moved, "apart")
    before, after = (
        p.objective(b, p.on_variables(K @ p.on_rows(b)) + p.linear) for b in (beta, moved)
    )
    assert after <= before + 1e-12 * (1 + abs(before))


def test_copies_of_different_groups_have_a_sum_each():
    p = nu_svr(Y, np.full(30, 3.0), 0.5)
    beta = p.feasible(RNG.uniform(p.lower, p.upper))
    assert apart(p, beta) is beta


def test_block_smo_never_keeps_both():
    """Targets in dollars: float32 sums are off by more than 2ε, the violation of keeping both."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1100, 2))
    y = 2e5 + 1e5 * (np.sin(X[:, 0]) + rng.normal(size=1100))
    p = epsilon_svr(y, np.full(1100, 1e5), 0.1)
    both = []

    def observe(progress):
        beta = progress.state.beta
        both.append(int(np.count_nonzero((beta[:1100] != 0) & (beta[1100:] != 0))))

    gram = Gram(RBF(0.5), X)
    solution = BlockSMO(whole=2, smallest=512).solve(p, gram, observe=observe)
    assert solution.status is Status.CONVERGED
    assert len(both) > 3
    assert max(both) == 0
