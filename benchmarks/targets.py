"""What maxmargin must reach, and what it reached, from the records of one run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import geometric_mean

from benchmarks.runner import Record

OURS = {"float32": "maxmargin-32", "float64": "maxmargin-64"}
SAME_INPUT = {
    "intelex-32": OURS["float32"],
    "intelex-64": OURS["float64"],
    "scikit-learn": OURS["float64"],
    "libsvm": OURS["float64"],
    "thundersvm": OURS["float32"],
    "liblinear": OURS["float64"],
    "snapml": OURS["float32"],
}
NOTICEABLE = 1.0  # MB; less cannot be told from nothing, so no share of it is claimed
INTELEX = ("intelex-32", "intelex-64")
KERNEL = ("scikit-learn", *INTELEX)


@dataclass(frozen=True)
class Target:
    """One line of the table: how often faster than `rivals` on some kinds of work.

    `over` turns the factors of all cases into one; `fastest` counts only the fastest rival of
    each case.
    """

    work: str
    kinds: tuple[str, ...]
    rivals: tuple[str, ...]
    at_least: float
    over: Callable[[Iterable[float]], float] = geometric_mean
    fastest: bool = False


TRAIN = ("train", "sparse")

TARGETS = [
    Target("train, geometric mean", TRAIN, INTELEX, 5),
    Target("train, worst case", TRAIN, INTELEX, 1.5, over=min),
    Target("train, geometric mean", TRAIN, ("scikit-learn",), 15),
    Target("train, geometric mean", TRAIN, ("libsvm",), 15),
    Target("predict, geometric mean", ("predict",), INTELEX, 2),
    Target("predict, geometric mean", ("predict",), ("scikit-learn",), 40),
    Target("multiclass, worst case", ("multiclass",), KERNEL, 2, over=min, fastest=True),
    Target("SVR, worst case", ("SVR",), INTELEX, 3, over=min),
    Target("sparse, geometric mean", ("sparse",), INTELEX, 2),
    Target("sparse, geometric mean", ("sparse",), ("libsvm",), 8),
    Target("small data, worst case", ("small",), ("scikit-learn",), 1, over=min),
    Target("small data, geometric mean", ("small",), ("scikit-learn",), 2),
    Target("linear, worst case", ("linear",), ("scikit-learn", "liblinear"), 1, min, fastest=True),
]


def factors(
    records: list[Record], kind: str, rivals: Iterable[str], fastest: bool = False
) -> list[float]:
    """How often faster maxmargin is than each rival on each case, given the same input dtype.

    A linear machine that did not come to the gap is not compared: it was given every tolerance.
    """
    measured = {
        (r.case, r.peer): r
        for r in records
        if r.kind == kind and r.status == "ok" and (r.passed or kind != "linear")
    }
    found = []
    for case in dict.fromkeys(case for case, _ in measured):
        here = [
            measured[case, rival].seconds / measured[case, SAME_INPUT[rival]].seconds
            for rival in rivals
            if (case, rival) in measured and (case, SAME_INPUT[rival]) in measured
        ]
        found += [min(here)] if fastest and here else here
    return found


def reached(records: list[Record]) -> list[tuple[str, str, str, str]]:
    """Lines of work, against, at least, reached."""
    lines = []
    for target in TARGETS:
        found = [
            factor
            for kind in target.kinds
            for factor in factors(records, kind, target.rivals, target.fastest)
        ]
        against = "the faster of " * target.fastest + ", ".join(target.rivals)
        lines.append(
            (
                target.work,
                against,
                f"{target.at_least:g} ×",
                verdict(target.over(found), target.at_least, "×") if found else "–",
            )
        )
    return lines + memory(records) + cold(records)


def verdict(value: float, at_least: float, unit: str) -> str:
    return f"{value:.2g} {unit} {'✓' if value >= at_least else '✗'}"


def memory(records: list[Record]) -> list[tuple[str, str, str, str]]:
    measured = {(r.case, r.peer): r for r in records if r.kind == "memory" and r.status == "ok"}
    lines = []
    for (case, peer), rival in measured.items():
        ours = measured.get((case, SAME_INPUT.get(peer, "")))
        if peer in INTELEX and ours:
            share = ours.peak_mb / rival.peak_mb if rival.peak_mb > NOTICEABLE else None
            shown = "–" if share is None else f"{share:.2g} {'✓' if share <= 0.1 else '✗'}"
            lines.append((f"peak extra memory, {case}", peer, "a tenth", shown))
    return lines


def cold(records: list[Record]) -> list[tuple[str, str, str, str]]:
    lines = []
    for r in records:
        if r.kind == "cold" and r.status == "ok":
            mark = "✓" if r.seconds < 0.5 else "✗"
            lines.append(
                (
                    f"first fit beyond a warm one, {r.case}",
                    r.peer,
                    "under 0.5 s",
                    f"{r.seconds:.2g} s {mark}",
                )
            )
    return lines
