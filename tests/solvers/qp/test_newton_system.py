"""Systems of an interior point."""

import numpy as np
import pytest

from maxmargin.kernels import RBF
from maxmargin.solvers.qp import newton_system
from maxmargin.solvers.qp.newton_system import NewtonSystem


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
