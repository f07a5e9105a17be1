"""The kernel perceptron against the SVM.

The slides end with the perceptron and its kernel form: it keeps the rows it was wrong about.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.experiment import Finding, Outcome, panels, percent
from experiments.simulations import Halves, halves
from maxmargin import SVC, KernelPerceptron
from maxmargin.kernels import RBF
from maxmargin.plots import RegionsDisplay
from maxmargin.plots.palette import class_shape, ink

GAMMA, C = 2.0, 0.6


def run(n: int = 400, epochs: Sequence[int] = (1, 2, 3, 5, 10, 20, 50, 100)) -> Outcome:
    data = halves(n)
    rows, curves = [], {}
    for name, (X, X_test, y, y_test) in data.items():
        svm = SVC(C=C, gamma=GAMMA).fit(X, y)
        stages = [KernelPerceptron(gamma=GAMMA, max_iter=k).fit(X, y) for k in epochs]
        curves[name] = {
            "mistakes": stages[-1].mistakes_,
            "perceptron": [stage.score(X_test, y_test) for stage in stages],
            "svm": svm.score(X_test, y_test),
        }
        for machine, what in (
            (stages[0], "perceptron, 1 epoch"),
            (stages[-1], f"perceptron, {stages[-1].n_iter_} epochs"),
            (svm, "SVM"),
        ):
            rows.append(
                {
                    "data": name,
                    "machine": what,
                    "train accuracy": percent(machine.score(X, y)),
                    "test accuracy": percent(machine.score(X_test, y_test)),
                    "rows kept": len(machine.support_vectors_),
                    "mistakes": getattr(machine, "n_mistakes_", None),
                    "Novikoff's bound": getattr(machine, "novikoff_bound_", None),
                }
            )
    X, y = _separable(*data["circles"][::2])
    easy = KernelPerceptron(gamma=GAMMA, max_iter=1000).fit(X, y)
    swings = np.mean([np.ptp(curve["perceptron"]) for curve in curves.values()])
    ahead = sum(curve["svm"] >= curve["perceptron"][-1] for curve in curves.values())
    started = _strict_mistakes(*data["circles"][::2])
    return Outcome(
        text=f"""
        Both end as a sum of kernels on the rows they keep. The perceptron takes them one at a time
        and corrects itself where it was wrong; it asks for no margin and has no price of errors, so
        that on noisy data it follows every point: from one epoch to another its test accuracy moves
        by {100 * swings:.1f} points in the mean of the sets, and it is at rest only when no mistake
        is left. The SVM is the better, or as good, on {ahead} of {len(curves)} sets. On circles
        without the points that the classes share, {len(y)} of them, the perceptron ends after
        {easy.n_iter_} epochs with {easy.n_mistakes_} mistakes; Novikoff's bound for the machine it
        found is {easy.novikoff_bound_:,.0f}.
        """,
        rows=rows,
        figures={
            "Mistakes and test accuracy per epoch": lambda: _draw_curves(curves, epochs),
            "Moons by a perceptron and by an SVM": lambda: _draw_planes(data["moons"]),
        },
        findings=[
            Finding(
                "slides",
                "the perceptron's predictor is Σ y_i k(x_i, x) over its mistakes",
                f"largest difference to that sum: {_sum_of_mistakes(easy, X):.1e}",
                "reproduced",
            ),
            Finding(
                "slides",
                "a mistake is ŷy < 0",
                f"with w = 0 at the start ŷ is 0: {started} mistakes in {n // 2} rows, nothing "
                "is ever learnt",
                "an error of the slides: ŷy ≤ 0",
            ),
            Finding(
                "slides",
                "the algorithm is online; its mistakes on separable data are bounded",
                f"{easy.n_mistakes_} mistakes, bound {easy.novikoff_bound_:,.0f}",
                "reproduced",
            ),
        ],
        table=["data", "machine", "train accuracy", "test accuracy", "rows kept", "mistakes"],
    )


def _separable(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that an SVM has on the right side of its margin."""
    sides = np.where(y == 1, 1, -1) * SVC(C=C, gamma=GAMMA).fit(X, y).decision_function(X)
    return X[sides > 0.5], y[sides > 0.5]


def _strict_mistakes(X: np.ndarray, y: np.ndarray) -> int:
    """Mistakes of the slides' loop as printed, where a prediction of 0 is none."""
    t, K = np.where(y == 1, 1, -1), RBF(GAMMA)(X, X)
    wrong = np.zeros(len(t))
    for i in range(len(t)):
        wrong[i] += (wrong * t) @ K[i] * t[i] < 0
    return int(wrong.sum())


def _sum_of_mistakes(machine: KernelPerceptron, X: np.ndarray) -> float:
    """How far the decision values are from Σ ± k(x_i, x), with whole numbers of mistakes."""
    whole = np.round(machine.dual_coef_)
    values = RBF(GAMMA)(X, machine.support_vectors_) @ whole[0]
    return float(np.max(np.abs(values - machine.decision_function(X))))


def _draw_curves(curves: dict[str, dict[str, Any]], epochs: Sequence[int]) -> Figure:
    figure, (above, below) = panels(2, 1, size=(5.4, 3.2))
    for k, (name, curve) in enumerate(curves.items()):
        counts = curve["mistakes"]
        style = {"marker": class_shape(k), "markersize": 5}
        (line,) = above.plot(
            np.arange(1, len(counts) + 1), counts, label=name, **style, markevery=_spread(counts)
        )
        accuracy, color = 100 * np.array(curve["perceptron"]), line.get_color()
        below.plot(epochs, accuracy, color=color, label=name, **style)
        below.axhline(100 * curve["svm"], color=color, linestyle=":", linewidth=2)
    above.set(xscale="log", xlabel="epoch", ylabel="mistakes per epoch")
    below.set(xscale="log", xlabel="epochs trained", ylabel="test accuracy (%)")
    for ax in (above, below):
        ax.grid(alpha=0.5)
    sets, _ = above.get_legend_handles_labels()
    kinds = [
        Line2D([], [], color=ink(), label="perceptron"),
        Line2D([], [], color=ink(), linestyle=":", label="SVM"),
    ]
    figure.legend(handles=[*sets, *kinds], loc="outside upper center", ncols=3)
    return figure


def _spread(values: np.ndarray) -> list[int]:
    """About a dozen places, evenly apart on a logarithmic axis."""
    return sorted({int(k) - 1 for k in np.geomspace(1, len(values), 12)})


def _draw_planes(moons: Halves) -> Figure:
    X, X_test, y, y_test = moons
    machines = {
        "perceptron, 1 epoch": KernelPerceptron(gamma=GAMMA, max_iter=1),
        "perceptron, 100 epochs": KernelPerceptron(gamma=GAMMA, max_iter=100),
        "SVM, C = 0.6": SVC(C=C, gamma=GAMMA),
    }
    figure, axes = panels(len(machines), 1, size=(4.6, 2.7), sharex=True)
    for ax, (name, machine) in zip(axes, machines.items(), strict=True):
        machine.fit(X, y)
        RegionsDisplay.from_estimator(machine, X, y, ax=ax, legend=False)
        ax.set_title(f"{name}, test {percent(machine.score(X_test, y_test))}")
        ax.set(xlabel="", ylabel="x₂")
    axes[-1].set_xlabel("x₁")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure
