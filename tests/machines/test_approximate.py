"""SVC and SVR with features in the kernel's place."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import RBFSampler

from maxmargin import SVC, SVR, Nystroem, RandomFourierFeatures
from maxmargin.certificate import ApproximateCertificate

X, y = make_moons(600, noise=0.2, random_state=0)
X3, y3 = make_classification(
    500, 6, n_informative=5, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=1
)
TARGET = np.sin(2 * X[:, 0]) + X[:, 1] ** 2

FEATURES = [
    {"approximation": "rff", "n_components": 300},
    {"approximation": "nystroem", "n_components": 80},
    {"approximation": RandomFourierFeatures(200, paired=True, orthogonal=True, random_state=0)},
    {"approximation": Nystroem(60, landmarks="kmeans++", random_state=0)},
    {"approximation": RBFSampler(gamma=1.0, n_components=300, random_state=0)},
]


def naive_hinge(clf, X, signs, C):
    """½‖w‖² + C Σ hinge, straight from the definition, in float64."""
    Z = np.asarray(clf.features_.transform(X), float)
    f = Z @ clf.feature_coef_[0] + clf.intercept_[0]
    return (
        0.5 * clf.feature_coef_[0] @ clf.feature_coef_[0] + C * np.maximum(0, 1 - signs * f).sum()
    )


def naive_dual(clf, X, signs):
    """Σα − ½ΣΣ ααyyK̂."""
    Z = np.asarray(clf.features_.transform(X[clf.support_]), float)
    beta = clf.dual_coef_[0]
    return np.abs(beta).sum() - 0.5 * beta @ (Z @ Z.T) @ beta


def without_offset(machine, X):
    """wᵀφ(x) of each row."""
    predict = machine.decision_function if isinstance(machine, SVC) else machine.predict
    return predict(X) - machine.intercept_[0]


def assert_same(first, second, X, second_X=None):
    """Two solutions of one problem: ½‖w − w*‖² ≤ gap, for P − ½‖w‖² is convex.

    So wᵀφ(x) of the two differ by at most ‖φ(x)‖ (√2gap + √2gap'), for every x.
    """
    norms = np.linalg.norm(np.asarray(first.features_.transform(X), float), axis=1)
    reach = sum(np.sqrt(2 * machine.certificate_.gap) for machine in (first, second))
    other = without_offset(second, X if second_X is None else second_X)
    difference = np.abs(without_offset(first, X) - other)
    assert np.all(difference <= norms * reach)
    assert (norms * reach).max() < 0.05 * np.ptp(other)  # the bound is worth something


@pytest.mark.parametrize("given", FEATURES, ids=str)
def test_the_certificate_holds_for_the_features_and_says_so(given):
    clf = SVC(C=2.0, **given).fit(X, y)
    proof, signs = clf.certificate_, np.where(y == 1, 1.0, -1.0)
    assert isinstance(proof, ApproximateCertificate)
    assert "not the kernel itself" in str(proof)
    assert proof.primal == pytest.approx(naive_hinge(clf, X, signs, 2.0), rel=1e-4)
    assert proof.dual == pytest.approx(naive_dual(clf, X, signs), rel=1e-4)
    assert 0 <= proof.relative_gap <= 1e-3
    assert abs(clf.dual_coef_.sum()) < 1e-6 * np.abs(clf.dual_coef_).sum()
    Z = np.asarray(clf.features_.transform(X), float)
    K = np.exp(-clf.kernel_.gamma * _squares(X))
    assert proof.kernel_error == pytest.approx(np.sqrt(np.mean((K - Z @ Z.T) ** 2)), rel=0.4)


@pytest.mark.parametrize("columns", [100, 1600])
@pytest.mark.parametrize("rows", [X, sp.csr_array(X)], ids=["dense", "CSR"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_random_features_miss_the_kernel_by_one_over_the_root_of_their_number(
    kernel, rows, columns
):
    """An entry of K̂ is a mean of D products 2 cos a cos b of variance ≤ 3/2: √mean (K − K̂)² is
    about √(3/2D), or less. Twice that is far less than what another γ would miss by.
    """
    clf = SVC(kernel=kernel, gamma=1.0, approximation="rff", n_components=columns).fit(rows, y)
    expected = np.sqrt(1.5 / columns)
    assert 0.2 * expected <= clf.certificate_.kernel_error <= 2 * expected
    Z = np.asarray(clf.features_.transform(rows), float)
    distances = _squares(X) if kernel == "rbf" else np.abs(X[:, None] - X[None]).sum(axis=2)
    assert np.sqrt(np.mean((np.exp(-distances) - Z @ Z.T) ** 2)) <= 2 * expected
    if columns == 1600:
        assert np.sqrt(np.mean((np.exp(-2 * distances) - Z @ Z.T) ** 2)) > 2 * expected


def _squares(X):
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


@pytest.mark.parametrize("given", FEATURES[:4], ids=str)
def test_it_decides_as_the_exact_machine_does(given):
    exact, approximate = SVC().fit(X[:400], y[:400]), SVC(**given).fit(X[:400], y[:400])
    same = exact.predict(X[400:]) == approximate.predict(X[400:])
    assert same.mean() >= 0.97


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("given", FEATURES[:2], ids=str)
def test_several_classes(given, multiclass):
    exact = SVC(multiclass=multiclass).fit(X3, y3)
    approximate = SVC(multiclass=multiclass, **given).fit(X3, y3)
    assert len(approximate.certificates_) == 3
    assert (exact.predict(X3) == approximate.predict(X3)).mean() >= 0.97
    assert approximate.decision_function(X3).shape == exact.decision_function(X3).shape


@pytest.mark.parametrize("given", FEATURES[:2], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_regression(given, fit_intercept):
    exact = SVR(C=10, fit_intercept=fit_intercept).fit(X, TARGET)
    approximate = SVR(C=10, fit_intercept=fit_intercept, **given).fit(X, TARGET)
    assert approximate.score(X, TARGET) > exact.score(X, TARGET) - 0.02
    w, b = approximate.feature_coef_[0], approximate.intercept_[0]
    f = np.asarray(approximate.features_.transform(X), float) @ w + b
    primal = 0.5 * w @ w + 10 * np.maximum(np.abs(TARGET - f) - 0.1, 0).sum()
    assert approximate.certificate_.primal == pytest.approx(primal, rel=1e-4)
    assert approximate.certificate_.relative_gap <= 1e-3


@pytest.mark.parametrize("machine", [SVC(), SVR()], ids=["SVC", "SVR"])
def test_the_budget_changes_the_memory_and_not_the_model(machine):
    many, labels = make_moons(3000, noise=0.2, random_state=1)
    machine = clone(machine).set_params(approximation="rff", n_components=400, tol=1e-6)
    roomy, tight = (clone(machine).set_params(cache_size=size) for size in (100, 1))
    a, b = roomy.fit(many, labels).certificate_, tight.fit(many, labels).certificate_
    assert b.kernel_evaluations > a.kernel_evaluations  # of the features, again and again
    assert a.primal == pytest.approx(b.primal, rel=2e-6)
    assert_same(roomy, tight, many)


@pytest.mark.parametrize("given", FEATURES[:2], ids=str)
def test_rows_on_disk_give_the_same_machine(given, tmp_path):
    stored = np.memmap(tmp_path / "X", np.float64, "w+", shape=X.shape)
    stored[:] = X
    first, second = (SVC(**given).fit(rows, y) for rows in (X, stored))
    assert np.array_equal(first.dual_coef_, second.dual_coef_)


@pytest.mark.parametrize("given", FEATURES[1:4], ids=str)
def test_sparse_rows_give_the_same_machine(given):
    """Dense rows are centred for random features, which does not change K̂ if they are paired."""
    dense, sparse = (SVC(tol=1e-7, **given).fit(rows, y) for rows in (X, sp.csr_array(X)))
    assert_same(dense, sparse, X, sp.csr_array(X))


@pytest.mark.parametrize("machine", [SVC(C=3.0), SVR(C=3.0)], ids=["SVC", "SVR"])
def test_refined_it_is_the_exact_machine(machine):
    # Both are near the one optimum, ½‖w − w*‖² ≤ gap: tol allows far less than what is compared.
    machine = clone(machine).set_params(tol=1e-7)
    cold = clone(machine).fit(X, y)
    warm = clone(machine).set_params(approximation="nystroem", n_components=40, refine=True)
    warm.fit(X, y)
    assert not isinstance(warm.certificate_, ApproximateCertificate)
    assert isinstance(warm.approximate_certificate_, ApproximateCertificate)
    assert warm.certificate_.kkt_violation <= machine.tol
    assert warm.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-6)
    predict = "decision_function" if isinstance(machine, SVC) else "predict"
    assert np.allclose(getattr(warm, predict)(X), getattr(cold, predict)(X), atol=1e-5)


@pytest.mark.parametrize("given", FEATURES[:2], ids=str)
def test_blocks_that_come_once_teach_nearly_as_much(given):
    many, labels = make_moons(3000, noise=0.2, random_state=2)
    whole = SVC(gamma=1.0, **given).fit(many[:2000], labels[:2000])
    streamed = SVC(gamma=1.0, **given)
    for start, stop in pairwise(range(0, 2001, 250)):
        streamed.partial_fit(many[start:stop], labels[start:stop], classes=[0, 1])
    assert streamed.n_samples_seen_ == 2000
    assert (
        streamed.score(many[2000:], labels[2000:]) > whole.score(many[2000:], labels[2000:]) - 0.02
    )
    regressor = SVR(**given)
    for start, stop in pairwise(range(0, 601, 150)):
        regressor.partial_fit(X[start:stop], TARGET[start:stop])
    assert regressor.score(X, TARGET) > 0.9


def test_after_fit_blocks_add_to_what_was_learned():
    clf = SVC(approximation="nystroem", n_components=60, gamma=1.0).fit(X[:300], y[:300])
    before, features = clf.decision_function(X), clf.features_
    clf.partial_fit(X[300:310], y[300:310])
    assert clf.features_ is features
    assert clf.n_samples_seen_ == 310
    assert 0 < np.abs(clf.decision_function(X) - before).mean() < 0.5


def test_one_block_with_all_rows_is_nearly_a_fit():
    """From w = 0 the block's problem is the machine's; a few proximal steps come close."""
    given = {"approximation": "rff", "n_components": 100, "gamma": 1.0, "fit_intercept": False}
    whole = SVC(**given).fit(X, y)
    streamed = SVC(**given).partial_fit(X, y, classes=[0, 1])
    signs = np.where(y == 1, 1.0, -1.0)
    assert naive_hinge(streamed, X, signs, 1.0) <= 1.05 * naive_hinge(whole, X, signs, 1.0)


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (SVC(approximation="rff", kernel="poly"), "'rbf' and 'laplacian'"),
        (SVC(approximation="nystroem", n_components=601), "cannot be chosen among 600 rows"),
        (SVC(approximation="rff", n_components=0), "n_components"),
        (SVC(approximation="fourier"), "approximation"),
        (SVC(approximation="rff", gamma=0.0), "gamma=0"),
        (SVC(approximation="nystroem", C=np.inf), "hard margin"),
        (SVC(approximation=Nystroem(), n_components=5), "set it in the transformer"),
        (SVC(approximation="rff", cache_size=0.01), "raise cache_size or lower n_components"),
        (SVR(approximation="rff", kernel="sigmoid"), "'rbf' and 'laplacian'"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_by_name(machine, message):
    with pytest.raises(ValueError, match=message):
        machine.fit(X, y)


def test_partial_fit_says_what_it_needs():
    assert not hasattr(SVC(), "partial_fit")
    assert not hasattr(SVC(approximation="rff", refine=True), "partial_fit")
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        SVC(approximation="rff").partial_fit(X, y)
    with pytest.raises(ValueError, match="row 0 has the label 7"):
        SVC(approximation="rff").partial_fit(X[:3], [7, 0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="balanced"):
        SVC(approximation="rff", class_weight="balanced").partial_fit(X, y, classes=[0, 1])


def test_limits_end_the_fit_with_the_model_so_far():
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        clf = SVC(approximation="rff", n_components=100, max_iter=2, tol=1e-8).fit(X, y)
    assert clf.n_iter_[0] == 2
    assert clf.score(X, y) > 0.9
    with pytest.warns(ConvergenceWarning, match="out of time"):
        clf = SVC(approximation="rff", n_components=100, max_time=1e-9).fit(X, y)
    assert clf.predict(X).shape == y.shape


def test_the_seed_decides_and_nothing_else():
    first, again = (SVC(approximation="rff", n_components=50).fit(X, y) for _ in range(2))
    other = SVC(approximation="rff", n_components=50, random_state=1).fit(X, y)
    assert np.array_equal(first.feature_coef_, again.feature_coef_)
    assert not np.array_equal(first.feature_coef_, other.feature_coef_)


def test_a_warm_start_goes_on_from_the_last_coefficients():
    clf = SVC(approximation="nystroem", n_components=60, warm_start=True, C=1.0).fit(X, y)
    first = clf.certificate_.n_iter
    assert clf.fit(X, y).certificate_.n_iter <= min(first, 1)
