"""Chunking adds the M variables that violate KKT most, as the slides say."""

import numpy as np
import pytest

from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.solvers.qp.state import DualState
from maxmargin.solvers.textbook.chunking import most_violating


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_the_worst_are_chosen_from_whichever_side_they_are(seed, fit_intercept):
    rng = np.random.default_rng(seed)
    X, y, C, M = rng.normal(size=(60, 2)), np.where(rng.random(60) < 0.2, 1.0, -1.0), 1.0, 10
    problem = c_svc(y, C, fit_intercept=fit_intercept)
    start = y * rng.choice([0.0, C, 0.5], 60)
    state = DualState(problem, Gram(RBF(gamma=1.0), X), start)
    beta, G = state.beta, state.gradient
    force = G + (problem.offsets(beta, G)[0] if fit_intercept else 0.0)
    violation = np.maximum(
        np.where(beta < problem.upper, -force, 0.0), np.where(beta > problem.lower, force, 0.0)
    )
    chosen = most_violating(state, M, 1e-3)
    pair = [
        np.where(beta < problem.upper, G, np.inf).argmin(),
        np.where(beta > problem.lower, G, -np.inf).argmax(),
    ]
    assert len(chosen) == M
    others = np.setdiff1d(chosen, pair if fit_intercept else [])
    left_out = np.setdiff1d(np.arange(60), chosen)
    assert violation[others].min() >= violation[left_out].max()
    assert not fit_intercept or set(pair) <= set(chosen)


def test_nothing_is_chosen_at_the_optimum():
    problem = c_svc(np.array([-1.0, 1.0]), 5.0)
    state = DualState(
        problem, Gram(RBF(gamma=1.0), np.array([[0.0], [9.0]])), np.array([-1.0, 1.0])
    )
    assert len(most_violating(state, 10, 1e-3)) == 0
