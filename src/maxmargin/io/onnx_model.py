"""Fitted machines as ONNX graphs (extra `onnx`), for runtimes without Python.

A graph is made of plain operators: MatMul, Exp, Where, in float64 whatever its input is. ONNX's own
SVMRegressor and SVMClassifier are nowhere exact: they add in float32, by which decision values were
off by 2e-4 where Σ|β| = 776 and by 5e-3 where it is 20,685, and they took twice as long. The second
also gives a tie in votes to the first class, and we to the one with the larger sum of decisions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from maxmargin.io import searches
from maxmargin.io.container import Model
from maxmargin.io.onnx_columns import ML, inputs_of, steps_of
from maxmargin.io.onnx_graph import OPSET, Graph
from maxmargin.io.onnx_machines import Outputs, in_precision
from maxmargin.io.records import RECORDS

if TYPE_CHECKING:
    from onnx import ModelProto

Precision = Literal["float64", "float32"]


def to_onnx(model: Model, dtype: Precision = "float64") -> ModelProto:
    """A fitted model as an ONNX graph.

    Parameters
    ----------
    model : any estimator of maxmargin, or a pipeline of scalers, our features and one of them;
        also behind what `maxmargin train` puts in front of it: a ColumnTransformer of these,
        SimpleImputer and OneHotEncoder
    dtype : of the input and the outputs. What is between is float64: the graph decides as the model
        does of the same rows, to some 12 digits, which "float32" rounds to 7 at the end.

    Returns
    -------
    onnx.ModelProto
        Its input is "X", (rows, columns); of a model that begins with a ColumnTransformer, each
        column that it uses by its name, (rows, 1), real or string. Its outputs are
        "label" and "scores" (`predict` and `decision_function`), and "probabilities" if the machine
        has them; "variable" of a regressor; "features" of a transformer.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> clf = SVC().fit([[0.0], [1.0]], ["no", "yes"])
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(to_onnx(clf).SerializeToString())
    >>> session.run(["label"], {"X": np.array([[0.2], [0.9]])})[0].tolist()
    ['no', 'yes']
    """
    from onnx import TensorProto, checker, helper, numpy_helper

    check_is_fitted(model)
    graph = Graph(np.float64 if dtype == "float64" else np.float32)
    real = TensorProto.DOUBLE if dtype == "float64" else TensorProto.FLOAT
    first, kind_of_text, inputs = steps_of(model)[0], TensorProto.STRING, []
    if hasattr(first, "transformers_"):
        columns = inputs_of(first)
        text = {number for number, (_, is_text) in columns.items() if is_text}
        names = {number: name for number, (name, _) in columns.items()}
        outputs = in_precision(graph, model, names, text)
        inputs = [
            helper.make_tensor_value_info(name, kind_of_text if number in text else real, [None, 1])
            for number, name in names.items()
        ]
    else:
        outputs = in_precision(graph, model, "X")
        inputs = [helper.make_tensor_value_info("X", real, [None, model.n_features_in_])]
    nodes = [
        helper.make_node(op, inputs, given(op, output), **attributes)
        for op, inputs, output, attributes in graph.nodes
    ]
    nodes += [helper.make_node("Identity", [value], [name]) for name, value in outputs.items()]
    kinds = dict.fromkeys(outputs, real)
    if "label" in outputs:
        kinds["label"] = label_type(model, real, TensorProto)
    flat = {"label"}
    if "variable" in outputs and not has_several_outputs(model):
        flat.add("variable")
    if len(getattr(model, "classes_", ())) <= 2:
        flat.add("scores")
    shown = [
        helper.make_tensor_value_info(name, kind, [None] if name in flat else [None, None])
        for name, kind in kinds.items()
    ]
    constants = [numpy_helper.from_array(value, name) for name, value in graph.constants.items()]
    made: ModelProto = helper.make_model(
        helper.make_graph(nodes, type(model).__name__, inputs, shown, constants),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(ML, 3)],
        producer_name="maxmargin",
        ir_version=8,
    )
    checker.check_model(made)
    return made


def has_several_outputs(model: Model) -> bool:
    """Whether a regressor, or that of a pipeline, predicts several numbers for a row."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    return bool(last.predict(np.zeros((1, last.n_features_in_))).ndim > 1)


def given(op: str, output: str) -> list[str]:
    """The names of what a node gives; the places of the largest are not used."""
    return [output, f"{output}_places"] if op == "TopK" else [output]


def label_type(model: Model, real: int, types: Any) -> int:
    """The type of the labels of a classifier, or of the one-class machine."""
    classes = getattr(model, "classes_", np.zeros(1, np.int64))
    kinds = {"U": types.STRING, "O": types.STRING, "b": types.BOOL, "f": real}
    return int(kinds.get(classes.dtype.kind, types.INT64))


def register_onnx() -> None:
    """Teach skl2onnx our machines: its `to_onnx` then converts pipelines with them inside.

    Examples
    --------
    >>> import skl2onnx
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from maxmargin import SVC
    >>> register_onnx()
    >>> X = np.array([[0.0], [1.0]])
    >>> pipe = make_pipeline(StandardScaler(), SVC()).fit(X, [0, 1])
    >>> made = skl2onnx.to_onnx(pipe, X, options={"zipmap": False})
    >>> [each.name for each in made.graph.output]
    ['label', 'probabilities']
    """
    from skl2onnx import update_registered_converter

    for kind in (*RECORDS, *searches.DESCRIPTIONS):
        options = {"zipmap": [True, False, "columns"]} if is_classifier(kind()) else None
        update_registered_converter(
            kind, f"Maxmargin{kind.__name__}", shapes, convert, options=options
        )


def shapes(operator: Any) -> None:
    """The types of the outputs, for skl2onnx."""
    from skl2onnx.common.data_types import (
        BooleanTensorType,
        DoubleTensorType,
        Int64TensorType,
        StringTensorType,
    )

    model, real = operator.raw_operator, type(operator.inputs[0].type)
    first = operator.outputs[0]
    if hasattr(model, "transform"):
        first.type = real([None, model._n_features_out])
    elif not is_classifier(model) and not hasattr(model, "offset_"):
        first.type = real([None])
    else:
        kind = getattr(model, "classes_", np.zeros(1, np.int64)).dtype.kind
        types = {"U": StringTensorType, "O": StringTensorType, "b": BooleanTensorType}
        first.type = types.get(kind, DoubleTensorType if kind == "f" else Int64TensorType)([None])
        operator.outputs[1].type = real([None, None])


def convert(scope: Any, operator: Any, container: Any) -> None:
    """The nodes of a machine, for skl2onnx."""
    from onnx.helper import np_dtype_to_tensor_dtype
    from skl2onnx.common.data_types import DoubleTensorType

    model, source = operator.raw_operator, operator.inputs[0]
    double = isinstance(source.type, DoubleTensorType)
    prefix = scope.get_unique_variable_name("maxmargin_")
    graph = Graph(np.float64 if double else np.float32, prefix)
    outputs = ordered(in_precision(graph, model, source.full_name))
    for name, value in graph.constants.items():
        text = value.dtype.kind == "O"
        kind = 8 if text else np_dtype_to_tensor_dtype(value.dtype)
        values = [word.encode() for word in value.ravel()] if text else value.ravel().tolist()
        container.add_initializer(name, kind, list(value.shape), values)
    for each in graph.nodes:
        container.add_node(
            each.op,
            each.inputs,
            given(each.op, each.output),
            op_version=OPSET,
            name=scope.get_unique_operator_name(each.op),
            **each.attributes,
        )
    for output, target in zip(outputs, operator.outputs, strict=False):
        container.add_node(
            "Identity",
            [output],
            [target.full_name],
            op_version=OPSET,
            name=scope.get_unique_operator_name("Identity"),
        )


def ordered(outputs: Outputs) -> list[str]:
    """A classifier's label and its probabilities, or scores; or the one output there is."""
    if "label" not in outputs:
        return list(outputs.values())
    return [outputs["label"], outputs.get("probabilities", outputs["scores"])]
