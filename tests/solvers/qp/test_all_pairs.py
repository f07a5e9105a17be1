"""All pairs of classes at once: what the solver finds pair by pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from maxmargin import SVC
from maxmargin.kernels import RBF, Polynomial
from maxmargin.problem import Status
from maxmargin.solvers import BlockSMO
from maxmargin.solvers.qp import all_pairs

PAIR_BY_PAIR = BlockSMO(smallest=BlockSMO.smallest + 1)  # the same solver, but not the default


def classes(sizes, seed, columns=4, noise=0.7):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.normal(size=(len(sizes), columns))[y] + noise * rng.normal(size=(len(y), columns)), y


def both(X, y, sample_weight=None, **options):
    together = SVC(**options).fit(X, y, sample_weight)
    one_by_one = SVC(solver=PAIR_BY_PAIR, **options).fit(X, y, sample_weight)
    return together, one_by_one


def assert_same(together, one_by_one, X):
    assert len(together.certificates_) == len(one_by_one.certificates_)
    assert_allclose(together.decision_function(X), one_by_one.decision_function(X), atol=1e-6)
    for mine, other in zip(together.certificates_, one_by_one.certificates_, strict=True):
        assert mine.status is other.status
        assert mine.primal == pytest.approx(other.primal, rel=1e-6)
        assert mine.dual == pytest.approx(other.dual, rel=1e-6)
        assert mine.kkt_violation <= together.tol
    total, other = together.certificate_, one_by_one.certificate_
    assert total.dual == pytest.approx(other.dual, rel=1e-6)
    assert total.status is other.status
    assert total.n_iter == sum(proof.n_iter for proof in together.certificates_)


@given(
    sizes=st.lists(st.integers(1, 9), min_size=3, max_size=6),
    seed=st.integers(0, 10**6),
    C=st.sampled_from([0.1, 1.0, 100.0]),
    kernel=st.sampled_from([RBF(0.5), Polynomial(2, 0.5, 1.0)]),
    weighted=st.booleans(),
)
@settings(max_examples=40)
def test_the_machine_is_the_one_of_pair_by_pair(sizes, seed, C, kernel, weighted):
    X, y = classes(sizes, seed)
    weight = np.random.default_rng(seed).uniform(0.2, 2.0, len(y)) if weighted else None
    assert_same(*both(X, y, weight, C=C, kernel=kernel), X)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_strips_of_some_classes_give_the_bits_of_one_strip(monkeypatch, n_jobs):
    X, y = classes([3, 8, 1, 5, 12, 4, 4], seed=1)
    whole = SVC(n_jobs=1).fit(X, y)
    monkeypatch.setattr(all_pairs, "STRIP", 100)
    strips = SVC(n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(whole.dual_coef_, strips.dual_coef_)
    np.testing.assert_array_equal(whole.intercept_, strips.intercept_)
    np.testing.assert_array_equal(whole.n_iter_, strips.n_iter_)
    mine, others = whole.certificate_, strips.certificate_
    assert (mine.dual, mine.primal, mine.n_iter) == (others.dual, others.primal, others.n_iter)


def test_every_entry_of_the_matrix_is_computed_once():
    X, y = classes([3, 8, 1, 5], seed=2)
    sizes = np.bincount(y)
    upper_blocks = (len(y) ** 2 + np.sum(sizes**2)) // 2
    assert SVC().fit(X, y).certificate_.kernel_evaluations == upper_blocks


def test_pairs_that_are_left_open_go_to_the_solver(monkeypatch):
    X, y = classes([20, 30, 25], seed=3, noise=2.0)
    expected = SVC(C=10.0).fit(X, y)
    monkeypatch.setattr(all_pairs, "STEPS", 1)
    assert_same(SVC(C=10.0).fit(X, y), expected, X)


def test_the_history_rises_from_zero_to_the_certificate():
    X, y = classes([6, 7, 8], seed=4)
    machine = SVC().fit(X, y)
    for number, proof in enumerate(machine.certificates_):
        of_pair = machine.history_[machine.history_["problem"] == number]
        assert of_pair["objective"][0] == 0
        assert (np.diff(of_pair["objective"]) > 0).all()
        assert of_pair["objective"][-1] == proof.dual
        assert of_pair["gap"][-1] == pytest.approx(proof.gap, abs=1e-12)


def test_time_that_is_over_leaves_pairs_at_zero_and_says_so():
    X, y = classes([5] * 8, seed=5)
    with pytest.warns(match="out of time"):
        machine = SVC(max_time=1e-9).fit(X, y)
    assert machine.certificate_.status is Status.OUT_OF_TIME
    assert {proof.status for proof in machine.certificates_} == {Status.OUT_OF_TIME}
    assert all(proof.primal > 0 and proof.dual == 0 for proof in machine.certificates_)
