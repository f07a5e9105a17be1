"""Hard margin, soft margin, slack, and the way of a machine as C grows.

The pictures of lectures 6 and 7, and what the notes say of support vectors and leave-one-out.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs
from sklearn.model_selection import LeaveOneOut, cross_val_score, train_test_split

from experiments.experiment import Finding, Outcome, panels, percent
from maxmargin import SVC
from maxmargin.datasets import moons
from maxmargin.kernels import RBF
from maxmargin.plots import KernelMatrixDisplay, MarginDisplay, PathDisplay


def run(n: int = 60, path_points: int = 20) -> Outcome:
    apart = make_blobs(n, centers=[[-2, -1], [2, 1]], cluster_std=0.8, random_state=3)
    mixed = make_blobs(n, centers=[[-1, -0.5], [1, 0.5]], cluster_std=0.9, random_state=1)
    curved = moons(n, seed=0)
    machines = {
        "hard margin, C = ∞": (SVC(C=np.inf, kernel="linear", tol=1e-8).fit(*apart), apart),
        "soft margin, C = 1": (SVC(C=1, kernel="linear", tol=1e-8).fit(*mixed), mixed),
        "RBF, C = 1, γ = 1": (SVC(C=1, gamma=1, tol=1e-8).fit(*curved), curved),
        "RBF, C = 1000, γ = 1": (SVC(C=1000, gamma=1, tol=1e-8).fit(*curved), curved),
    }
    path, matrix = _path(path_points)
    rows = [_numbers(name, machine, *data) for name, (machine, data) in machines.items()]
    hard, (X, y) = machines["hard margin, C = ∞"]
    sides = np.where(y == 1, 1, -1) * hard.decision_function(X)
    distance = sides.min() / np.linalg.norm(hard.coef_)
    on = sides[hard.support_]
    return Outcome(
        text=f"""
        A circle marks support vectors on the margin, a diamond those inside it, a cross those
        misclassified; a thin line is the slack of a point, to the margin of its class. The hard
        margin of the first machine is {hard.margin_:.4f} wide on either side. The last two are the
        same kernel on the same points with a low and a high price of errors. Below, a machine on
        two moons from C = 10⁻³ to 10⁴, each started from the one before: support vectors become
        fewer, and beyond C ≈ 10 only the training points gain. Beside it is its kernel matrix:
        points are similar to those of their own moon.
        """,
        rows=rows,
        figures={
            "Margins, support vectors and slack": lambda: _draw_margins(machines),
            "Accuracy and support vectors against C; the kernel matrix": lambda: _draw_path(
                path, matrix
            ),
        },
        findings=[
            Finding(
                "lectures 6, 7",
                "the hard margin is min tᵢy(xᵢ)/‖w‖ = 1/‖w‖",
                f"{distance:.8f} and {1 / np.linalg.norm(hard.coef_):.8f}",
                "reproduced",
            ),
            Finding(
                "notes",
                "a support vector on the margin has y(xᵀθ + θ₀) = 0",
                f"it is {on.min():.6f} … {on.max():.6f} on the hard margin's support vectors",
                "an error of the notes: it is 1",
            ),
            Finding(
                "notes",
                "leave-one-out error = support vectors / n",
                "; ".join(
                    f"{row['leave-one-out error']} and {row['support vectors / n']}" for row in rows
                ),
                "an error of the notes: it is at most that",
            ),
        ],
        table=list(rows[0]),
    )


def _numbers(name: str, machine: SVC, X: np.ndarray, y: np.ndarray) -> dict[str, object]:
    margins = np.where(y == 1, 1, -1) * machine.decision_function(X)
    slack = np.maximum(0, 1 - margins)
    errors = 1 - cross_val_score(machine, X, y, cv=LeaveOneOut())
    return {
        "machine": name,
        "support vectors / n": percent(len(machine.support_) / len(y)),
        "leave-one-out error": percent(float(errors.mean())),
        "total slack": round(float(slack.sum()), 4),
        "misclassified": int(np.sum(margins <= 0)),
        "duality gap": machine.certificate_.gap,
    }


def _draw_margins(machines: dict[str, tuple[SVC, tuple[np.ndarray, np.ndarray]]]) -> Figure:
    figure, axes = panels(2, 2, size=(3.5, 3.3))
    for ax, (name, (machine, data)) in zip(axes.flat, machines.items(), strict=True):
        MarginDisplay.from_estimator(machine, *data, ax=ax, slack=True, legend=False)
        ax.set_title(name)
        ax.set(xlabel="x₁", ylabel="x₂")
    handles, labels = axes.flat[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def _path(points: int) -> tuple[PathDisplay, KernelMatrixDisplay]:
    X, X_test, y, y_test = train_test_split(*moons(600, seed=1), test_size=400, random_state=0)
    Cs = np.logspace(-3, 4, points)
    path = PathDisplay.from_estimator(
        SVC(gamma=2), X, y, X_test, y_test, Cs=Cs, ax=Figure().subplots()
    )
    order = np.lexsort((X[:, 0], y))
    matrix = KernelMatrixDisplay.from_kernel(
        RBF(gamma=2), X[order], y[order], ax=Figure().subplots()
    )
    return path, matrix


def _draw_path(path: PathDisplay, matrix: KernelMatrixDisplay) -> Figure:
    figure, (above, below) = panels(2, 1, size=(5, 3.4))
    path.plot(ax=above)
    matrix.plot(ax=below)
    below.set_title("kernel matrix, RBF, γ = 2")
    return figure
