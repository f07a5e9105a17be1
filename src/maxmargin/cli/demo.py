"""`maxmargin demo`: the main job on built-in data, by the commands themselves; times; a picture."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from functools import partial
from pathlib import Path
from statistics import median
from timeit import timeit
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from sklearn.base import BaseEstimator

from maxmargin.cli import options as o
from maxmargin.cli.application import app, examples, refusal
from maxmargin.cli.certify import certify
from maxmargin.cli.models import open_model
from maxmargin.cli.predict import evaluate, predict
from maxmargin.cli.report import print_json
from maxmargin.cli.sample import built_in, write_csv
from maxmargin.cli.scores import scores
from maxmargin.cli.train import train
from maxmargin.hardware.arrays import Floats, Labels
from maxmargin.io.rows import Reading


@app.command(epilog=examples("maxmargin demo", "maxmargin demo --folder /tmp/demo"))
def demo(
    folder: Annotated[Path, typer.Option(help="Where to write the data and the model.")] = Path(
        "maxmargin-demo"
    ),
    output: Annotated[
        Path | None, typer.Option(help="Where to write the picture; margins.png there.")
    ] = None,
    as_json: o.Json = False,
) -> None:
    """Train on handwritten digits, test, prove, save, predict; then times and a picture."""
    console = Console(stderr=as_json)
    folder.mkdir(parents=True, exist_ok=True)
    shown, hidden, model = (folder / name for name in ("train.csv", "test.csv", "digits.maxmargin"))
    split = digits()
    for path, part in zip((shown, hidden), split, strict=True):
        with path.open("w", newline="") as file:
            write_csv(file, built_in("digits")[0], *part)
    console.print(
        f"Digits: {len(split[0][1])} images to train on, {len(split[1][1])} to test on, "
        f"10 classes, in {folder}/.",
        soft_wrap=True,
    )
    warm_up = timeit(lambda: _fit_a_little(*split[0]), number=1)
    console.print(f"Compiler warmed up in {warm_up:.1f} s, left out of the times below.")
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        _session(console, shown, hidden, model)
    opened = open_model(model)
    accuracy = scores(opened.estimator, opened.rows(str(hidden), Reading()))["accuracy"]
    times = _race(split, console)
    picture = output or folder / "margins.png"
    try:
        _draw_moons(picture)
    except (ImportError, OSError, ValueError) as error:
        raise refusal(f"No picture: {error}") from error
    console.print(
        f"\nA machine on two moons, its margins and support vectors: {picture}", soft_wrap=True
    )
    if as_json:
        facts = {"model": str(model), "accuracy": accuracy, "picture": str(picture)}
        print_json({**facts, "seconds": times})


def _session(console: Console, shown: Path, hidden: Path, model: Path) -> None:
    """The commands that a user would type, and what they print."""

    def heading(command: str) -> None:
        console.print(f"\n$ maxmargin {command}", style="bold", highlight=False, soft_wrap=True)

    heading(f"train {shown} --C 10 --no-scale --model {model}")
    train(str(shown), model=model, C=10.0, scale=False)
    heading(f"evaluate {model} {hidden}")
    evaluate(model, str(hidden))
    heading(f"certify {model} {shown}")
    certify(model, str(shown))
    heading(f"predict {model} {hidden} --output {model.with_name('predictions.txt')}")
    predict(model, str(hidden), output=model.with_name("predictions.txt"))
    lines = model.with_name("predictions.txt").read_text().split()
    console.print(f"{len(lines)} predictions; the first ten: {' '.join(lines[:10])}\n")


Part = tuple[Floats, Labels]


def digits() -> tuple[Part, Part]:
    """Rows to train on and rows to test on."""
    from sklearn.model_selection import train_test_split

    _, X, y = built_in("digits")
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    return (X_train, y_train), (X_test, y_test)


def _fit_a_little(X: Floats, y: Labels) -> Labels:
    from maxmargin.machines.svc import SVC

    found: Labels = SVC(C=10).fit(X[:100], y[:100]).predict(X[:100])
    return found


def _race(split: tuple[Part, Part], console: Console) -> dict[str, float]:
    """Next to scikit-learn, on the same split."""
    from sklearn import svm

    from maxmargin.machines.svc import SVC

    (X_train, y_train), (X_test, y_test) = split
    rivals: dict[str, BaseEstimator] = {"maxmargin": SVC(C=10), "scikit-learn": svm.SVC(C=10)}
    fits = taking_turns([partial(each.fit, X_train, y_train) for each in rivals.values()])
    predictions = taking_turns([partial(each.predict, X_test) for each in rivals.values()])
    table = Table("SVC(C=10) on the same split")
    for name in rivals:
        table.add_column(name, justify="right")
    table.add_row("test accuracy", *(f"{m.score(X_test, y_test):.2%}" for m in rivals.values()))
    table.add_row("support vectors", *(f"{len(m.support_)}" for m in rivals.values()))
    table.add_row("fit, median of 5", *(f"{1e3 * t:.1f} ms" for t in fits))
    table.add_row("predict, median of 5", *(f"{1e3 * t:.1f} ms" for t in predictions))
    console.print(table)
    return dict(zip((f"fit, {name}" for name in rivals), fits, strict=True))


def _draw_moons(output: Path) -> None:
    """Train on two moons and write the picture of the machine."""
    from sklearn.datasets import make_moons

    from maxmargin.machines.svc import SVC
    from maxmargin.plots import MarginDisplay

    X, y = make_moons(120, noise=0.2, random_state=0)
    display = MarginDisplay.from_estimator(SVC(gamma=1).fit(X, y), X, y)
    display.figure_.savefig(output, dpi=200)


def taking_turns(contestants: list[Callable[[], object]]) -> list[float]:
    """Median seconds of each over five rounds; taking turns, so that noise falls on all alike."""
    rounds = [[timeit(work, number=1) for work in contestants] for _ in range(5)]
    return [median(times) for times in zip(*rounds, strict=True)]
