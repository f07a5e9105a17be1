"""Times every case with every library: interleaved repeats in one run, medians, then the judge."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from benchmarks.case import Case
from benchmarks.datasets import load
from benchmarks.judge import Verdict, judge
from benchmarks.peers import Peer
from benchmarks.worker import PeerError, Timing, Worker

PREDICTED = {"train", "sparse"}  # kinds whose machines also predict
# Nominal tolerances tried until the judge is content: the meaning of a linear machine's differs
# between libraries; kernel machines all mean the KKT gap, but float32 ones may miss it.
LINEAR_LADDER = [10 ** (-k / 2) for k in range(17)]
KERNEL_LADDER = [1e-3, 7e-4, 5e-4, 2e-4, 1e-4]


@dataclass(frozen=True)
class Settings:
    """How long to measure.

    Parameters
    ----------
    repeats : int
        Most repeats of each library on a case, after the first, which warms up.
    budget : float
        Seconds after which a library is not repeated. If warming up took three times as long,
        it is what counts.
    limit : float
        Seconds after which a fit is given up; a library that would need more on the next size
        of a series drops out of it.
    """

    repeats: int = 25
    budget: float = 3.0
    limit: float = 60.0


@dataclass(frozen=True)
class Record:
    """One line of the results: one library on one case."""

    kind: str
    case: str
    peer: str
    status: str = "ok"
    rows: int = 0
    columns: int = 0
    repeats: int = 0
    seconds: float = 0.0
    low: float = 0.0
    high: float = 0.0
    cpu: float = 0.0
    peak_mb: float = 0.0
    score: float = 0.0
    support_vectors: int = 0
    dual: float = 0.0
    primal: float = 0.0
    gap: float = 0.0
    passed: bool = True


class Crew:
    """The workers, one for each library that is here, started again after a failure."""

    def __init__(self, peers: list[Peer]):
        self.workers = {peer.name: Worker(peer) for peer in peers}
        self.absent: dict[str, str] = {}
        self.warm: set[tuple[int | None, Case]] = set()
        attempt(lambda peer: self.workers[peer.name].wait(), peers, self.absent)
        self.peers = [peer for peer in peers if peer.name not in self.absent]

    def of(self, peer: Peer) -> Worker:
        if not self.workers[peer.name].process.is_alive():
            self.workers[peer.name] = Worker(peer)
        return self.workers[peer.name]

    def warmed(self, peer: Peer, case: Case) -> Worker:
        """The worker, having fitted this machine to some rows of this form once: compiled."""
        worker = self.of(peer)
        form = "text" if case.kind == "sparse" else "narrow"
        same = {name: getattr(case, name) for name in ("rbf", "linear", "loss", "penalty")}
        first = Case("warm-up", form, 1_500, case.machine, **same)
        if (worker.process.pid, first) not in self.warm:
            worker.ask("fit", first)
            self.warm.add((worker.process.pid, first))
        return worker

    def able(self, case: Case) -> list[Peer]:
        """The libraries that have the case's machine, of those it is meant for."""
        wanted = [peer for peer in self.peers if not case.only or peer.name in case.only]
        return [peer for peer in wanted if self.of(peer).ask("supports", case)]

    def stop(self) -> None:
        for worker in self.workers.values():
            worker.stop()


def run(cases: list[Case], peers: list[Peer], settings: Settings) -> Iterator[Record]:
    """Measure all cases with all peers, yielding each result as it comes."""
    crew = Crew(peers)
    last: dict[tuple[object, ...], tuple[int, float]] = {}
    try:
        for name, reason in crew.absent.items():
            yield Record("", "", name, reason)
        for case in cases:
            try:
                rows, columns = load(case.data, case.n).X.shape
            except FileNotFoundError as reason:
                yield Record(case.kind, case.label, "", f"absent: {reason}")
                continue
            peers = crew.able(case)
            slow = [
                peer
                for peer in peers
                if too_slow(last.get((*case.series, peer.name)), rows, settings.limit)
            ]
            for peer in slow:
                yield Record(case.kind, case.label, peer.name, "too slow for this size")
            peers = [peer for peer in peers if peer not in slow]
            measure = {"memory": memory, "cold": cold}.get(case.kind, repeated)
            for record in measure(case, peers, crew, settings):
                yield replace(record, rows=rows, columns=columns)
                if record.kind == case.kind:
                    seconds = record.seconds if record.status == "ok" else math.inf
                    last[*case.series, record.peer] = rows, seconds
    finally:
        crew.stop()


def too_slow(before: tuple[int, float] | None, rows: int, limit: float) -> bool:
    """Whether a library that took some seconds for fewer rows will exceed the limit: quadratic."""
    return before is not None and before[1] * (rows / before[0]) ** 2 > limit


def repeated(case: Case, peers: list[Peer], crew: Crew, settings: Settings) -> Iterator[Record]:
    """Interleaved repeats of fit, and of predict where asked; each answer judged once."""
    failed: dict[str, str] = {}
    reached = attempt(
        lambda peer: reach(case, crew.warmed(peer, case), settings.limit), peers, failed
    )

    def fit(peer: Peer) -> Timing:
        return crew.of(peer).ask("fit", reached[peer.name][0], limit=settings.limit)

    def predict(peer: Peer) -> Timing:
        return crew.of(peer).ask("predict", limit=settings.limit)

    alive = [peer for peer in peers if peer.name in reached]
    warm = {name: first for name, (_, _, first) in reached.items()}
    measured = [(case.kind, interleave(fit, alive, warm, settings, failed))]
    if case.kind in PREDICTED:
        alive = [peer for peer in alive if peer.name not in failed]
        warm = attempt(predict, alive, failed)
        measured.append(("predict", interleave(predict, alive, warm, settings, failed)))
    for kind, results in measured:
        for name, timings in results.items():
            verdict = reached[name][1]
            extra = median(t.extra for t in timings)
            yield Record(
                kind,
                case.label,
                name,
                **spread([t.seconds for t in timings]),
                cpu=median(t.cpu for t in timings),
                **{"score" if kind == "predict" else "peak_mb": extra},
                support_vectors=verdict.support_vectors,
                dual=verdict.dual,
                primal=verdict.primal,
                gap=verdict.gap,
                passed=verdict.passes(case.tol),
            )
    for name, reason in failed.items():
        yield Record(case.kind, case.label, name, reason)


def reach(case: Case, worker: Worker, limit: float) -> tuple[Case, Verdict, Timing]:
    """The case at the loosest nominal tolerance that passes the judge, the verdict, the time.

    If none does, the verdict marks it.
    """
    for tol in LINEAR_LADDER if case.machine == "LinearSVC" else KERNEL_LADDER:
        nominal = replace(case, tol=tol)
        first = worker.ask("fit", nominal, limit=limit)
        verdict = judge(case, worker.ask("answer", nominal))
        if verdict.passes(case.tol):
            break
    return nominal, verdict, first


def spread(seconds: list[float]) -> dict[str, Any]:
    return {
        "repeats": len(seconds),
        "seconds": median(seconds),
        "low": min(seconds),
        "high": max(seconds),
    }


def attempt(verb, peers, failed):
    """name -> verb(peer), of the libraries that do not fail; the others join `failed`."""
    results = {}
    for peer in peers:
        try:
            results[peer.name] = verb(peer)
        except PeerError as reason:
            failed[peer.name] = str(reason)
    return results


def interleave(verb, peers, warm, settings, failed):
    """name -> timings, the libraries taking turns until their budgets are spent.

    `warm` holds what warming up took; it only counts of a library that took too long for more.
    """
    left = {name: settings.budget for name in warm if warm[name].seconds <= 3 * settings.budget}
    results = {name: [] if name in left else [warm[name]] for name in warm}
    for turn in range(settings.repeats):
        start = turn % max(1, len(peers))
        order = [p for p in peers[start:] + peers[:start] if left.get(p.name, 0) > 0]
        for name, result in attempt(verb, order, failed).items():
            results[name].append(result)
            left[name] -= result.seconds
        left = {name: seconds for name, seconds in left.items() if name not in failed}
    return {name: found for name, found in results.items() if name not in failed}


def memory(case: Case, peers: list[Peer], crew: Crew, settings: Settings) -> Iterator[Record]:
    """Peak memory beyond the data, in a fresh process that has warmed up on a few rows.

    So many that the same code runs, and few enough to leave little memory behind.
    """
    for peer in peers:
        worker = Worker(peer)
        try:
            worker.ask("fit", replace(case, n=3_000))
            seconds, cpu, peak_mb = worker.ask("fit", case, limit=settings.limit)
            verdict = judge(case, worker.ask("answer", case))
            yield Record(
                case.kind,
                case.label,
                peer.name,
                **spread([seconds]),
                cpu=cpu,
                peak_mb=peak_mb,
                gap=verdict.gap,
                passed=verdict.passes(case.tol),
            )
        except PeerError as reason:
            yield Record(case.kind, case.label, peer.name, str(reason))
        worker.stop()


def cold(case: Case, peers: list[Peer], crew: Crew, settings: Settings) -> Iterator[Record]:
    """Seconds of the first fit in a new process beyond a warm one."""
    for peer in peers:
        worker = Worker(peer)
        worker.ask("supports", case)  # imports the machine, which is no part of its fit
        first, *warm = (worker.ask("fit", case).seconds for _ in range(6))
        beyond = spread([first - seconds for seconds in warm])
        yield Record(case.kind, case.label, peer.name, **beyond)
        worker.stop()
