"""What is predicted of work: of SMO's that is left, and of conjugate gradients'."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.solvers import BlockInteriorPoint
from maxmargin.solvers.qp import hand_over, newton_system
from maxmargin.solvers.qp.newton_system import NewtonSystem
from maxmargin.solvers.qp.state import DualState


@pytest.mark.parametrize(("share", "tried"), [(0.5, True), (0.2, False)])
def test_a_trial_counts_what_smo_has_left_as_the_hand_over_does(share, tried):
    """Three times (california, C = 10³, γ = 10: 11 s by SMO, 3 with a trial)."""
    X, y = make_moons(300, noise=0.4, random_state=0)
    problem, gram = c_svc(2.0 * y - 1, 1e4), Gram(RBF(0.5), X)
    state = DualState(problem, gram, BlockInteriorPoint().solve(problem, gram).beta)
    forecast, free = hand_over.Forecast(state, 1e-3), problem.free(state.beta)
    entries = 300**2 + 300 * np.count_nonzero(state.beta)
    work = hand_over.TRIAL * free.sum() ** 3 / 6 + 2 * forecast.entry * entries
    forecast.done, forecast.far = [0.0, 10 * work, 20 * work], [np.inf, 10.0 + share, share]
    forecast.free = free
    assert forecast.left == pytest.approx(share * work)
    assert forecast.trusts_face(BlockInteriorPoint(), state) is tried


@pytest.mark.parametrize(("worth", "single"), [(1.0, True), (0.0, False)])
def test_float32_is_left_once_its_solves_take_many_steps(monkeypatch, worth, single):
    monkeypatch.setattr(newton_system, "MANY", 10)
    monkeypatch.setattr(newton_system, "WORTH", worth)
    X = np.random.default_rng(0).normal(size=(60, 2))
    K, r = RBF(0.1)(X, X), np.sin(X[:, 0])
    system = NewtonSystem(K, np.arange(60), np.zeros((0, 60)), 0.0)
    for d in (1e-2, 1e-3, 1e-4):
        system.factorise(np.full(60, d))
        x, _ = system.solve(r, np.zeros(0))
        assert np.abs(K @ x + d * x - r).max() < 1e-3
    assert system.single is single
