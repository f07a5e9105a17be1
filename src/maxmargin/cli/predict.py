"""`maxmargin predict` and `maxmargin evaluate`: a model file on new rows."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, TextIO

import numpy as np
import typer
from rich.table import Table

from maxmargin.cli import options as o
from maxmargin.cli.application import app, examples
from maxmargin.cli.machine_options import wrong
from maxmargin.cli.models import Model, open_model
from maxmargin.cli.report import print_facts, print_json, show
from maxmargin.io.columns import features_for
from maxmargin.io.container import whole_or_not_at_all
from maxmargin.io.rows import Reading, Rows
from maxmargin.resources.arrays import Floats, Labels

PREDICTION = "prediction"  # the first column of what is written
LARGEST = 12  # classes whose confusion matrix is shown


@app.command(
    epilog=examples(
        "maxmargin predict iris.maxmargin new.csv",
        "maxmargin predict iris.maxmargin new.csv --probability --output predictions.csv",
        "cat new.csv | maxmargin predict iris.maxmargin - | sort | uniq -c",
    )
)
def predict(
    model: o.ModelFile,
    data: o.DataFile,
    output: Annotated[Path | None, typer.Option(help="A file instead of standard output.")] = None,
    decision: Annotated[
        bool, typer.Option("--decision", help="Add the decision values: CSV with a header.")
    ] = False,
    probability: Annotated[
        bool,
        typer.Option("--probability", help="Add the probability of each class: CSV with a header."),
    ] = False,
    target: o.Target = None,
    header: o.Header = None,
    delimiter: o.Delimiter = None,
    thousands: o.Thousands = None,
    drop: o.Drop = None,
    zero_based: o.ZeroBased = False,
    as_json: o.Json = False,
) -> None:
    """Predict each row of a file: one line for each.

    Columns are matched by their names, in whatever order; a target among them is not looked at.
    """
    opened = open_model(model)
    parts = opened.parts(
        data,
        Reading(
            target,
            False,
            header,
            drop or (),
            (),
            zero_based,
            delimiter=delimiter,
            thousands=thousands,
        ),
    )
    answers = (_answers(opened, rows, decision, probability) for rows in parts)
    if as_json:
        whole = [*answers]
        joined = {name: np.concatenate([each[name] for each in whole]) for name in whole[0]}
        predicted = joined.pop(PREDICTION)
        count = len(predicted)
        print_json({"model": str(model), "rows": count, "predictions": predicted, **joined})
    elif output is None:
        _write(sys.stdout, answers)
    else:
        # A pipe or a device has no name to take over when all is written.
        whole_file = output.is_file() or not output.exists()
        with (
            whole_or_not_at_all(output) if whole_file else nullcontext(output) as part,
            part.open("w") as file,
        ):
            _write(file, answers)


def _answers(model: Model, rows: Rows, decision: bool, probability: bool) -> dict[str, Labels]:
    """The prediction of each row, and what else is asked for, column by column."""
    X = features_for(model.estimator, rows)
    found: dict[str, Labels] = {PREDICTION: model.estimator.predict(X)}
    if decision:
        found |= _decisions(model, X)
    if probability:
        found |= _probabilities(model, X)
    return found


def _write(file: TextIO, answers: Iterable[dict[str, Labels]]) -> None:
    """One line for each row; with more than the prediction, CSV with a header."""
    for number, found in enumerate(answers):
        if number == 0 and len(found) > 1:
            file.write(",".join(quoted(name) for name in found) + "\n")
        # a line for each row, whatever its class is called
        special = ',"\r\n' if len(found) > 1 else "\r\n"
        columns = (values.tolist() for values in found.values())
        for line in zip(*columns, strict=True):
            file.write(",".join(quoted(str(cell), special) for cell in line) + "\n")


def quoted(cell: str, special: str = ',"\r\n') -> str:
    """A cell of a CSV, in quotation marks if it has a special character."""
    return '"' + cell.replace('"', '""') + '"' if {*cell} & {*special} else cell


def _decisions(model: Model, X: Labels) -> dict[str, Floats]:
    if not hasattr(model.estimator, "decision_function"):
        raise wrong(f"{name_of(model)} has no decision values beside its predictions")
    values = model.estimator.decision_function(X)
    if values.ndim == 1:
        return {"decision": values}
    names = getattr(model.machine, "classes_", range(values.shape[1]))
    if len(names) != values.shape[1]:
        names = range(values.shape[1])
    return {f"decision {name}": column for name, column in zip(names, values.T, strict=True)}


def name_of(model: Model) -> str:
    """The machine's name, as a subject."""
    return f"a {type(model.machine).__name__}"


def _probabilities(model: Model, X: Labels) -> dict[str, Floats]:
    if not hasattr(model.estimator, "predict_proba"):
        has = "probability" in model.machine.get_params()
        why = "; train with --probability to have them" if has else f": {name_of(model)} gives none"
        raise wrong(f"{model.path} has no probabilities{why}")
    values = model.estimator.predict_proba(X)
    classes = getattr(model.machine, "classes_", (-1, 1))  # outlier and normal
    return {f"probability {name}": column for name, column in zip(classes, values.T, strict=True)}


@app.command(
    epilog=examples(
        "maxmargin evaluate iris.maxmargin test.csv",
        "maxmargin evaluate iris.maxmargin test.csv --json | jq .accuracy",
    )
)
def evaluate(
    model: o.ModelFile,
    data: o.DataFile,
    target: o.Target = None,
    header: o.Header = None,
    delimiter: o.Delimiter = None,
    thousands: o.Thousands = None,
    drop: o.Drop = None,
    zero_based: o.ZeroBased = False,
    as_json: o.Json = False,
) -> None:
    """Compare predictions with the targets of a file.

    Accuracy, AUC, the confusion matrix and each class of a classifier; errors of a regressor.
    """
    from maxmargin.cli.scores import headline, scores  # with sklearn.metrics, slow to import

    opened = open_model(model)
    rows = opened.rows(
        data,
        Reading(
            target,
            True,
            header,
            drop or (),
            (),
            zero_based,
            delimiter=delimiter,
            thousands=thousands,
        ),
    )
    found = scores(opened.estimator, rows)
    if as_json:
        print_json({"model": str(model), "rows": rows.shape[0], **found})
        return
    print_facts(f"{model} on {rows.source}, {rows.shape[0]:,} rows", headline(found))
    if "confusion" in found:
        _show_classes(found["classes"])
        _show_confusion([str(name) for name in opened.machine.classes_], found["confusion"])


def _show_classes(classes: Any) -> None:
    table = Table("class", "precision", "recall", "F1", "rows")
    for column in table.columns[1:]:
        column.justify = "right"
    for each in classes:
        numbers = (f"{each[name]:.2%}" for name in ("precision", "recall", "f1"))
        table.add_row(str(each["class"]), *numbers, f"{each['rows']:,}")
    show(table)


def _show_confusion(names: list[str], matrix: Any) -> None:
    """Rows are the true classes; of many classes only the mistakes, most frequent first."""
    if len(names) <= LARGEST:
        table = Table("true \\ predicted", *names)
        for column in table.columns[1:]:
            column.justify = "right"
        for name, line in zip(names, matrix.tolist(), strict=True):
            table.add_row(name, *(str(count) if count else "·" for count in line))
    else:
        table = Table("true", "predicted", "rows", title="the most frequent mistakes")
        mistakes = matrix - np.diag(np.diag(matrix))
        for place in np.argsort(-mistakes, axis=None, kind="stable")[:LARGEST].tolist():
            true, predicted = divmod(place, len(names))
            if mistakes[true, predicted]:
                table.add_row(names[true], names[predicted], str(mistakes[true, predicted]))
    show(table)
