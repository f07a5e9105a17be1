"""Choosing a machine from the terminal: what `maxmargin.selection` finds."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC
from maxmargin.selection import leave_one_out

X, y = load_iris(return_X_y=True)


def test_tune_finds_the_best_cell_and_train_takes_it(run):
    found = run("tune", "iris.csv", "--cs", "2", "--gammas", "3", "--json").json
    assert found["cells"] == len(found["results"]) == 6
    assert found["score"] == max(each["score"] for each in found["results"])
    shown = run("tune", "iris.csv", "--cs", "1", "--gammas", "2")
    assert "cross-validated" in shown.out
    trained = run("train", "iris.csv", "--tune", "--json").json
    assert trained["parameters"]["C"] != 1
    assert trained["certificate"]["status"] == "converged"
    noted = run("inspect", "iris.maxmargin", "--json").json["notes"]["tuned"]
    assert noted["C"] == trained["parameters"]["C"]
    assert 0.9 < noted["score"] <= 1


def test_loo_is_exact(run):
    found = run("loo", "iris.csv", "--C", "10", "--json").json
    expected = leave_one_out(SVC(C=10), StandardScaler().fit_transform(X), y)
    assert found["error"] == expected.error == np.mean(expected.predictions != y)
    assert all(found["error"] <= bound for bound in found["bounds"].values())
    assert 0 <= found["span"] <= 1
    assert found["worst_kkt_violation"] <= 1e-3
    shown = run("loo", "iris.csv", "--machine", "svr", "--target", "1")
    assert "R²" in shown.out


def test_what_cannot_be_tuned(run):
    result = run("train", "iris.csv", "--tune", "--C", "3")
    assert result.code == 2
    assert "--tune chooses C and γ" in result.err
    result = run("train", "iris.csv", "--tune", "--machine", "linear")
    assert result.code == 2
    assert "--tune chooses C and γ of svc and svr" in result.err
