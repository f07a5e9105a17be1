"""Generated data sets: anyone can run them, at any size."""

import numpy as np
from scipy.sparse import csr_matrix
from sklearn import datasets
from sklearn.preprocessing import StandardScaler


def held_out(X, y, n):
    """The first n rows to train on, the rest to predict; columns scaled by the first."""
    scaler = StandardScaler().fit(X[:n])
    return scaler.transform(X[:n]), y[:n], scaler.transform(X[n:]), y[n:]


def narrow(n=10_000):
    """40 columns, two classes of several clusters each, 2 % of the labels wrong."""
    X, y = datasets.make_classification(
        n + min(n, 10_000),
        n_features=40,
        n_informative=20,
        n_redundant=10,
        n_clusters_per_class=4,
        flip_y=0.02,
        random_state=0,
    )
    return held_out(X, y, n)


def noisy(n=10_000):
    """20 columns, two classes of four clusters each, a tenth of the labels drawn by lot."""
    X, y = datasets.make_classification(
        n + min(n, 5_000),
        n_features=20,
        n_informative=10,
        n_clusters_per_class=4,
        flip_y=0.1,
        random_state=0,
    )
    return held_out(X, y, n)


def wide(n=5_000):
    """500 columns, of which 50 tell the classes apart."""
    X, y = datasets.make_classification(
        n + min(n, 5_000),
        n_features=500,
        n_informative=50,
        n_redundant=200,
        n_clusters_per_class=8,
        random_state=1,
    )
    return held_out(X, y, n)


def imbalanced(n=20_000):
    """22 columns, one row in ten is positive."""
    X, y = datasets.make_classification(
        n + min(n, 10_000),
        n_features=22,
        n_informative=12,
        n_clusters_per_class=6,
        weights=[0.9],
        random_state=2,
    )
    return held_out(X, y, n)


def text(n=5_000):
    """Bags of words in CSR: 10,000 words by Zipf's law, two topics, about 60 words per row."""
    rng = np.random.default_rng(3)
    rows, words, length = n + min(n, 5_000), 10_000, 80
    common = 1 / np.arange(1, words + 1)
    y = rng.integers(2, size=rows)
    indices = np.empty((rows, length), dtype=np.int32)
    for topic in range(2):
        weight = common * rng.lognormal(sigma=0.7, size=words)
        mine = y == topic
        indices[mine] = rng.choice(words, (mine.sum(), length), p=weight / weight.sum())
    counts = csr_matrix(
        (np.ones(rows * length), indices.ravel(), np.arange(0, rows * length + 1, length)),
        shape=(rows, words),
    )
    counts.sum_duplicates()
    lengths = np.sqrt(counts.multiply(counts).sum(axis=1).A1)
    X = csr_matrix(counts.multiply(1 / lengths[:, None]))
    return X[:n], y[:n], X[n:], y[n:]


def ten_classes(n=5_000):
    """16 columns, ten classes."""
    X, y = datasets.make_classification(
        n + min(n, 5_000),
        n_features=16,
        n_informative=12,
        n_classes=10,
        n_clusters_per_class=2,
        class_sep=2.0,
        random_state=4,
    )
    return held_out(X, y, n)


def friedman(n=5_000):
    """Friedman's first regression function of 10 columns, with noise, scaled to unit variance."""
    X, y = datasets.make_friedman1(n + min(n, 5_000), noise=1.0, random_state=5)
    return held_out(X, (y - y[:n].mean()) / y[:n].std(), n)


def novelty(n=10_000):
    """Ten columns, five clusters, and one row in twenty from nowhere."""
    rng = np.random.default_rng(6)
    rows = n + min(n, 5_000)
    X, _ = datasets.make_blobs(rows, n_features=10, centers=5, random_state=6)
    strange = rng.random(rows) < 0.05
    X[strange] = rng.uniform(-12, 12, (strange.sum(), 10))
    return held_out(X, np.where(strange, -1, 1), n)


def iris(n=150):
    """150 rows, three classes; the rows to predict are the same ones."""
    X, y = datasets.load_iris(return_X_y=True)
    return held_out(np.vstack([X, X]), np.tile(y, 2), n)


def breast_cancer(n=569):
    """569 rows, two classes; the rows to predict are the same ones."""
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return held_out(np.vstack([X, X]), np.tile(y, 2), n)
