"""`maxmargin tune` and `maxmargin loo`: choosing a machine, and how good it is on unseen rows.

Columns are standardised, and text one-hot, once on all rows; folds then share them.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

import numpy as np
import typer
from rich.table import Table
from sklearn.base import is_classifier

from maxmargin.cli import machine_options as m
from maxmargin.cli import options as o
from maxmargin.cli.application import INTERRUPTED, app, examples, say
from maxmargin.cli.models import read
from maxmargin.cli.report import print_facts, print_json, seconds_words, show
from maxmargin.cli.train import parts, preparation, transformed
from maxmargin.io.columns import machine_of, prepared
from maxmargin.io.rows import Reading, Rows
from maxmargin.resources.arrays import Data
from maxmargin.selection import Search, leave_one_out
from maxmargin.selection import tune as search_over

Kind = Annotated[
    Literal["svc", "svr"] | None, typer.Option("--machine", help="By default as in train.")
]
LooKind = Annotated[
    Literal["svc", "nusvc", "svr", "nusvr"] | None,
    typer.Option("--machine", help="By default as in train."),
]
TOP = 10  # cells that are shown


@app.command(
    epilog=examples(
        "maxmargin tune iris.csv",
        "maxmargin tune iris.csv --cs 12 --gammas 12 --cv 10 --refine",
        "maxmargin train iris.csv --tune --holdout 0.2",
    )
)
def tune(
    data: o.DataFile,
    machine: Kind = None,
    kernel: m.Kernel = None,
    epsilon: m.Epsilon = None,
    balanced: m.Balanced = False,
    cs: Annotated[int, typer.Option(help="How many values of C.", min=1)] = 10,
    gammas: Annotated[int, typer.Option(help="How many values of γ.", min=1)] = 10,
    cv: Annotated[int, typer.Option(help="Folds of the cross-validation.", min=2)] = 5,
    refine: Annotated[
        bool, typer.Option("--refine", help="Go beyond the edge, then try a finer grid.")
    ] = False,
    early: Annotated[
        Literal["racing", "halving"] | None, typer.Option(help="Give up hopeless cells early.")
    ] = None,
    max_time: Annotated[float | None, typer.Option(help="Seconds; then the best so far.")] = None,
    jobs: m.Jobs = None,
    target: o.Target = None,
    header: o.Header = None,
    delimiter: o.Delimiter = None,
    thousands: o.Thousands = None,
    drop: o.Drop = None,
    text: o.Text = None,
    zero_based: o.ZeroBased = False,
    scale: Annotated[bool, typer.Option(help="Standardise dense columns of numbers.")] = True,
    as_json: o.Json = False,
) -> None:
    """Choose C and γ by cross-validation on shared kernel matrices."""
    given = {
        "kernel": kernel,
        "epsilon": epsilon,
        "class_weight": "balanced" if balanced else None,
    }
    reading = Reading(
        target,
        True,
        header,
        drop or (),
        text or (),
        zero_based,
        delimiter=delimiter,
        thousands=thousands,
    )
    rows, chosen, X = learnable(data, reading, machine, given, scale=scale, quiet=as_json)
    found = search_over(
        chosen,
        X,
        rows.targets,
        Cs=cs,
        gammas=gammas,
        cv=cv,
        refine=refine,
        early=early,
        max_time=max_time,
        n_jobs=jobs,
        refit=False,
        verbose=int(sys.stderr.isatty()),
    )
    if as_json:
        print_json(
            {
                "status": found.status,
                "best": found.best_params_,
                "score": found.best_score_,
                "seconds": found.search_time_,
                "cells": len(found.cells),
                "notes": found.notes,
                "results": [
                    {**params, "score": score}
                    for params, score in zip(found.cv_results_["params"], means(found), strict=True)
                ],
            }
        )
    else:
        _show(found, is_classifier(chosen))
    if found.status == "interrupted":
        raise typer.Exit(INTERRUPTED)


def learnable(
    data: str,
    reading: Reading,
    name: str | None,
    given: dict[str, Any],
    *,
    scale: bool,
    quiet: bool,
) -> tuple[Rows, Any, Data]:
    """The rows of a file, the machine for them, and X as that machine sees it."""
    if name is not None:
        m.built(name, given)  # refuses a wrong combination before any data are read
    rows = read(data, reading)
    name = name or m.suited(rows.y)
    parts(rows, name, None, 0)
    estimator = prepared(m.built(name, given), rows, scale=scale)
    if not quiet:
        say(preparation(rows, name, estimator))
    return rows, machine_of(estimator), transformed(estimator, rows)


def means(search: Search) -> Any:
    """Mean score of each cell."""
    return search.cv_results_[f"mean_test_{search.metric}"]


def _show(search: Search, classifies: bool) -> None:
    score = f"{search.best_score_:.2%}" if classifies else f"R² = {search.best_score_:.4g}"
    lines = {name: f"{value:.6g}" for name, value in search.best_params_.items()}
    lines["cross-validated"] = score
    cells, took = len(search.cells), seconds_words(search.search_time_)
    lines["search"] = f"{cells} cells, {search.n_splits_} folds, {took}, {search.status}"
    print_facts("the best", lines)
    table = Table(*search.best_params_, "score", title="next to it")
    scores = means(search)
    for number in np.argsort(-scores, kind="stable")[1 : 1 + TOP].tolist():
        values = [f"{value:.4g}" for value in search.cv_results_["params"][number].values()]
        table.add_row(*values, f"{scores[number]:.4f}")
    show(table)
    for note in search.notes:
        say(note.replace("refine=True", "--refine"))


@app.command(epilog=examples("maxmargin loo iris.csv --C 10", "maxmargin loo iris.csv --json"))
def loo(
    data: o.DataFile,
    machine: LooKind = None,
    kernel: m.Kernel = None,
    C: m.C = None,
    gamma: m.Gamma = None,
    degree: m.Degree = None,
    coef0: m.Coef0 = None,
    nu: m.Nu = None,
    epsilon: m.Epsilon = None,
    balanced: m.Balanced = False,
    tol: m.Tol = None,
    jobs: m.Jobs = None,
    target: o.Target = None,
    header: o.Header = None,
    delimiter: o.Delimiter = None,
    thousands: o.Thousands = None,
    drop: o.Drop = None,
    text: o.Text = None,
    zero_based: o.ZeroBased = False,
    scale: Annotated[bool, typer.Option(help="Standardise dense columns of numbers.")] = True,
    as_json: o.Json = False,
) -> None:
    """Predict each row by the machine trained without it: the exact leave-one-out error.

    Only support vectors are trained without, each from the machine of all rows; every one of these
    machines has a certificate.
    """
    given = {
        "kernel": kernel,
        "C": C,
        "gamma": gamma,
        "degree": degree,
        "coef0": coef0,
        "nu": nu,
        "epsilon": epsilon,
        "class_weight": "balanced" if balanced else None,
        "tol": tol,
    }
    reading = Reading(
        target,
        True,
        header,
        drop or (),
        text or (),
        zero_based,
        delimiter=delimiter,
        thousands=thousands,
    )
    rows, chosen, X = learnable(data, reading, machine, given, scale=scale, quiet=as_json)
    found = leave_one_out(chosen, X, rows.targets, n_jobs=jobs)
    worst = max(proof.kkt_violation for proof in found.certificates)
    if as_json:
        print_json(
            {
                "error": found.error,
                "bounds": {name: bound.value for name, bound in found.bounds.items()},
                "span": found.span.value,
                "retrained": int(found.retrained.sum()),
                "rows": rows.shape[0],
                "worst_kkt_violation": worst,
                "seconds": found.seconds,
                "predictions": found.predictions,
            }
        )
        return
    lines = {"left out": f"{rows.shape[0]:,} rows, {int(found.retrained.sum()):,} trained without"}
    if is_classifier(chosen):
        lines["error"] = f"{found.error:.2%}, {int(np.sum(found.predictions != rows.y))} rows"
        lines |= {f"at most, by {name}": f"{b.value:.2%}" for name, b in found.bounds.items()}
        lines["about, by span"] = f"{found.span.value:.2%}"
    else:
        lines["mean squared error"] = f"{found.error:.6g}"
        lines["R²"] = f"{1 - found.error / np.var(rows.targets):.4g}"
    lines["certificates"] = f"KKT violation of each at most {worst:.1e}"
    lines["time"] = seconds_words(found.seconds)
    print_facts(str(chosen), lines)
