"""Rows in partitions against rows in memory: `python -m benchmarks.scale`.

    python -m benchmarks.scale                       # every line
    python -m benchmarks.scale --only cover covtype  # some of them
    python -m benchmarks.scale --list                # their numbers
    python -m benchmarks.scale --line 1 2            # these alone
    python -m benchmarks.scale --report              # SCALE.md and docs/do/sizing.md from scale.csv

Each line is a process of its own: the peak of its resident memory, and of its workers', is its own.
The data are written to a folder of files first (--folder, /tmp by default), which is not timed. A
fit of few rows that is not timed comes first, in every process, so that nothing is compiled. A fit
of less than five seconds is done three times, and the shortest counts.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import resource
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

import numpy as np

from benchmarks import sizing

HERE = Path(__file__).parent
FIT = {"cover": {"C": 100.0, "gamma": 0.1}, "covtype": {"C": 10.0, "gamma": 8.0}}
FILES = {"cover": "cover_adbench.npz", "covtype": "covtype_93k.npz"}
BUDGET, ROWS, COMPONENTS = 500, 32_768, 300  # MB, rows of a partition, columns of φ
FIELDS = (
    "case",
    "way",
    "rows",
    "seconds",
    "map_seconds",
    "dual",
    "relative_gap",
    "violation",
    "status",
    "rounds",
    "moved_mb",
    "support",
    "accuracy",
    "peak_mb",
    "worker_peak_mb",
    "load",
    "note",
)


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    case: str
    way: str
    rows: int = 0  # all
    workers: int = 2

    @property
    def key(self) -> dict[str, str]:
        """How its record is found in the table."""
        apart = self.way.startswith("dask")
        way = f"{self.way}, {self.workers} workers" if apart else self.way
        return {"case": self.case, "way": way, "rows": str(self.rows)}


def plan() -> list[Line]:
    lines = [
        Line(case, way)
        for case in ("cover", "covtype")
        for way in ("in memory", "out of core", "dask", "sgd")
    ]
    # For the cost model of docs/do/sizing.md: three sizes of each, on 1 and 2 workers.
    sizes = {"cover": (50_000, 150_000), "covtype": (23_000, 46_000)}
    lines += [Line(case, "dask", rows, n) for case in sizes for rows in sizes[case] for n in (1, 2)]
    lines += [Line(case, "dask", 0, 1) for case in sizes]
    ways = ("dask nystroem", "out of core nystroem", "sgd nystroem")
    lines += [Line("generated", way) for way in ways]
    return [*lines, Line("generated", "dask nystroem", 1_000_000)]


def data(case: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a real set, in a random order."""
    archive = np.load(Path(os.environ["MAXMARGIN_DATA"]) / FILES[case])
    X, y = archive["X"].astype(np.float64), archive["y"].astype(int)
    if case == "cover":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    else:
        y = (y == 2).astype(int)
    order = np.random.default_rng(0).permutation(len(X))[: rows or len(X)]
    return np.ascontiguousarray(X[order]), y[order]


def written(case: str, rows: int, folder: Path) -> tuple[np.memmap, np.ndarray]:
    """The rows in a file."""
    X, y = data(case, rows)
    path = folder / f"{case}-{len(X)}.dat"
    if not path.exists():
        X.tofile(path)
    return np.memmap(path, np.float64, "r", shape=X.shape), y


def generated(folder: Path, rows: int) -> Path:
    """Rows of 20 columns as Parquet, 250,000 in a row group; the label is a noisy function.

    Few rows are in four groups, so that a fit of them is seen by all workers.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"generated-{rows}.parquet"
    if path.exists():
        return path
    names = [f"x{k}" for k in range(20)]
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(20, 12)), rng.normal(size=12)
    schema = pa.schema([(name, pa.float32()) for name in names] + [("y", pa.int8())])
    with pq.ParquetWriter(path.with_suffix(".part"), schema) as file:
        most = min(250_000, rows // 4)
        for start in range(0, rows, most):
            X = rng.normal(size=(min(most, rows - start), 20))
            y = np.tanh(X @ A / 4) @ b + rng.normal(0, 0.3, len(X)) > 0
            columns = [*X.T.astype(np.float32), y.astype(np.int8)]
            file.write_table(pa.table(dict(zip([*names, "y"], columns, strict=True)), schema))
    path.with_suffix(".part").rename(path)
    return path


def peak() -> float:
    """Most memory this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cluster(stack: ExitStack, workers: int):
    from distributed import Client, LocalCluster

    single = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    made = LocalCluster(n_workers=workers, **single)
    return stack.enter_context(Client(stack.enter_context(made)))


def timed(fit):
    """What was fitted, and the seconds that it took: all, and those of maps over partitions."""
    from maxmargin.scale import DaskPartitions
    from maxmargin.scale.partitions import LocalPartitions

    spent = []

    def clocked(step):
        def clock(*arguments):
            began = perf_counter()
            try:
                return step(*arguments)
            finally:
                spent.append(perf_counter() - began)

        return clock

    found = []
    with ExitStack() as stack:
        for kind in (LocalPartitions, DaskPartitions):
            stack.enter_context(patch.multiple(kind, step=clocked(kind.step)))
        while not found or (len(found) < 3 and found[0][1]["seconds"] < 5):
            spent.clear()
            began = perf_counter()
            model = fit()
            took = {"seconds": perf_counter() - began, "map_seconds": sum(spent)}
            found.append((model, took))
    return min(found, key=lambda each: each[1]["seconds"])


def run_here(line: Line, folder: Path) -> dict:
    """One line: fit, measure, score."""
    from maxmargin import SVC
    from maxmargin.scale import ArrayPartitions

    with ExitStack() as stack:
        workers = []
        client = cluster(stack, line.workers) if line.way.startswith("dask") else None
        if line.case == "generated":
            return run_generated(line, folder, client)
        X, y = written(line.case, line.rows, folder)
        few = slice(0, 2_000)
        if line.way == "sgd":
            return run_sgd(ArrayPartitions(X, y, rows=ROWS), len(X), *FIT[line.case].values())
        budget = None if line.way == "in memory" else BUDGET

        def make():
            return SVC(cache_size=budget, **FIT[line.case])

        if line.way == "in memory":
            X = np.array(X)
            make().fit(X[few], y[few])
            model, seconds = timed(lambda: make().fit(X, y))
        elif line.way == "out of core":
            make().fit(ArrayPartitions(X[few], y[few], rows=500))
            model, seconds = timed(lambda: make().fit(ArrayPartitions(X, y, rows=ROWS)))
        else:
            import dask.array as da

            def blocks(X, y):
                rows, labels = da.from_array(X, (ROWS, -1)), da.from_array(y, ROWS)
                return client.persist([rows, labels])

            for _ in range(2):
                make().fit(*blocks(np.array(X[few]), y[few]))
            held = blocks(np.array(X), y)
            client.gather(client.compute([each.sum() for each in held]))
            model, seconds = timed(lambda: make().fit(*held))
            workers = list(client.run(peak).values())
        result = described(model, seconds) | {"worker_peak_mb": max(workers, default=0)}
        result["accuracy"] = float(model.score(np.array(X[:20_000]), y[:20_000]))
        return result


def described(model, seconds: dict[str, float]) -> dict:
    proof, history = model.certificate_, model.history_
    found = {**seconds, "dual": proof.dual, "relative_gap": proof.relative_gap}
    found |= {"violation": proof.kkt_violation, "status": proof.status.value, "peak_mb": peak()}
    if "rounds" in history.dtype.names:
        found |= {"rounds": int(history["rounds"][-1]), "moved_mb": history["bytes"][-1] / 2**20}
    if hasattr(model, "support_"):
        found["support"] = len(model.support_)
    return found


def run_sgd(data, rows: int, C: float, gamma: float) -> dict:
    """What dask-ml's Incremental does: `partial_fit` of scikit-learn, partition by partition."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDClassifier

    first = data.block(0)
    phi = Nystroem(gamma=gamma, n_components=COMPONENTS, random_state=0)
    began = perf_counter()
    phi.fit(first.X[:20_000])
    clf = SGDClassifier(alpha=1 / (C * rows), random_state=0, average=True)
    for _ in range(5):
        for block in data.blocks():
            clf.partial_fit(phi.transform(block.X), block.y, classes=[0, 1])
    seconds = perf_counter() - began
    accuracy = float(clf.score(phi.transform(first.X[:20_000]), first.y[:20_000]))
    note = f"5 epochs on {COMPONENTS} Nyström columns, no certificate"
    return {"seconds": seconds, "accuracy": accuracy, "peak_mb": peak(), "note": note}


def run_generated(line: Line, folder: Path, client) -> dict:
    """Nyström features of Parquet files: SVC on a cluster or in one process, and SGD."""
    import dask.dataframe as dd

    from maxmargin import SVC
    from maxmargin.scale import DatasetPartitions

    rows, gamma = line.rows or 5_000_000, 0.02
    path = generated(folder, rows)
    parts = DatasetPartitions(path, "y")
    if line.way.startswith("sgd"):
        return run_sgd(parts, rows, 1.0, gamma)
    model = SVC(approximation="nystroem", n_components=COMPONENTS, gamma=gamma, cache_size=BUDGET)

    def fit(file):
        if client is None:
            return model.fit(DatasetPartitions(file, "y"))
        table = dd.read_parquet(file, split_row_groups=1)
        return model.fit(table.drop(columns="y"), table["y"])

    for _ in range(2):
        fit(generated(folder, 4_000))
    model, seconds = timed(lambda: fit(path))
    workers = [] if client is None else list(client.run(peak).values())
    result = described(model, seconds) | {"worker_peak_mb": max(workers, default=0)}
    first = parts.block(0)
    model.__dict__.pop("feature_names_in_", None)  # a block is an array
    return result | {"accuracy": float(model.score(first.X[:20_000], first.y[:20_000]))}


def picture(folder: Path) -> None:
    """The rounds of cover, out of core, for docs/do/cluster.md."""
    from matplotlib import rc_context

    from maxmargin import SVC
    from maxmargin.plots import RoundsDisplay, theme
    from maxmargin.scale import ArrayPartitions

    X, y = written("cover", 0, folder)
    clf = SVC(cache_size=BUDGET, **FIT["cover"]).fit(ArrayPartitions(X, y, rows=ROWS))
    with rc_context(theme("light")):
        RoundsDisplay.from_estimator(clf).figure_.savefig(HERE.parent / "docs/images/rounds.png")


def run_apart(line: Line, folder: Path, limit: float) -> dict:
    command = [sys.executable, "-m", "benchmarks.scale", "--folder", str(folder)]
    command += ["--job", json.dumps(asdict(line))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"note": f"not done in {limit:.0f} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return {"note": f"failed: {last[:90]}"}
    return json.loads(done.stdout.splitlines()[-1])


def report(records: list[dict]) -> None:
    """SCALE.md from scale.csv."""
    processor = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    text = [
        "# Rows in partitions\n",
        f"`python -m benchmarks.scale`, Python {platform.python_version()}, NumPy "
        f"{np.__version__}, {os.cpu_count()} cores of {processor}. Budget {BUDGET} MB, partitions "
        f"of {ROWS:,} rows. `load` is the load average beside the run, `accuracy` that of the "
        "first 20,000 rows, which were trained on.\n",
        "| " + " | ".join(FIELDS) + " |",
        "|" + "---|" * len(FIELDS),
    ]
    for each in records:
        cells = each | {"rows": "all" if each["rows"] == "0" else each["rows"]}
        text.append("| " + " | ".join(shown(cells.get(f, "")) for f in FIELDS) + " |")
    text += ["\n| aim | reached |", "|---|---|", *aims(records)]
    (HERE / "SCALE.md").write_text("\n".join(text) + "\n")


def aims(records: list[dict]) -> list[str]:
    """What was to be reached, and what was."""
    whole = {(r["case"], r["way"]): r for r in records if r["rows"] == "0" and r.get("seconds")}
    lines = []
    for case in ("cover", "covtype"):
        ways = [whole.get((case, way)) for way in ("in memory", "out of core", "dask, 2 workers")]
        if not all(ways):
            continue
        memory, files, cluster = ({k: r[k] for k in r} for r in ways if r)
        off = abs(float(files["dual"]) / float(memory["dual"]) - 1)
        slower = float(files["seconds"]) / float(memory["seconds"])
        apart = float(cluster["seconds"]) / float(files["seconds"])
        lines += [
            f"| {case}: objective of in memory to 1e-6 | {off:.1e} |",
            f"| {case}: out of core, peak under 700 MB | {float(files['peak_mb']):.0f} MB |",
            f"| {case}: out of core at most 2 times in memory | {slower:.2f} times |",
            f"| {case}: Dask, 2 workers, at most 1.5 times one process | {apart:.2f} times |",
        ]
    if made := whole.get(("generated", "dask nystroem, 2 workers")):
        most = max(float(made["peak_mb"]), float(made["worker_peak_mb"]))
        gap = float(made["relative_gap"])
        lines.append(
            f"| generated: ends, certified, no process above 2 GB | {made['status']}, relative gap "
            f"{gap:.1e}, {most:.0f} MB |"
        )
    for case, ours, other in (
        ("cover", "out of core", "sgd"),
        ("covtype", "out of core", "sgd"),
        ("generated", "out of core nystroem", "sgd nystroem"),
    ):
        pair = [whole.get((case, way)) for way in (ours, other)]
        if all(pair):
            beside = [f"{float(r['accuracy']):.4f} in {float(r['seconds']):.1f} s" for r in pair]
            lines.append(f"| {case}: accuracy and time beside SGD | {', SGD '.join(beside)} |")
    return lines


def shown(value: object) -> str:
    try:
        number = float(str(value))
    except ValueError:
        return str(value)
    return f"{number:,.0f}" if number == int(number) else f"{number:.6g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", help="cases: cover, covtype, generated")
    parser.add_argument("--ways", nargs="+", help="ways: 'in memory', 'out of core', dask, …")
    parser.add_argument("--list", action="store_true", help="the numbers of the lines")
    parser.add_argument("--line", nargs="+", type=int, help="numbers of lines")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/maxmargin-scale"))
    parser.add_argument("--limit", type=float, default=900, help="seconds for one line")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--picture", action="store_true", help="docs/images/rounds.png alone")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.job:
        print(json.dumps(run_here(Line(**json.loads(options.job)), options.folder)))
        return
    if options.picture:
        picture(options.folder)
        return
    table = HERE / "scale.csv"
    records = list(csv.DictReader(table.open())) if table.exists() else []
    keys = [line.key for line in plan()]
    records = [r for r in records if {name: r[name] for name in keys[0]} in keys]
    for number, line in enumerate(plan(), start=1):
        if (
            options.report
            or (options.only and line.case not in options.only)
            or (options.ways and line.way not in options.ways)
            or (options.line and number not in options.line)
        ):
            continue
        if options.list:
            print(number, line)
            continue
        found = run_apart(line, options.folder, options.limit)
        records = [r for r in records if {name: r[name] for name in line.key} != line.key]
        records.append(line.key | {"load": os.getloadavg()[0]} | found)
        records.sort(key=lambda r: keys.index({name: r[name] for name in line.key}))
        print(line.key | found, flush=True)
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows({f: r.get(f, "") for f in FIELDS} for r in records)
    if not options.list:
        report(records)
        sizing.main()


if __name__ == "__main__":
    main()
