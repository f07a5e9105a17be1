"""One-versus-rest, one-versus-one and softmax regression on the same data.

Lecture 7: binary machines that were trained apart leave regions that no class wins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from experiments.experiment import Finding, Outcome, panels, percent
from maxmargin import SVC
from maxmargin.plots import RegionsDisplay
from maxmargin.plots.palette import ink

CENTRES = {
    "a triangle": [(0, 1.9), (-2.2, -1.3), (2.2, -1.3)],
    "a row": [(-3.2, 0), (0, 0.2), (3.2, 0)],
    "a ring": [(2.4 * np.cos(a), 2.4 * np.sin(a)) for a in np.arange(5) * 0.4 * np.pi],
}


def run(n: int = 150, repeats: int = 5) -> Outcome:
    machines = {
        "one-versus-rest": SVC(kernel="linear", multiclass="ovr"),
        "one-versus-one": SVC(kernel="linear"),
        "softmax regression": LogisticRegression(),
    }
    rows = []
    for shape, centres in CENTRES.items():
        for name, machine in machines.items():
            shares, scores = [], []
            for seed in range(repeats):
                X, y = _clusters(centres, 2 * n, seed)
                X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
                machine.fit(X, y)
                scores.append(machine.score(X_test, y_test))
                shares.append(_ambiguous(machine, X, y))
            rows.append(
                {
                    "classes": f"{len(centres)} in {shape}",
                    "machine": name,
                    "test accuracy": percent(float(np.mean(scores))),
                    "ambiguous share of the plane": percent(float(np.mean(shares))),
                }
            )
    shares = {
        name: ", ".join(
            row["ambiguous share of the plane"] for row in rows if row["machine"] == name
        )
        for name in machines
    }
    rest, one = (
        [row["test accuracy"] for row in rows if row["machine"] == name]
        for name in ("one-versus-rest", "one-versus-one")
    )
    return Outcome(
        text=f"""
        Three linear machines on the same {n} points, {repeats} draws, with classes in a triangle,
        a row and a ring. Hatched is where the binary machines disagree: of one-versus-rest, where
        none or several claim the point; of one-versus-one, where the most votes are shared. There a
        class is still predicted, by decision values of machines that never met. In a row, no line
        cuts the middle class from the rest, so one-versus-rest gives it up; one-versus-one does not
        have to cut it. Softmax regression is trained on all classes at once and has no such
        regions.
        """,
        rows=rows,
        figures={
            "Regions of three machines, ambiguous ones hatched": lambda: _draw(machines, n),
        },
        findings=[
            Finding(
                "lecture 7",
                "tied votes usually leave large ambiguous regions",
                "; ".join(f"{name}: {share}" for name, share in shares.items())
                + " of the plane (triangle, row, ring)",
                "reproduced for one-versus-rest; the ties of one-versus-one are small",
            ),
            Finding(
                "lecture 7",
                "one-versus-rest needs calibrated outputs, which an SVM does not have",
                f"accuracy one-versus-rest {', '.join(rest)}, one-versus-one {', '.join(one)}",
                "reproduced where a class lies between others",
            ),
        ],
        table=["classes", "machine", "test accuracy", "ambiguous share of the plane"],
    )


def _clusters(centres: Any, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    y = np.arange(n) % len(centres)
    return np.asarray(centres)[y] + random.normal(0, 0.75, (n, 2)), y


def _ambiguous(machine: Any, X: np.ndarray, y: np.ndarray) -> float:
    ax = Figure().subplots()
    display = RegionsDisplay.from_estimator(machine, X, y, ax=ax, grid_resolution=80)
    return float(display.ambiguous.mean())


def _draw(machines: dict[str, Any], n: int) -> Figure:
    figure, axes = panels(len(machines), len(CENTRES), size=(2.5, 2.45), sharex="col", sharey="col")
    for column, (shape, centres) in zip(axes.T, CENTRES.items(), strict=True):
        X, y = _clusters(centres, n)
        for ax, (name, machine) in zip(column, machines.items(), strict=True):
            RegionsDisplay.from_estimator(machine.fit(X, y), X, y, ax=ax, legend=False)
            ax.set(xlabel="", ylabel=f"{name}\nx₂" if ax in axes[:, 0] else "")
        column[0].set_title(f"{len(centres)} classes in {shape}", fontsize=11)
        column[-1].set_xlabel("x₁")
    hatch = Patch(facecolor="none", edgecolor=ink(), hatch="///", label="ambiguous")
    classes, _ = axes[0, -1].get_legend_handles_labels()  # of the ring, which has the most
    figure.legend(handles=[*classes, hatch], loc="outside upper center", ncols=3)
    return figure
