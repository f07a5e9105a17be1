"""Kernels as features against scikit-learn's, and against the exact machine.

    python -m benchmarks.features                          # everything, about 15 minutes
    python -m benchmarks.features --only speed memory      # some of the tables
    python -m benchmarks.features --rows 5000 --out /tmp   # a rehearsal

Writes FEATURES.md, features.csv and features.png into the folder of this file (or `--out`).

Every run is a process of its own (so that its peak of memory is its own), begins with a small fit
that is not timed, and the competitors of one table run one after the other. "over data" is the
peak of memory during the fit minus what the process held before it, the data included.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks import feature_report

# name: (all rows to train on, C, γ)
CASES = {
    "cover": (266_048, 100.0, 0.1),
    "covtype": (82_962, 10.0, 5.0),
    "million": (1_000_000, 1.0, 0.02),
    "mnist": (60_000, 10.0, 0.02),
}
WARM_UP = 2_000  # rows of the fit that is not timed
SIZES = (100, 200, 500, 1000, 2000, 4000)


@dataclass(frozen=True)
class Run:
    """One line of a table."""

    table: str
    case: str
    method: str
    components: int = 0
    rows: int = 0  # all
    budget: float | None = None  # MB
    seed: int = 0


def plan() -> list[Run]:
    """All runs, in order."""
    ours, theirs, exact = "maxmargin nystroem", "scikit-learn nystroem", "maxmargin exact"
    # Which rows are landmarks moves the accuracy by some thousandths: several seeds.
    speed = [("cover", 1000, 3), ("covtype", 300, 3), ("million", 300, 1)]
    runs = [
        Run("speed", case, method, components, seed=seed)
        for case, components, seeds in speed
        for seed in range(seeds)
        for method in (ours, theirs)
    ]
    runs += [Run("speed", case, "maxmargin rff", components) for case, components, _ in speed]
    runs += [Run("speed", case, exact) for case in ("cover", "covtype")]
    runs += [Run("memory", "million", ours, 1000, budget=budget) for budget in (1024, 6144)]
    runs += [Run("memory", "million", "maxmargin rff", 1000, budget=1024)]
    runs += [Run("mnist", "mnist", ours, size) for size in (2000,)]
    runs += [Run("mnist", "mnist", exact)]
    for case, rows in (("cover", 50_000), ("covtype", 40_000), ("mnist", 12_000)):
        runs += [Run("refine", case, exact, rows=rows)]
        runs += [Run("refine", case, "maxmargin refined", 200, rows=rows)]
    curve = [Run("figure", "covtype", m, D, 20_000) for m in (ours, "maxmargin rff") for D in SIZES]
    return [*runs, *curve, Run("figure", "covtype", exact, rows=20_000)]


def load(name: str, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X, y and the held-out rows of a case."""
    random = np.random.default_rng(0)
    if name == "million":
        X = random.normal(size=(rows + 10_000, 50))
        hidden = np.tanh(X @ random.normal(size=(50, 20)) / 5) @ random.normal(size=20)
        y = (hidden + random.normal(0, 0.2, len(X)) > 0).astype(int)
        return X[:rows], y[:rows], X[rows:], y[rows:]
    folder = Path(os.environ["MAXMARGIN_DATA"])
    if name == "mnist":
        archive = np.load(folder / "mnist.npz")
        few = random.permutation(len(archive["X"]))[:rows]
        X, Xt = archive["X"][few] / np.float32(255), archive["Xt"] / np.float32(255)
        return X, archive["y"][few], Xt, archive["yt"]
    archive = np.load(folder / {"cover": "cover_adbench.npz", "covtype": "covtype_93k.npz"}[name])
    X, y = archive["X"].astype(np.float64), archive["y"].astype(int)
    if name == "cover":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    else:
        y = (y == 2).astype(int)
    order = random.permutation(len(X))
    X, y = X[order], y[order]
    return X[:rows], y[:rows], X[rows:][:20_000], y[rows:][:20_000]


def machine(run: Run, components: int):
    """The competitor, not yet fitted."""
    _, C, gamma = CASES[run.case]
    if run.method == "scikit-learn nystroem":
        from sklearn.kernel_approximation import Nystroem
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import LinearSVC

        features = Nystroem(gamma=gamma, n_components=components, random_state=run.seed)
        return make_pipeline(features, LinearSVC(C=C))
    from maxmargin import SVC

    given = {
        "exact": {},
        "refined": {"approximation": "nystroem", "refine": True},
        "rff": {"approximation": "rff"},
        "nystroem": {"approximation": "nystroem"},
    }[run.method.split()[1]]
    if given:
        given["n_components"] = components
    return SVC(C=C, gamma=gamma, cache_size=run.budget, random_state=run.seed, **given)


def peak() -> float:
    """Most memory this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_here(run: Run) -> dict:
    """One run: fit, score, measure."""
    X, y, Xt, yt = load(run.case, run.rows)
    few = min(WARM_UP, len(X))
    machine(run, min(run.components, few // 2)).fit(X[:few], y[:few])
    before, began = peak(), perf_counter()
    model = machine(run, run.components).fit(X, y)
    result = {"seconds": perf_counter() - began, "over data MB": peak() - before}
    result |= {"data MB": X.nbytes / 2**20, "peak MB": peak()}
    began = perf_counter()
    result["accuracy"] = float(np.mean(model.predict(Xt) == yt))
    result["predict s"] = perf_counter() - began
    if run.method.startswith("scikit-learn"):
        from maxmargin.features.kernel_features import kernel_error
        from maxmargin.kernels import RBF

        kernel = RBF(CASES[run.case][2])
        result["kernel error"] = kernel_error(kernel, Xt[:500], model[0].transform(Xt[:500]))
    else:
        proof = model.certificate_
        result["kernel error"] = getattr(proof, "kernel_error", 0.0)
        result["relative gap"] = proof.relative_gap
        result["status"] = proof.status.value
        result["steps"] = int(np.max(model.n_iter_))
    return result


def run_apart(run: Run, limit: float) -> dict:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.features", "--job", json.dumps(asdict(run))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"note": f"not done in {limit:.0f} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return {"note": f"failed ({done.returncode}): {last[:80]}"}
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tables = list(dict.fromkeys(run.table for run in plan()))
    parser.add_argument("--only", nargs="+", choices=tables, default=tables)
    parser.add_argument("--rows", type=int, help="most rows of a run, for a rehearsal")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(run_here(Run(**json.loads(options.job)))))
        return
    results = []
    for run in plan():
        if run.table in options.only:
            rows = min(run.rows or CASES[run.case][0], options.rows or sys.maxsize)
            run = replace(run, rows=rows)
            results.append(asdict(run) | run_apart(run, options.limit))
            print(feature_report.line(results[-1]), flush=True)
    feature_report.write(results, options.out)


if __name__ == "__main__":
    main()
