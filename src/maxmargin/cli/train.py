"""`maxmargin train`: from a file of rows to a model file, with its proof."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
import typer
from sklearn.base import BaseEstimator

from maxmargin.cli import machine_options as m
from maxmargin.cli import options as o
from maxmargin.cli.application import INTERRUPTED, NOT_PROVED, app, ending_at_once, examples, say
from maxmargin.cli.models import read
from maxmargin.cli.outcome import Trained, tell_outcome
from maxmargin.cli.past_memory import Stream, check_streams
from maxmargin.cli.report import seconds_words
from maxmargin.cli.scores import scores
from maxmargin.cli.text_columns import check_known, identifiers, identifiers_words
from maxmargin.io import save
from maxmargin.io.columns import machine_of, prepared
from maxmargin.io.container import check_is_file
from maxmargin.io.rows import Reading, Rows, listed
from maxmargin.problem import Status
from maxmargin.resources.arrays import Data
from maxmargin.selection import Search
from maxmargin.selection import tune as search_over

FEW = 5  # rows of a class on average: with fewer, whole numbers are more likely quantities


@app.command(
    epilog=examples(
        "maxmargin train iris.csv --target species --holdout 0.2",
        "maxmargin train houses.parquet --machine svr --C 10 --test more.parquet",
        "maxmargin train heart_scale --kernel linear --model heart.maxmargin",
        "zcat log.csv.gz | maxmargin train - --machine oneclass --nu 0.05 --model log.maxmargin",
    )
)
def train(
    data: o.DataFile,
    model: Annotated[
        Path | None,
        typer.Option(help="Where to save it; by default DATA's name with .maxmargin, here."),
    ] = None,
    machine: m.MachineName = None,
    kernel: m.Kernel = None,
    C: m.C = None,
    gamma: m.Gamma = None,
    degree: m.Degree = None,
    coef0: m.Coef0 = None,
    nu: m.Nu = None,
    epsilon: m.Epsilon = None,
    balanced: m.Balanced = False,
    probability: m.Probability = False,
    approximation: m.Approximate = None,
    components: m.Components = None,
    solver: m.SolverName = None,
    tol: m.Tol = None,
    max_time: m.MaxTime = None,
    max_iter: m.MaxIter = None,
    jobs: m.Jobs = None,
    seed: m.Seed = 0,
    target: o.Target = None,
    header: o.Header = None,
    delimiter: o.Delimiter = None,
    thousands: o.Thousands = None,
    drop: o.Drop = None,
    text: o.Text = None,
    zero_based: o.ZeroBased = False,
    scale: Annotated[
        bool,
        typer.Option(
            help="Standardise dense columns of numbers; the model keeps how.",
            rich_help_panel=o.DATA,
        ),
    ] = True,
    impute: Annotated[
        bool,
        typer.Option(
            "--impute",
            help="Missing numbers become the median of their column, missing text its most "
            "frequent value; the model keeps both.",
            rich_help_panel=o.DATA,
        ),
    ] = False,
    indicator: Annotated[
        bool,
        typer.Option(
            "--indicator",
            help="With --impute: for each column of numbers with missing values one more, 1 where "
            "the value was missing.",
            rich_help_panel=o.DATA,
        ),
    ] = False,
    unknown: Annotated[
        Literal["error", "ignore"],
        typer.Option(
            help="A value of text that training has not seen: refuse the row, or predict without "
            "it.",
            rich_help_panel=o.DATA,
        ),
    ] = "error",
    test: Annotated[
        str | None, typer.Option(metavar="FILE", help="Rows to test on.", rich_help_panel=o.DATA)
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the rows to test on instead of training on them.",
            rich_help_panel=o.DATA,
        ),
    ] = None,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help="Choose C and γ by cross-validation first (svc, svr).",
            rich_help_panel=o.MACHINE,
        ),
    ] = False,
    memory: Annotated[
        float | None,
        typer.Option(
            metavar="MB",
            help="Train on rows that memory does not hold, in so much of it (beside what Python "
            "and its libraries take). DATA may be a folder of files.",
            rich_help_panel=o.DATA,
            min=1,
        ),
    ] = None,
    keep_partial: Annotated[
        bool, typer.Option("--keep-partial", help="Save the model so far on Ctrl-C.")
    ] = False,
    as_json: o.Json = False,
) -> None:
    """Train a machine on a file, prove it, test it, save it.

    Columns of text become one column for each of their values, dense numbers are standardised; the
    model file keeps both. Ctrl-C stops; with --keep-partial the model so far is saved.
    """
    place = model or default_place(data)
    reading = Reading(
        target,
        machine != "oneclass",
        header,
        drop or (),
        text or (),
        zero_based,
        delimiter=delimiter,
        thousands=thousands,
        missing=impute,
    )
    given = {
        "kernel": kernel,
        "C": C,
        "gamma": gamma,
        "degree": degree,
        "coef0": coef0,
        "nu": nu,
        "epsilon": epsilon,
        "class_weight": "balanced" if balanced else None,
        "probability": probability or None,
        "approximation": approximation,
        "n_components": components,
        "solver": solver,
        "tol": tol,
        "max_time": max_time,
        "max_iter": max_iter,
        "n_jobs": jobs,
    }
    if test is not None and holdout is not None:
        raise m.wrong("--test and --holdout both say what to test on; give one of them")
    if indicator and not impute:
        raise m.wrong("--indicator says where --impute filled a value in; give both")
    if tune and (C is not None or gamma is not None):
        raise m.wrong("--tune chooses C and γ: leave out --C and --gamma")
    if tune and machine not in (None, "svc", "svr"):
        raise m.wrong(f"--tune chooses C and γ of svc and svr, not of {machine}")
    if machine is not None:
        m.built(machine, given)  # refuses a wrong combination before any data are read
    if not place.resolve().parent.is_dir():  # before an hour of training, not after it
        raise FileNotFoundError(f"{place}: there is no folder {place.parent}")
    check_is_file(place)
    if memory is not None:
        not_with_memory = {"--impute": impute, "--tune": tune, "--test": test is not None}
        check_streams(data, not_with_memory)
    with ending_at_once(keep=keep_partial):
        if memory is not None:
            budget = int(memory * 2**20)
            stream = Stream(data, reading, budget, place.resolve().parent, holdout, seed)
            name = machine or stream.suited
            if not as_json:
                say(stream.preparation(name, scale))
            made = m.built(name, given, seed=seed)
            trained = stream.trained(made, name, scale=scale, unknown=unknown, fit=fit)
        else:
            began = perf_counter()
            rows, took = read(data, reading), perf_counter() - began
            rows, left_out = without_identifiers(rows, text or ())
            if left_out:
                say(identifiers_words(rows.source, left_out), style="yellow")
                reading = replace(reading, drop=[*reading.drop, *left_out])
            name = machine or m.suited(rows.y)
            shown, hidden = parts(rows, name, holdout, seed)
            if test is not None:
                fitting = replace(
                    reading,
                    text=(),
                    schema=replace(shown.schema, unknown=unknown == "ignore", missing=impute),
                    trained_target=rows.target,
                )
                hidden = read(test, fitting)
            if holdout is not None and hidden is not None and unknown == "error":
                check_known(shown.source, shown.schema.text, hidden.schema.text)
            filled = ("indicator" if indicator else "filled") if impute else None
            estimator = prepared(
                m.built(name, given, seed=seed), shown, scale=scale, unknown=unknown, missing=filled
            )
            if not as_json:
                say(preparation(shown, name, scale))
            notes: dict[str, Any] = {
                "target": rows.target,
                "data": rows.source,
                "rows": shown.shape[0],
            }
            if left_out:
                notes["left_out"] = left_out
            if tune:
                search = choose(estimator, shown, jobs)
                notes["tuned"] = {**search.best_params_, "score": search.best_score_}
                tell_chosen(search, as_json)
            fitted = fit(estimator, shown.X, shown.y)
            trained = Trained(
                fitted,
                shown.shape,
                rows.target,
                took,
                "training" if hidden is None else "test",
                lambda: scores(fitted, hidden or shown),
                notes,
            )
    status = machine_of(trained.model).certificate_.status
    save(trained.model, place, trained.notes | {"machine": name, "holdout": holdout, "seed": seed})
    tested = status is not Status.INTERRUPTED
    tell_outcome(trained, place, tested=tested, as_json=as_json)
    if status is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
    if status is not Status.CONVERGED:
        raise typer.Exit(NOT_PROVED)


def default_place(data: str) -> Path:
    """The name of the data, in the current folder, with our suffix."""
    if data == "-":
        raise m.wrong("data from standard input have no name: say where to save with --model")
    name = Path(data).name
    for suffix in (".gz", ".bz2", ".xz", ".zst"):
        name = name.removesuffix(suffix)
    return Path(Path(name).stem + ".maxmargin")


def parts(rows: Rows, name: str, holdout: float | None, seed: int) -> tuple[Rows, Rows | None]:
    """Rows to train on and rows to test on; and a target that can be learned."""
    m.check_target(rows, name)
    if holdout is None:
        return rows, None
    if not 0 < holdout < 1:
        raise m.wrong(f"--holdout is a share of the rows between 0 and 1, not {holdout}")
    from sklearn.model_selection import train_test_split

    numbers = np.arange(rows.shape[0])
    classes = rows.y if name in m.CLASSIFIERS else None
    try:
        shown, hidden = train_test_split(
            numbers, test_size=holdout, random_state=seed, stratify=classes
        )
    except ValueError as error:
        raise rows.error(f"cannot be split by --holdout {holdout}: {error}") from error
    return rows.take(np.sort(shown)), rows.take(np.sort(hidden))


def without_identifiers(rows: Rows, kept: Sequence[str]) -> tuple[Rows, list[str]]:
    """The rows without columns of text that tell rows apart, and the names of these columns."""
    counts = {name: len(known) for name, known in rows.schema.text.items() if name not in kept}
    found = identifiers(rows, counts, rows.shape[0])
    if not found:
        return rows, []
    text = tuple(name for name in rows.text if name not in found)
    return replace(rows, X=rows.X.drop_columns(found), text=text), found


def choose(estimator: BaseEstimator, rows: Rows, jobs: int | None) -> Search:
    """Set C and γ to the best of a search; what was given stays out of it."""
    machine = machine_of(estimator)
    search = search_over(
        machine,
        transformed(estimator, rows),
        rows.targets,
        n_jobs=jobs,
        refit=False,
        verbose=int(sys.stderr.isatty()),
    )
    if search.status == "interrupted":
        raise KeyboardInterrupt
    machine.set_params(**search.best_params_)
    return search


def tell_chosen(search: Search, as_json: bool) -> None:
    """What the search found, in a line."""
    if not as_json:
        best = ", ".join(f"{name} = {value:.4g}" for name, value in search.best_params_.items())
        say(
            f"tuned: {best}, cross-validated score {search.best_score_:.4f} "
            f"({len(search.cells)} cells in {seconds_words(search.search_time_)})"
        )


def transformed(estimator: Any, rows: Rows) -> Data:
    """X as the machine behind the preprocessing sees it, fitted to these rows."""
    if estimator is machine_of(estimator):
        return rows.X if rows.names is None else np.asarray(rows.X)
    X: Data = estimator[:-1].fit_transform(rows.X)
    return X


def fit(estimator: BaseEstimator, X: Any, y: Any = None) -> BaseEstimator:
    """Fit, with a live view if standard error is a terminal; Ctrl-C leaves the model so far."""
    machine_of(estimator).set_params(verbose=int(sys.stderr.isatty()))
    try:
        estimator.fit(X, y)
    except KeyboardInterrupt:
        if not hasattr(machine_of(estimator), "certificate_"):
            raise  # before the solver had begun
    machine_of(estimator).set_params(verbose=False)
    return estimator


def preparation(rows: Rows, name: str, scale: bool) -> str:
    """What will be trained on what, in a line or two."""
    n, d = rows.shape
    lines = [f"{rows.source}: {n:,} rows, {d:,} features"]
    if rows.y is not None and name != "oneclass":
        lines[0] += f", target {rows.target!r}"
        if name in m.CLASSIFIERS:
            count = len(np.unique(rows.y))
            lines[0] += f" with {count} classes"
            if rows.y.dtype.kind in "iu" and n < FEW * count:
                lines[0] += "; if these are quantities: --machine svr"
    done = []
    if rows.gaps:
        done.append(f"missing values of {listed(rows.gaps)} filled in")
    if scale and not sp.issparse(rows.X) and len(rows.text) < d:
        done.append("numbers standardised (--no-scale to leave them)")
    if rows.text:
        done.append(f"one column for each value of {', '.join(rows.text)}")
    return "\n".join([*lines, "; ".join(done)] if done else lines)
