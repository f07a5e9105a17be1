"""Real data sets, from the folder that the environment variable MAXMARGIN_DATA names."""

import os
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.preprocessing import StandardScaler


def archive(name):
    folder = os.environ.get("MAXMARGIN_DATA")
    if folder is None:
        raise FileNotFoundError(f"{name}: set MAXMARGIN_DATA to the folder of the real data")
    return np.load(Path(folder) / f"{name}.npz")


def given(name, n=None):
    """A dense set with its own test split."""
    parts = archive(name)
    return parts["X"][:n], parts["y"][:n], parts["Xt"], parts["yt"]


def drawn(name, n, held_out=10_000):
    """A dense set without a test split: n rows by lot, then some to predict."""
    parts = archive(name)
    X, y = parts["X"], parts["y"]
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:n], order[n : n + held_out]
    return X[train], y[train], X[test], y[test]


def sparse(name, n=None):
    """A CSR set with its own test split."""
    train, test = archive(name), archive(f"{name}.t")
    columns = max(train["shape"][1], test["shape"][1])
    X, Xt = (
        csr_matrix((p["data"], p["indices"], p["indptr"]), shape=(p["shape"][0], columns))
        for p in (train, test)
    )
    return X[:n], train["y"][:n], Xt, test["y"]


def a9a(n=None):
    return sparse("a9a", n)


def a9a_dense(n=None):
    X, y, Xt, yt = sparse("a9a", n)
    return X.toarray(), y, Xt.toarray(), yt


def reuters(n=None):
    return sparse("reuters", n)


def letter(n=None):
    return given("letter", n)


def pendigits(n=None):
    X, y, Xt, yt = given("pendigits", n)
    return X / 100, y, Xt / 100, yt


def mnist(n=None):
    X, y, Xt, yt = given("mnist", n)
    return X / 255, y, Xt / 255, yt


def mnist_3v8(n=None):
    X, y, Xt, yt = mnist()
    train, test = np.isin(y, (3, 8)), np.isin(yt, (3, 8))
    return X[train][:n], y[train][:n], Xt[test], yt[test]


def mnist_odd(n=20_000):
    X, y, Xt, yt = mnist(n)
    return X, y % 2, Xt, yt % 2


def covtype(n=20_000):
    """Class 2 against the rest."""
    X, y, Xt, yt = drawn("covtype_93k", n)
    return X, y == 2, Xt, yt == 2


def cover(n=50_000):
    X, y, Xt, yt = drawn("cover_adbench", n)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(Xt), yt


def california_housing(n=20_640):
    """All rows train; the target is in units of 100,000 dollars."""
    parts = archive("california_housing")
    X, y = StandardScaler().fit_transform(parts["X"])[:n], parts["y"][:n] / 1e5
    return X, y, X[:5_000], y[:5_000]


def california_scaled(n=4_000):
    """Rows by lot, the target scaled to unit variance."""
    X, y, Xt, yt = california_dollars(n)
    return X, (y - y.mean()) / y.std(), Xt, (yt - y.mean()) / y.std()


def california_dollars(n=4_000):
    """Rows by lot, the target in dollars."""
    X, y, Xt, yt = drawn("california_housing", n, 5_000)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(Xt), yt


def abalone(n=4_177):
    parts = archive("abalone")
    X, y = StandardScaler().fit_transform(parts["X"])[:n], parts["y"][:n]
    return X, y, X, y
