"""Kernels as features against scikit-learn's, and against the exact machine.

    python -m benchmarks.features                     # quick: some thousand rows of each set
    python -m benchmarks.features --full              # all rows: an hour on two cores
    python -m benchmarks.features --only covtype --components 500
    python -m benchmarks.features --figure            # accuracy against time, D = 100 … 4,000
    python -m benchmarks.features --full --only million --passes 1     # the peak of memory, soon

Every run is a process of its own (so that its peak of memory is its own), begins with a small fit
that is not timed, and the competitors of one line of the table run one after the other. "over
data" is the peak of memory during the fit minus what the process held before it, data included.
Both Nyströms have the same landmarks: the same seed draws the same rows.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

METHODS = ("maxmargin-nystroem", "maxmargin-rff", "sklearn-nystroem", "maxmargin-exact")
# name: (quick rows, all rows, C, γ)
CASES = {
    "cover": (30_000, 266_048, 10.0, 0.1),
    "covtype": (20_000, 82_962, 10.0, 5.0),
    "million": (30_000, 1_000_000, 1.0, 0.02),
    "mnist": (6_000, 60_000, 10.0, 0.02),
}
EXACT_ROWS = 100_000  # beyond this the exact machine is not run
WARM_UP = 2_000  # rows of the fit that is not timed


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


def machine(method: str, C: float, gamma: float, components: int, budget: float | None):
    if method == "sklearn-nystroem":
        from sklearn.kernel_approximation import Nystroem
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import LinearSVC

        features = Nystroem(gamma=gamma, n_components=components, random_state=0)
        return make_pipeline(features, LinearSVC(C=C))
    from maxmargin import SVC

    kind = method.removeprefix("maxmargin-")
    given = {} if kind == "exact" else {"approximation": kind, "n_components": components}
    passes = int(os.environ.get("MAXMARGIN_PASSES", -1)) if given else -1
    return SVC(C=C, gamma=gamma, cache_size=budget, max_iter=passes, random_state=0, **given)


def peak() -> float:
    """Most memory this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_here(case: str, method: str, rows: int, components: int, budget: float | None) -> dict:
    """One run: fit, score, measure."""
    _, _, C, gamma = CASES[case]
    X, y, Xt, yt = load(case, rows)
    few = min(WARM_UP, len(X))
    machine(method, C, gamma, min(components, few // 2), budget).fit(X[:few], y[:few])
    before, began = peak(), perf_counter()
    model = machine(method, C, gamma, components, budget).fit(X, y)
    seconds = perf_counter() - began
    result = {"seconds": seconds, "over data MB": peak() - before, "peak MB": peak()}
    began = perf_counter()
    decided = model.decision_function(Xt)
    result["predict s"] = perf_counter() - began
    result["accuracy"] = float(np.mean(model.predict(Xt) == yt))
    if len(np.unique(y)) == 2:
        from sklearn.metrics import roc_auc_score

        result["AUC"] = float(roc_auc_score(yt, decided))
    if method == "sklearn-nystroem":
        from maxmargin.features.base import kernel_error
        from maxmargin.kernels import RBF

        result["kernel error"] = kernel_error(RBF(gamma), Xt[:500], model[0].transform(Xt[:500]))
    else:
        proof = model.certificate_
        result["kernel error"] = getattr(proof, "kernel_error", 0.0)
        result["relative gap"] = proof.relative_gap
        result["passes"] = int(np.max(model.n_iter_)) if method != "maxmargin-exact" else None
    return result


def run(case: str, method: str, rows: int, components: int, budget: float | None, limit: float):
    """The same in a process of its own."""
    job = json.dumps([case, method, rows, components, budget])
    command = [sys.executable, "-m", "benchmarks.features", "--job", job]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"note": f"not done in {limit:.0f} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return {"note": f"failed ({done.returncode}): {last[:80]}"}
    return json.loads(done.stdout.splitlines()[-1])


COLUMNS = ("seconds", "accuracy", "AUC", "kernel error", "relative gap", "passes", "over data MB")


def show(case: str, method: str, rows: int, components: int, budget: float | None, result: dict):
    """One line of the table."""
    values = [_cell(result.get(name)) for name in COLUMNS]
    name = method if budget is None else f"{method}, {budget:.0f} MB"
    cells = [case, f"{rows:,}", name, f"{components:,}", *values, result.get("note", "")]
    print("| " + " | ".join(cells) + " |", flush=True)


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def table(options: argparse.Namespace) -> None:
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| case | rows | machine | D | " + " | ".join(COLUMNS) + " | note |")
    print("|---" * (len(COLUMNS) + 5) + "|")
    for case in options.only or CASES:
        quick, full, *_ = CASES[case]
        rows = options.rows or (full if options.full else quick)
        components = options.components
        for method in options.methods or METHODS:
            if method == "maxmargin-exact" and rows > EXACT_ROWS:
                continue
            streamed = case == "million" and method == "maxmargin-nystroem"
            for budget in options.budgets if streamed else (None,):
                result = run(case, method, rows, components, budget, options.limit)
                show(case, method, rows, components, budget, result)


def figure(options: argparse.Namespace) -> None:
    """Accuracy against training time for D = 100 … 4,000."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    case = (options.only or ["covtype"])[0]
    rows = options.rows or CASES[case][1 if options.full else 0]
    _, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for method in ("maxmargin-nystroem", "maxmargin-rff", "maxmargin-exact"):
        sizes = [0] if method == "maxmargin-exact" else [100, 200, 500, 1000, 2000, 4000]
        points = []
        for components in sizes:
            result = run(case, method, rows, components, None, options.limit)
            show(case, method, rows, components, None, result)
            if "accuracy" in result:
                points.append((result["seconds"], result["accuracy"], components))
        if points:
            seconds, accuracy, sizes = zip(*points, strict=True)
            axes.plot(seconds, accuracy, "o-", label=method)
            for x, y, size in points:
                if size:
                    axes.annotate(f"{size:,}", (x, y), fontsize=7, va="bottom")
    axes.set(xscale="log", xlabel="seconds to train", ylabel="accuracy on held-out rows")
    axes.set_title(f"{case}, {rows:,} rows; the numbers are D")
    axes.legend()
    plt.savefig(options.out, dpi=150)
    print(f"written: {options.out}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="all rows")
    parser.add_argument("--figure", action="store_true", help="accuracy against time")
    parser.add_argument("--only", nargs="+", choices=CASES)
    parser.add_argument("--methods", nargs="+", choices=METHODS)
    parser.add_argument("--components", type=int, default=1000)
    parser.add_argument("--rows", type=int)
    parser.add_argument(
        "--budgets", type=float, nargs="+", default=[1024, 6144], help="MB, million"
    )
    parser.add_argument("--passes", type=int, help="most passes over the features")
    parser.add_argument("--limit", type=float, default=1800, help="seconds for one run")
    parser.add_argument("--out", type=Path, default=Path("features.png"))
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.passes is not None:
        os.environ["MAXMARGIN_PASSES"] = str(options.passes)  # the runs' processes inherit it
    if options.job:
        print(json.dumps(run_here(*json.loads(options.job))))
    elif options.figure:
        figure(options)
    else:
        table(options)


if __name__ == "__main__":
    main()
