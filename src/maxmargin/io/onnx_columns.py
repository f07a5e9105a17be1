"""Columns of a table as nodes of an ONNX graph: numbers and text, each an input of its own.

A tensor has one type, so that a graph whose model begins with a ColumnTransformer takes each column
by its name, of shape (rows, 1): a string or a real number. A missing number is NaN, missing text is
the empty string, where the model fills them in.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from maxmargin.io.container import Model, ModelFileError
from maxmargin.io.onnx_graph import DOUBLE, Graph, Value

ML = "ai.onnx.ml"  # the domain of operators for text
Emit = Callable[[Graph, Model, Value], dict[str, Value]]


def steps_of(model: Model) -> list[Model]:
    """The models that a model is made of, one after the other."""
    return [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]


def parts_of(model: Model) -> list[tuple[list[Model], list[int]]]:
    """The steps of each part of a ColumnTransformer, with the numbers of its columns."""
    numbers = model._transformer_to_input_indices
    parts = [(each, list(numbers[name])) for name, each, _ in model.transformers_]
    return [(steps_of(each), some) for each, some in parts if each != "drop" and some]


def is_text(encoder: Model) -> bool:
    """Whether a step encodes words, not numbers."""
    return isinstance(encoder, OneHotEncoder) and encoder.categories_[0].dtype.kind in "OU"


def inputs_of(model: Model) -> dict[int, tuple[str, bool]]:
    """Name of each column that a ColumnTransformer uses, and whether it is text; by its number."""
    names = getattr(model, "feature_names_in_", [f"x{i}" for i in range(model.n_features_in_)])
    return {
        number: (str(names[number]), is_text(steps[-1]))
        for steps, some in parts_of(model)
        for number in sorted(some)
    }


def column_transformer(
    graph: Graph, model: Model, columns: dict[int, Value], emitted: Emit
) -> dict[str, Value]:
    """The results of all parts beside each other, as scikit-learn orders them."""
    results = []
    for steps, some in parts_of(model):
        if is_text(steps[-1]):
            results += [encoded(graph, steps, place, columns[n]) for place, n in enumerate(some)]
            continue
        X = graph("Concat", *(columns[number] for number in some), axis=1)
        for step in steps:
            X = emitted(graph, step, X)["features"]
        results.append(X)
    return {"features": graph("Concat", *results, axis=1)}


def encoded(graph: Graph, steps: list[Model], place: int, column: Value) -> Value:
    """One column of 0 and 1 for each value of a column of text; missing text is the filled one."""
    *first, encoder = steps
    words = [str(word) for word in encoder.categories_[place]]
    columns = np.eye(len(words))
    for filler in first:
        if type(filler).__name__ != "SimpleImputer":
            raise ModelFileError(f"to_onnx has no {type(filler).__name__} for columns of text")
        columns = np.vstack([columns, columns[words.index(str(filler.statistics_[place]))]])
        words = [*words, ""]
    dropped = encoder.drop_idx_[place] if encoder.drop_idx_ is not None else None
    if dropped is not None:
        columns = np.delete(columns, dropped, axis=1)
    ignored = int(encoder.handle_unknown == "ignore")
    hot = graph("OneHotEncoder", column, domain=ML, cats_strings=words, zeros=ignored)
    flat = graph("Reshape", graph("Cast", hot, to=DOUBLE), graph.numbers(-1, len(words)))
    return graph("MatMul", flat, columns)


def imputer(graph: Graph, model: Model, X: Value) -> dict[str, Value]:
    """SimpleImputer of numbers: NaN filled in, and columns that say where it was."""
    missing = graph("IsNaN", X)
    filled = graph("Where", missing, model.statistics_.astype(np.float64), X)
    if model.indicator_ is None:
        return {"features": filled}
    where = graph(
        "Gather", graph.number(missing), graph.numbers(*model.indicator_.features_), axis=1
    )
    return {"features": graph("Concat", filled, where, axis=1)}
