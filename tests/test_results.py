"""Results are short at a prompt and a table in a notebook; errors name what is wrong."""

import dataclasses
import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import maxmargin
from maxmargin import SVC, SVR, LinearSVC, OneClassSVM, c_path, leave_one_out, tune
from maxmargin.datasets import DataSet
from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Pairwise
from maxmargin.machines.proof import prove
from maxmargin.solvers import BlockSMO

X, Y = load_iris(return_X_y=True)
BINARY = X[:100], Y[:100]
SIGNS = np.where(Y[:100] == 0, -1, 1)

RESULTS = {
    "leave_one_out": lambda: leave_one_out(SVC(), X, Y),
    "leave_one_out of numbers": lambda: leave_one_out(SVR(), *BINARY),
    "c_path": lambda: c_path(SVC(gamma=1.0), *BINARY, 12),
    "tune": lambda: tune(SVC(), *BINARY, Cs=4, gammas=4),
    "prove": lambda: prove(SVC().fit(X, Y), X, Y),
    "certificate": lambda: SVC().fit(X, Y).certificate_,
    "solve": lambda: BlockSMO().solve(c_svc(SIGNS, C=1.0), Gram(RBF(1.0), BINARY[0])),
    "data set": lambda: DataSet(X, Y),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_short_at_a_prompt_and_a_table_in_a_notebook(name):
    result = RESULTS[name]()
    shown = repr(result)
    assert shown.startswith(f"{type(result).__name__}(")
    assert "\n" not in shown
    assert len(shown) < 800
    page = result._repr_html_()
    assert page.startswith("<table><caption>")
    assert page.count("<tr>") == page.count("</tr>") >= 4


@pytest.mark.small
def test_every_dataclass_that_a_public_function_returns_is_a_result():
    names = [getattr(maxmargin, name) for name in maxmargin.__all__]
    functions = filter(inspect.isfunction, names)
    for function in functions:
        returned = inspect.get_annotations(function).get("return")
        room = inspect.getmodule(function)
        kind = getattr(room, str(returned), None)
        if dataclasses.is_dataclass(kind):
            assert hasattr(kind, "_repr_html_"), function


TOWNS = {"size": [1.0, 2.0, 3.0, 4.0], "town": ["Oslo", "Bergen", "Oslo", "Bergen"]}


@pytest.mark.parametrize("machine", [SVC(), LinearSVC(), SVR()], ids=str)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_text_is_named_and_what_to_do(machine, frame):
    with pytest.raises(ValueError, match=r"column 'town' of X holds text, such as 'Oslo'"):
        machine.fit(frame(TOWNS), [0, 1, 0, 1])


def test_what_the_error_says_works():
    columns = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    clf = make_pipeline(columns, SVC()).fit(pd.DataFrame(TOWNS), [0, 1, 0, 1])
    assert clf.predict(pd.DataFrame(TOWNS)).tolist() == [0, 1, 0, 1]


def test_a_column_of_text_in_a_list_or_an_array():
    rows = [[1.0, "a"], [2.0, "b"]]
    for given in (rows, np.array(rows), np.array(rows, object)):
        with pytest.raises(ValueError, match=r"column 1 of X holds text, such as 'a'"):
            SVC().fit(given, [0, 1])


@pytest.mark.parametrize("machine", [SVC, LinearSVC])
def test_a_key_of_class_weight_that_is_no_class(machine):
    with pytest.raises(ValueError, match=r"the key 'setosa', which is no class; .* \[0, 1, 2\]"):
        machine(class_weight={0: 1.0, "setosa": 2.0}).fit(X, Y)
    more = machine(class_weight={0: 1.0, 1: 1.0, 2: 1.0, 3: 2.0}).fit(X, Y)  # as in scikit-learn
    assert np.array_equal(more.predict(X), machine().fit(X, Y).predict(X))


def two_rows(x, z):
    return float(x @ z)


def test_a_function_of_two_rows_points_to_pairwise():
    with pytest.raises((TypeError, ValueError)) as refused:
        SVC(kernel=two_rows).fit(X, Y)
    said = " ".join([str(refused.value), *getattr(refused.value, "__notes__", [])])
    assert "kernel 'two_rows'" in said
    assert "maxmargin.kernels.Pairwise" in said


WORDS = ["sun", "nuns", "snub", "tree", "reed", "deer"]
BAGS = np.empty(6, object)
BAGS[:] = [set(word) for word in WORDS]


def shared(a, b):
    return float(len({*a} & {*b}))


@pytest.mark.parametrize(
    "rows",
    [WORDS, np.array(WORDS), np.array(WORDS, object), BAGS],
    ids=["list", "strings", "objects", "sets"],
)
def test_pairwise_on_strings_and_objects_is_the_precomputed_matrix(rows):
    labels = [0, 0, 0, 1, 1, 1]
    K = np.array([[shared(a, b) for b in WORDS] for a in WORDS])
    ours = SVC(kernel=Pairwise(shared)).fit(rows, labels)
    wanted = SVC(kernel="precomputed").fit(K, labels)
    assert ours.decision_function(rows) == pytest.approx(wanted.decision_function(K))
    assert leave_one_out(ours, rows, labels).error == leave_one_out(wanted, K, labels).error


@pytest.mark.parametrize("tol", [1e-3, 1e-1])
def test_rows_on_the_border_are_inside(tol):
    """At most νn rows are outside: those at their bound; free ones are on the border."""
    rows = np.random.default_rng(0).normal(size=(1000, 3))
    machine = OneClassSVM(nu=0.05, gamma=0.3, tol=tol).fit(rows)
    outside = machine.predict(rows) < 0
    assert outside.sum() <= 50
    assert np.array_equal(outside, machine.decision_function(rows) < 0)
