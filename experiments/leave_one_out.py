"""Leave-one-out over C: the exact error and its bounds.

The notes bound the leave-one-out error by the share of support vectors. Here every row is left out
and the machine retrained, for each C, and the bounds are drawn beside the exact error.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from experiments.experiment import Finding, Outcome, panels, percent
from maxmargin import SVC, c_path
from maxmargin.datasets import moons
from maxmargin.plots import CPathDisplay


def run(n: int = 200, points: int = 19) -> Outcome:
    X, y = moons(n, seed=0)
    path = c_path(SVC(gamma=1.0, tol=1e-6), X, y, np.logspace(-2, 4, points))
    share = path.bounds["support vectors"]
    loose = share / np.maximum(path.loo_error, 1 / n)
    best = int(path.loo_error.argmin())
    free = path.free > 0
    off = float(np.abs(path.span - path.loo_error)[free].max())
    rows = [
        {
            "C": float(C),
            "leave-one-out": float(path.loo_error[k]),
            "cross-validated": float(path.cv_error[k]),
            "training": float(path.training_error[k]),
            "support vectors / n": float(share[k]),
            "ξα": float(path.bounds["ξα"][k]) if "ξα" in path.bounds else None,
            "span": float(path.span[k]),
        }
        for k, C in enumerate(path.Cs)
    ]
    return Outcome(
        text=f"""
        Two half moons of {n} points, RBF with γ = 1. A point that is no support vector keeps its
        prediction when it is left out, so only support vectors are retrained, each from the full
        solution. The exact error is least at C = {path.Cs[best]:.3g}:
        {percent(path.loo_error[best])}.
        The share of support vectors bounds it at every C, and is {loose.min():.1f} to
        {loose.max():.1f} times as large; the span estimate costs no retraining and is off by
        {percent(off)} at most where a support vector is free. Where none is ({(~free).sum()} values
        of C) it does not see that b moves.
        """,
        rows=rows,
        figures={"Leave-one-out error and its bounds over C": lambda: _draw(path)},
        findings=[
            Finding(
                "notes",
                "the leave-one-out error is (number of support vectors) / n (for the hard margin)",
                f"at most that at {int((path.loo_error <= share).sum())} of {points} values of C, "
                f"equal at {int((path.loo_error == share).sum())}",
                "a bound, not an equality",
            )
        ],
        table=["C", "leave-one-out", "cross-validated", "training", "support vectors / n", "span"],
    )


def _draw(path) -> Figure:
    figure, axes = panels(1, 1, size=(6.4, 4.2))
    CPathDisplay.from_path(path, ax=axes)
    axes.set_ylim(-0.02, 1.02)
    return figure
