"""Memory of a fit against its budget, for guarantees.md: `python -m benchmarks.memory`.

Each fit runs in a process of its own: what the process takes with the data loaded and everything
compiled is subtracted from the most it takes in the fit, and from what is left after `del`. The
model, its support vectors, is a part of the peak that no budget bounds.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import maxmargin

ROWS, COLUMNS, BUDGET, SECONDS = 20_000, 300, 200, 8.0  # budget in MB
MACHINES = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC")
FORMS = ("float64", "float32", "sparse")


def resident() -> float:
    """MB that this process takes now."""
    words = Path("/proc/self/statm").read_text().split()
    return int(words[1]) * resource.getpagesize() / 2**20


def data(form: str, rows: int) -> tuple[np.ndarray | sp.csr_array, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, COLUMNS))
    y = X[:, 0] + rng.standard_normal(rows) > 0
    if form == "sparse":
        return sp.csr_array(np.where(rng.random(X.shape) < 0.1, X, 0.0)), y
    return X.astype(form), y


def measure(name: str, form: str) -> None:
    """Fit once small, to compile, and once large; print MB: peak, model, after `del`, released."""
    warnings.simplefilter("ignore")
    machine = getattr(maxmargin, name)(max_time=SECONDS)
    if name != "LinearSVC":
        machine.set_params(cache_size=BUDGET)
    machine.fit(*data(form, 3000))
    maxmargin.release_memory()
    X, y = data(form, ROWS)
    before = resident()
    machine.fit(X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    vectors = getattr(machine, "support_vectors_", machine)
    model = getattr(getattr(vectors, "data", vectors), "nbytes", 0) / 2**20
    del machine, vectors
    after = resident()
    maxmargin.release_memory()
    print(json.dumps([peak - before, model, after - before, resident() - before]))


def main() -> None:
    """A table of all machines and forms."""
    print(f"{ROWS:,} × {COLUMNS}, cache_size={BUDGET}, at most {SECONDS:g} s of each fit; MB\n")
    print("| machine | rows | peak | of it the model | after `del` | after `release_memory()` |")
    print("|---|---|---:|---:|---:|---:|")
    for name in MACHINES:
        for form in FORMS:
            command = [sys.executable, "-m", "benchmarks.memory", name, form]
            answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            cells = " | ".join(f"{value:.0f}" for value in json.loads(answer))
            print(f"| {name} | {form} | {cells} |", flush=True)


if __name__ == "__main__":
    measure(*sys.argv[1:]) if sys.argv[1:] else main()
