"""What each machine computes, as nodes of an ONNX graph.

A function here takes the graph, the model and the name of its input, and returns the outputs by
name: "label" and "scores" (and "probabilities") of a classifier, "variable" of a regressor,
"features" of a transformer. They are what `predict`, `decision_function`, `predict_proba` and
`transform` give, with the same shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from itertools import combinations, pairwise

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    StandardScaler,
)

from maxmargin.features import Nystroem, RandomFourierFeatures
from maxmargin.io.container import Model, ModelFileError, Table
from maxmargin.io.onnx_columns import column_transformer, imputer
from maxmargin.io.onnx_graph import DOUBLE, FLOAT, INT64, Graph, Value, kernel_values
from maxmargin.io.onnx_probabilities import (
    agreeing,
    agreeing_two,
    coupled,
    exponents,
    of_rest,
    of_two,
)
from maxmargin.machines import (
    SVC,
    SVR,
    KernelPerceptron,
    KernelRegressor,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Perceptron,
    QuantileSVR,
)
from maxmargin.resources.arrays import Floats, Numbers
from maxmargin.selection import SVCCV, SVRCV, LearnedMetric
from maxmargin.selection.calibration import Temperature

Input = Value | dict[int, Value]  # rows, or the columns of a table by their numbers
Outputs = dict[str, Value]
Emitter = Callable[[Graph, Model, Value], Outputs]


def column(graph: Graph, values: Value) -> Value:
    """The only column."""
    return graph("Squeeze", values, graph.numbers(1))


def label(graph: Graph, classes: Table, number: Value) -> Value:
    """The class of a number."""
    kind = classes.dtype.kind
    given = classes.astype(object if kind in "UO" else np.int64 if kind in "iu" else classes.dtype)
    return graph("Gather", given, number)


def by_sign(graph: Graph, classes: Table, f: Value) -> Value:
    """The second of two classes where f > 0."""
    return label(graph, classes, graph("Cast", graph("Greater", f, 0.0), to=INT64))


def by_largest(graph: Graph, classes: Table, scores: Value) -> Value:
    """The class with the largest score, the first if several have it."""
    return label(graph, classes, graph("ArgMax", scores, axis=1, keepdims=0))


def kernel_of(graph: Graph, model: Model, X: Value) -> Value:
    """The kernel values of the rows with what the model keeps."""
    if model.kernel_.precomputed:
        return graph("Gather", X, model.support_.astype(np.int64), axis=1)
    return kernel_values(graph, model.kernel_, X, model.support_vectors_)


def decisions(graph: Graph, model: Model, X: Value) -> Value:
    """A column of decision values for each problem of a dual machine."""
    if not hasattr(model, "support_vectors_"):
        phi = features(graph, model.features_, X)["features"]
        return graph.affine(phi, model.feature_coef_, model.intercept_)
    coef = model._dense_dual_coef()
    classes = getattr(model, "classes_", ())
    if len(classes) > 2 and model.multiclass == "ovo":
        coef = of_pairs(coef, model.n_support_)
    return graph.affine(kernel_of(graph, model, X), coef, model.intercept_)


def of_pairs(coef: Floats, n_support: Numbers) -> Floats:
    """The coefficients of every pair over all support vectors, from LIBSVM's layout of them."""
    ends = np.concatenate([[0], np.cumsum(n_support)])
    parts = [slice(a, b) for a, b in pairwise(ends)]
    pairs = list(combinations(range(len(parts)), 2))
    spread = np.zeros((len(pairs), coef.shape[1]))
    for k, (a, b) in enumerate(pairs):
        spread[k, parts[a]], spread[k, parts[b]] = coef[b - 1, parts[a]], coef[a, parts[b]]
    return spread


def classifier(graph: Graph, model: Model, X: Value) -> Outputs:
    """SVC and NuSVC: votes, or the largest of one-versus-rest."""
    return classified(graph, model, X, model._calibration if model.probability else None)


def classified(
    graph: Graph, model: Model, X: Value, calibration: Model | None, agrees: bool = False
) -> Outputs:
    """The label and the scores; probabilities if decision values were calibrated."""
    values, classes = decisions(graph, model, X), model.classes_
    z = None if calibration is None else exponents(graph, values, calibration)
    found: Outputs
    if len(classes) == 2:
        f = column(graph, values)
        found = {"label": by_sign(graph, classes, f), "scores": f}
        if z is not None:
            found["probabilities"] = (agreeing_two if agrees else of_two)(graph, values, z)
        return found
    scores, shown = values, values
    if model.multiclass == "ovo":
        scores = confidence(graph, values, len(classes))
        shown = values if model.decision_function_shape == "ovo" else scores
    found = {"label": by_largest(graph, classes, scores), "scores": shown}
    if z is not None:
        made = coupled if model.multiclass == "ovo" else of_rest
        p = made(graph, z, len(classes))
        if agrees:
            p = agreeing(graph, p, scores, len(classes))
        found["probabilities"] = p
    return found


def confidence(graph: Graph, values: Value, count: int) -> Value:
    """Votes of the pairs, plus less than ½ for the sums of their values."""
    pairs = list(combinations(range(count), 2))
    first, second = np.zeros((2, len(pairs), count))
    for k, (a, b) in enumerate(pairs):
        first[k, a] = second[k, b] = 1.0
    won = graph.number(graph("Greater", values, 0.0))
    lost = graph("Sub", 1.0, won)
    votes = graph("Add", graph("MatMul", won, first), graph("MatMul", lost, second))
    sums = graph("MatMul", values, first - second)
    below = graph("Mul", graph("Add", graph("Abs", sums), 1.0), 3.0)
    return graph("Add", votes, graph("Div", sums, below))


def tuned_classifier(graph: Graph, model: Model, X: Value) -> Outputs:
    """SVCCV: the machine that was chosen, with probabilities of its own."""
    calibration = model._calibration if model.calibration is not None else None
    agrees = isinstance(calibration, Temperature) or model.class_weight is None
    return classified(graph, model.best_estimator_, X, calibration, agrees)


def tuned_regressor(graph: Graph, model: Model, X: Value) -> Outputs:
    """SVRCV."""
    return regressor(graph, model.best_estimator_, X)


def regressor(graph: Graph, model: Model, X: Value) -> Outputs:
    """SVR and NuSVR: a column for each of several targets."""
    values = decisions(graph, model, X)
    return {"variable": column(graph, values) if len(model.intercept_) == 1 else values}


def quantiles(graph: Graph, model: Model, X: Value) -> Outputs:
    """QuantileSVR of one target: a column for each level."""
    values, levels = decisions(graph, model, X), np.size(model.quantiles)
    if len(model.intercept_) != levels:
        raise ModelFileError("to_onnx takes a QuantileSVR of one target: export one for each")
    if np.ndim(model.quantiles) == 0:
        return {"variable": column(graph, values)}
    if model.noncrossing:
        values = graph("TopK", values, graph.numbers(levels), axis=1, largest=0, sorted=1)
    return {"variable": values}


def one_class(graph: Graph, model: Model, X: Value) -> Outputs:
    """OneClassSVM: what is 0 but for `tol` and rounding is on the border, and inside."""
    f = column(graph, decisions(graph, model, X))
    border = graph("LessOrEqual", graph("Abs", f), model._border())
    f = graph("Where", border, 0.0, f)
    inside = graph("GreaterOrEqual", f, 0.0)
    return {"label": graph("Where", inside, np.array(1), np.array(-1)), "scores": f}


def linear_classifier(graph: Graph, model: Model, X: Value) -> Outputs:
    """LinearSVC and Perceptron."""
    return labelled(graph, model, graph.affine(X, model.coef_, model.intercept_))


def labelled(graph: Graph, model: Model, scores: Value) -> Outputs:
    """The label that follows from one score, or from one per class."""
    if len(model.classes_) == 2:
        f = column(graph, scores)
        return {"label": by_sign(graph, model.classes_, f), "scores": f}
    return {"label": by_largest(graph, model.classes_, scores), "scores": scores}


def linear_regressor(graph: Graph, model: Model, X: Value) -> Outputs:
    """LinearSVR."""
    coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
    values = graph.affine(X, np.atleast_2d(coef), model.intercept_)
    return {"variable": column(graph, values) if len(model.intercept_) == 1 else values}


def kernel_regressor(graph: Graph, model: Model, X: Value) -> Outputs:
    """KernelRegressor."""
    coef = model._dense_dual_coef()
    values = graph.affine(kernel_of(graph, model, X), coef, 0.0)
    return {"variable": column(graph, values) if len(coef) == 1 else values}


def kernel_perceptron(graph: Graph, model: Model, X: Value) -> Outputs:
    """KernelPerceptron."""
    return labelled(graph, model, graph.affine(kernel_of(graph, model, X), model.dual_coef_, 0.0))


def features(graph: Graph, model: Model, X: Value) -> Outputs:
    """RandomFourierFeatures and Nystroem."""
    if isinstance(model, Nystroem):
        K = kernel_values(graph, model.kernel_, X, model.landmarks_)
        return {"features": graph("MatMul", K, model.normalization_)}
    X = graph("Sub", X, model._centre)
    angles = graph.affine(X, model.frequencies_, model._phases)
    values = graph("Cos", angles)
    if model.paired:
        values = graph("Concat", values, graph("Sin", angles), axis=1)
    # A line of numbers, not one: onnxruntime would fuse that with a MatMul, rounded to float32.
    scale = np.full(model._n_features_out, np.sqrt(2 / model._n_features_out))
    return {"features": graph("Mul", values, scale)}


def scaler(graph: Graph, model: Model, X: Value) -> Outputs:
    """scikit-learn's scalers."""
    if isinstance(model, MinMaxScaler):
        X = graph("Add", graph("Mul", X, model.scale_), model.min_)
        if model.clip:
            X = graph("Min", graph("Max", X, model.feature_range[0]), model.feature_range[1])
        return {"features": X}
    if isinstance(model, StandardScaler) and model.with_mean:
        X = graph("Sub", X, model.mean_)
    if isinstance(model, MaxAbsScaler) or model.with_std:
        X = graph("Div", X, model.scale_)
    return {"features": graph("Identity", X)}


def metric(graph: Graph, model: Model, X: Value) -> Outputs:
    """LearnedMetric."""
    return {"features": graph("Mul", X, model.weights_)}


def pipeline(graph: Graph, model: Model, X: Input) -> Outputs:
    """One step after the other."""
    *first, last = (step for _, step in model.steps)
    for step in first:
        X = emitted(graph, step, X)["features"]
    return emitted(graph, last, X)


def unchanged(graph: Graph, model: Model, X: Value) -> Outputs:
    """FunctionTransformer without a function."""
    if model.func is not None:
        raise ModelFileError(f"to_onnx has no operators for {model}")
    return {"features": X}


def emitted(graph: Graph, model: Model, X: Input) -> Outputs:
    """The outputs of a model; a ColumnTransformer, which is the first, takes several inputs."""
    if not isinstance(X, str):
        if isinstance(model, Pipeline):
            return pipeline(graph, model, X)
        return column_transformer(graph, model, X, emitted)
    if type(model) not in EMITTERS:
        raise ModelFileError(
            f"to_onnx does not know {type(model).__name__}; for a pipeline with it call "
            "register_onnx() and then skl2onnx.to_onnx"
        )
    return EMITTERS[type(model)](graph, model, X)


def in_precision(graph: Graph, model: Model, X: Input, text: Container[int] = ()) -> Outputs:
    """The outputs of a model in the precision of the graph, which its input has.

    `text` are the numbers of the columns that are strings.
    """
    if graph.dtype is np.float64:
        return emitted(graph, model, X)
    if isinstance(X, str):
        X = graph("Cast", X, to=DOUBLE)
    else:
        X = {n: each if n in text else graph("Cast", each, to=DOUBLE) for n, each in X.items()}
    found = emitted(graph, model, X)
    whole = getattr(model, "classes_", np.zeros(1, np.int64)).dtype.kind != "f"
    return {
        name: value if name == "label" and whole else graph("Cast", value, to=FLOAT)
        for name, value in found.items()
    }


EMITTERS: dict[type, Emitter] = {
    SVC: classifier,
    NuSVC: classifier,
    SVR: regressor,
    NuSVR: regressor,
    QuantileSVR: quantiles,
    OneClassSVM: one_class,
    SVCCV: tuned_classifier,
    SVRCV: tuned_regressor,
    LearnedMetric: metric,
    LinearSVC: linear_classifier,
    LinearSVR: linear_regressor,
    KernelRegressor: kernel_regressor,
    Perceptron: linear_classifier,
    KernelPerceptron: kernel_perceptron,
    RandomFourierFeatures: features,
    Nystroem: features,
    StandardScaler: scaler,
    MinMaxScaler: scaler,
    MaxAbsScaler: scaler,
    SimpleImputer: imputer,
    FunctionTransformer: unchanged,
    Pipeline: pipeline,
}
