"""QuantileSVR: the optimum, the share below, several levels and targets, crossings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import mean_pinball_loss

from maxmargin import SVR, KernelRegressor, LinearSVR, ModelFileError, NuSVR, QuantileSVR
from maxmargin.io import save_libsvm, to_sklearn
from maxmargin.losses import Pinball
from maxmargin.machines.proof import prove
from maxmargin.scale import ArrayPartitions

LEVELS = (0.1, 0.5, 0.9)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 6, size=(300, 1))
    return X, np.sin(X[:, 0]) + 0.1 * (1 + X[:, 0]) * rng.normal(size=300)


def test_the_share_below_a_curve_is_its_level(data):
    X, y = data
    reg = QuantileSVR(quantiles=LEVELS, C=10, gamma=0.5, tol=1e-6).fit(X, y)
    residual = y[:, None] - reg.predict(X)
    below, on = (residual < -1e-4).mean(axis=0), (abs(residual) <= 1e-4).mean(axis=0)
    assert (below <= LEVELS).all()
    assert (below + on >= LEVELS).all()


def test_levels_together_are_those_of_each_alone(data):
    X, y = data
    together = QuantileSVR(quantiles=LEVELS, C=10, gamma=0.5, tol=1e-8).fit(X, y)
    for k, q in enumerate(LEVELS):
        alone = QuantileSVR(quantiles=q, C=10, gamma=0.5, tol=1e-8).fit(X, y)
        assert alone.predict(X).shape == y.shape
        assert_allclose(together.predict(X)[:, k], alone.predict(X), atol=1e-6)
        assert_allclose(together.certificates_[k].primal, alone.certificate_.primal, rtol=1e-7)
    assert prove(together, X, y).relative_gap < 1e-7


def test_a_level_starts_from_the_one_before(data):
    X, y = data
    levels = (0.5, 0.52)
    together = QuantileSVR(quantiles=levels, C=10, gamma=0.5, solver="second-order").fit(X, y)
    alone = QuantileSVR(quantiles=0.52, C=10, gamma=0.5, solver="second-order").fit(X, y)
    assert together.certificates_[1].n_iter < alone.certificate_.n_iter


def test_a_linear_machine_of_large_c_is_that_of_linear_programming():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=200)
    ours = QuantileSVR(quantiles=0.8, C=100, kernel="linear").fit(X, y)
    theirs = QuantileRegressor(quantile=0.8, alpha=0).fit(X, y)
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)


def test_rearrangement_removes_crossings_and_costs_nothing():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    plain = QuantileSVR(quantiles=(0.4, 0.5, 0.6), C=100, gamma=2.0).fit(X, y)
    ordered = QuantileSVR(quantiles=(0.4, 0.5, 0.6), C=100, gamma=2.0, noncrossing=True).fit(X, y)
    new = rng.normal(size=(500, 2))
    assert plain.crossings(new) > 0
    assert ordered.crossings(new) == plain.crossings(new)  # of the functions themselves
    assert (np.diff(ordered.predict(new), axis=1) >= 0).all()
    assert_array_equal(ordered.predict(new), np.sort(plain.predict(new), axis=1))
    drawn = rng.normal(size=500)

    def losses(reg):
        found = reg.predict(new).T
        return sum(
            mean_pinball_loss(drawn, line, alpha=q)
            for line, q in zip(found, (0.4, 0.5, 0.6), strict=True)
        )

    assert losses(ordered) <= losses(plain) + 1e-12


def test_the_score_is_what_constant_quantiles_lose(data):
    X, y = data
    reg = QuantileSVR(quantiles=LEVELS, C=10, gamma=0.5).fit(X, y)
    shares = [
        1 - Pinball(q).value(y, line).sum() / Pinball(q).value(y, np.quantile(y, q)).sum()
        for line, q in zip(reg.predict(X).T, LEVELS, strict=True)
    ]
    assert_allclose(reg.score(X, y), np.mean(shares), rtol=1e-6)


def test_the_quantile_is_where_pinball_is_least(data):
    _, y = data
    n = len(y)
    for q in LEVELS:  # min Σ q a + (1 − q) b with y − t = a − b, a and b ≥ 0
        cost = np.concatenate([[0.0], np.full(n, q), np.full(n, 1 - q)])
        A = np.hstack([np.ones((n, 1)), np.eye(n), -np.eye(n)])
        best = linprog(cost, A_eq=A, b_eq=y, bounds=[(None, None)] + [(0, None)] * (2 * n))
        assert_allclose(Pinball(q).value(y, np.quantile(y, q)).sum(), best.fun, rtol=1e-2)


def test_partitions_have_several_levels(data):
    X, y = data
    whole = QuantileSVR(quantiles=LEVELS, gamma=0.5, tol=1e-6).fit(X, y)
    parts = QuantileSVR(quantiles=LEVELS, gamma=0.5, tol=1e-6).fit(ArrayPartitions(X, y, rows=100))
    assert_allclose(parts.predict(X), whole.predict(X), atol=1e-4)
    with pytest.raises(TypeError, match="all rows at once"):
        parts.score(ArrayPartitions(X, y, rows=100))


@pytest.mark.parametrize(
    "machine", [SVR(tol=1e-8), NuSVR(tol=1e-8), QuantileSVR(tol=1e-8)], ids=str
)
def test_several_targets_are_those_of_each_alone(machine, data):
    X, y = data
    Y = np.column_stack([y, np.cos(X[:, 0]), X[:, 0]])
    together = machine.fit(X, Y)
    found = together.predict(X)
    assert found.shape == Y.shape
    assert len(together.certificates_) == 3
    assert together.dual_coef_.shape == (3, len(together.support_))
    assert prove(together, X, Y).relative_gap < 1e-7
    for k, target in enumerate(Y.T):
        alone = type(machine)(tol=1e-8).fit(X, target)
        assert_allclose(found[:, k], alone.predict(X), atol=1e-5)
    if isinstance(machine, NuSVR):
        assert machine.epsilon_.shape == (3,)


@pytest.mark.parametrize("machine", [LinearSVR(epsilon=0.1), KernelRegressor()], ids=str)
def test_several_targets_of_machines_without_support_vectors(machine, data):
    X, y = data
    Y = np.column_stack([y, np.cos(X[:, 0]), X[:, 0]])
    found = machine.fit(X, Y).predict(X)
    assert found.shape == Y.shape
    alone = np.column_stack([clone(machine).fit(X, target).predict(X) for target in Y.T])
    assert_allclose(found, alone, atol=1e-5)
    assert_allclose(machine.score(X, Y), clone(machine).fit(X, Y).score(X, Y))


def test_sgd_of_several_targets(data):
    X, y = data
    Y = np.column_stack([y, -y])
    with pytest.raises(ValueError, match="'exact' takes several"):
        KernelRegressor(solver="sgd").fit(X, Y)
    reg = LinearSVR(solver="sgd")
    for _ in range(3):
        reg.partial_fit(X, Y)
    assert reg.predict(X).shape == Y.shape


def test_levels_of_several_targets(data):
    X, y = data
    Y = np.column_stack([y, -y])
    found = QuantileSVR(quantiles=LEVELS, gamma=0.5).fit(X, Y).predict(X)
    assert found.shape == (300, 2, 3)
    alone = QuantileSVR(quantiles=LEVELS, gamma=0.5).fit(X, -y)
    assert_allclose(found[:, 1], alone.predict(X), atol=1e-2)


def test_other_libraries_have_no_machine_of_several_targets(data, tmp_path):
    X, y = data
    reg = SVR().fit(X, np.column_stack([y, -y]))
    with pytest.raises(TypeError, match="several targets"):
        to_sklearn(reg)
    with pytest.raises(ModelFileError, match="several targets"):
        save_libsvm(reg, tmp_path / "two.model")


def test_errors_name_what_is_wrong(data):
    X, y = data
    with pytest.raises(ValueError, match="quantiles has 1"):
        QuantileSVR(quantiles=(0.5, 1.0)).fit(X, y)
    with pytest.raises(ValueError, match="must increase"):
        QuantileSVR(quantiles=(0.5, 0.5)).fit(X, y)
    with pytest.raises(ValueError, match="number or a list"):
        QuantileSVR(quantiles=[]).fit(X, y)
    with pytest.raises(ValueError, match=r"y has the shape \(300, 1, 2\)|dim 3"):
        SVR().fit(X, np.zeros((300, 1, 2)))
    with pytest.raises(ValueError, match=r"contains NaN \(first at row 7\)"):
        SVR().fit(X, np.where(np.arange(600).reshape(300, 2) == 15, np.nan, 0.0))
