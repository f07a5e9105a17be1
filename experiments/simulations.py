"""The review's three simulated sets: their halves, and the picture of a machine on each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.model_selection import train_test_split

from experiments.experiment import panels, percent
from maxmargin.datasets import SIMULATIONS
from maxmargin.plots import RegionsDisplay
from maxmargin.plots.palette import ink

Halves = tuple[Any, Any, Any, Any]


def halves(n: int, seed: int = 0) -> dict[str, Halves]:
    """X_train, X_test, y_train, y_test of each set."""
    sets = {name: make(n, seed=seed) for name, make in SIMULATIONS.items()}
    return {
        name: tuple(train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed))
        for name, (X, y) in sets.items()
    }


def draw(machines: Mapping[str, Any], data: Mapping[str, Halves]) -> Figure:
    """Training points on the left, test points on the right, errors crossed out."""
    figure, axes = panels(len(data), 2, sharex="row", sharey="row")
    for name, (left, right) in zip(data, axes, strict=True):
        X_train, X_test, y_train, y_test = data[name]
        over = np.vstack([X_train, X_test])
        _panel(left, machines[name], X_train, y_train, over, f"{name}, train")
        _panel(right, machines[name], X_test, y_test, over, f"{name}, test")
        right.set_ylabel("")
        if left is not axes[-1, 0]:
            left.set_xlabel("")
            right.set_xlabel("")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def _panel(ax: Axes, machine: Any, X: Any, y: Any, over: Any, title: str) -> None:
    RegionsDisplay.from_estimator(machine, X, y, over=over, ax=ax, legend=False)
    wrong = machine.predict(X) != y
    ax.scatter(
        *X[wrong].T, marker="x", s=45, color=ink(), linewidths=1.4, label="misclassified", zorder=4
    )
    ax.set_title(f"{title}: {percent(machine.score(X, y))}")
    ax.set(xlabel="x₁", ylabel="x₂")
