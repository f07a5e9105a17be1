"""Any C and any γ: a grid of fits up to where SMO crawls, on six data sets.

    python -m benchmarks.hard                                         # everything, hours
    python -m benchmarks.hard --data covtype a9a --peers maxmargin
    python -m benchmarks.hard --step 3 --peers intelex scikit-learn   # every third C and γ
    python -m benchmarks.hard --C 1e4 1e6 --gamma 0.1                 # these alone
    python -m benchmarks.hard --report                                # only HARD.md and hard.png

C runs from 1e-2 to 1e6 and γ from 1e-3 to 1e2 in units of 1/(columns · variance), by decades. Every
fit runs in its library's own process, which is killed after 60 s; its answer is judged in float64
as in every other benchmark: KKT violation and relative duality gap. What is in hard.csv already is
not measured again, so that a run may be cut short and continued.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from benchmarks import hard_report
from benchmarks.case import Case
from benchmarks.datasets import load
from benchmarks.hard_report import LIMIT
from benchmarks.judge import judge
from benchmarks.peers import Maxmargin, Peer
from benchmarks.peers.intelex import Intelex
from benchmarks.peers.scikit_learn import ScikitLearn
from benchmarks.worker import PeerError, Worker
from maxmargin.solvers import InteriorPoint

COSTS = tuple(10.0**k for k in range(-2, 7))
GAMMAS = tuple(10.0**k for k in range(-3, 3))
SETS = {
    "covtype": Case("hard", "covtype", 5_000),
    "california": Case("hard", "california_scaled", 4_000, "SVR"),
    "dollars": Case("hard", "california_dollars", 4_000, "SVR"),
    "a9a": Case("hard", "a9a_dense", 5_000),
    "letter": Case("hard", "letter", 5_000, multiclass="ovr"),
    "noisy": Case("hard", "noisy", 10_000),
}
WARM = (1_000, 4_000)  # rows of fits before the clock starts; the second of ours alone, for small
# and large fits differ in what has to be compiled
PEERS: list[Peer] = [
    Maxmargin("maxmargin"),
    Intelex("intelex"),
    ScikitLearn("scikit-learn"),
    Maxmargin("interior-point", options={"solver": InteriorPoint(largest=10_000)}),
]


@dataclass(frozen=True)
class Cell:
    """One fit: how it ended, the seconds it took, and what the judge says of it."""

    data: str
    peer: str
    C: float
    gamma: float
    status: str
    seconds: float = LIMIT
    violation: float = float("nan")
    relative_gap: float = float("nan")

    @property
    def key(self) -> tuple[str, str, float, float]:
        return self.data, self.peer, self.C, self.gamma


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hard", description=__doc__)
    parser.add_argument("--data", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--peers", nargs="+", choices=[p.name for p in PEERS])
    parser.add_argument("--C", nargs="+", type=float, choices=COSTS, default=COSTS)
    parser.add_argument("--gamma", nargs="+", type=float, choices=GAMMAS, default=GAMMAS)
    parser.add_argument("--step", type=int, default=1, help="every so many decades of C and γ")
    parser.add_argument("--report", action="store_true", help="only write the report")
    parser.add_argument("--again", action="store_true", help="measure what is there already")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of a fit")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    options = parser.parse_args(arguments)
    cells = read(options.out / "hard.csv")
    names = [p.name for p in PEERS] if options.peers is None else options.peers
    if not options.report:
        for peer in (p for p in PEERS if p.name in names):
            for data in options.data:
                measure(peer, data, options, cells)
    hard_report.write(list(cells.values()), options.out)


def measure(peer: Peer, data: str, options, cells: dict) -> None:
    """All cells of one library on one data set that are not there yet."""
    X = load(SETS[data].data, SETS[data].n).X
    unit, worker = 1 / (X.shape[1] * X.var()), None
    for C in options.C[:: options.step]:
        for gamma in options.gamma[:: options.step]:
            cell = Cell(data, peer.name, C, gamma, "")
            if cell.key in cells and not options.again:
                continue
            case = replace(SETS[data], C=C, gamma=gamma * unit)
            if worker is None or not worker.process.is_alive():
                worker = Worker(peer)
                for n in WARM[: 2 if peer.name == "maxmargin" else 1]:
                    worker.ask("fit", replace(case, n=n, C=1.0, gamma=unit))
            cell = fitted(cell, case, worker, options.limit)
            cells[cell.key] = cell
            print(*asdict(cell).values(), flush=True)
            write(cells, options.out / "hard.csv")
    if worker is not None:
        worker.stop()


def fitted(cell: Cell, case: Case, worker: Worker, limit: float) -> Cell:
    """The cell, measured."""
    try:
        seconds = worker.ask("fit", case, limit=limit).seconds
        verdict = judge(case, worker.ask("answer", case))
    except PeerError as reason:
        return replace(cell, status=str(reason), seconds=limit)
    scale = max(abs(verdict.primal), abs(verdict.dual))
    gap = max(verdict.primal - verdict.dual, 0.0) / scale if scale else 0.0
    arrived = verdict.gap <= case.tol * 1.05
    status = "converged" if arrived and gap <= case.tol * 1.05 else "kkt only" if arrived else "no"
    return replace(cell, status=status, seconds=seconds, violation=verdict.gap, relative_gap=gap)


def read(path: Path) -> dict:
    if not path.exists():
        return {}
    kinds = {
        field.name: str if field.name in ("data", "peer", "status") else float
        for field in fields(Cell)
    }
    with path.open(newline="") as file:
        rows = [Cell(**{k: kinds[k](v) for k, v in row.items()}) for row in csv.DictReader(file)]
    return {cell.key: cell for cell in rows}


def write(cells: dict, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        rows = csv.DictWriter(file, [field.name for field in fields(Cell)])
        rows.writeheader()
        rows.writerows(asdict(cell) for cell in cells.values())


if __name__ == "__main__":
    main()
