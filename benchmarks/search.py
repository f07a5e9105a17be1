"""The search over C and γ, and leave-one-out, against what people use now.

    python -m benchmarks.search                                  # everything, over an hour
    python -m benchmarks.search --resume                         # what search.csv does not have yet
    python -m benchmarks.search --cases covtype-1000 breast      # some of the cases
    python -m benchmarks.search --methods "maxmargin tune"       # some of the methods
    python -m benchmarks.search --busy                           # beside other work

Every run is a process of its own, begins with smaller ones of the same data that are not timed, so
that compiled code is there (a first use takes 10 to 50 ms to load it from disk), and adds a line
to search.csv as soon as it is done; SEARCH.md and search.png are made of all that is there. The
grid is 10 × 10 with five folds: C from 10⁻² to 10⁴, γ two decades on either side of the inverse
median squared distance, the same cells and folds for everybody, on two jobs. `GridSearchCV` gives
its machines one thread each. With `--busy` a run counts as long as its CPU time on two cores, the
least that its two jobs can take: for methods that take half an hour on a machine that is not free
for so long. Ours is never measured so.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import psutil
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict
from sklearn.preprocessing import StandardScaler

from benchmarks.datasets import load
from benchmarks.worker import forget_peak, peak
from maxmargin import tune
from maxmargin.gram.matrix import HELD_ROWS
from maxmargin.selection.matrices import EXACT_ROWS
from maxmargin.solvers.qp.block_smo import FEW

TUNE, GRID, OWN = "maxmargin tune", "intelex GridSearchCV", "maxmargin GridSearchCV"
OURS, THEIRS = "maxmargin leave_one_out", "scikit-learn LeaveOneOut"
COLUMNS = ("case", "method", "seconds", "score", "params", "over data MB", "load", "note")


@dataclass(frozen=True)
class Case:
    """Rows of a data set; `params` of the machine that rows are left out of."""

    data: str
    n: int | None
    regression: bool = False
    params: tuple[tuple[str, float], ...] = ()
    cache_size: float | None = None

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        if self.data == "breast_cancer":
            X, y = load_breast_cancer(return_X_y=True)
            return StandardScaler().fit_transform(X), y
        parts = load(self.data, self.n)
        return parts.X, parts.y


SEARCHES = {
    "covtype-1000": Case("covtype", 1_000),
    "covtype-5000": Case("covtype", 5_000),
    "pendigits": Case("pendigits", None),
    "california-4000": Case("california_scaled", 4_000, regression=True),
}
BUDGETS = {f"covtype-5000, {mb} MB": Case("covtype", 5_000, cache_size=mb) for mb in (64, 256, 512)}
LEFT_OUT = {
    "leave-one-out covtype-1000": Case("covtype", 1_000, params=(("C", 10.0), ("gamma", 8.0))),
    "leave-one-out breast cancer": Case(
        "breast_cancer", None, params=(("C", 1.0), ("gamma", 1 / 30))
    ),
    "leave-one-out california-500": Case(
        "california_housing", 500, regression=True, params=(("C", 1.0), ("gamma", 1 / 8))
    ),
}
RUNS = (
    [(case, method) for case in SEARCHES for method in (TUNE, GRID, OWN)]
    + [(case, TUNE) for case in BUDGETS]
    + [(case, method) for case in LEFT_OUT for method in (OURS, THEIRS)]
)
CASES = SEARCHES | BUDGETS | LEFT_OUT


def machine_of(case: Case, method: str, **options: object):
    """The machine that a method tunes or leaves rows out of."""
    if method.startswith("maxmargin"):
        from maxmargin import SVC, SVR
    elif method.startswith("intelex"):
        from sklearnex.svm import SVC, SVR
    else:
        from sklearn.svm import SVC, SVR
    return (SVR if case.regression else SVC)(**options, **dict(case.params))


def work(case: Case, method: str, X, y):
    """Score, parameters and whatever else a method finds."""
    if method == TUNE:
        found = tune(machine_of(case, method, cache_size=case.cache_size), X, y, n_jobs=2)
        return found.best_score_, found.best_params_, None
    if method in (GRID, OWN):
        from maxmargin.kernels import RBF
        from maxmargin.selection.grid import DECADES, gamma_range

        grid = {"C": np.logspace(*DECADES, 10), "gamma": gamma_range(RBF(1.0), X, 10)}
        options = {"n_jobs": 1} if method == OWN else {}
        found = GridSearchCV(machine_of(case, method, **options), grid, cv=5, n_jobs=2).fit(X, y)
        return found.best_score_, found.best_params_, None
    if method == OURS:
        from maxmargin import leave_one_out

        predicted = leave_one_out(machine_of(case, method), X, y, n_jobs=2).predictions
    else:
        predicted = cross_val_predict(machine_of(case, method), X, y, cv=LeaveOneOut(), n_jobs=2)
    error = np.mean((predicted - y) ** 2) if case.regression else np.mean(predicted != y)
    return float(error), dict(case.params), predicted


def cpu_seconds() -> float:
    """Of this process and of its workers, which stay until it ends."""
    this = psutil.Process()
    times = [each.cpu_times() for each in (this, *this.children(recursive=True))]
    return sum(each.user + each.system for each in times)


def measure(name: str, method: str, keep: Path, busy: bool) -> dict[str, object]:
    """One run, in this process."""
    case = CASES[name]
    X, y = case.rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work(case, method, X[:120], y[:120])
        for n in (FEW + 44, HELD_ROWS + 52, EXACT_ROWS + 52):  # loads what larger matrices take
            if method == TUNE and len(X) > n:
                tune(machine_of(case, method), X[:n], y[:n], Cs=[1, 1e4], gammas=1, cv=2)
            elif method == OURS and len(X) > n:
                work(case, method, X[:n], y[:n])
        before, start, used = forget_peak(), perf_counter(), cpu_seconds()
        score, params, predicted = work(case, method, X, y)
        seconds = (cpu_seconds() - used) / 2 if busy else perf_counter() - start
    if predicted is not None:
        np.save(keep / f"{name}-{method}.npy", predicted)
    shown = ", ".join(f"{k}={v:.4g}" for k, v in params.items())
    known = f"{peak() - before:.0f}" if method in (TUNE, OURS) else ""
    return {"seconds": seconds, "score": score, "params": shown, "over data MB": known}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=[*CASES])
    parser.add_argument("--methods", nargs="+", default=[TUNE, GRID, OWN, OURS, THEIRS])
    parser.add_argument("--resume", action="store_true", help="leave out what was measured already")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--busy", action="store_true", help="count CPU time on two cores")
    parser.add_argument("--one", action="store_true", help="run the one case and method here")
    options = parser.parse_args(arguments)
    keep = Path("build/benchmarks")
    keep.mkdir(parents=True, exist_ok=True)
    if options.one:
        print(json.dumps(measure(options.cases[0], options.methods[0], keep, options.busy)))
        return
    known = {(line["case"], line["method"]) for line in read(options.out) if options.resume}
    for case, method in RUNS:
        if case not in options.cases or method not in options.methods or (case, method) in known:
            continue
        command = [sys.executable, "-m", "benchmarks.search", "--one"]
        command += ["--cases", case, "--methods", method, *["--busy"] * options.busy]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        line = {"case": case, "method": method, "load": f"{os.getloadavg()[0]:.1f}"}
        note = "CPU seconds / 2, beside other work" if options.busy else ""
        line |= json.loads(done.stdout.splitlines()[-1]) | {"note": note}
        record(line, options.out)
        print(line, flush=True)
    from benchmarks.search_report import write

    write(read(options.out), options.out)


def read(folder: Path) -> list[dict[str, str]]:
    """What was measured so far."""
    path = folder / "search.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def record(line: dict[str, object], folder: Path) -> None:
    """Put a line in the table, in place of an earlier one of its case and method."""
    lines = [
        each
        for each in read(folder)
        if (each["case"], each["method"]) != (line["case"], line["method"])
    ]
    lines.append({name: str(line.get(name, "")) for name in COLUMNS})
    order = [*RUNS]
    lines.sort(key=lambda each: order.index((each["case"], each["method"])))
    with (folder / "search.csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        rows.writeheader()
        rows.writerows(lines)


if __name__ == "__main__":
    main()
