"""`maxmargin warm-up`: compile once, so that the first fit of a user does not wait for it.

For container images and classrooms: compiled code is kept on disk (NUMBA_CACHE_DIR says where).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from maxmargin.cli import options as o
from maxmargin.cli.application import app, examples
from maxmargin.cli.report import print_facts, print_json, seconds_words, size_words
from maxmargin.hardware.arrays import Data, Floats


@app.command(
    "warm-up",
    epilog=examples("maxmargin warm-up", "NUMBA_CACHE_DIR=/opt/cache maxmargin warm-up"),
)
def warm_up(as_json: o.Json = False) -> None:
    """Compile every common path once, and say where the compiled code lies."""
    began = perf_counter()
    work = list(paths())
    shown = Console(stderr=True)
    with Progress(console=shown, disable=not sys.stderr.isatty(), transient=True) as progress:
        task = progress.add_task("compiling", total=len(work))
        for name, run in work:
            progress.update(task, description=name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a small problem is too small
                run()
            progress.advance(task)
    took = perf_counter() - began
    folders = cache_folders()
    files = [file for folder in folders for file in folder.glob("*.nb[ic]")]
    size = sum(file.stat().st_size for file in files)
    where = os.path.commonpath(folders) if folders else ""
    if as_json:
        print_json({"seconds": took, "cache": where, "files": len(files), "bytes": size})
        return
    print_facts(
        "warm-up",
        {
            "paths": f"{len(work)} fits and predictions in {seconds_words(took)}",
            "compiled code": f"{where}, in {len(folders)} folders" if len(folders) > 1 else where,
            "size": f"{size_words(size)} in {len(files)} files",
        },
    )


def paths() -> Iterator[tuple[str, Callable[[], object]]]:
    """What users do most: machines, kernels, dense and sparse, small and large."""
    from scipy.sparse import csr_array

    from maxmargin.machines import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

    X, y = problem(120, 4)
    many, signs = problem(1500, 8)  # its matrix is not held whole
    sparse = csr_array(np.where(np.abs(X) > 0.7, X, 0))
    kernels = ("rbf", "linear", "poly", "sigmoid", "laplacian")

    def work(machine: Any, X: Data, y: Floats) -> Callable[[], object]:
        return lambda: machine.fit(X, y).predict(X)

    for kernel in kernels:
        yield f"SVC, {kernel}", work(SVC(kernel=kernel), X, y % 2)
        yield f"SVC, {kernel}, sparse", work(SVC(kernel=kernel), sparse, y % 2)
    yield "SVC, several classes", work(SVC(), X, y)
    yield "SVC, one versus rest", work(SVC(multiclass="ovr"), X, y)
    yield "SVC, probabilities", work(SVC(probability=True), X, y)
    for precision in (np.float64, np.float32):
        rows = many.astype(precision)
        yield f"SVC, 1,500 rows, {precision.__name__}", work(SVC(), rows, signs % 2)
        yield f"SVC, several classes, {precision.__name__}", work(SVC(), rows, signs)
    yield "SVC, linear, 1,500 rows", work(SVC(kernel="linear"), many, signs % 2)
    yield "NuSVC", work(NuSVC(nu=0.1), X, y)
    yield "SVR", work(SVR(), X, X[:, 0])
    yield "SVR, 1,500 rows", work(SVR(), many, many[:, 0])
    yield "NuSVR", work(NuSVR(), X, X[:, 0])
    yield "OneClassSVM", work(OneClassSVM(nu=0.1), X, y)
    yield "LinearSVC", work(LinearSVC(), X, y)
    yield "LinearSVC, sparse", work(LinearSVC(), sparse, y)
    yield "LinearSVR", work(LinearSVR(), X, X[:, 0])
    for features in ("rff", "nystroem"):
        machine = SVC(approximation=features, n_components=50, random_state=0)
        yield f"SVC, {features}", work(machine, many, signs % 2)


def problem(n: int, d: int) -> tuple[Floats, Floats]:
    """Three classes that overlap a little."""
    random = np.random.default_rng(0)
    y = np.arange(n) % 3
    return random.normal(size=(n, d)) + y[:, None], y.astype(np.float64)


def cache_folders() -> list[Path]:
    """The folders in which numba keeps what it compiled of this package."""
    found = {
        Path(value.stats.cache_path)
        for name, module in list(sys.modules.items())
        if name.startswith("maxmargin.")
        for value in vars(module).values()
        if hasattr(value, "py_func") and getattr(value, "stats", None) is not None
        if value.stats.cache_path
    }
    return sorted(folder for folder in found if folder.is_dir())
