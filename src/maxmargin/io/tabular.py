"""What makes up `TabularSVC` and `TabularSVR`: their pipeline, and the table of what was tried."""

from __future__ import annotations

from dataclasses import astuple
from types import SimpleNamespace

import numpy as np

from maxmargin.io.archive import Archive, whole
from maxmargin.io.container import Model, ModelFileError
from maxmargin.io.records import Description, classes, columns
from maxmargin.selection import SVCCV, SVRCV, LearnedMetric, TabularSVC, TabularSVR
from maxmargin.selection.table_columns import TableCodes
from maxmargin.selection.tabular import TableRecipe, Trial


def table_codes(model: Model, archive: Archive) -> None:
    """TableCodes: which columns are categories, and the words of each."""
    columns(model, archive)
    held = SimpleNamespace(coded=[])
    if archive.writes:
        held.coded = sorted(model.categories_)
        for number in held.coded:
            setattr(held, f"categories{number}", [*model.categories_[number].tolist()])
    archive.value(held, "coded", list)
    for number in held.coded:
        archive.value(held, f"categories{whole(number)}", list)
    if not archive.writes:
        found = {each: np.array(getattr(held, f"categories{each}"), str) for each in held.coded}
        if any((words[1:] <= words[:-1]).any() for words in found.values()):
            raise ModelFileError("the categories of a column are not in order")
        if max(found, default=0) >= model.n_features_in_:
            raise ModelFileError("there are categories of a column that is not there")
        model.categories_ = found


def learned_metric(model: Model, archive: Archive) -> None:
    """LearnedMetric: the weights, not the machines that they were learned by."""
    columns(model, archive)
    archive.array(model, "weights_", ("columns",))
    archive.array(model, "gradients_", ("columns",))


def tabular(machine: Model, archive: Archive, kind: type) -> None:
    """The pipeline, and what was tried."""
    columns(machine, archive)
    archive.array(machine, "feature_importances_", ("columns",))
    archive.model(machine, "best_estimator_")
    steps = [type(step) for _, step in machine.best_estimator_.steps]
    if steps[:1] != [TableCodes] or steps[-1:] != [kind]:
        raise ModelFileError(f"the pipeline does not go from a table to a {kind.__name__}")
    archive.check_shape("the table", (machine.best_estimator_.n_features_in_,), ("columns",))
    held = SimpleNamespace()
    if archive.writes:
        held.trials = [[*astuple(each.recipe), *astuple(each)[1:]] for each in machine.trials_]
        for trial in held.trials:
            trial[3] = [[*pair] for pair in trial[3]]
    archive.value(held, "trials", list)
    if not archive.writes:
        machine.trials_ = [
            Trial(TableRecipe(how, kernel, power, tuple((C, g) for C, g in rounds)), *found)
            for how, kernel, power, rounds, *found in held.trials
        ]


def tabular_classifier(machine: Model, archive: Archive) -> None:
    """TabularSVC."""
    tabular(machine, archive, SVCCV)
    classes(machine, archive)
    if not np.array_equal(machine.best_estimator_[-1].classes_, machine.classes_):
        raise ModelFileError("the chosen machine has other classes")


def tabular_regressor(machine: Model, archive: Archive) -> None:
    """TabularSVR: its targets were standardised."""
    tabular(machine, archive, SVRCV)
    archive.value(machine, "target_mean_", float)
    archive.value(machine, "target_scale_", float)


DESCRIPTIONS: dict[type, Description] = {
    TableCodes: table_codes,
    LearnedMetric: learned_metric,
    TabularSVC: tabular_classifier,
    TabularSVR: tabular_regressor,
}
