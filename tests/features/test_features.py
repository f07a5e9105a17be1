"""φ(x)ᵀφ(z) ≈ k(x, z): how good it is, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from maxmargin.features import Nystroem, RandomFourierFeatures
from maxmargin.kernels import RBF, Laplacian
from maxmargin.kernels.standard import orthogonal_normal

X = np.random.default_rng(0).normal(size=(300, 4))

FOURIER = [
    {},
    {"paired": True},
    {"orthogonal": True},
    {"paired": True, "orthogonal": True},
    {"kernel": "laplacian"},
]


@pytest.mark.small
@pytest.mark.parametrize("form", FOURIER, ids=str)
def test_the_error_falls_as_one_over_the_root_of_the_columns(form):
    sizes = np.array([64, 256, 1024, 4096])
    errors = [
        np.mean(
            [
                RandomFourierFeatures(D, gamma=0.3, random_state=seed, **form)
                .fit(X)
                .approximation_error(X)
                for seed in range(4)
            ]
        )
        for D in sizes
    ]
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.12)


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(FOURIER),
    st.floats(0.05, 1.0),
    st.lists(st.floats(-1, 1), min_size=3, max_size=3),
)
def test_fourier_features_are_unbiased(form, gamma, step):
    pair = np.array([[0.0, 0.0, 0.0], step])
    kernel = Laplacian(gamma) if "kernel" in form else RBF(gamma)
    D, tries = 512, 30
    products = []
    for seed in range(tries):
        features = RandomFourierFeatures(D, gamma=gamma, random_state=seed, **form).fit(pair)
        Z = features.transform(pair).astype(float)
        products.append(Z[0] @ Z[1])
    # φ(x)ᵀφ(z) is a mean of D/2 or more terms of variance at most 2; five deviations are enough.
    assert abs(np.mean(products) - kernel(pair, pair)[0, 1]) <= 5 * np.sqrt(4 / (D * tries))


@pytest.mark.small
def test_orthogonal_frequencies_are_normal_and_orthogonal():
    W = orthogonal_normal(4000, 8, np.random.RandomState(0))
    products = W[:8] @ W[:8].T
    assert np.abs(products - np.diag(np.diag(products))).max() < 1e-12
    assert np.abs(W.mean(axis=0)).max() < 5 / np.sqrt(4000)
    assert np.abs(np.cov(W.T) - np.eye(8)).max() < 5 * np.sqrt(2 / 4000)


@pytest.mark.small
@pytest.mark.parametrize("landmarks", ["uniform", "kmeans++", "leverage"])
def test_nystroem_is_exact_on_its_landmarks(landmarks):
    features = Nystroem(40, gamma=0.5, landmarks=landmarks, random_state=0).fit(X)
    L = features.landmarks_
    Z = features.transform(L)
    assert Z.dtype == np.float32
    assert np.abs(Z @ Z.T - RBF(0.5)(L, L)).max() < 1e-4
    assert np.array_equal(L, X[features.landmark_indices_])
    assert len(np.unique(features.landmark_indices_)) == 40


@pytest.mark.small
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear"])
def test_with_all_rows_as_landmarks_nystroem_is_the_kernel(kernel):
    features = Nystroem(len(X), kernel=kernel, gamma=0.2, coef0=1.0).fit(X)
    scale = features.kernel_.diagonal(X).max()
    assert features.approximation_error(X) < 1e-3 * scale


@pytest.mark.small
def test_small_eigenvalues_are_dropped():
    doubled = np.repeat(X[:20], 3, axis=0)
    features = Nystroem(60, gamma=0.5).fit(doubled)
    assert features.transform(doubled).shape[1] <= 20
    assert features.eigenvalues_.min() > 1e-6 * features.eigenvalues_.max()
    assert len(features.get_feature_names_out()) == features.transform(doubled).shape[1]


@pytest.mark.small
def test_with_the_same_landmarks_the_features_are_scikit_learns():
    from sklearn.kernel_approximation import Nystroem as Theirs

    ours = Nystroem(25, gamma=0.5, random_state=3).fit(X)
    theirs = Theirs(gamma=0.5, n_components=25).fit(X[ours.landmark_indices_])
    Z, T = ours.transform(X), theirs.transform(X)
    assert np.abs(Z @ Z.T - T @ T.T).max() < 1e-3


@pytest.mark.small
@pytest.mark.parametrize("rows", [X, sp.csr_array(X)], ids=["dense", "CSR"])
def test_neither_order_nor_repetition_of_the_rows_chooses_the_landmarks(rows):
    random = np.random.default_rng(0)
    mixed = rows[np.concatenate([random.permutation(len(X)), random.integers(len(X), size=99)])]
    chosen = [Nystroem(25, gamma=0.5, random_state=3).fit(A).landmarks_ for A in (rows, mixed)]
    first, second = (A.toarray() if sp.issparse(A) else A for A in chosen)
    assert {tuple(row) for row in first} == {tuple(row) for row in second}
    assert len(first) == 25


@pytest.mark.small
@pytest.mark.parametrize(
    "features",
    [
        RandomFourierFeatures(64, gamma=0.3, random_state=0),
        Nystroem(30, gamma=0.3, random_state=0),
        Nystroem(30, kernel="poly", gamma=0.3, random_state=0),
    ],
    ids=str,
)
def test_sparse_and_dense_rows_have_the_same_kernel(features):
    S = X * (np.random.default_rng(1).random(X.shape) < 0.5)
    dense = features.fit(S).transform(S).astype(float)
    sparse = features.fit(sp.csr_array(S)).transform(sp.csr_array(S)).astype(float)
    if isinstance(features, RandomFourierFeatures):
        # Dense rows are centred first: other phases, the same frequencies.
        exact = RBF(0.3)(S, S)
        errors = [np.sqrt(np.mean((Z @ Z.T - exact) ** 2)) for Z in (dense, sparse)]
        assert max(errors) < 3 / np.sqrt(64)
    else:
        assert np.abs(dense @ dense.T - sparse @ sparse.T).max() < 1e-3


@pytest.mark.small
def test_far_from_the_origin_is_as_good_as_near():
    far = X + 1e4
    for make in (RandomFourierFeatures, Nystroem):
        near_error = make(100, gamma=0.3, random_state=0).fit(X).approximation_error(X)
        far_error = make(100, gamma=0.3, random_state=0).fit(far).approximation_error(far)
        assert far_error == pytest.approx(near_error, rel=0.05)


@pytest.mark.small
def test_dot_is_the_product_with_the_features():
    coef = np.random.default_rng(0).normal(size=(2, 50))
    fourier = RandomFourierFeatures(50, gamma=0.3, random_state=0).fit(X)
    nystroem = Nystroem(50, gamma=0.3, random_state=0).fit(X)
    for features in (fourier, nystroem):
        coef = coef[:, : features.transform(X[:1]).shape[1]]
        expected = features.transform(X).astype(float) @ coef.T
        assert np.abs(features.dot(X, coef) - expected).max() < 1e-2 * np.abs(expected).max()


@pytest.mark.small
def test_paired_features_have_an_inverse_where_angles_stay_below_half_a_turn():
    features = RandomFourierFeatures(200, gamma=0.01, paired=True, random_state=0).fit(X)
    assert np.abs(features.inverse_transform(features.transform(X)) - X).max() < 1e-4
    turns = RandomFourierFeatures(200, gamma=10.0, paired=True, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"row .* has no unique inverse"):
        turns.inverse_transform(turns.transform(X))
    assert not hasattr(RandomFourierFeatures(), "inverse_transform")


@pytest.mark.small
def test_nystroem_of_the_rbf_has_an_inverse():
    features = Nystroem(150, gamma=0.1, random_state=0).fit(X)
    assert np.abs(features.inverse_transform(features.transform(X)) - X).max() < 1e-2
    assert not hasattr(Nystroem(kernel="poly"), "inverse_transform")


@pytest.mark.small
@pytest.mark.parametrize(
    ("features", "message"),
    [
        (RandomFourierFeatures(0), "n_components"),
        (Nystroem(0), "n_components"),
        (Nystroem(301), "301 landmarks cannot be chosen among 300 rows"),
        (RandomFourierFeatures(gamma=0.0), "gamma"),
        (RandomFourierFeatures(gamma=-1.0), "gamma"),
        (RandomFourierFeatures(kernel=RBF(0.0)), "gamma=0.0"),
        (Nystroem(gamma=-1.0), "gamma"),
        (RandomFourierFeatures(kernel="poly"), "'rbf' and 'laplacian'"),
        (RandomFourierFeatures(kernel="laplacian", orthogonal=True), "needs the RBF"),
        (RandomFourierFeatures(7, paired=True), "even"),
        (Nystroem(kernel="precomputed"), "not kernel='precomputed'"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(features, message):
    with pytest.raises(ValueError, match=message):
        features.fit(X)


@pytest.mark.small
def test_features_larger_than_memory_are_refused_with_their_size():
    wide = RandomFourierFeatures(10_000, gamma=0.1).fit(sp.csr_array((10, 3)))
    with pytest.raises(MemoryError, match=r"10,000 columns take .* GB"):
        wide.transform(sp.csr_array((10**9, 3)))


def test_a_memmap_is_read_as_an_array_is(tmp_path):
    stored = np.memmap(tmp_path / "X", np.float64, "w+", shape=X.shape)
    stored[:] = X
    for features in (RandomFourierFeatures(random_state=0), Nystroem(50, random_state=0)):
        assert np.array_equal(features.fit(stored).transform(stored), features.fit(X).transform(X))


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("far", [0.0, 1e3])
@pytest.mark.parametrize("sparse", [False, True])
def test_frequencies_and_phases_are_those_of_the_formula(paired, far, sparse):
    """√(2/D) cos(ωx + b), of the attributes as they are: nothing is subtracted on the way."""
    X = np.random.default_rng(0).normal(size=(30, 4)) + far
    given = sp.csr_array(X) if sparse else X
    made = RandomFourierFeatures(20, gamma=0.5, paired=paired, random_state=0).fit(given)
    angles = X @ made.frequencies_.T.astype(float) + made.phases_
    both = np.hstack([np.cos(angles), np.sin(angles)]) if paired else np.cos(angles)
    rounding = 1e-5 if not sparse else 1e-5 * (1 + far)  # a sparse X is not centred
    assert_allclose(made.transform(given), np.sqrt(2 / 20) * both, atol=rounding)
