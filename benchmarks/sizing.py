"""The cost model of docs/do/sizing.md: `python -m benchmarks.sizing` fits it on scale.csv.

It writes the fitted constants, the errors of prediction and what is predicted into that page. With
n rows of d columns, S support vectors, r rounds, w workers, and M = max(2048, S):

    seconds of maps       = L (r + 2) + e n S r (d + 17) / w
    seconds of the driver = b r + c S² r (d + 17)
    bytes moved           = g · 8 r (d + 2) (w S + M)
    memory of a worker    = m + k · (8 n (d + 1) / w + 8 d S)

and of blocks that the cluster does not hold, seconds of scheduling = SCHEDULED · blocks · (r + 2).

Each is fitted by least squares of relative errors on the smallest and the largest size of two sets,
one with few support vectors and one with many, on 1 and 2 workers of a cluster, and judged on the
size in between. A fit on features costs a n / w seconds, a from the largest size alone.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import numpy as np
from scipy.optimize import nnls

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "do" / "sizing.md"
ALL = {"cover": 286_048, "covtype": 92_962, "generated": 5_000_000}  # rows
COLUMNS = {"cover": 10, "covtype": 54}
HELD_OUT = {("cover", 150_000), ("covtype", 46_000), ("generated", 1_000_000)}
LINES = 12  # of exact fits: two sets, three sizes, 1 and 2 workers
MB = 2**20
SCHEDULED = 0.010  # seconds of the scheduler for a task, whatever there are of workers
BLOCK = 1e6  # rows of a block, where blocks are not held


@dataclass(frozen=True)
class Work:
    """What a fit has to do: the terms of the model are made of it."""

    rows: float
    columns: int
    support: float
    rounds: float
    workers: int

    def maps(self) -> list[float]:
        """Latency, and products of all rows with support vectors."""
        products = self.rows * self.support * self.rounds * (self.columns + 17)
        return [self.rounds + 2, products / self.workers]

    def driver(self) -> list[float]:
        """Rounds, and the products of their working problems."""
        return [self.rounds, self.support**2 * self.rounds * (self.columns + 17)]

    def moved(self) -> list[float]:
        """MB of support vectors to each worker, and of violators from all of them."""
        rows = self.workers * self.support + max(2048, self.support)
        return [8 * self.rounds * (self.columns + 2) * rows / MB]

    def memory(self) -> list[float]:
        """A process, and MB of its rows and of the support vectors."""
        own = self.rows * (self.columns + 1) / self.workers
        return [1.0, 8 * (own + self.columns * self.support) / MB]

    def scheduling(self, blocks: float) -> float:
        """Seconds for the tasks of blocks that the cluster does not hold, one each in a map."""
        return SCHEDULED * blocks * (self.rounds + 2)


MODELS: dict[str, Callable[[Work], list[float]]] = {
    "maps": Work.maps,
    "driver": Work.driver,
    "moved": Work.moved,
    "memory": Work.memory,
}


@dataclass(frozen=True)
class Line:
    """A line of scale.csv: what was done, and what it took."""

    case: str
    work: Work
    taken: dict[str, float]

    @property
    def held_out(self) -> bool:
        return (self.case, self.work.rows) in HELD_OUT


def measured(records: list[dict[str, str]]) -> list[Line]:
    """The exact fits on Dask, the smallest first."""
    lines = []
    for record in records:
        case, way = record["case"], record["way"]
        if case in COLUMNS and way.startswith("dask, ") and record.get("map_seconds"):
            rows, workers = int(record["rows"]) or ALL[case], int(way.split()[1])
            counts = float(record["support"]), float(record["rounds"])
            work = Work(rows, COLUMNS[case], *counts, workers)
            maps, moved, memory = (
                float(record[f]) for f in ("map_seconds", "moved_mb", "worker_peak_mb")
            )
            driver = float(record["seconds"]) - maps
            taken = {"maps": maps, "driver": driver, "moved": moved, "memory": memory}
            lines.append(Line(case, work, taken))
    return sorted(lines, key=lambda line: (line.case, line.work.rows, line.work.workers))


def fitted(lines: list[Line], name: str) -> np.ndarray:
    """The constants of a model."""
    known = [line for line in lines if not line.held_out]
    A = np.array([np.array(MODELS[name](line.work)) / line.taken[name] for line in known])
    size = np.linalg.norm(A, axis=0)
    found, _ = nnls(A / size, np.ones(len(A)))
    return found / size


def features(records: list[dict[str, str]]) -> tuple[float, list[str]]:
    """Seconds of a fit on features for each row, on one worker; and lines that say how well."""
    taken = {
        int(record["rows"]) or ALL["generated"]: float(record["seconds"])
        for record in records
        if (record["case"], record["way"]) == ("generated", "dask nystroem, 2 workers")
    }
    most = max(taken)
    each = 2 * taken[most] / most
    judged = [
        f"{rows:,} rows took {seconds:.1f} s and {each * rows / 2:.1f} s are predicted "
        f"({each * rows / 2 / seconds - 1:+.0%})"
        for rows, seconds in sorted(taken.items())
        if ("generated", rows) in HELD_OUT
    ]
    return each, judged


def table(heads: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(each)} |" for each in [heads, ["---"] * len(heads), *rows])


def of_models(lines: list[Line], constants: dict[str, np.ndarray]) -> str:
    """The constants, and measured beside predicted."""
    (L, e), (b, c), (g,), (m, k) = constants.values()
    rows, off = [], dict[str, float]()
    for line in lines:
        work = line.work
        guess = {name: float(constants[name] @ model(work)) for name, model in MODELS.items()}
        pairs = {name: (line.taken[name], guess[name]) for name in MODELS}
        pairs = {"seconds": np.add(pairs["maps"], pairs["driver"]), **pairs}
        cells = [f"{taken:.3g} | {guess:.3g}" for taken, guess in pairs.values()]
        errors = {name: guess / taken - 1 for name, (taken, guess) in pairs.items()}
        cells.insert(1, f"{errors['seconds']:+.0%}")
        kind = "held out" if line.held_out else "fitted"
        rows.append([f"{line.case}, {work.rows:,.0f}", str(work.workers), *cells, kind])
        if line.held_out:
            off = {name: max(off.get(name, 0.0), abs(error)) for name, error in errors.items()}
    workers = " and ".join(str(w) for w in sorted({line.work.workers for line in lines}))
    heads = ["rows", "workers", "s", "predicted", "error"]
    for what in ("of maps", "of the driver", "MB moved", "MB of a worker"):
        heads += [what, "predicted"]
    said = wrapped(
        f"Fitted on {workers} workers:",
        f"L = {L:.2g} s is the latency of a map over the partitions,",
        f"e = {e:.2g} s a multiplication on a worker, b = {b:.2g} s the least of the driver,",
        f"c = {c:.2g} s one of its multiplications, g = {g:.2g} the share of the most that can",
        f"move, m = {m:.0f} MB a process with its libraries, k = {k:.2g}. On the sizes held out",
        f"the seconds are off by {off['seconds']:.0%} at most, the bytes by {off['moved']:.0%},",
        f"the memory of a worker by {off['memory']:.0%}.",
    )
    return f"{said}\n\n{table([*heads, ''], rows)}"


def of_growth(lines: list[Line]) -> tuple[str, Callable[[float], float], float]:
    """How the number of support vectors grows: like a power of n, or as a share of n."""
    few = {line.work.rows: line.work.support for line in lines if line.case == "cover"}
    power, _ = np.polyfit(np.log([*few]), np.log([*few.values()]), 1)
    most = max(few)
    many = max((line for line in lines if line.case == "covtype"), key=lambda line: line.work.rows)
    share = many.work.support / many.work.rows
    counts = ", ".join(f"{support:,.0f} of {rows:,.0f}" for rows, support in few.items())
    text = wrapped(
        "S is what decides. Where classes are nearly separable it grows slower than n: on cover",
        f"like n^{power:.2f} ({counts} rows). Where they overlap it is a share of n:",
        f"on covtype_93k {share:.0%}.",
    )
    return text, lambda rows: few[most] * (rows / most) ** power, share


def of_clusters(lines: list[Line], records: list[dict[str, str]], constants: dict) -> str:
    """What is predicted for 10⁷ to 10⁹ rows of 20 columns on 100 workers."""
    growth, few, share = of_growth(lines)
    each, judged = features(records)
    base = max(line.work.rounds for line in lines if line.case == "cover")
    rows = []
    for n in (1e7, 1e8, 1e9):
        for name, support in (("few", few(n)), ("many", share * n)):
            work = Work(n, 20, support, base + np.log2(max(support / 2048, 1)), 100)
            guess = {key: constants[key] * model(work) for key, model in MODELS.items()}
            rows.append(
                [
                    f"{n:.0e}",
                    f"{name}: {support:.2g}",
                    f"{work.rounds:.0f}",
                    *(duration(guess[who].sum()) for who in ("maps", "driver")),
                    duration(work.scheduling(n / BLOCK)),
                    *(f"{guess[what].sum() / 1024:,.2g} GB" for what in ("moved", "memory")),
                    duration(each * n / 100),
                ]
            )
    heads = ["rows", "S", "rounds", "workers take", "driver takes"]
    heads += [
        f"scheduling, if {BLOCK:.0e} rows are a block and not held",
        "moved",
        "worker's memory",
    ]
    heads += ["300 Nyström columns instead"]
    held = wrapped(f"On features, {judged[0]}.") + "\n\n" if judged else ""
    return f"{growth}\n\n{held}{table(heads, rows)}"


def wrapped(*sentences: str) -> str:
    return fill(" ".join(sentences), 100)


def duration(seconds: float) -> str:
    """In the unit that makes it a number between 1 and 100, or so."""
    for unit, length in (("years", 365 * 86400), ("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.2g} s"


def page(text: str, records: list[dict[str, str]]) -> str:
    """The page, with what is fitted between its marks."""
    lines = measured(records)
    parts = dict.fromkeys(("models", "clusters"), "Not measured yet: `python -m benchmarks.scale`.")
    if len(lines) == LINES:
        constants = {name: fitted(lines, name) for name in MODELS}
        parts["models"] = of_models(lines, constants)
        parts["clusters"] = of_clusters(lines, records, constants)
    for name, part in parts.items():
        between = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        text, found = between.subn(lambda marks, part=part: f"{marks[1]}{part}{marks[2]}", text)
        assert found == 1, f"docs/do/sizing.md has no place for {name}"
    return text


def records_of(path: Path = HERE / "scale.csv") -> list[dict[str, str]]:
    with path.open() as file:
        return [record for record in csv.DictReader(file) if record["seconds"]]


def main() -> None:
    PAGE.write_text(page(PAGE.read_text(), records_of()))


if __name__ == "__main__":
    main()
