"""The tables, the CSV and the figure of `benchmarks.features`."""

from __future__ import annotations

import os
import platform
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
import sklearn

import maxmargin

TITLES = {
    "speed": "Speed: the same number of components, C and γ",
    "memory": "Memory: 1,000,000 × 50, 1,000 components, a stated budget",
    "mnist": "MNIST: 60,000 rows, ten classes",
    "refine": "Refined: the exact machine from the approximate solution, and from nothing",
    "figure": "Accuracy against time (features.png)",
}
COLUMNS = (
    "case",
    "rows",
    "method",
    "components",
    "budget",
    "seconds",
    "accuracy",
    "kernel error",
    "relative gap",
    "steps",
    "over data MB",
    "note",
)


def line(result: dict) -> str:
    """One line of a table."""
    return "| " + " | ".join(_cell(result.get(name)) for name in COLUMNS) + " |"


def _cell(value) -> str:
    if value is None or value == 0 or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.4g}"
    return f"{int(value):,}" if isinstance(value, int | float) else str(value)


def write(results: list[dict], out: Path) -> None:
    """FEATURES.md, features.csv and features.png."""
    frame = pd.DataFrame(results)
    frame.to_csv(out / "features.csv", index=False)
    parts = [heading()]
    for name, title in TITLES.items():
        some = [result for result in results if result["table"] == name]
        if some:
            header = "| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|"
            parts.append("\n".join([f"## {title}\n", header, *map(line, some)]))
            parts.append(findings(name, frame[frame.table == name]))
    (out / "FEATURES.md").write_text("\n\n".join(filter(None, parts)) + "\n")
    curve = frame[frame.table == "figure"]
    if len(curve):
        figure(curve, out / "features.png")


def heading() -> str:
    """What was measured, where, with what."""
    model = next(
        (
            text.split(":")[1].strip()
            for text in Path("/proc/cpuinfo").read_text().splitlines()
            if text.startswith("model name")
        ),
        platform.machine(),
    )
    return (
        "# Kernels as features\n\n"
        "Made by `python -m benchmarks.features`; each line is one run in a process of its own.\n"
        f"{date.today()}, {model}, {os.cpu_count()} cores; Python {platform.python_version()}, "
        f"NumPy {np.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}, "
        f"maxmargin {maxmargin.__version__}.\n\n"
        "`scikit-learn nystroem` is `make_pipeline(Nystroem, LinearSVC)` with its defaults; ours "
        "is `SVC(approximation=...)` with its own, a relative duality gap of 0.001 (for the "
        "problem with the features, which is what the certificate says). Budgets and memory are "
        "in MB."
    )


def findings(name: str, frame: pd.DataFrame) -> str:
    """What a table says, in sentences."""
    if "seconds" not in frame:
        return ""
    told = []
    for case, runs in frame.groupby("case", sort=False):
        by = runs.set_index("method")
        if name == "speed" and {"maxmargin nystroem", "scikit-learn nystroem"} <= set(by.index):
            ours, theirs = by.loc["maxmargin nystroem"], by.loc["scikit-learn nystroem"]
            ratio, more = theirs.seconds / ours.seconds, ours.accuracy - theirs.accuracy
            told.append(f"{case}: {ratio:.1f} times as fast, accuracy {more:+.4f}.")
        elif name == "refine":
            cold, warm = by.loc["maxmargin exact"].seconds, by.loc["maxmargin refined"].seconds
            verdict = "faster than" if warm < cold else "slower than"
            told.append(f"{case}: {verdict} a cold start, {warm:.2f} s against {cold:.2f} s.")
    if name == "memory":
        for _, run in frame.iterrows():
            over = run["over data MB"] - run["budget"]
            told.append(f"{run.method}, {run.budget:,.0f} MB: {over:+,.0f} MB beside the budget.")
    return "\n".join(f"- {sentence}" for sentence in told)


def figure(frame: pd.DataFrame, path: Path) -> None:
    """Accuracy against training time."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    marks = {"maxmargin nystroem": "o-", "maxmargin rff": "s-", "maxmargin exact": "*"}
    for method, mark in marks.items():
        runs = frame[frame.method == method].dropna(subset=["seconds"])
        size = 14 if mark == "*" else 5
        axes.plot(runs.seconds, runs.accuracy, mark, label=method, markersize=size)
        for run in runs.itertuples():
            if run.components:
                axes.annotate(
                    f"{run.components:,}",
                    (run.seconds, run.accuracy),
                    (4, -9),
                    textcoords="offset points",
                    fontsize=7,
                )
    axes.set(xscale="log", xlabel="seconds to train", ylabel="accuracy on held-out rows")
    axes.set_title(f"{frame.case.iloc[0]}, {frame.rows.iloc[0]:,} rows; the numbers are D")
    axes.grid(alpha=0.3)
    axes.legend()
    plt.savefig(path, dpi=150)
