"""ONNX graphs of every machine, run by onnxruntime."""

import numpy as np
import onnxruntime
import pytest
import scipy.sparse as sp
import skl2onnx
from sklearn.base import is_classifier

from fitted import ESTIMATORS, FRAME, Fitted, fitted
from maxmargin import ModelFileError
from maxmargin.io import register_onnx, to_onnx

OUTPUTS = {
    "predict": ("label", "variable"),
    "decision_function": ("scores",),
    "predict_proba": ("probabilities",),
    "transform": ("features",),
}
OWN = [name for name in ESTIMATORS if " own" in name]
COLUMNS = [name for name in ESTIMATORS if name.startswith("columns")]
TABLES = [name for name in ESTIMATORS if name.startswith("table")]
CONVERTED = [name for name in ESTIMATORS if name not in OWN + COLUMNS + TABLES]


def run(made, rows):
    session = onnxruntime.InferenceSession(made.SerializeToString())
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, rows), strict=True))


def size(model):
    """Σ|β|, to which rounding errors of a decision value are proportional."""
    last = model[-1] if hasattr(model, "steps") else model
    last = getattr(last, "best_estimator_", last)
    if hasattr(last, "_dense_dual_coef"):
        return 1 + float(np.abs(last._dense_dual_coef()).sum(axis=1).max())
    return 1.0


@pytest.mark.parametrize("name", TABLES)
def test_a_table_as_it_comes_is_not_converted(name):
    with pytest.raises(ModelFileError, match="to_onnx does not know Tabular"):
        to_onnx(fitted(name).model)


@pytest.mark.filterwarnings("ignore:the kernel is indefinite")  # the sigmoid
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CONVERTED)
def test_onnxruntime_says_the_same(name, dtype):
    case = fitted(name)
    rows = case.rows.astype(dtype)
    dense = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    found = run(to_onnx(case.model, dtype), {"X": dense})
    tolerance = 1e-6 if dtype == "float32" else max(1e-12, 1e-15 * size(case.model))
    if "float32" in name or "features" in name:  # the machine itself computes in float32
        tolerance = 1e-6 * size(case.model)
    wanted = Fitted(case.model, rows.astype("float64")).outputs(case.model)
    for method, outputs in OUTPUTS.items():
        for output in outputs:
            if method not in wanted or output not in found:
                continue
            ours = wanted[method]
            assert found[output].shape == ours.shape
            if output == "label":
                np.testing.assert_array_equal(found[output].astype(ours.dtype), ours)
            else:
                np.testing.assert_allclose(found[output], ours, rtol=tolerance, atol=tolerance)
    assert {*found} & {"label", "variable", "features"}
    assert ("probabilities" in found) == ("predict_proba" in wanted)


def as_inputs(made, table, dtype):
    """The columns that a graph takes."""
    used = [each.name for each in made.graph.input]
    kinds = {each.name: each.type.tensor_type.elem_type for each in made.graph.input}
    return {
        name: table[[name]].to_numpy().astype(object if kinds[name] == 8 else dtype)
        for name in used
    }


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_a_table_are_inputs_of_their_own(name, dtype):
    case = fitted(name)
    made = to_onnx(case.model, dtype)
    found = run(made, as_inputs(made, case.rows, dtype))
    wanted = case.model.predict(case.rows)
    if "label" in found:
        np.testing.assert_array_equal(found["label"], wanted)
    else:
        np.testing.assert_allclose(found["variable"], wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", OWN)
def test_what_has_no_operators_is_refused(name):
    with pytest.raises(ModelFileError, match=r"ONNX has no operators|skl2onnx"):
        to_onnx(fitted(name).model)


CHOSEN = [
    "svc words",
    "svc ovr",
    "svc calibrated, three",
    "svr",
    "one-class",
    "linear three",
    "scaled",
]
CHOSEN += [
    "tuned",
    "tuned isotonic",
    "scaled and tuned",
    "tuned numbers",
    "kernel perceptron",
    "nystroem features",
    "features, then linear",
]


@pytest.mark.parametrize("name", CHOSEN)
def test_skl2onnx_converts_our_machines(name):
    register_onnx()
    case = fitted(name)
    rows = case.rows.toarray() if sp.issparse(case.rows) else case.rows
    options = {"zipmap": False} if is_classifier(case.model) else None
    made = skl2onnx.to_onnx(case.model, rows[:1], options=options)
    first, *rest = run(made, {"X": rows}).values()
    wanted = case.outputs(case.model)
    ours = wanted.get("predict", wanted.get("transform"))
    if ours.dtype.kind == "f":
        np.testing.assert_allclose(np.reshape(first, ours.shape), ours, rtol=1e-6, atol=1e-6)
    else:
        np.testing.assert_array_equal(np.ravel(first).astype(ours.dtype), ours)
    if rest:
        scores = wanted.get("predict_proba", wanted.get("decision_function"))
        np.testing.assert_allclose(np.reshape(rest[0], scores.shape), scores, rtol=1e-6, atol=1e-6)


def test_skl2onnx_converts_columns_of_a_table():
    register_onnx()
    case = fitted("columns")
    types = [
        (name, skl2onnx.common.data_types.StringTensorType([None, 1]))
        if name == "farbe"
        else (name, skl2onnx.common.data_types.DoubleTensorType([None, 1]))
        for name in FRAME.columns
    ]
    made = skl2onnx.convert_sklearn(case.model, initial_types=types, options={"zipmap": False})
    used = {each.name for each in made.graph.input}
    rows = {name: case.rows[[name]].to_numpy() for name in FRAME.columns if name in used}
    rows = {k: v.astype(object) if k == "farbe" else v for k, v in rows.items()}
    np.testing.assert_array_equal(run(made, rows)["label"], case.model.predict(case.rows))
