"""Speed where people feel it: many small classes, one row at a time, the first fit, a path of C.

    python -m benchmarks.felt                       # all kinds; writes FELT.md beside this file
    python -m benchmarks.felt one-row path          # measures these again, keeps the other tables

Libraries take turns in one process, so that all meet the same moods of the machine; medians.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import scale
from sklearn.svm import SVC as THEIRS

from maxmargin import SVC, SVR

OUT = Path(__file__).parent / "FELT.md"
SECONDS = 2.0  # of measuring each function at most
COSTS = np.logspace(-2, 2, 13)
Row = tuple[object, ...]


def in_turns(*functions: Callable[[], object], repeats: int = 9) -> list[float]:
    """The median seconds of each; the first call of each warms up."""
    times: list[list[float]] = [[] for _ in functions]
    for function in functions:
        function()
    began = perf_counter()
    while len(times[0]) < repeats and (
        not times[0] or perf_counter() - began < SECONDS * len(functions)
    ):
        for function, own in zip(functions, times, strict=True):
            start = perf_counter()
            function()
            own.append(perf_counter() - start)
    return [median(own) for own in times]


def twenty_times(function: Callable[[object], object], row: object) -> None:
    for _ in range(20):
        function(row)


def shown(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def many_classes() -> Iterator[Row]:
    """Fit, and predict as many rows (at most 200), of 8 columns; RBF, C = 1."""
    yield "classes × rows", "fit", "scikit-learn", "ratio", "predict", "scikit-learn", "ratio"
    for classes, rows in (
        *((2, 10), (3, 10), (5, 10), (10, 10), (10, 100), (40, 10), (100, 5), (100, 50)),
        *((200, 5), (500, 5), (1000, 2), (1000, 5)),
    ):
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(classes), rows)
        centres = rng.normal(size=(classes, 8))
        X, new = (centres[y] + 0.5 * rng.normal(size=(len(y), 8)) for _ in range(2))
        new = rng.permutation(new)[:200]
        repeats = 9 if classes < 500 else 1
        fits = in_turns(
            *(partial(lambda kind, X, y: kind().fit(X, y), kind, X, y) for kind in (SVC, THEIRS)),
            repeats=repeats,
        )
        ours, theirs = SVC().fit(X, y), THEIRS().fit(X, y)
        some = in_turns(partial(ours.predict, new), partial(theirs.predict, new), repeats=repeats)
        cells = [(shown(a), shown(b), f"{b / a:.1f} ×") for a, b in (fits, some)]
        yield f"{classes:,} × {rows}", *cells[0], *cells[1]


def one_row() -> Iterator[Row]:
    """`predict` of one row, columns scaled."""
    yield "data", "kernel", "maxmargin", "scikit-learn", "ratio"
    for load in (load_breast_cancer, load_iris, load_digits):
        X, y = load(return_X_y=True)
        X = scale(X)
        for kernel in ("rbf", "linear", "poly"):
            ours, theirs = (kind(kernel=kernel).fit(X, y) for kind in (SVC, THEIRS))
            row = X[:1].copy()
            a, b = in_turns(
                *(partial(twenty_times, model.predict, row) for model in (ours, theirs)),
                repeats=40,
            )
            name = load.__name__.removeprefix("load_").replace("_", " ")
            yield name, kernel, shown(a / 20), shown(b / 20), f"{b / a:.1f} ×"


def small() -> Iterator[Row]:
    """Fit of `narrow`, 40 columns, float64, γ = 1/40."""
    from sklearnex.svm import SVC as INTELEX

    from benchmarks.datasets import load

    libraries = {"maxmargin": SVC, "intelex": INTELEX, "scikit-learn": THEIRS}
    yield "rows", "C", *libraries, "intelex ÷ ours", "scikit-learn ÷ ours"
    for n in (500, 1_000, 1_500, 2_000, 2_500):
        data = load("narrow", n)
        for C in (1, 100):
            machines = [kind(C=C, gamma=1 / 40) for kind in libraries.values()]
            seconds = in_turns(*(partial(each.fit, data.X, data.y) for each in machines))
            ratios = [f"{each / seconds[0]:.1f} ×" for each in seconds[1:]]
            yield f"{n:,}", C, *map(shown, seconds), *ratios


FIRST = """
import sys, time, numpy as np, scipy.sparse as sp, maxmargin as mm
from sklearn.datasets import load_digits
rng = np.random.default_rng(0)
B = rng.normal(size=(1500, 10)); r = B[:, 0] * B[:, 1]; y = (r > 0).astype(int)
D, digit = load_digits(return_X_y=True); D = D / 16
S = sp.random_array((1000, 500), density=0.05, format="csr", rng=rng)
T = sp.random_array((1000, 6000), density=0.01, format="csr", rng=rng)
of_rows = lambda A: (np.asarray(A.sum(axis=1)).ravel() > A.sum() / A.shape[0]).astype(int)
machine, X, target = {
    "SVC, digits": lambda: (mm.SVC(), D, digit),
    "SVC, two classes": lambda: (mm.SVC(), B, y),
    "SVC, 200 rows": lambda: (mm.SVC(), B[:200], y[:200]),
    "SVC, poly": lambda: (mm.SVC(kernel="poly"), B, y),
    "SVC, linear": lambda: (mm.SVC(kernel="linear"), B, y),
    "SVC, sparse": lambda: (mm.SVC(), S, of_rows(S)),
    "SVC, text": lambda: (mm.SVC(), T, of_rows(T)),
    "SVC, nystroem": lambda: (mm.SVC(approximation="nystroem", n_components=100), B, y),
    "SVR": lambda: (mm.SVR(), B, r),
    "NuSVC": lambda: (mm.NuSVC(), B, y),
    "OneClassSVM": lambda: (mm.OneClassSVM(), B, None),
    "LinearSVC": lambda: (mm.LinearSVC(), B, y),
    "LinearSVR": lambda: (mm.LinearSVR(), B, r),
}[sys.argv[1]]()
for call in "first", "second":
    start = time.perf_counter()
    machine.fit(X, target) if target is not None else machine.fit(X)
    machine.predict(X[:100])
    print(time.perf_counter() - start)
"""


def cold() -> Iterator[Row]:
    """First and second fit and predict in a new process, after the import."""
    yield "machine", "first", "second"
    for name in re.findall(r'^    "(.*)": lambda', FIRST, re.MULTILINE):
        command = [sys.executable, "-W", "ignore", "-c", FIRST, name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        yield name, *(f"{float(each):.3f} s" for each in done.stdout.split())


def path() -> Iterator[Row]:
    """13 values of C from 0.01 to 100, one after the other, with `warm_start` and without."""
    yield "machine, data", "cold", "warm", "ratio", "steps cold", "steps warm"
    from benchmarks.datasets import load

    cases = {
        "SVC, narrow 2,000": (SVC, load("narrow", 2_000), 1 / 40),
        "SVC, narrow 10,000": (SVC, load("narrow", 10_000), 1 / 40),
        "SVR, friedman 2,000": (SVR, load("friedman", 2_000), 1 / 10),
    }
    for name, (kind, data, gamma) in cases.items():
        steps: dict[bool, int] = {}

        def walk(warm: bool, kind=kind, data=data, gamma=gamma, steps=steps) -> None:
            machine, steps[warm] = kind(gamma=gamma, warm_start=warm), 0
            for C in COSTS:
                machine.set_params(C=C).fit(data.X, data.y)
                steps[warm] += machine.certificate_.n_iter

        a, b = in_turns(lambda: walk(False), lambda: walk(True), repeats=3)
        yield name, shown(a), shown(b), f"{a / b:.2f} ×", f"{steps[False]:,}", f"{steps[True]:,}"


KINDS: dict[str, Callable[[], Iterator[Row]]] = {
    "many-classes": many_classes,
    "one-row": one_row,
    "small": small,
    "cold": cold,
    "path": path,
}


def section(kind: str) -> str:
    head, *rows = KINDS[kind]()
    lines = [head, ["---"] * len(head), *rows]
    table = "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
    libraries = ("maxmargin", "scikit-learn", "scikit-learn-intelex", "numpy")
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    load = f"load {os.getloadavg()[0]:.0f}"
    where = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    return f"## {kind}\n\n{KINDS[kind].__doc__}\n\n{table}\n\n{versions}; {where}, {load}.\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    wanted = parser.parse_args(arguments).kinds or list(KINDS)
    if unknown := [kind for kind in wanted if kind not in KINDS]:
        parser.error(f"no kind {', '.join(unknown)}; there are {', '.join(KINDS)}")
    warnings.simplefilter("ignore")
    text = OUT.read_text() if OUT.exists() else ""
    known = dict(re.findall(r"^(?=## ([\w-]+)\n)(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    for kind in wanted:
        known[kind] = section(kind)
        print(known[kind], flush=True)
        parts = [known[kind].strip() for kind in KINDS if kind in known]
        head = "# Speed where people feel it\n\nWritten by `python -m benchmarks.felt`."
        OUT.write_text("\n\n".join([head, *parts]) + "\n")


if __name__ == "__main__":
    main()
