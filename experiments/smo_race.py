"""Variants of SMO racing.

One step, six ways to choose its two variables: the lectures' simplified SMO, the review's random
pairs, Platt's heuristics, and three that later libraries use.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from experiments.experiment import Finding, Outcome, panels
from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.plots.palette import DASHES, ink
from maxmargin.problem import DualProblem
from maxmargin.solvers import (
    BlockSMO,
    CoordinateDescent,
    MaximalViolatingPairSMO,
    PlattSMO,
    RandomPairSMO,
    SecondOrderSMO,
    SimplifiedSMO,
    Solver,
)
from maxmargin.watch import finish, race

TOL = 1e-6
FLOOR = 1e-10  # a gap below is as good as none, and drawn there
DECADES = [FLOOR, 1e-8, 1e-6, 1e-4, 1e-2, 1.0]


def run(n: int = 1000, seconds: float = 6.0) -> Outcome:
    problem, gram = _problem(n)
    kinds: dict[str, type[Solver]] = {
        "simplified (lectures)": SimplifiedSMO,
        "random pairs (review)": RandomPairSMO,
        "Platt (slides, notes)": PlattSMO,
        "maximal violating pair": MaximalViolatingPairSMO,
        "second order": SecondOrderSMO,
        "block": BlockSMO,
    }
    ways = race(
        {name: kind(tol=TOL, max_time=seconds) for name, kind in kinds.items()}, problem, gram
    )
    ends = finish(ways)
    sizes = [2 * n, 4 * n, 8 * n]
    growth = np.polyfit(np.log(sizes), np.log([_per_step(size) for size in sizes]), 1)[0]
    bare = CoordinateDescent(tol=TOL).solve(
        c_svc(np.sign(-problem.linear), C=1.0, fit_intercept=False), Gram(gram.kernel, gram.X)
    )
    rows = [
        {
            "solver": end["solver"],
            "status": end["status"],
            "gap / objective": float(end["relative_gap"]),
            "KKT violation": float(end["violation"]),
            "steps": int(end["steps"]),
            "kernel evaluations / n²": float(end["kernel_evaluations"]) / n**2,
            "seconds": float(end["seconds"]),
        }
        for _, end in ends.iterrows()
    ]
    done = {row["solver"]: row for row in rows}
    short = [row for row in rows if row["status"] != "converged"]
    stopped = "; ".join(
        f"{row['solver']}: {row['status']}, gap {row['gap / objective']:.0e}" for row in short
    )
    review = done["random pairs (review)"]
    sweeps = RandomPairSMO(tol=TOL, max_time=seconds).solve(problem, Gram(gram.kernel, gram.X))
    moved = float(sweeps.history["movement"][-1])
    pairs = [done[name] for name in ("Platt (slides, notes)", "second order")]
    return Outcome(
        text=f"""
        {n} points with overlapping classes, RBF kernel, C = 1, until no KKT condition is violated
        by more than 10⁻⁶ or {seconds:g} seconds are over. All take the same step; they differ in
        the pair they take it on. Choosing at random, with nothing known of who violates what, comes
        closer and closer, but slowly, and does not know when to stop: a circle at the end of a line
        is a proven optimum, a cross is not. The better the choice, the fewer the steps. The block
        variant chooses as the second-order one does, but inside a working set, and asks for kernel
        values in blocks. A longer race, with the solvers that are no SMO, is in
        [docs/do/choosing-a-solver.md](../docs/do/choosing-a-solver.md).
        """,
        rows=rows,
        figures={"Gap against steps and against time": lambda: _draw(ways)},
        findings=[
            Finding(
                "all",
                "SMO converges",
                stopped or "all converged",
                "with a rule that takes violating pairs; at random only in the long run",
            ),
            Finding(
                "review",
                "training ends when Σ|Δα| + |Δb| ≤ ε",
                f"never: the last sweep of random pairs moved by {moved:.2g}, with a gap of "
                f"{review['gap / objective']:.0e} of the objective ({review['status']})",
                "b is set at every pair, and pairs at their bounds do not agree on it: the number "
                "of sweeps ends the run, not the rule, which would not prove α optimal either",
            ),
            Finding(
                "slides, notes",
                "Platt's heuristics make SMO fast",
                f"{pairs[0]['steps']:,} steps; second-order choice {pairs[1]['steps']:,}, "
                f"simplified {done['simplified (lectures)']['steps']:,}",
                ("reproduced" if pairs[0]["status"] == "converged" else "not in this time")
                + "; later rules need fewer steps still",
            ),
            Finding(
                "notes",
                "O(m²) to O(m³) per iteration",
                f"kernel evaluations per step grow like m^{growth:.1f}",
                "an error of the notes: that is the cost of a training run",
            ),
            Finding(
                "slides",
                "without an offset training is simpler and faster",
                f"{bare.n_iter:,} steps of one variable, {bare.seconds:.2f} s; with offset "
                f"{pairs[1]['steps']:,} steps of two, {pairs[1]['seconds']:.2f} s",
                "simpler; "
                + ("faster" if bare.seconds < pairs[1]["seconds"] else "not faster here"),
            ),
        ],
        table=["solver", "status", "gap / objective", "steps", "seconds"],
    )


def _problem(n: int) -> tuple[DualProblem, Gram]:
    X, y = make_classification(n, 10, n_informative=6, flip_y=0.1, random_state=0)
    return c_svc(2 * y - 1, C=1.0), Gram(RBF(0.05), StandardScaler().fit_transform(X))


def _per_step(n: int, steps: int = 200) -> float:
    """Kernel evaluations per step on n rows."""
    solution = SecondOrderSMO(max_iter=steps).solve(*_problem(n))
    return solution.kernel_evaluations / solution.n_iter


def _draw(ways: Any) -> Figure:
    figure, axes = panels(2, 1, size=(5.6, 3.4), sharey=True)
    for k, (name, way) in enumerate(ways.groupby("solver", sort=False)):
        drawn = way[way["steps"] > 0]
        thin = max(1, len(drawn) // 200)
        drawn = drawn.iloc[::-1].iloc[::thin].iloc[::-1]
        gap = np.clip(drawn["relative_gap"], FLOOR, 1)
        end = "o" if way["status"].iloc[-1] == "converged" else "X"
        for ax, cost in zip(axes, ("steps", "seconds"), strict=True):
            (line,) = ax.plot(drawn[cost], gap, linestyle=DASHES[k % 4], label=name, linewidth=1.8)
            ax.plot(
                drawn[cost].iloc[-1],
                gap.iloc[-1],
                end,
                color=line.get_color(),
                markeredgecolor=ink(),
                markersize=8,
                clip_on=False,
                zorder=4,
            )
    for ax, label in zip(axes, ("steps", "seconds"), strict=True):
        ax.set(xscale="log", yscale="log", xlabel=label, ylabel="gap / objective")
        ax.grid(alpha=0.5)
        ax.set_yticks(DECADES, ["≤ 10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "1"])
        ax.set_yticks([], minor=True)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure
