"""`maxmargin demo`: the main job on built-in data, by the commands themselves; times; a picture."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import chdir, nullcontext, redirect_stdout
from functools import partial
from pathlib import Path
from statistics import median
from timeit import timeit
from typing import Annotated

import typer
from rich.console import Console

from maxmargin.cli import options as o
from maxmargin.cli.application import app, examples, refusal
from maxmargin.cli.certify import certify
from maxmargin.cli.models import open_model
from maxmargin.cli.predict import evaluate, predict
from maxmargin.cli.report import print_json
from maxmargin.cli.sample import built_in, write_csv
from maxmargin.cli.scores import scores
from maxmargin.cli.train import train
from maxmargin.io.rows import Reading
from maxmargin.resources.arrays import Floats, Labels

Part = tuple[Floats, Labels]
SHOWN, HIDDEN, MODEL, PREDICTIONS = "train.csv", "test.csv", "digits.maxmargin", "predictions.txt"


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
    picture = (output or folder / "margins.png").absolute()
    split = digits()
    with chdir(folder), redirect_stdout(sys.stderr) if as_json else nullcontext():
        _session(console, split)
        opened = open_model(Path(MODEL))
        accuracy = scores(opened.estimator, opened.rows(HIDDEN, Reading()))["accuracy"]
    times = _race(split)
    try:
        _draw_moons(picture)
    except (ImportError, OSError, ValueError) as error:
        raise refusal(f"No picture: {error}") from error
    gap = max(opened.machine.certificate_.relative_gap, 0)
    fit, predict, fit_there, predict_there = (f"{1e3 * t:.1f} ms" for t in times.values())
    console.print(
        f"\n{accuracy:.2%} of {len(split[1][1])} test digits are right; the model is optimal "
        f"but for {gap:.0e}.\n"
        f"Fit {fit}, predict {predict}; scikit-learn {fit_there}, {predict_there}: medians of 5.\n"
        f"In {folder}/: data, model, predictions. A picture: {picture.name}.",
        soft_wrap=True,
        highlight=False,
    )
    if as_json:
        facts = {"model": str(folder / MODEL), "accuracy": accuracy, "picture": str(picture)}
        print_json({**facts, "seconds": times})


def _session(console: Console, split: tuple[Part, Part]) -> None:
    """The commands that a user would type in a folder, and what they print."""
    for path, part in zip((SHOWN, HIDDEN), split, strict=True):
        with Path(path).open("w", newline="") as file:
            write_csv(file, built_in("digits")[0], *part)

    def heading(command: str) -> None:
        console.print(f"\n$ maxmargin {command}", style="bold", highlight=False, soft_wrap=True)

    heading(f"train {SHOWN} --C 10 --no-scale --model {MODEL}")
    train(SHOWN, model=Path(MODEL), C=10.0, scale=False)
    heading(f"evaluate {MODEL} {HIDDEN}")
    evaluate(Path(MODEL), HIDDEN)
    heading(f"certify {MODEL} {SHOWN}")
    certify(Path(MODEL), SHOWN)
    heading(f"predict {MODEL} {HIDDEN} --output {PREDICTIONS}")
    predict(Path(MODEL), HIDDEN, output=Path(PREDICTIONS))
    lines = Path(PREDICTIONS).read_text().split()
    console.print(f"{len(lines)} predictions; the first ten: {' '.join(lines[:10])}")


def digits() -> tuple[Part, Part]:
    """Rows to train on and rows to test on."""
    from sklearn.model_selection import train_test_split

    _, X, y = built_in("digits")
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    return (X_train, y_train), (X_test, y_test)


def _race(split: tuple[Part, Part]) -> dict[str, float]:
    """Median seconds to fit and to predict, ours and scikit-learn's, on the same split."""
    from sklearn import svm

    from maxmargin.machines.svc import SVC

    (X_train, y_train), (X_test, _) = split
    rivals = {"maxmargin": SVC(C=10), "scikit-learn": svm.SVC(C=10)}
    fits = taking_turns([partial(each.fit, X_train, y_train) for each in rivals.values()])
    predictions = taking_turns([partial(each.predict, X_test) for each in rivals.values()])
    return {
        f"{work}, {name}": time
        for name, *both in zip(rivals, fits, predictions, strict=True)
        for work, time in zip(("fit", "predict"), both, strict=True)
    }


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
