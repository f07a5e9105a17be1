"""`maxmargin svm-predict`: LIBSVM's program, with its options, output and files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import scipy.sparse as sp
import typer
from sklearn.base import is_classifier, is_regressor

from maxmargin.cli.application import app
from maxmargin.cli.svm_train import (
    LAPLACE,
    RAW,
    LibsvmUsage,
    correlation,
    given,
    number,
    problem,
    usage,
)
from maxmargin.io import ModelFileError, load_libsvm
from maxmargin.resources.arrays import Data, Floats

USAGE = """\
Usage: svm-predict [options] test_file model_file output_file
options:
-b probability_estimates : 0 or 1 (default 0)
-q : quiet"""


@app.command("svm-predict", context_settings=RAW)
def svm_predict(ctx: typer.Context) -> None:
    """LIBSVM's svm-predict: its options, output and files."""
    try:
        probable, quiet, (test, name, output) = _options(ctx.args)
    except LibsvmUsage as wrong:
        raise usage(wrong, USAGE) from wrong
    try:
        head = Path(name).read_bytes().partition(b"\nSV\n")[0]
        precomputed = b"kernel_type precomputed" in head.splitlines()
        X, y = problem(test, precomputed=precomputed)
        machine = _opened(name, X, precomputed)
    except (OSError, ModelFileError) as error:
        typer.echo(f"can't open model file {name}\n{error}", err=True)
        raise typer.Exit(1) from error
    X = X if precomputed else _widened(X, machine.n_features_in_)
    supported = hasattr(machine, "predict_proba") or hasattr(machine, "error_scale_")
    if probable and not supported:
        typer.echo("Model does not support probability estimates", err=True)
        raise typer.Exit(1)
    shares = machine.predict_proba(X) if probable and not is_regressor(machine) else None
    if shares is not None and is_classifier(machine):
        predicted = machine.classes_[machine._scheme().likeliest(shares)]
    else:
        predicted = machine.predict(X)
    with Path(output).open("w") as file:
        if shares is not None:
            _write_shares(file, predicted, *_in_order(machine, shares))
        else:
            file.writelines(f"{value:.17g}\n" for value in predicted)
    if quiet:
        return
    if supported and not probable:
        typer.echo("Model supports probability estimates, but disabled in prediction.")
    if is_regressor(machine):
        if probable:
            typer.echo(LAPLACE.format(f"{machine.error_scale_:g}"))
        typer.echo(f"Mean squared error = {np.mean((predicted - y) ** 2):g} (regression)")
        typer.echo(f"Squared correlation coefficient = {correlation(predicted, y):g} (regression)")
    else:
        right = int(np.sum(predicted == y))
        share = 100 * right / len(y)
        typer.echo(f"Accuracy = {share:g}% ({right}/{len(y)}) (classification)")


def _options(arguments: Sequence[str]) -> tuple[bool, bool, tuple[str, str, str]]:
    rest, probable, quiet = given(arguments), False, False
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "-q":
            quiet = True
        elif option == "-b" and rest:
            probable = bool(number(option, rest.pop(0)))
        else:
            raise LibsvmUsage(f"Unknown option: {option}")
    if len(rest) != 3:
        raise LibsvmUsage("")
    return probable, quiet, (rest[0], rest[1], rest[2])


def _opened(name: str, X: Data, precomputed: bool) -> Any:
    """The model with as many columns as the rows have, or more; and the rows with as many as it."""
    machine = load_libsvm(name, dense=not sp.issparse(X))
    if precomputed or X.shape[1] > machine.n_features_in_:
        machine = load_libsvm(name, n_features=X.shape[1], dense=not sp.issparse(X))
    return machine


def _widened(X: Data, columns: int) -> Data:
    """Features that are not listed are 0."""
    if sp.issparse(X):
        X.resize(X.shape[0], columns)
        return X
    return np.pad(X, ((0, 0), (0, columns - X.shape[1])))


def _in_order(machine: Any, shares: Floats) -> tuple[str, Floats]:
    """The first line, and probabilities in its order: of the classes, that of the model file."""
    if not is_classifier(machine):
        return "label normal outlier", shares[:, ::-1]
    order = machine.label_order_
    return " ".join(["labels", *map(str, machine.classes_[order])]), shares[:, order]


def _write_shares(file: TextIO, predicted: Floats, first: str, shares: Floats) -> None:
    file.write(first + "\n")
    for label, line in zip(predicted, shares, strict=True):
        file.write(" ".join([f"{label:g}", *(f"{share:g}" for share in line)]) + "\n")
