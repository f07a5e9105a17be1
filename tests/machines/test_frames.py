"""Tables of pandas and polars, and labels of any kind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM

pytestmark = pytest.mark.small

X, y = load_iris(return_X_y=True)
X, y = X[::5], y[::5]
names = ["sepal length", "sepal width", "petal length", "petal width"]
MACHINES = [SVC(), NuSVC(nu=0.3), SVR(), NuSVR(), OneClassSVM()]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_a_frame_is_its_numbers_and_its_names(machine, frame):
    table = frame(dict(zip(names, X.T, strict=True)))
    expected = machine.fit(X, y).predict(X)
    assert not hasattr(machine, "feature_names_in_")
    fitted = machine.fit(table, frame({"y": y})["y"])
    assert_array_equal(fitted.predict(table), expected)
    assert_array_equal(fitted.feature_names_in_, names)
    assert fitted.n_features_in_ == 4
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame(dict(zip(names[::-1], X.T, strict=True))))


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["setosa", "versicolor", "virginica"])[y],
        np.array(["setosa", "versicolor", "virginica"], object)[y],
        pd.Categorical.from_codes(y, ["setosa", "versicolor", "virginica"]),
        pd.Series(y).map({0: "setosa", 1: "versicolor", 2: "virginica"}),
        y.astype(float) - 5,
        [int(label) for label in y],
    ],
    ids=["str", "object", "categorical", "series", "float", "list"],
)
def test_labels_come_back_as_they_were_given(labels):
    machine = SVC(gamma=1.0, C=100.0).fit(X, labels)
    assert_array_equal(machine.classes_, np.unique(np.asarray(labels)))
    assert_array_equal(machine.predict(X), np.asarray(labels))


def test_truth_values_are_labels():
    machine = SVC().fit(X, y == 0)
    assert machine.predict(X).dtype == bool
    assert_array_equal(machine.predict(X), y == 0)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.coo_matrix, sp.csr_matrix])
def test_a_sparse_table_is_its_numbers(make):
    dense = SVC(tol=1e-8).fit(X, y)
    sparse = SVC(tol=1e-8).fit(make(X), y)
    np.testing.assert_allclose(
        sparse.decision_function(make(X)), dense.decision_function(X), rtol=1e-6
    )
    np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(X), rtol=1e-6)


def test_single_precision_stays_single():
    machine = SVC().fit(X.astype(np.float32), y)
    assert machine.support_vectors_.dtype == np.float32
    assert_array_equal(machine.predict(X.astype(np.float32)), SVC().fit(X, y).predict(X))
