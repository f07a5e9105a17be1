"""Markdown, CSV and a figure from the records of a run."""

import csv
import os
import platform
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, fields
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import geometric_mean

import numpy as np

from benchmarks.peers import PEERS
from benchmarks.runner import Record
from benchmarks.targets import SAME_INPUT, factors, reached

MISSED = "†"  # marks an answer whose true gap is above the tolerance


def line(record: Record) -> str:
    """One record for the terminal."""
    if record.status != "ok":
        return f"{record.kind:10} {record.case:28} {record.peer:14} {record.status}"
    return (
        f"{record.kind:10} {record.case:28} {record.peer:14} {record.seconds:9.4f} s"
        f"  ({record.low:.4f}–{record.high:.4f}, {record.repeats})"
        f"  cpu {record.cpu:7.3f} s  {record.peak_mb:5.0f} MB"
        f"  gap {record.gap:.2e}{'' if record.passed else MISSED}"
    )


def write(records: list[Record], stem: Path, mode: str) -> None:
    write_csv(records, stem)
    figure(records).savefig(stem.with_suffix(".png"), dpi=150)
    stem.with_suffix(".md").write_text(markdown(records, mode, stem.name))


def write_csv(records: list[Record], stem: Path) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    with stem.with_suffix(".csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, [field.name for field in fields(Record)])
        rows.writeheader()
        rows.writerows(asdict(record) for record in records)


def read_csv(stem: Path) -> list[Record]:
    """The records of an earlier run; none if there was none."""
    path = stem.with_suffix(".csv")
    if not path.exists():
        return []
    read = {field.name: field.type for field in fields(Record)}
    with path.open(newline="") as file:
        return [
            Record(**{k: v == "True" if read[k] is bool else read[k](v) for k, v in row.items()})
            for row in csv.DictReader(file)
        ]


def markdown(records: list[Record], mode: str, name: str) -> str:
    ok = [r for r in records if r.status == "ok"]
    parts = [
        f"# maxmargin and its peers, {mode} run of {date.today().isoformat()}",
        "\n".join(f"- {fact}" for fact in machine()),
        "Every library runs in a process of its own, taking turns; a kind of work is measured in "
        "one sitting. Times are medians, with the "
        "fastest and slowest repeat in brackets, after a first fit that warms up. × is the ratio "
        "to the fastest of the row. Dual, primal and KKT gap are recomputed in float64 from each "
        f"answer; {MISSED} marks a true gap above the tolerance of 1e-3. Linear machines are "
        "compared at the relative duality gap that their case names, each at the loosest of its "
        "own tolerances that comes to it.",
        "## Targets",
        table(("work", "against", "at least", "reached"), reached(records)),
        f"Every answer of maxmargin reached the tolerance: {ours_pass(ok)}.",
        f"![factors and scaling]({name}.png)",
        "## How often faster, geometric mean over the cases, same input dtype",
        means(records),
    ]
    for kind in dict.fromkeys(r.kind for r in ok):
        mine = [r for r in records if r.kind == kind and r.peer]
        parts += [f"## {kind}", times(mine, "as it is" if kind == "ablation" else None)]
        if kind == "scaling":
            parts.append(exponents(ok))
        if kind == "memory":
            parts.append("Peak memory beyond what was in use before `fit`, in MB:")
            parts.append(grid(mine, lambda r: f"{r.peak_mb:.0f}"))
    parts += ["## The judge", verdicts(ok)]
    absent = [r for r in records if r.status != "ok"]
    if absent:
        parts += ["## Not measured", *(f"- {line(r).strip()}" for r in absent)]
    return "\n\n".join(parts) + "\n"


def machine() -> list[str]:
    """What the numbers depend on."""
    cpu = platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((s.split(":")[1].strip() for s in lines if s.startswith("model name")), cpu)
        flags = next((s for s in lines if s.startswith("flags")), "").split()
        cpu += ", " + ("AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    distributions = ["numpy", "scipy", *(peer.distribution for peer in PEERS)]
    return [
        f"{cpu}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.platform()}",
        f"load of the machine at the end (1, 5, 15 minutes): {os.getloadavg()}",
        f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {installed(name)}" for name in dict.fromkeys(distributions)),
    ]


def installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "from source" if distribution == "maxmargin" else "absent"


def table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    rows = [head, ["---"] * len(list(head)), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def grid(records: list[Record], cell: Callable[[Record], str]) -> str:
    """Cases down, libraries across."""
    peers = list(dict.fromkeys(r.peer for r in records if r.status == "ok"))
    found = {(r.case, r.peer): r for r in records}
    lines = []
    for case in dict.fromkeys(r.case for r in records):
        here = [found.get((case, peer)) for peer in peers]
        shape = next((f"{r.rows:,} × {r.columns:,}" for r in here if r and r.rows), "")
        shown = [cell(r) if r and r.status == "ok" else r.status if r else "–" for r in here]
        lines.append([case, shape, *shown])
    return table(["case", "rows × columns", *peers], lines)


def times(records: list[Record], base: str | None = None) -> str:
    """Median seconds, spread, and the ratio to the fastest of the row, or to `base`."""
    best: dict[str, float] = {}
    for r in records:
        if r.status == "ok" and base in (None, r.peer):
            best[r.case] = min(best.get(r.case, np.inf), r.seconds)

    def cell(r: Record) -> str:
        ratio = f" {r.seconds / best[r.case]:.2g} ×" if best.get(r.case, 0) > 0 else ""
        mark = "" if r.passed else MISSED
        return f"**{r.seconds:.3g}**{mark} ({r.low:.2g}–{r.high:.2g}){ratio}"

    return grid(records, cell)


def means(records: list[Record]) -> str:
    kinds = [k for k in dict.fromkeys(r.kind for r in records) if factors(records, k, SAME_INPUT)]
    lines = []
    for rival in SAME_INPUT:
        found = [factors(records, kind, [rival]) for kind in kinds]
        if any(found):
            lines.append([rival, *(f"{geometric_mean(f):.2g} ×" if f else "–" for f in found)])
    return table(["against", *kinds], lines)


def exponents(records: list[Record]) -> str:
    """The slope of log seconds over log rows, by least squares."""
    lines = []
    for peer, rows, seconds in curves(records):
        slope, _ = np.polyfit(np.log(rows), np.log(seconds), 1)
        lines.append([peer, f"{rows.min():,.0f}–{rows.max():,.0f}", f"{slope:.2f}"])
    return table(["library", "rows", "exponent of n"], lines)


def curves(records: list[Record]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    scaling = [r for r in records if r.kind == "scaling" and r.status == "ok"]
    for peer in dict.fromkeys(r.peer for r in scaling):
        points = np.array(sorted((r.rows, r.seconds) for r in scaling if r.peer == peer))
        if len(points) > 1:
            yield peer, points[:, 0], points[:, 1]


def ours_pass(records: list[Record]) -> str:
    missed = [
        f"{r.case} ({r.peer}: {r.gap:.2e})"
        for r in records
        if r.peer.startswith("maxmargin") and not r.passed
    ]
    return "no: " + ", ".join(missed) if missed else "yes"


def verdicts(records: list[Record]) -> str:
    lines = [
        [
            r.kind,
            r.case,
            r.peer,
            f"{r.support_vectors:,}",
            f"{r.dual:.8g}",
            f"{r.primal:.8g}",
            f"{r.gap:.2e}{'' if r.passed else MISSED}",
        ]
        for r in records
        if r.kind not in ("predict", "cold", "memory")
    ]
    return table(["kind", "case", "library", "support vectors", "dual", "primal", "gap"], lines)


def figure(records: list[Record]):
    """Left: how often faster on each case. Right: seconds over rows."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(13, 7), layout="constrained")
    left, right = drawing.subplots(1, 2)
    cases = list(dict.fromkeys((r.kind, r.case) for r in records if r.kind in ("train", "sparse")))
    scaling = list(curves(records))
    libraries = dict.fromkeys([*SAME_INPUT, *(peer for peer, *_ in scaling)])
    colors = {library: f"C{k % 10}" for k, library in enumerate(libraries)}  # in both panels
    for rival in SAME_INPUT:
        points = [
            (factor, place)
            for place, (kind, case) in enumerate(cases)
            for factor in factors([r for r in records if r.case == case], kind, [rival])
        ]
        if points:
            left.plot(*zip(*points, strict=True), "o", color=colors[rival], label=rival)
    left.axvline(1, color="black", linewidth=0.8)
    left.set_xscale("log")
    left.grid(axis="x", which="both", alpha=0.3)
    left.invert_yaxis()
    left.set_yticks(range(len(cases)), [case for _, case in cases])
    left.set_xlabel("seconds of the peer / seconds of maxmargin, same input dtype")
    for peer, rows, seconds in scaling:
        right.loglog(rows, seconds, "o-", color=colors[peer], label=peer)
    right.grid(alpha=0.3)
    right.set_xlabel("rows")
    right.set_ylabel("seconds to train")
    for axes in left, right:
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
    return drawing
