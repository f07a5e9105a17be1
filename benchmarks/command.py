"""CPU seconds in which the command reads 100 MB of each format, and answers a small `predict`.

PYTHONPATH=src python -m benchmarks.command writes benchmarks/COMMAND.md.
"""

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from sklearn.datasets import load_svmlight_file

from maxmargin.io.tables import read_rows

MEGABYTES = 100
ROUNDS = 3
OUT = Path(__file__).parent / "COMMAND.md"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder)
        rows = [
            line("CSV, 40 columns of numbers", folder / "data.csv", pd.read_csv),
            line("Parquet, the same table", folder / "data.parquet", pd.read_parquet),
            line("LIBSVM text, 40 of 200 features", folder / "data.svm", svmlight),
        ]
        start = predict_times(folder)
    OUT.write_text(report(rows, start))
    print(OUT.read_text())


def write_tables(folder: Path) -> None:
    """Files of about 100 MB; numbers of six digits."""
    random = np.random.default_rng(0)
    n, d = MEGABYTES * 1_000_000 // (40 * 9), 40
    X = random.normal(size=(n, d)).round(5)
    y = random.integers(2, size=n)
    table = pa.table({**{f"x{j}": X[:, j] for j in range(d)}, "target": y})
    pyarrow.csv.write_csv(table, folder / "data.csv")
    many = max(1, int(MEGABYTES * 1e6 / (n * d * 8)))
    pyarrow.parquet.write_table(pa.concat_tables([table] * many), folder / "data.parquet")
    with (folder / "data.svm").open("w") as file:
        for row, label in zip(X[: int(n * 0.7)], y[: int(n * 0.7)], strict=True):
            columns = np.sort(random.choice(200, d, replace=False)) + 1
            cells = " ".join(
                f"{j}:{v}" for j, v in zip(columns.tolist(), row.tolist(), strict=True)
            )
            file.write(f"{label} {cells}\n")


def svmlight(path: Path) -> object:
    return load_svmlight_file(str(path))


def line(name: str, path: Path, other: Callable[[Path], object]) -> str:
    """Medians of both readers, taking turns."""
    times = [
        [seconds(lambda: read_rows(path)), seconds(lambda: other(path))] for _ in range(ROUNDS)
    ]
    ours, theirs = (median(each) for each in zip(*times, strict=True))
    size = path.stat().st_size / 1e6
    label = f"`{other.__name__}`" if other is not svmlight else "`load_svmlight_file`"
    cells = name, f"{size:.0f} MB", f"{ours:.2f} s", f"{label} {theirs:.2f} s"
    return f"| {' | '.join(cells)} | {theirs / ours:.2f} × |"


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of all threads, and of the processes that ended meanwhile."""
    begin = sum(os.times()[:4])
    work()
    return sum(os.times()[:4]) - begin


def predict_times(folder: Path) -> dict[str, float]:
    """Processes: an import of what is needed anyway, of the library, and a whole prediction."""
    small = folder / "small.csv"
    command = [sys.executable, "-m", "maxmargin.cli"]
    calls = {
        "`import sklearn.svm`": [sys.executable, "-c", "import sklearn.svm"],
        "`import maxmargin`": [sys.executable, "-c", "import maxmargin"],
        "`maxmargin predict`, 150 rows": [*command, "predict", "small.maxmargin", "small.csv"],
    }
    run([*command, "sample", "iris", "--output", str(small)], folder)
    run([*command, "train", "small.csv"], folder)
    for call in calls.values():
        run(call, folder)  # from here on the caches are warm
    turns = [
        [seconds(lambda call=call: run(call, folder)) for call in calls.values()]
        for _ in range(ROUNDS)
    ]
    return dict(zip(calls, map(median, zip(*turns, strict=True)), strict=True))


def run(call: list[str], folder: Path) -> None:
    """A process that finds Python's bytecode, as that of an installed package is on the disk."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    subprocess.run(call, cwd=folder, env=environment, check=True, capture_output=True, timeout=300)


def report(rows: list[str], start: dict[str, float]) -> str:
    packages = ("numpy", "pandas", "pyarrow", "scikit-learn")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    lines = [
        "# Reading files, and the time to an answer",
        "",
        "`PYTHONPATH=src python -m benchmarks.command`; CPU seconds of all threads, medians of "
        f"{ROUNDS}, taking turns. "
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, "
        f"{versions}.",
        "",
        "`read_rows` checks every value, names columns, and separates the target; the others read.",
        "",
        "| file | size | maxmargin | beside it | times as fast |",
        "|---|---|---|---|---|",
        *rows,
        "",
        "Whole processes, bytecode in the cache. The aim for `predict` is "
        "1.2 times the import of scikit-learn's machines.",
        "",
        "| process | CPU seconds |",
        "|---|---|",
        *(f"| {name} | {value:.2f} |" for name, value in start.items()),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
