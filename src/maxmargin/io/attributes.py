"""scikit-learn's models in a file: every attribute of a class in a fixed table.

A model of these classes is what its attributes are: numbers, words, arrays, functions by name, and
other models. Reading makes an object of the class without calling it, and sets them.

Numbers, words, True, False and None are themselves, in an array of any dtype but the file's own a
list. The rest is an object with one of these keys:

=============  ===========================================================
`number`       inf, −inf or NaN
`array`        the name of an array of the file, without the model's prefix; its `order`
`items`        the entries of an array of words or of anything: with its `dtype` and `shape`
`list`         of values; `tuple` likewise; `pairs` are the keys and values of a dict
`dtype`        the name of a dtype
`function`     the name of a function in `FUNCTIONS`
`model`        a fitted model
`unfitted`     the class of a model that is a parameter only, with its `parameters`
=============  ===========================================================
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from math import prod
from typing import Any, Literal

import numpy as np
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from maxmargin.io.archive import whole
from maxmargin.io.container import DTYPES, Arrays, Json, Model, ModelFileError, Node, Table
from maxmargin.io.values import made, plain
from maxmargin.kernels.formula import Own

# The classes that are stored so, with their modules, which
# scikit-learn imports when they are asked for.
MODULES = {
    "CalibratedClassifierCV": "calibration",
    "FunctionTransformer": "preprocessing",
    "IsotonicRegression": "isotonic",
    "MissingIndicator": "impute",
    "PCA": "decomposition",
    "PolynomialFeatures": "preprocessing",
    "QuantileTransformer": "preprocessing",
    "RobustScaler": "preprocessing",
    "SelectKBest": "feature_selection",
    "SimpleImputer": "impute",
    "TransformedTargetRegressor": "compose",
    "_CalibratedClassifier": "calibration",
    "_SigmoidCalibration": "calibration",
}
# Functions that a file may name: what scores columns, and what changes numbers.
SCORES = ("f_classif", "f_regression", "chi2", "mutual_info_classif", "mutual_info_regression")
CHANGES = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "square"),
    *("arcsinh", "sinh", "negative", "reciprocal"),
)
FUNCTIONS = SCORES + CHANGES
# Not tried on a row: two take something else, one may make more columns than the file has.
UNTRIED = ("IsotonicRegression", "MissingIndicator", "PolynomialFeatures")


def known(name: str) -> type | None:
    """The class of this name, if it is stored by its attributes."""
    found: type | None = getattr(getattr(sklearn, MODULES[name]), name) if name in MODULES else None
    return found


def function_of(name: Json) -> Any:
    """The function of this name that a file may name."""
    if not isinstance(name, str) or name not in FUNCTIONS:
        raise ModelFileError(f"there is no function {name!r} for a model")
    return getattr(sklearn.feature_selection if name in SCORES else np, name)


class Attributes:
    """Values of one model, on their way to a file (`stored`) or back (`restored`).

    Parameters
    ----------
    arrays : of the file
    prefix : in front of the names of this model's arrays
    inner : describes a model inside this one, or builds it
    own : functions and kernels that the user gives again
    """

    def __init__(
        self, arrays: Any, prefix: str, inner: Callable[..., Any], own: Own | None = None
    ) -> None:
        self.arrays, self.prefix, self.inner, self.own = arrays, prefix, inner, own or {}

    def stored(self, value: Any, name: str) -> Json:
        """A value as JSON; its arrays are put among the others, called by `name`."""
        if isinstance(value, np.ndarray):
            return self._stored_array(value, name)
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if isinstance(value, list | tuple):
            kind = "list" if isinstance(value, list) else "tuple"
            return {kind: [self.stored(each, f"{name}.{i}") for i, each in enumerate(value)]}
        if isinstance(value, dict):
            items = enumerate(value.items())
            return {
                "pairs": [[plain(k, name), self.stored(v, f"{name}.{i}")] for i, (k, v) in items]
            }
        called = getattr(value, "__name__", "")
        if called in FUNCTIONS and value is function_of(called):
            return {"function": called}
        if hasattr(value, "get_params") or type(value).__name__ in MODULES:
            return self._stored_model(value, name)
        if callable(value) and called:
            raise ModelFileError(
                f"{name} is the function {called}, which a model file cannot hold; it can hold "
                f"{sorted(FUNCTIONS)}"
            )
        return plain(value, name)

    def _stored_array(self, value: Table, name: str) -> Json:
        if value.dtype in DTYPES.values():
            self.arrays[self.prefix + name] = value
            return {"array": name, "order": "C" if value.flags.c_contiguous else "F"}
        items = [plain(each, name) for each in value.ravel().tolist()]
        return {"items": items, "dtype": value.dtype.str, "shape": list(value.shape)}

    def _stored_model(self, model: Model, name: str) -> Node:
        if is_fitted(model):
            return {"model": self.inner(model, self.arrays, f"{self.prefix}{name}.")}
        given = model.get_params(deep=False)
        values = {key: self.stored(each, f"{name}.{key}") for key, each in given.items()}
        return {"unfitted": type(model).__name__, "parameters": values}

    def restored(self, value: Json, name: str) -> Any:
        """The value that JSON stands for."""
        if not isinstance(value, dict):
            return made(value, self.own)
        if "array" in value:
            return self._restored_array(value)
        if "items" in value:
            return self._restored_items(value, name)
        if "list" in value:
            return [self.restored(each, f"{name}.{i}") for i, each in enumerate(value["list"])]
        if "tuple" in value:
            return tuple(self.restored({"list": value["tuple"]}, name))
        if "pairs" in value:
            pairs = enumerate(value["pairs"])
            return {made(k, {}): self.restored(v, f"{name}.{i}") for i, (k, v) in pairs}
        if "dtype" in value:
            return dtype_of(value["dtype"])
        if "function" in value:
            return function_of(value["function"])
        if "model" in value:
            return self.inner(value["model"], self.arrays, f"{self.prefix}{name}.", self.own)
        if "unfitted" in value:
            given = value["parameters"].items()
            return self.inner(
                {"type": value["unfitted"]},
                {},
                "",
                self.own,
                {key: self.restored(each, f"{name}.{key}") for key, each in given},
            )
        return made(value, self.own)

    def _restored_array(self, value: Node) -> Table:
        key = self.prefix + str(value["array"])
        if key not in self.arrays:
            raise ModelFileError(f"the array {key!r} is missing")
        order: Literal["C", "F"] = "F" if value.get("order") == "F" else "C"
        return np.array(self.arrays[key], order=order)  # BLAS rounds by the order

    def _restored_items(self, value: Node, name: str) -> Table:
        shape = tuple(map(whole, value["shape"]))
        if prod(shape) != len(value["items"]):
            raise ModelFileError(f"{name} has {len(value['items'])} items, not the shape {shape}")
        items = np.empty(len(value["items"]), object)
        items[:] = [made(each, {}) for each in value["items"]]
        return items.astype(dtype_of(value["dtype"])).reshape(shape)


def stored_model(model: Model, arrays: dict[str, Table], prefix: str, inner: Any) -> Node:
    """The node of a model: its class and its attributes."""
    state = model.__getstate__() if hasattr(model, "get_params") else dict(vars(model))
    values = Attributes(arrays, prefix, inner)
    names = {name: values.stored(each, name) for name, each in state.items()}
    return {"type": type(model).__name__, "attributes": names}


def restored_model(
    kind: type, node: Node, arrays: Arrays, prefix: str, own: Own, inner: Any
) -> Model:
    """The model of a node; one that cannot transform a row of zeros is refused.

    scikit-learn warns of attributes that another version of it made.
    """
    values = Attributes(arrays, prefix, inner, own)
    state = {name: values.restored(each, name) for name, each in node["attributes"].items()}
    model: Model = object.__new__(kind)
    if clash := [name for name in state if hasattr(kind, name)]:
        raise ModelFileError(f"{clash[0]!r} of a {kind.__name__} is no attribute of its own")
    model.__setstate__(state) if hasattr(kind, "__setstate__") else model.__dict__.update(state)
    lines = [each.size for each in state.values() if isinstance(each, np.ndarray)]
    if lines and hasattr(model, "transform") and kind.__name__ not in UNTRIED:
        columns = whole(model.n_features_in_)
        if columns > max(lines):
            raise ModelFileError(f"a {kind.__name__} has no numbers for {columns} columns")
        nameless = copy(model)
        for name in ("feature_names_in_", "_sklearn_output_config"):
            vars(nameless).pop(name, None)
        nameless.transform(np.zeros((1, columns)))
    return model


def is_fitted(model: Model) -> bool:
    """Whether a model has been fitted; a part that only fitted models have is."""
    try:
        if hasattr(model, "fit"):
            check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def dtype_of(name: Json) -> np.dtype[Any]:
    """The dtype of numbers, words or objects that has this name."""
    if not isinstance(name, str):
        raise ModelFileError(f"{name!r} is no dtype")
    found = np.dtype(name)
    if found.kind not in "biufOU" or found.itemsize > 1 << 16 or found.names:
        raise ModelFileError(f"{name!r} is no dtype of numbers or words")
    return found
