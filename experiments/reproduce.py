"""Run experiments, one or all, and say what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter
from types import ModuleType

import matplotlib
from rich.console import Console
from rich.table import Table

from experiments.report import sections, write_report

NAMES = (
    "exact_kernel",
    "fourier_features",
    "womens_clothing",
    "primal_dual",
    "nearest_neighbours",
    "losses",
    "multiclass",
    "smo_race",
    "kernel_regression",
    "kernel_perceptron",
    "noisy_sine",
    "margins",
    "leave_one_out",
    "steps",
)


def reproduce(names: Sequence[str], folder: Path, console: Console) -> None:
    """Run the experiments named, write into `folder`, print the verdicts.

    One whose data are not there is left out; if that is all of them, nothing is written and the
    program ends with exit code 1.
    """
    matplotlib.use("agg")
    output = folder / "output"
    began, done = perf_counter(), []
    for name in names:
        start = perf_counter()
        module = import_module(f"experiments.{name}")
        try:
            module.run().write(name, title(module), output)
        except FileNotFoundError as missing:
            console.print(f"{name}: left out. {missing}", style="yellow", soft_wrap=True)
            continue
        console.print(f"{name}: {perf_counter() - start:.1f} s", highlight=False)
        done.append(name)
    if not done:
        console.print("Nothing was run, and nothing written.", style="red")
        raise SystemExit(1)
    write_report(folder / "REPORT.md", output, NAMES)
    _print_verdicts(output, done, console)
    took = f"{perf_counter() - began:.0f} s"
    console.print(f"{took}. The report: {folder / 'REPORT.md'}", soft_wrap=True)


def title(module: ModuleType) -> str:
    """The first line of its docstring, without the full stop."""
    return (module.__doc__ or module.__name__).splitlines()[0].rstrip(".")


def _print_verdicts(output: Path, names: Sequence[str], console: Console) -> None:
    table = Table("source", "reported in the document", "reproduced", "verdict")
    for section in sections(output, names).values():
        for finding in section["findings"]:
            table.add_row(*(finding[k] for k in ("source", "reported", "found", "verdict")))
    console.print(table)
