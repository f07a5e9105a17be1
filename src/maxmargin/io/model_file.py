"""Model files: a fitted machine on disk and back, without pickle.

Reading runs nothing that a file names: classes are looked up in a fixed table, values are checked
before they are used, and no array is larger than the file. model-format.md is the format.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.utils.validation import check_is_fitted

from maxmargin.conventions import validate_parameters
from maxmargin.io import attributes, container
from maxmargin.io.container import Arrays, Json, Model, ModelFileError, Node, Table
from maxmargin.io.preprocessing import PARTS, PREPROCESSING, WORDS, stored_as
from maxmargin.io.reader import Reader
from maxmargin.io.records import RECORDS, Description
from maxmargin.io.values import made, plain
from maxmargin.io.writer import Writer
from maxmargin.kernels.formula import Own, name_of
from maxmargin.machines.validation import warn

FORMAT = 1  # the newest format that this version reads, and that it writes
DESCRIPTIONS: dict[type, Description] = {**RECORDS, **PREPROCESSING}
# Described in files of their own, with imports that few models need.
ELSEWHERE = {
    "ColumnTransformer": "column_transformer",
    **dict.fromkeys(("SVCCV", "SVRCV"), "searches"),
    **dict.fromkeys(("TableCodes", "LearnedMetric", "TabularSVC", "TabularSVR"), "tabular"),
}
TYPES = sorted([*(kind.__name__ for kind in DESCRIPTIONS), *ELSEWHERE, *attributes.MODULES])


def found(name: str) -> tuple[type, Description] | None:
    """The class of this name that a file may hold, and its description."""
    kinds = DESCRIPTIONS
    if name in ELSEWHERE:
        kinds = import_module(f"maxmargin.io.{ELSEWHERE[name]}").DESCRIPTIONS
    return next(((kind, how) for kind, how in kinds.items() if kind.__name__ == name), None)


def save(model: Model, path: str | PathLike[str], notes: Node | None = None) -> None:
    """Store a fitted model in a file, which `load` reads.

    The file has arrays and JSON in a safetensors container: nothing in it is run when it is read.
    It is written beside its place and moved there when it is whole.

    Parameters
    ----------
    model : any estimator of maxmargin, fitted; or a scikit-learn `Pipeline`, `ColumnTransformer`,
        `CalibratedClassifierCV` or `TransformedTargetRegressor` of one of them and of `TYPES`
    path : where to; a file that is there is replaced
    notes : JSON values of your own, which `maxmargin.io.read_document` gives back

    Raises
    ------
    ModelFileError
        If the model has something that a file cannot hold.

    Examples
    --------
    >>> import maxmargin, tempfile
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = maxmargin.SVC().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     maxmargin.save(clf, f"{folder}/iris.maxmargin")
    ...     again = maxmargin.load(f"{folder}/iris.maxmargin")
    >>> bool((again.decision_function(X) == clf.decision_function(X)).all())
    True
    """
    check_is_fitted(model)
    arrays: dict[str, Table] = {}
    document = {
        "format": FORMAT,
        "readable_by": FORMAT,
        "model": described(model, arrays, ""),
        "notes": notes or {},
        "versions": {
            "maxmargin": maxmargin_version(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }
    container.write(Path(path), document, arrays)


def maxmargin_version() -> str:
    """The version of this package, which is its own to import."""
    from maxmargin import __version__

    return __version__


def described(model: Model, arrays: dict[str, Table], prefix: str) -> Node:
    """The node of a model, its arrays put among the others."""
    if isinstance(model, str) and model in WORDS:
        return {"type": model}
    kind = stored_as(model)
    known = found(kind.__name__)
    if attributes.known(kind.__name__) is kind:
        return attributes.stored_model(model, arrays, prefix, described)
    if known is None or kind is not known[0]:
        inner = "; store its best_estimator_" if hasattr(model, "best_estimator_") else ""
        raise ModelFileError(
            f"a {kind.__name__} cannot be stored in a model file, only {TYPES}{inner}"
        )
    parameters = model.get_params(deep=False)
    parameters.pop(PARTS.get(kind.__name__), None)
    parameters.pop("client", None)  # a connection of this process, no part of the model
    node: Node = {
        "type": kind.__name__,
        "parameters": {name: plain(value, name) for name, value in parameters.items()},
    }
    if output := getattr(model, "_sklearn_output_config", {}):
        node["output"] = output["transform"]
    known[1](model, Writer(node, arrays, prefix, described))
    return node


def load(
    path: str | PathLike[str],
    kernel: Callable[..., Any] | dict[str, Callable[..., Any]] | None = None,
) -> Model:
    """The model that `save` stored: it predicts the same bits.

    Parameters
    ----------
    path : of the file
    kernel : the kernel function or class of your own that the model uses, which is not in the file;
        several as a dict by their names

    Returns
    -------
    A fitted estimator

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or needs a newer maxmargin. Nothing in it was run.

    Examples
    --------
    A kernel of your own is given again:

    >>> import maxmargin, tempfile
    >>> def overlap(X, Z):
    ...     return X @ Z.T + 1
    >>> clf = maxmargin.SVC(kernel=overlap).fit([[0.0], [1.0]], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     maxmargin.save(clf, f"{folder}/own.maxmargin")
    ...     again = maxmargin.load(f"{folder}/own.maxmargin", kernel=overlap)
    >>> again.predict([[0.9]])
    array([1])
    """
    path = Path(path)
    own = (
        {} if kernel is None else kernel if isinstance(kernel, dict) else {name_of(kernel): kernel}
    )
    with container.named(path), container.opened(path) as (file, header):
        check_format(header.document)
        arrays = container.read_arrays(file, header)
        return built(header.document.get("model"), arrays, "", own)


def read_document(path: str | PathLike[str]) -> Node:
    """The JSON document of a model file: its machine, parameters, kernel, certificate, notes.

    The arrays are not read.

    Examples
    --------
    >>> import maxmargin, tempfile
    >>> clf = maxmargin.SVC(C=3).fit([[0.0], [1.0]], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     maxmargin.save(clf, f"{folder}/small.maxmargin", notes={"target": "label"})
    ...     document = read_document(f"{folder}/small.maxmargin")
    >>> document["model"]["type"], document["model"]["parameters"]["C"], document["notes"]
    ('SVC', 3, {'target': 'label'})
    """
    path = Path(path)
    with container.named(path), container.opened(path) as (_, header):
        check_format(header.document)
        return header.document


def check_format(document: Node) -> None:
    """Refuse a file that only a newer version can read."""
    needed, versions = document.get("readable_by"), document.get("versions")
    if type(needed) is not int or not isinstance(versions, dict):
        raise ModelFileError("it does not say which format it has")
    if needed > FORMAT:
        raise ModelFileError(
            f"it was written by maxmargin {versions.get('maxmargin')} and needs one that reads "
            f"format {needed}; this is {maxmargin_version()}, which reads up to format {FORMAT}: "
            "upgrade maxmargin"
        )


def built(node: Json, arrays: Arrays, prefix: str, own: Own, unfitted: Node | None = None) -> Model:
    """The model of a node; with parameters in `unfitted`, one of them that is not fitted."""
    if not isinstance(node, dict) or not isinstance(node.get("type"), str):
        raise ModelFileError("it does not describe a model")
    if node["type"] in WORDS:
        return node["type"]
    named, stored = found(node["type"]), attributes.known(node["type"])
    if unfitted is not None and (kind := named[0] if named else stored):
        return kind(**unfitted)
    if stored is not None:
        return attributes.restored_model(stored, node, arrays, prefix, own, built)
    if named is None:
        raise ModelFileError(f"this version has no machine {node['type']!r}: upgrade maxmargin")
    kind, describe = named
    given = {name: made(value, own) for name, value in node["parameters"].items()}
    model: Model = kind([]) if kind.__name__ in PARTS else kind()
    known = model.get_params(deep=False).keys() - {PARTS.get(kind.__name__)}
    unknown = sorted(given.keys() - known)
    if unknown:
        warn(f"parameters that this version does not know are left out: {unknown}")
    model.set_params(**{name: value for name, value in given.items() if name in known})
    if kind.__module__.startswith("maxmargin."):
        validate_parameters(model)
    if "output" in node:
        model.set_output(transform=node["output"])
    describe(model, Reader(node, arrays, prefix, own, built))
    return model
