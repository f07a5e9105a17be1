"""Primal versus dual: parameters, size, training and inference.

Lectures 6 and 7 compare the two by formulas in N rows, D columns, F features of a feature map and
s support vectors. Here both train the same machine: the polynomial kernel (x·z + 1)³ in the dual,
and its F monomials, written out, in the primal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from math import factorial, prod
from time import perf_counter
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_classification

from experiments.experiment import Finding, Outcome, panels
from maxmargin import SVC, LinearSVC

DEGREE = 3


def run(
    Ns: Sequence[int] = (500, 1000, 2000, 4000, 8000),
    Ds: Sequence[int] = (5, 9, 14, 20),
    rounds: int = 5,
) -> Outcome:
    over_N = [measure(N, Ds[1], rounds) for N in Ns]
    over_F = [over_N[2] if Ds[1] == D else measure(Ns[2], D, rounds) for D in Ds]
    rows = over_N + [row for row in over_F if row is not over_N[2]]
    slopes = {
        "primal training per epoch over N": slope(over_N, "N", "primal, s per epoch"),
        "primal training per epoch over F": slope(over_F, "F", "primal, s per epoch"),
        "dual training over N": slope(over_N, "N", "dual, s"),
        "primal inference over F": slope(over_F, "F", "primal, µs per row"),
        "dual inference over sD": slope(over_N, "sD", "dual, µs per row"),
    }
    apart = max(row["objectives apart"] for row in rows)
    big = max(over_F, key=lambda row: row["F"])
    return Outcome(
        text=f"""
        The same machine, twice: the objectives of the two differ by at most {apart:.0e} of
        themselves. Which is smaller and faster is a matter of F against sD: with D = {big["D"]}
        columns there are F = {big["F"]} monomials, and the dual keeps {big["s"]} support vectors of
        {big["D"]} numbers each. The table has what was measured; below are the powers by which it
        grows, beside the lectures' formulas. Times are the least of {rounds} rounds, and small ones
        are ruled by what a call costs before it computes anything.
        """,
        rows=rows,
        figures={
            "Training and inference, primal and dual": lambda: _draw(over_N, over_F),
        },
        findings=[
            Finding(
                "lectures 6, 7",
                "parameters: F in the primal, N in the dual",
                f"{big['F']} weights, {big['N']} multipliers (and an offset each)",
                "reproduced",
            ),
            Finding(
                "lectures 6, 7",
                "model size: F, and s·D",
                f"at D = {big['D']}: {big['F']} and {big['sD']:,} numbers",
                "reproduced; the dual also keeps its s multipliers",
            ),
            Finding(
                "lectures 6, 7",
                "training: Θ(e·N·F) in the primal",
                f"an epoch grows like N^{slopes['primal training per epoch over N']:.1f} "
                f"F^{slopes['primal training per epoch over F']:.1f}",
                "reproduced" if slopes["primal training per epoch over N"] < 1.5 else "slower",
            ),
            Finding(
                "lectures 6, 7",
                "training: Ω(ND) to O(N²D) in the dual",
                f"grows like N^{slopes['dual training over N']:.1f}",
                "reproduced" if slopes["dual training over N"] < 2.3 else "slower than that here",
            ),
            Finding(
                "lectures 6, 7",
                "inference: Θ(F), and Θ(s·D)",
                f"grow like F^{slopes['primal inference over F']:.1f} and "
                f"(sD)^{slopes['dual inference over sD']:.1f}",
                "reproduced, as upper bounds",
            ),
        ],
        table=[
            "N",
            "D",
            "F",
            "s",
            "sD",
            "primal, s",
            "dual, s",
            "primal, µs per row",
            "dual, µs per row",
        ],
    )


def monomials(X: np.ndarray, degree: int = DEGREE) -> np.ndarray:
    """φ with φ(x)·φ(z) = (x·z + 1)^degree: one column per monomial of (1, x)."""
    Z = np.hstack([np.ones((len(X), 1)), X])
    choices = list(combinations_with_replacement(range(Z.shape[1]), degree))
    counts = [np.unique(choice, return_counts=True)[1].tolist() for choice in choices]
    weights = [factorial(degree) / prod(map(factorial, count)) for count in counts]
    return np.prod(Z[:, choices], axis=2) * np.sqrt(weights)


def measure(N: int, D: int, rounds: int) -> dict[str, Any]:
    """Train the machine both ways and time it."""
    X, y = make_classification(
        N + 2000, D, n_informative=D, n_redundant=0, flip_y=0.05, random_state=0
    )
    X /= np.linalg.norm(X, axis=1).mean()
    X, X_test, y = X[:N], X[N:], y[:N]
    Z = monomials(X)
    primal = LinearSVC(loss="hinge", solver="dual", tol=1e-5, max_iter=-1)
    dual = SVC(kernel="poly", degree=DEGREE, gamma=1.0, coef0=1.0, tol=1e-4)
    seconds = _least(
        [
            lambda: primal.fit(Z, y),
            lambda: dual.fit(X, y),
            lambda: primal.decision_function(monomials(X_test)),
            lambda: dual.decision_function(X_test),
        ],
        rounds,
    )
    s, epochs = len(dual.support_), int(np.max(primal.n_iter_))
    values = primal.certificate_.primal, dual.certificate_.primal
    return {
        "N": N,
        "D": D,
        "F": Z.shape[1],
        "s": s,
        "sD": s * D,
        "epochs": epochs,
        "primal, s": seconds[0],
        "primal, s per epoch": seconds[0] / epochs,
        "dual, s": seconds[1],
        "primal, µs per row": 1e6 * seconds[2] / len(X_test),
        "dual, µs per row": 1e6 * seconds[3] / len(X_test),
        "objectives apart": abs(values[0] - values[1]) / values[1],
    }


def _least(works: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Least seconds of each, taking turns; short ones are repeated for a tenth of a second."""
    repeats = [max(1, min(100, round(0.1 / _seconds(work)))) for work in works]  # and a warm-up
    turns = np.empty((rounds, len(works)))
    for place in np.ndindex(turns.shape):
        times = repeats[place[1]]
        turns[place] = min(_seconds(works[place[1]]) for _ in range(times))
    return turns.min(axis=0).tolist()


def _seconds(work: Callable[[], Any]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


def slope(rows: list[dict[str, Any]], over: str, of: str) -> float:
    """The power by which a measure grows."""
    return float(np.polyfit(*(np.log([row[key] for row in rows]) for key in (over, of)), 1)[0])


def _draw(over_N: list[dict[str, Any]], over_F: list[dict[str, Any]]) -> Figure:
    figure, axes = panels(2, 2, size=(3.4, 2.9), sharex="col", sharey="row")
    for column, rows, over in zip(axes.T, (over_N, over_F), ("N", "F"), strict=True):
        at = [row[over] for row in rows]
        for ax, unit in zip(column, ("s", "µs per row"), strict=True):
            for marker, form in zip("so", ("primal", "dual"), strict=True):
                ax.plot(at, [row[f"{form}, {unit}"] for row in rows], f"-{marker}", label=form)
            ax.set(xscale="log", yscale="log")
            ax.grid(alpha=0.5)
            ax.set_xticks(at, [f"{value:,}" for value in at])
            ax.set_xticks([], minor=True)
        fixed = f"F = {rows[0]['F']}" if over == "N" else f"N = {rows[0]['N']}"
        column[0].set_title(f"over {over}, {fixed}")
        column[1].set_xlabel("rows N" if over == "N" else "features F")
    axes[0, 0].set_ylabel("training (s)")
    axes[1, 0].set_ylabel("inference (µs per row)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure
