"""The tables and the figure of `benchmarks.search`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from statistics import geometric_mean

import numpy as np

from benchmarks.report import machine, table

Lines = Sequence[dict[str, str]]
TUNE, GRID, OWN = "maxmargin tune", "intelex GridSearchCV", "maxmargin GridSearchCV"
OURS, THEIRS = "maxmargin leave_one_out", "scikit-learn LeaveOneOut"


def write(lines: Lines, folder: Path) -> None:
    """SEARCH.md and search.png."""
    (folder / "SEARCH.md").write_text(markdown(lines))
    figure(lines).savefig(folder / "search.png", dpi=150)


def factors(lines: Lines, ours: str, theirs: str) -> dict[str, float]:
    """How often faster, by case."""
    seconds = {(each["case"], each["method"]): float(each["seconds"]) for each in lines}
    return {
        case: seconds[case, theirs] / seconds[case, ours]
        for case, method in seconds
        if method == ours and (case, theirs) in seconds
    }


def targets(lines: Lines) -> list[list[str]]:
    """What was to be reached, and what was."""
    found = []
    for work, ours, theirs, over, least in (
        ("search, geometric mean", TUNE, GRID, geometric_mean, 25),
        ("search, worst", TUNE, GRID, min, 12),
        ("search, worst", TUNE, OWN, min, 5),
        ("leave-one-out, worst", OURS, THEIRS, min, 100),
    ):
        known = [*factors(lines, ours, theirs).values()]
        value = over(known) if known else None
        shown = "–" if value is None else f"{value:.3g} × {'✓' if value >= least else '✗'}"
        found.append([work, theirs, f"{least} ×", shown])
    return found


def markdown(lines: Lines) -> str:
    rows = []
    for each in lines:
        rival = {TUNE: None, OURS: None, THEIRS: OURS}.get(each["method"], TUNE)
        known = factors(lines, rival, each["method"]) if rival else {}
        times = f"{known[each['case']]:.3g} ×" if each["case"] in known else ""
        rows.append(
            [
                each["case"],
                each["method"],
                f"{float(each['seconds']):.3g}",
                times,
                f"{float(each['score']):.4f}",
                each["params"],
                each["over data MB"],
                each["load"],
                each["note"],
            ]
        )
    head = "case", "method", "seconds", "as ours", "score", "parameters", "MB", "load", "note"
    return (
        "\n\n".join(
            [
                f"# The search over C and γ, and leave-one-out, {date.today().isoformat()}",
                "\n".join(f"- {fact}" for fact in machine()),
                "`python -m benchmarks.search`. 10 × 10 cells, five folds, two jobs; the score is "
                "the best mean score of the folds, or the leave-one-out error (mean squared of a "
                "regressor). MB is the peak of memory beyond the data. load is that of the machine "
                "after the run: other work beside it makes a run longer, not shorter. Long runs of "
                "others went beside other work: they count as their CPU time on two cores, the "
                "least that two jobs can take.",
                table(("work", "against", "at least", "reached"), targets(lines)),
                table(head, rows),
                "![seconds](search.png)",
            ]
        )
        + "\n"
    )


def figure(lines: Lines):
    """Seconds of each method, by case."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(9, 5), layout="constrained")
    axes = drawing.subplots()
    shown = [each for each in lines if " MB" not in each["case"]]
    cases = list(dict.fromkeys(each["case"] for each in shown))
    methods = list(dict.fromkeys(each["method"] for each in shown))
    for k, method in enumerate(methods):
        mine = [each for each in shown if each["method"] == method]
        places = np.array([cases.index(each["case"]) for each in mine]) + 0.2 * (k % 3 - 1)
        axes.barh(places, [float(each["seconds"]) for each in mine], height=0.18, label=method)
    axes.set_xscale("log")
    axes.set_yticks(range(len(cases)), cases)
    axes.invert_yaxis()
    axes.set_xlabel("seconds")
    axes.grid(axis="x", alpha=0.3)
    drawing.legend(loc="outside upper center", ncols=3)
    return drawing
