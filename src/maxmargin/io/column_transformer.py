"""What makes up a `ColumnTransformer`: its transformers, and the columns that each takes.

It is not among the rest of the preprocessing because `sklearn.compose` is slow to import.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from sklearn.compose import ColumnTransformer

from maxmargin.conventions import restore_column_transformer
from maxmargin.io.archive import Archive, whole
from maxmargin.io.container import Json, Model, ModelFileError
from maxmargin.io.preprocessing import parts, width
from maxmargin.io.records import Description, columns


def column_transformer(model: Model, archive: Archive) -> None:
    """Some columns to this transformer, others to that."""
    columns(model, archive)
    fitted = model.transformers_ if archive.writes else []
    names, models = parts(archive, [name for name, *_ in fitted], [each for _, each, _ in fitted])
    held = SimpleNamespace(selected=[], places=[])
    if archive.writes:
        held.selected = [chosen(model, name, given) for name, _, given in fitted]
        held.places = [
            [name, place.start, place.stop] for name, place in model.output_indices_.items()
        ]
    archive.value(held, "selected", list)
    archive.value(held, "places", list)
    archive.value(model, "sparse_output_", bool)
    if archive.writes:
        return
    if len(held.selected) != len(names):
        raise ModelFileError("there are not as many selections of columns as transformers")
    numbers = [[number_of(model, each) for each in some] for some in held.selected]
    places = {str(name): slice(whole(start), whole(stop)) for name, start, stop in held.places}
    for name, each, some in zip(names, models, numbers, strict=True):
        place = places.get(name, slice(0, 0))
        if each == "drop":
            continue
        if each.n_features_in_ != len(some) or width(each) != place.stop - place.start:
            raise ModelFileError(f"transformer {name!r} does not take or give as many columns")
    fitted = list(zip(names, models, held.selected, strict=True))
    restore_column_transformer(model, fitted, numbers, places)


def chosen(model: Model, name: str, given: Json) -> list[Json]:
    """The columns of a transformer: their names if they were given by names, else their numbers."""
    if isinstance(given, list | np.ndarray) and all(isinstance(each, str) for each in given):
        return [str(each) for each in given]
    if np.isscalar(given):
        raise ModelFileError(
            f"transformer {name!r} takes the single column {given!r}; a model file needs a list of "
            f"columns: [{given!r}]"
        )
    return [int(each) for each in model._transformer_to_input_indices[name]]


def number_of(model: Model, column: Json) -> int:
    """The number of a column that is given by its name or number."""
    if isinstance(column, str):
        names: list[str] = list(getattr(model, "feature_names_in_", ()))
        if column not in names:
            raise ModelFileError(f"there is no column {column!r}")
        return names.index(column)
    if whole(column) >= model.n_features_in_:
        raise ModelFileError(f"there is no column {column}")
    return int(column)


DESCRIPTIONS: dict[type, Description] = {ColumnTransformer: column_transformer}
