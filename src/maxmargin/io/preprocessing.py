"""What makes up scikit-learn's preprocessing as far as model files have it.

Pipelines of scalers, one-hot encoders and column transformers (`column_transformer`) in front of a
machine, whose arrays other languages read (model-format.md). A description is as in `records`.
Other classes of scikit-learn are stored by their attributes (`attributes`).
"""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)

from maxmargin.conventions import restore_encoder
from maxmargin.io.archive import REALS, Archive
from maxmargin.io.container import Json, Model, ModelFileError
from maxmargin.io.records import Description, columns

# The parameter of a model that is made of others: those are its parts.
PARTS = {"Pipeline": "steps", "ColumnTransformer": "transformers", "LearnedMetric": "machines"}
WORDS = ("passthrough", "drop")  # in a model's place


def parts(archive: Archive, names: list[str], models: list[Json]) -> tuple[list[str], list[Json]]:
    """The names and the models that another one is made of."""
    held = SimpleNamespace(names=names, **{f"part{i}": each for i, each in enumerate(models)})
    archive.value(held, "names", list)
    if not all(isinstance(name, str) for name in held.names):
        raise ModelFileError("the names of the parts of a model are not words")
    for i in range(len(held.names)):
        archive.model(held, f"part{i}")
    return held.names, [getattr(held, f"part{i}") for i in range(len(held.names))]


def pipeline(model: Model, archive: Archive) -> None:
    """One step after the other."""
    names, models = parts(archive, [name for name, _ in model.steps], [m for _, m in model.steps])
    if not models or len({*names}) < len(names):
        raise ModelFileError("a pipeline has no steps, or two of the same name")
    for first, second in pairwise(models):
        if not hasattr(first, "transform") or width(first) != second.n_features_in_:
            raise ModelFileError(
                f"the {type(first).__name__} of a pipeline does not give the columns that the "
                f"{type(second).__name__} after it takes"
            )
    model.steps = list(zip(names, models, strict=True))


def width(model: Model) -> int:
    """How many columns a transformer makes."""
    if hasattr(model, "output_indices_"):  # a ColumnTransformer
        return max((place.stop for place in model.output_indices_.values()), default=0)
    if isinstance(model, OneHotEncoder):
        return sum(model._n_features_outs)
    if isinstance(model, Pipeline):
        return width(model.steps[-1][1])
    if type(model).__name__ in ("SelectKBest", "SimpleImputer"):
        return len(model.get_feature_names_out())
    made = getattr(model, "n_output_features_", model.n_features_in_)  # of PolynomialFeatures
    return int(getattr(model, "_n_features_out", made))


def scaler(model: Model, archive: Archive) -> None:
    """StandardScaler, MinMaxScaler, MaxAbsScaler: a few lines of one number per column."""
    columns(model, archive)
    for name in LINES[stored_as(model)]:
        held = SimpleNamespace(missing=getattr(model, name, None) is None)
        held.missing = held.missing if archive.writes else not archive.has(model, name)
        if held.missing:
            setattr(model, name, None)
        else:
            archive.array(model, name, ("columns",), REALS)
    archive.value(model, "n_samples_seen_", int, float)
    if isinstance(model, MinMaxScaler):
        model.feature_range = tuple(model.feature_range)
    needed = {"mean_": model.with_mean, "scale_": model.with_std} if "mean_" in vars(model) else {}
    for name, wanted in needed.items():
        if wanted and getattr(model, name) is None:
            raise ModelFileError(f"{name} of the scaler is missing")


def encoder(model: Model, archive: Archive) -> None:
    """OneHotEncoder: the categories of each column."""
    columns(model, archive)
    if model.min_frequency is not None or model.max_categories is not None:
        raise ModelFileError("a OneHotEncoder with min_frequency or max_categories is not stored")
    held = SimpleNamespace()
    for i in range(model.n_features_in_):
        if archive.writes:
            setattr(held, f"categories{i}", model.categories_[i])
        archive.labels(held, f"categories{i}", (f"categories{i}",), ordered=False)
    model.categories_ = [getattr(held, f"categories{i}") for i in range(model.n_features_in_)]
    if not archive.writes:
        restore_encoder(model)


LINES: dict[type, tuple[str, ...]] = {
    StandardScaler: ("mean_", "var_", "scale_"),
    MinMaxScaler: ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
    MaxAbsScaler: ("scale_", "max_abs_"),
}

PREPROCESSING: dict[type, Description] = {
    Pipeline: pipeline,
    StandardScaler: scaler,
    MinMaxScaler: scaler,
    MaxAbsScaler: scaler,
    OneHotEncoder: encoder,
}


def stored_as(model: Model) -> type:
    """The class whose name a file has: a scaler fitted on partitions is scikit-learn's."""
    kind = type(model)
    return StandardScaler if kind.__module__ == "maxmargin.scale.scaler" else kind
