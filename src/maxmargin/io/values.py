"""Parameters of an estimator as plain values of JSON, and back.

Numbers, words, True, False and None are themselves; an infinite number is {"number": "inf"}, a dict
of class weights {"pairs": [[label, weight], …]}, a kernel {"kernel": its formula tree}, a function
of the user's own {"function": its name}, a type of numbers {"dtype": its name}, a
solver {"solver": its class, "options": {…}}, a transformer that is not fitted {"transformer": its
class, "parameters": {…}}, a splitter of scikit-learn's {"splitter": its class, "parameters": {…}}.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from inspect import signature

import numpy as np

from maxmargin import solvers
from maxmargin.features import Nystroem, RandomFourierFeatures
from maxmargin.io.container import Json, Model, ModelFileError, Node
from maxmargin.kernels.formula import Own, given_again, kernel_of, name_of, tree_of
from maxmargin.solvers import Criterion, Solver

SOLVERS: dict[str, type[Solver]] = {
    kind.__name__: kind
    for kind in vars(solvers).values()
    if isinstance(kind, type) and issubclass(kind, Solver)
}
FEATURES: Node = {kind.__name__: kind for kind in (Nystroem, RandomFourierFeatures)}
# Of sklearn.model_selection, those that keep what they were made with.
SPLITTERS = (
    "GroupKFold",
    "KFold",
    "LeaveOneOut",
    "ShuffleSplit",
    "StratifiedGroupKFold",
    "StratifiedKFold",
    "StratifiedShuffleSplit",
    "TimeSeriesSplit",
)


def splitter(name: str) -> type | None:
    """The splitter of this name, if it is one of them."""
    if name not in SPLITTERS:
        return None
    from sklearn import model_selection  # slow to import

    found: type = getattr(model_selection, name)
    return found


def estimators(name: str) -> Node:
    """The transformer and the splitter of this name; None where there is none."""
    return {"transformer": FEATURES.get(name), "splitter": splitter(name)}


def plain(value: Json, what: str) -> Json:
    """A parameter as a value of JSON; `what` names it if there is none."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"number": str(value)}
    if isinstance(value, dict):
        pairs = [[plain(key, what), plain(weight, what)] for key, weight in value.items()]
        return {"pairs": pairs}
    if isinstance(value, Criterion):
        return {"criterion": value.value}
    if isinstance(value, type) and issubclass(value, np.floating):
        return {"dtype": np.dtype(value).name}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(each, what) for each in value]
    if hasattr(value, "with_params"):
        return {"kernel": tree_of(value)}
    name = type(value).__name__
    if SOLVERS.get(name) is type(value):
        options = {each.name: getattr(value, each.name) for each in fields(value)}
        return {"solver": name, "options": {k: plain(v, what) for k, v in options.items()}}
    for word, kind in estimators(name).items():
        if kind is type(value):
            given = {each: getattr(value, each) for each in signature(kind).parameters}
            given = {key: plain(each, f"{what}__{key}") for key, each in given.items()}
            return {word: name, "parameters": given}
    if callable(value):
        return {"function": name_of(value)}
    raise ModelFileError(
        f"{what}={value!r} cannot be stored in a model file: its type is not one of maxmargin's. "
        f"Change it after the fit, with set_params({what}=...), if predictions do not depend on it"
    )


def made(value: Json, own: Own) -> Json:
    """The parameter that a value of JSON stands for."""
    if isinstance(value, list):
        return [made(each, own) for each in value]
    if not isinstance(value, dict):
        return value
    for key, make in MAKERS.items():
        if key in value:
            return make(value, own)
    raise ModelFileError(f"a parameter is described by {sorted(value)}, which is not known")


def _number(value: Node, own: Own) -> float:
    if value["number"] not in ("inf", "-inf", "nan"):
        raise ModelFileError(f"{value['number']!r} is no number")
    return float(value["number"])


def _pairs(value: Node, own: Own) -> dict[Json, Json]:
    return {made(key, own): made(weight, own) for key, weight in value["pairs"]}


def _solver(value: Node, own: Own) -> Solver:
    kind = SOLVERS.get(value["solver"])
    if kind is None:
        raise ModelFileError(f"there is no solver {value['solver']!r}")
    known = {each.name for each in fields(kind)}
    options = {key: made(each, own) for key, each in value["options"].items() if key in known}
    return kind(**options)


def _criterion(value: Node, own: Own) -> Criterion:
    known = {each.value: each for each in Criterion}
    if value["criterion"] not in known:
        raise ModelFileError(f"there is no criterion {value['criterion']!r}")
    return known[value["criterion"]]


def _estimator(word: str, value: Node, own: Own) -> Model:
    kind = estimators(value[word])[word]
    if kind is None:
        raise ModelFileError(f"there is no {word} {value[word]!r}")
    return kind(**{key: made(each, own) for key, each in value["parameters"].items()})


def _dtype(value: Node, own: Own) -> type:
    if value["dtype"] not in ("float32", "float64"):
        raise ModelFileError(f"{value['dtype']!r} is no dtype of a transformer")
    return {"float32": np.float32, "float64": np.float64}[value["dtype"]]


MAKERS: dict[str, Callable[[Node, Own], Model]] = {
    "number": _number,
    "dtype": _dtype,
    "criterion": _criterion,
    "pairs": _pairs,
    "kernel": lambda value, own: kernel_of(value["kernel"], own),
    "solver": _solver,
    "transformer": partial(_estimator, "transformer"),
    "splitter": partial(_estimator, "splitter"),
    "function": lambda value, own: given_again(value["function"], own),
}
