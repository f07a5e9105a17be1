"""`maxmargin svm-predict`: LIBSVM's program, with its options, output and files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import typer
from sklearn.base import is_regressor

from maxmargin.cli.application import app
from maxmargin.cli.svm_train import (
    LAPLACE,
    RAW,
    LibsvmUsage,
    correlation,
    number,
    problem,
    usage,
)
from maxmargin.hardware.arrays import Data, Floats
from maxmargin.io import ModelFileError, load_libsvm

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
        header = Path(name).read_text().partition("\nSV\n")[0].splitlines()
        precomputed = "kernel_type precomputed" in header
        X, y = problem(test, precomputed=precomputed)
        machine = _opened(name, X, precomputed)
    except (OSError, ModelFileError) as error:
        typer.echo(f"can't open model file {name}\n{error}", err=True)
        raise typer.Exit(1) from error
    X = X if precomputed else _widened(X, machine.n_features_in_)
    words = {line.split()[0]: line.split()[1:] for line in header}
    labels, slopes = words.get("label", []), words.get("probA", [])
    if probable and not slopes:
        typer.echo("Model does not support probability estimates", err=True)
        raise typer.Exit(1)
    predicted = machine.predict(X)
    shares = machine.predict_proba(X) if probable and labels else None
    _write(Path(output), predicted, machine, labels, shares)
    if quiet:
        return
    if slopes and not probable:
        typer.echo("Model supports probability estimates, but disabled in prediction.")
    if is_regressor(machine):
        if probable:
            typer.echo(LAPLACE.format(f"{float(slopes[0]):g}"))
        typer.echo(f"Mean squared error = {np.mean((predicted - y) ** 2):g} (regression)")
        typer.echo(f"Squared correlation coefficient = {correlation(predicted, y):g} (regression)")
    else:
        right = int(np.sum(predicted == y))
        share = 100 * right / len(y)
        typer.echo(f"Accuracy = {share:g}% ({right}/{len(y)}) (classification)")


def _options(arguments: Sequence[str]) -> tuple[bool, bool, tuple[str, str, str]]:
    rest, probable, quiet = list(arguments), False, False
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


def _write(
    path: Path, predicted: Floats, machine: Any, labels: list[str], shares: Floats | None
) -> None:
    """One line for each row; probabilities in the order of the model file's labels."""
    with path.open("w") as file:
        if shares is None:
            file.writelines(f"{value:.17g}\n" for value in predicted)
            return
        places = np.searchsorted(machine.classes_, [int(label) for label in labels])
        file.write(" ".join(["labels", *labels]) + "\n")
        for label, line in zip(predicted, shares[:, places], strict=True):
            file.write(" ".join([f"{label:g}", *(f"{share:g}" for share in line)]) + "\n")


def main() -> None:
    """The program `maxmargin-svm-predict`."""
    app(["svm-predict", *sys.argv[1:]], prog_name="maxmargin")
