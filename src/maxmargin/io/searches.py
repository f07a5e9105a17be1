"""What makes up `SVCCV` and `SVRCV`: the machine they chose, what they calibrated, their search.

Of the search a file has the table of scores and the choice, not the rows: a loaded `search_` is a
`SearchRecord`. The machines fitted without each fold, which `predict_interval` needs, are stored.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression

from maxmargin.conventions import restore_isotonic
from maxmargin.io.archive import Archive, whole
from maxmargin.io.container import Model, ModelFileError
from maxmargin.io.records import INT64, Description, classes, columns, sigmoids
from maxmargin.kernels.gamma import RULES
from maxmargin.machines import SVC, SVR
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.resources.arrays import Data, Floats, Labels
from maxmargin.selection import SVCCV, SVRCV
from maxmargin.selection.calibration import Isotonic, Temperature
from maxmargin.selection.intervals import FoldModels

KINDS = ("f8", "i8", "i4", "b1")  # of the columns of the table that are numbers
MASKED, WORDS = "masked", "words"  # a parameter; text
FACTS: dict[str, tuple[type, ...]] = {
    "best_index_": (int,),
    "best_score_": (float,),
    "one_standard_error_index_": (int,),
    "n_splits_": (int,),
    "metric": (str,),
    "status": (str,),
    "notes": (list,),
    "search_time_": (float,),
    "refit_time_": (float,),
}


@dataclass
class SearchRecord:
    """What a model file has of a `Search`: its attributes of the same names."""

    cv_results_: dict[str, Any]
    best_index_: int
    best_score_: float
    one_standard_error_index_: int
    n_splits_: int
    metric: str
    status: str
    notes: list[str]
    search_time_: float
    refit_time_: float

    @property
    def best_params_(self) -> dict[str, Any]:
        """The parameters of the best cell."""
        params: dict[str, Any] = self.cv_results_["params"][self.best_index_]
        return params

    @property
    def X(self) -> Data:
        """The rows, which a model file does not have."""
        raise AttributeError(
            "a loaded model does not have the rows it was trained on: for method='jackknife+' call "
            "predict_interval(X, method='jackknife+') once before saving it"
        )


def search(machine: Model, archive: Archive) -> None:
    """The table of scores, and what was chosen from it."""
    columns(machine, archive)
    held = machine.search_ if archive.writes else SimpleNamespace()
    for name, kinds in FACTS.items():
        archive.value(held, name, *kinds)
    table = encoded(held.cv_results_) if archive.writes else SimpleNamespace()
    archive.value(table, "result_columns", list)
    numbers = sum(kind != WORDS for _, kind in table.result_columns)
    archive.array(table, "results", ("cells", numbers), finite=False)
    texts = [name for name, kind in table.result_columns if kind == WORDS]
    for number in range(len(texts)):
        archive.names(table, f"result_words{number}", ("cells",))
    if not archive.writes:
        held.cv_results_ = decoded(table)
        if max(whole(held.best_index_), whole(held.one_standard_error_index_)) >= len(
            table.results
        ):
            raise ModelFileError("the best cell is not among the cells")
        machine.search_ = SearchRecord(**{each.name: vars(held)[each.name] for each in FIELDS})


FIELDS = fields(SearchRecord)


def encoded(results: dict[str, Any]) -> SimpleNamespace:
    """`cv_results_` as one table of numbers and lists of words; "params" follow from it."""
    table, numbers = SimpleNamespace(result_columns=[]), []
    for name, values in results.items():
        if name == "params":
            continue
        kind = MASKED if isinstance(values, np.ma.MaskedArray) else values.dtype.str[1:]
        if values.dtype.kind in "UO":  # words, or rules for γ among numbers
            kind, count = WORDS, sum(each == WORDS for _, each in table.result_columns)
            setattr(table, f"result_words{count}", np.array([str(each) for each in values]))
        else:
            numbers.append(np.asarray(values, np.float64))
        table.result_columns.append([name, kind])
    table.results = np.column_stack(numbers)
    return table


def decoded(table: SimpleNamespace) -> dict[str, Any]:
    """`cv_results_` of a table: undoes `encoded`."""
    numbers, found = iter(table.results.T), {}
    texts = iter(range(len(table.result_columns)))
    for name, kind in table.result_columns:
        if kind == WORDS:
            found[name] = getattr(table, f"result_words{next(texts)}").astype(str)
            if name.startswith("param_"):
                found[name] = masked([rule_or_number(each) for each in found[name].tolist()])
        elif kind == MASKED:
            found[name] = masked(next(numbers).copy())
        elif kind in KINDS:
            found[name] = exactly(name, next(numbers), kind)
        else:
            raise ModelFileError(f"column {name!r} of the results has the kind {kind!r}")
    params = [name.removeprefix("param_") for name in found if name.startswith("param_")]
    values = zip(*(found[f"param_{name}"].tolist() for name in params), strict=True)
    found["params"] = [dict(zip(params, each, strict=True)) for each in values]
    return found


def masked(values: Floats | list[str | float]) -> Labels:
    """An array of parameters as in `cv_results_`, none of them masked."""
    kind = float if isinstance(values, np.ndarray) else object
    return np.ma.MaskedArray(np.array(values, kind), mask=np.zeros(len(values), bool))


def rule_or_number(word: str) -> str | float:
    """γ, as it was written."""
    if word in RULES:
        return word
    try:
        return float(word)
    except ValueError:
        raise ModelFileError(f"{word!r} among the results is neither a number nor a rule") from None


def exactly(name: str, values: Labels, kind: str) -> Labels:
    """The numbers of a column as its own type, if they are of it."""
    with np.errstate(invalid="ignore"):
        cast = values.astype(kind)
    if not np.array_equal(cast, values, equal_nan=True):
        raise ModelFileError(f"column {name!r} of the results has numbers that {kind} has not")
    return cast


def chosen(machine: Model, archive: Archive, kind: type[DualMachine]) -> None:
    """The refitted machine, unless there was only a search."""
    search(machine, archive)
    if not machine.refit:
        return
    archive.model(machine, "best_estimator_")
    best = machine.best_estimator_
    if type(best) is not kind:
        raise ModelFileError(
            f"the chosen machine is a {type(best).__name__}, not a {kind.__name__}"
        )
    archive.check_shape("the chosen machine's input", (best.n_features_in_,), ("columns",))


def tuned_classifier(machine: Model, archive: Archive) -> None:
    """SVCCV."""
    chosen(machine, archive, SVC)
    classes(machine, archive)
    count = len(machine.classes_)
    problems = count if machine.multiclass == "ovr" and count > 2 else count * (count - 1) // 2
    if machine.refit and not np.array_equal(machine.best_estimator_.classes_, machine.classes_):
        raise ModelFileError("the chosen machine has other classes")
    if machine.calibration is not None:
        CALIBRATIONS[machine.calibration](machine, archive, problems)


def temperature(machine: Model, archive: Archive, problems: int) -> None:
    """One T for all of them."""
    held = machine._calibration if archive.writes else SimpleNamespace()
    archive.value(held, "T", float)
    if not 0 < held.T < np.inf:
        raise ModelFileError(f"the temperature is {held.T}")
    machine._calibration = Temperature(held.T)


def isotonic(machine: Model, archive: Archive, problems: int) -> None:
    """The points between which each falling function is interpolated."""
    held, steps = SimpleNamespace(), []
    if archive.writes:
        held.least = machine._calibration.least
    archive.value(held, "least", float)
    for k in range(problems):
        if archive.writes:
            step = machine._calibration.steps[k]
            points = np.column_stack([step.X_thresholds_, step.y_thresholds_])
            setattr(held, f"points{k}", points)
        archive.array(held, f"points{k}", (f"points{k}", 2))
        if not archive.writes:
            steps.append(interpolated(getattr(held, f"points{k}")))
    if not archive.writes:
        machine._calibration = Isotonic(steps, held.least)


def interpolated(points: Labels) -> IsotonicRegression:
    """The function through some points."""
    x, y = points.T.copy()
    if not len(x) or (np.diff(x) <= 0).any() or (np.diff(y) < 0).any():
        raise ModelFileError("the points of an isotonic calibration do not rise")
    step = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    restore_isotonic(step, x, y)
    return step


CALIBRATIONS = {"sigmoid": sigmoids, "temperature": temperature, "isotonic": isotonic}


def tuned_regressor(machine: Model, archive: Archive) -> None:
    """SVRCV: the machines without each fold too, and without each row if they were asked for."""
    chosen(machine, archive, SVR)
    held = SimpleNamespace(left_out=archive.writes and machine._left_out is not None)
    archive.value(held, "left_out", bool)
    fold_models(machine, "_models", archive)
    machine._left_out = getattr(machine, "_left_out", None)
    if held.left_out:
        fold_models(machine, "_left_out", archive)


def fold_models(machine: Model, attribute: str, archive: Archive) -> None:
    """The machines that some rows were held out of, over the rows that any of them uses."""
    name = attribute.strip("_")
    held = SimpleNamespace()
    if archive.writes:
        parts = vars(getattr(machine, attribute))
        parts = {f"{name}.{part}": value for part, value in parts.items() if value is not None}
        held = SimpleNamespace(**parts)
    precomputed = machine.kernel == "precomputed"
    used, count = f"{name}.used", f"{name}.count"
    archive.rows(held, f"{name}.vectors", (used, 0 if precomputed else "columns"))
    archive.array(held, f"{name}.coef", (count, used))
    archive.array(held, f"{name}.offsets", (count,))
    archive.array(held, f"{name}.residuals", (f"{name}.rows",))
    machines = len(getattr(held, f"{name}.offsets"))
    archive.array(held, f"{name}.model", (f"{name}.rows",), INT64, below=machines)
    below = machine.n_features_in_ if precomputed else None
    archive.array(held, f"{name}.columns", (used,), INT64, below=below)
    if archive.has(held, f"{name}.scales"):
        archive.array(held, f"{name}.scales", (count,))
        if (getattr(held, f"{name}.scales") < 0).any():
            raise ModelFileError(f"{name}.scales has a negative γ")
    if not archive.writes:
        parts = {
            each.name: getattr(held, f"{name}.{each.name}", None) for each in fields(FoldModels)
        }
        setattr(machine, attribute, FoldModels(**parts))


DESCRIPTIONS: dict[type, Description] = {SVCCV: tuned_classifier, SVRCV: tuned_regressor}
