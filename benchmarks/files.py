"""Speed and memory of model files: `python -m benchmarks.files` writes FILES.md.

A classifier with 100 MB of support vectors, dense and CSR, is saved and loaded by a process of its
own each, beside pickle. Memory is the peak of the resident set above what it was before,
which for `save` has the model in it already.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

REPEATS = 3
REPORT = Path(__file__).parent / "FILES.md"
MEGABYTE = 1_000_000
HOW = {
    "maxmargin": ("maxmargin.save(model, path)", "maxmargin.load(path)"),
    "pickle": ("pickle.dump(model, open(path, 'wb'), 5)", "pickle.load(open(path, 'rb'))"),
}

# The program of a measuring process: one JSON line of seconds and megabytes.
PROGRAM = """
import json, pickle, sys, time
import numpy as np, scipy.sparse as sp
import maxmargin
from maxmargin.io.assembly import MachineParts, assembled
from maxmargin.kernels import RBF

how, kind, step, path = sys.argv[1:]

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")][0]

def model():
    random = np.random.default_rng(0)
    rows = random.standard_normal((25_000, 500))
    if kind == "CSR":
        stored = np.arange(0, 208 * 40_000 + 1, 208)
        columns = np.tile(np.arange(0, 20_800, 100, dtype=np.int32), 40_000)
        data = random.standard_normal(len(columns))
        rows = sp.csr_array((data, columns, stored), shape=(40_000, 20_800))
    n = rows.shape[0]
    coef = random.standard_normal((1, n))
    counts, none = np.array([n // 2, n - n // 2]), np.empty(0)
    parts = MachineParts(RBF(0.1), n, rows.shape[1], np.arange(n), rows, coef, np.zeros(1), counts,
                  np.array([0, 1]), none, none)
    return assembled(maxmargin.SVC, {"gamma": 0.1}, parts)

model = model() if step == "save" else None
maxmargin.save(maxmargin.LinearSVC().fit([[0.0], [1.0]], [0, 1]), path + ".warm")
maxmargin.load(path + ".warm")
open("/proc/self/clear_refs", "w").write("5")
before, began = peak(), time.perf_counter()
loaded = CALL
seconds = time.perf_counter() - began
print(json.dumps([seconds, (peak() - before) / 1e6]))
"""


def measured(how: str, kind: str, step: str, path: Path) -> tuple[float, float]:
    """Seconds, and megabytes above what was there before."""
    program = PROGRAM.replace("CALL", HOW[how][step == "load"])
    run = subprocess.run(
        [sys.executable, "-c", program, how, kind, step, str(path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    seconds, megabytes = json.loads(run.stdout.splitlines()[-1])
    return seconds, megabytes


def table() -> list[str]:
    """A line for each library and kind of rows."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("dense", "CSR"):
            for how in HOW:
                path = Path(folder) / f"{how}-{kind}"
                found = {
                    step: [measured(how, kind, step, path) for _ in range(REPEATS)]
                    for step in ("save", "load")
                }
                size = path.stat().st_size / MEGABYTE
                cells = [kind, how, f"{size:.0f} MB"]
                for step in ("save", "load"):
                    times = [seconds for seconds, _ in found[step]]
                    memory = max(megabytes for _, megabytes in found[step])
                    cells.append(f"{median(times):.2f} s ({min(times):.2f} to {max(times):.2f})")
                    cells.append(f"{max(memory, 0):.0f} MB, {max(memory, 0) / size:.2f} ×")
                lines.append("| " + " | ".join(cells) + " |")
                print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Measure and write the report."""
    import numpy
    import safetensors

    import maxmargin

    head = "| support vectors | by | file | save | memory beyond the model | load | memory |"
    lines = [
        "# Model files",
        "",
        f"`python -m benchmarks.files`: a classifier with 100 MB of support vectors, {REPEATS} "
        "processes each; median seconds, fastest and slowest, and the largest peak of memory above "
        "what there was before. The file is in the page cache when it is loaded; `maxmargin.save` "
        "waits until it is on the disk (fsync), and both compute a SHA-256, which pickle does "
        "not. Aims: under 1 s, under 1.2 times the file.",
        "",
        head,
        "|---|---|---|---|---|---|---|",
        *table(),
        "",
        f"maxmargin {maxmargin.__version__}, safetensors {safetensors.__version__}, NumPy "
        f"{numpy.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores, "
        f"{platform.machine()}, load {os.getloadavg()[0]:.1f}.",
    ]
    REPORT.write_text("\n".join(lines) + "\n")
    print(REPORT)


if __name__ == "__main__":
    main()
