"""K̂ = ZZᵀ in blocks: every row once, within the budget."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.features import RandomFourierFeatures
from maxmargin.features.base import TILE_ENTRIES
from maxmargin.features.gram import FeatureGram
from maxmargin.kernels import RBF
from maxmargin.resources import available_cores

X = np.random.default_rng(0).normal(size=(4000, 5))
FEATURES = RandomFourierFeatures(200, gamma=0.2, random_state=0).fit(X)
Z = FEATURES.transform(X)


def made(budget, rows=slice(None), data=X):
    return FeatureGram(RBF(0.2), data, FEATURES, cache_size=budget, threads=2).take(rows)


SUBSET = np.sort(np.random.default_rng(1).choice(4000, 900, replace=False))


@pytest.mark.parametrize("rows", [slice(None), SUBSET], ids=["all", "some"])
@pytest.mark.parametrize("budget", [100, 2, 0.5])
def test_every_row_comes_once_with_its_features(budget, rows):
    gram = made(budget, rows)
    for _ in range(2):
        seen = np.zeros(gram.n, int)
        for block in gram.blocks():
            seen[block.rows] += 1
            assert np.allclose(block.Z[block.lines], Z[rows][block.rows], atol=1e-6)
        assert (seen == 1).all()


@pytest.mark.parametrize("budget", [100, 0.5])
def test_weights_and_scores_are_products_with_the_features(budget):
    gram = made(budget, SUBSET)
    beta = np.random.default_rng(2).normal(size=900)
    w = gram.weights(beta)
    assert np.allclose(w, Z[SUBSET].astype(float).T @ beta, atol=1e-5)
    for block in gram.blocks():
        expected = Z[SUBSET][block.rows].astype(float) @ w
        assert np.allclose(gram.scores(block, w), expected, atol=1e-4)


def test_what_fits_is_kept_and_what_does_not_is_computed_again():
    assert made(100).resident == 4000
    part = made(2)
    assert 0 < part.resident < 4000
    before = part.evaluations
    list(part.blocks())
    again = part.evaluations - before
    assert again == (4000 - part.resident) * 200


@pytest.mark.parametrize("data", [X, sp.csr_array(X)], ids=["dense", "CSR"])
@pytest.mark.parametrize("budget", [4, 8])
def test_memory_stays_within_the_budget(budget, data):
    many = sp.vstack([data] * 5, format="csr") if sp.issparse(data) else np.vstack([data] * 5)
    features = RandomFourierFeatures(200, gamma=0.2, random_state=0).fit(many)
    for block in FeatureGram(RBF(0.2), many[:100], features).blocks():  # compiles what is needed
        made(100).scores(block, np.ones(200))
    tracemalloc.start()
    gram = FeatureGram(RBF(0.2), many, features, cache_size=budget, threads=1)
    for block in gram.blocks():
        gram.scores(block, np.ones(200))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    of_all_rows = 4 * 20_000 * 200
    overhead = 20_000 * 8 * 8  # row numbers, their order
    # What each thread has in its hands: a block, its angles, and of sparse rows their product.
    tiles = 3 * 4 * TILE_ENTRIES * available_cores()
    assert peak <= budget * 2**20 + overhead + tiles < of_all_rows


def test_a_budget_too_small_for_a_block_is_refused_with_the_size():
    with pytest.raises(ValueError, match=r"cache_size=0\.01 MB .* take .* MB"):
        made(0.01)
