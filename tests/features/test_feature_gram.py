"""K̂ = ZZᵀ by its products, within the budget."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.features import RandomFourierFeatures
from maxmargin.features.feature_gram import FeatureGram
from maxmargin.features.kernel_features import TILE_ENTRIES

X = np.random.default_rng(0).normal(size=(4000, 5))
FEATURES = RandomFourierFeatures(200, gamma=0.2, random_state=0).fit(X)
Z = FEATURES.transform(X)


def made(budget, rows=slice(None), data=X):
    return FeatureGram(data, FEATURES, cache_size=budget, threads=2).take(rows)


SUBSET = np.sort(np.random.default_rng(1).choice(4000, 900, replace=False))


@pytest.mark.parametrize("rows", [slice(None), SUBSET], ids=["all", "some"])
@pytest.mark.parametrize("budget", [100, 2, 0.6])
def test_products_are_those_with_the_features(budget, rows):
    gram, expected = made(budget, rows), Z[rows].astype(float)
    random = np.random.default_rng(2)
    w, some = random.normal(size=200), np.sort(random.choice(gram.n, 500, replace=False))
    assert np.allclose(gram.scores(w), expected @ w, atol=1e-4)
    coef = random.normal(size=500)
    assert np.allclose(gram.combine(some, coef), coef @ expected[some], atol=1e-4)
    assert np.allclose(np.vstack(list(gram.blocks(some))), expected[some], atol=1e-6)


def test_a_lot_is_of_different_rows_and_of_those_that_are_kept_first():
    gram = made(2)
    few = gram.sample(gram.resident)
    assert len(np.unique(few)) == gram.resident
    before = gram.evaluations
    gram.combine(few, np.ones(len(few)))
    assert gram.evaluations == before


def test_what_fits_is_kept_and_what_does_not_is_computed_again():
    assert made(100).resident == 4000
    part = made(2)
    assert 0 < part.resident < 4000
    before = part.evaluations
    part.scores(np.ones(200))
    again = part.evaluations - before
    assert again == (4000 - part.resident) * 200


@pytest.mark.parametrize("data", [X, sp.csr_array(X)], ids=["dense", "CSR"])
@pytest.mark.parametrize("budget", [4, 8])
def test_memory_stays_within_the_budget(budget, data):
    many = sp.vstack([data] * 5, format="csr") if sp.issparse(data) else np.vstack([data] * 5)
    features = RandomFourierFeatures(200, gamma=0.2, random_state=0).fit(many)
    w = np.ones(200)
    FeatureGram(many[:7000], features, cache_size=1).scores(w)  # compiles
    tracemalloc.start()
    FeatureGram(many, features, cache_size=budget, threads=1).scores(w)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    of_all_rows = 4 * 20_000 * 200
    overhead = 20_000 * 8 * 8  # row numbers, their order
    # What a thread has in its hands: a tile, its angles, and of sparse rows their product.
    tiles = 4 * 4 * TILE_ENTRIES
    assert peak <= budget * 2**20 + overhead + tiles < of_all_rows


def test_a_budget_too_small_for_a_block_is_refused_with_the_size():
    with pytest.raises(ValueError, match=r"cache_size=0\.01 MB .* take .* MB"):
        made(0.01)
