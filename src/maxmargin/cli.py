"""The ``maxmargin`` command: what the library does, seen without writing a program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from maxmargin import __version__

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="rich")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"maxmargin {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Kernel machines: exact, certified, fast, and readable."""


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="Where to write the picture.")] = Path("margins.png"),
) -> None:
    """Train on handwritten digits, prove it, time it, and draw a machine."""
    console = Console()
    _digits(console)
    try:
        _draw_moons(output)
    except (ImportError, OSError, ValueError) as error:
        raise _refusal(console, f"No picture: {error}") from error
    console.print(f"\nA machine on two moons, its margins and support vectors: {output}")


@app.command("reproduce")
def reproduce_documents(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments to run; all by default.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Where to write REPORT.md and output/, if elsewhere.")
    ] = None,
) -> None:
    """Make the documents' figures and numbers again, and judge them."""
    console = Console()
    checkout = _checkout("experiments", console)
    try:
        if not (find_spec("matplotlib") and find_spec("pandas")):
            raise ImportError(
                "maxmargin reproduce needs matplotlib and pandas. Install them with: "
                "pip install 'maxmargin[experiments]'"
            )
        from experiments.reproduce import NAMES, reproduce

        unknown = [name for name in names or [] if name not in NAMES]
        if unknown:
            raise ValueError(f"No experiment {', '.join(unknown)}. There are {', '.join(NAMES)}.")
    except (ImportError, ValueError) as error:
        raise _refusal(console, str(error)) from error
    reproduce(names or NAMES, output or checkout / "experiments", console)


@app.command()
def bench(
    full: Annotated[
        bool, typer.Option("--full", help="Everything, over an hour; else two or three minutes.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="A kind of work, such as train; several if repeated.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Where to write OUTPUT.md, .csv and .png, if elsewhere.")
    ] = None,
) -> None:
    """Time every library that is installed on the same work, and judge the answers."""
    console = Console()
    _checkout("benchmarks", console)
    if not find_spec("matplotlib"):
        raise _refusal(
            console,
            "maxmargin bench needs matplotlib, and the libraries to compare with. Install them "
            "with: pip install 'maxmargin[bench]'",
        )
    from benchmarks.__main__ import main as measure

    kinds = ["--only", *only] if only else []
    out = ["--out", str(output)] if output else []
    measure(["--mode", "full" if full else "quick", *kinds, *out])


def _checkout(folder: str, console: Console) -> Path:
    """The clone this command runs in, or was installed from; its folders can be imported."""
    here = Path.cwd()
    for place in (here, *here.parents, *Path(__file__).resolve().parents):
        if (place / "src" / "maxmargin").is_dir() and (place / folder).is_dir():
            if str(place) not in sys.path:
                sys.path.insert(0, str(place))
            return place
    raise _refusal(
        console,
        f"The {folder} are not part of the installed package: run this inside a clone of "
        f"the repository, where the folder {folder}/ is.",
    )


def _refusal(console: Console, message: str) -> typer.Exit:
    """Say why not; what to raise then."""
    console.print(message, style="red", markup=False, soft_wrap=True)
    return typer.Exit(1)


def _digits(console: Console) -> None:
    """Train on one part of the digits, test on the other, next to scikit-learn."""
    from sklearn import svm
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    from maxmargin.machines.svc import SVC

    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    console.print(
        f"Digits: {len(y_train)} images to train on, {len(y_test)} to test on, 10 classes."
    )

    warm_up = _seconds(lambda: SVC(C=10).fit(X_train[:100], y_train[:100]).predict(X_test[:100]))
    console.print(f"Compiler warmed up in {warm_up:.1f} s, left out of the times below.")

    machine = SVC(C=10, verbose=1).fit(X_train, y_train)
    console.print(f"\n{machine.certificate_}\n", highlight=False)

    rivals = {"maxmargin": SVC(C=10), "scikit-learn": svm.SVC(C=10)}
    fit_times = _race([partial(m.fit, X_train, y_train) for m in rivals.values()])
    predict_times = _race([partial(m.predict, X_test) for m in rivals.values()])

    table = Table("SVC(C=10) on the same split")
    for name in rivals:
        table.add_column(name, justify="right")
    table.add_row("test accuracy", *(f"{m.score(X_test, y_test):.2%}" for m in rivals.values()))
    table.add_row("support vectors", *(f"{len(m.support_)}" for m in rivals.values()))
    table.add_row("fit, median of 5", *(f"{1e3 * t:.1f} ms" for t in fit_times))
    table.add_row("predict, median of 5", *(f"{1e3 * t:.1f} ms" for t in predict_times))
    console.print(table)


def _draw_moons(output: Path) -> None:
    """Train on two moons and write the picture of the machine."""
    from sklearn.datasets import make_moons

    from maxmargin.machines.svc import SVC
    from maxmargin.plots import MarginDisplay

    X, y = make_moons(120, noise=0.2, random_state=0)
    display = MarginDisplay.from_estimator(SVC(gamma=1).fit(X, y), X, y)
    display.figure_.savefig(output, dpi=200)


def _seconds(work: Callable[[], Any]) -> float:
    begin = perf_counter()
    work()
    return perf_counter() - begin


def _race(contestants: list[Callable[[], Any]]) -> list[float]:
    """Median seconds of each over five rounds; taking turns, so that noise falls on all alike."""
    rounds = [[_seconds(work) for work in contestants] for _ in range(5)]
    return [median(times) for times in zip(*rounds, strict=True)]
