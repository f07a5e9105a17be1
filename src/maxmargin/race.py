"""A race: several solvers on one problem, and who comes how far at what cost.

Each starts from zero on a Gram matrix of its own, with nothing cached, in float64: so every gap
on the way is a true one. The gap is that of the certificate, as a share of the objective, the
same for all; so is the rule by which each is said to have converged. A solver that stalls is
drawn to where it stopped, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.gram import Gram
from maxmargin.problem import DualProblem, Solution
from maxmargin.solvers import Solver
from maxmargin.trace import table

MOST_POINTS = 300  # of a drawn line


def race(solvers: Mapping[str, Solver], problem: DualProblem, gram: Gram) -> Any:
    """Run each solver on the problem, and return all their ways in one pandas table.

    Parameters
    ----------
    solvers : names and solvers, with the `tol` and `max_time` that the race is to have
    problem : DualProblem
    gram : Gram
        Its kernel and data are used; each solver gets a fresh one. The matrix is held whole up
        to 1,024 rows: only larger problems tell who needs how many of its entries.

    Returns
    -------
    pandas.DataFrame
        A line for each outer iteration of each solver, and the last one of each from its
        certificate: `relative_gap`, `violation`, `kernel_evaluations`, `seconds`, `steps`, and
        at the end `status` and `why`. A solver that cannot take the problem has one line, with
        status "refused".

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin.formulations import c_svc
    >>> from maxmargin.kernels import RBF
    >>> from maxmargin.solvers import CoordinateDescent, RandomPairSMO, SecondOrderSMO
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> ways = race(
    ...     {
    ...         "second order": SecondOrderSMO(tol=1e-6),
    ...         "random pairs": RandomPairSMO(tol=1e-6),
    ...         "one by one": CoordinateDescent(tol=1e-6),
    ...     },
    ...     c_svc(2 * y - 1, C=1.0),
    ...     Gram(RBF(gamma=1.0), X),
    ... )
    >>> finish(ways)[["solver", "status", "why"]]
             solver     status                                                why
    0  second order  converged                         no KKT violation above tol
    1  random pairs  stagnated                               a sweep moved β by 0
    2    one by one    refused  CoordinateDescent cannot take a problem with a...
    """
    lines: list[dict[str, Any]] = []
    for name, solver in solvers.items():
        try:
            solver.check(problem, gram)
        except ValueError as refusal:
            lines.append({"solver": name, "status": "refused", "why": str(refusal)})
            continue
        # Compiling is no part of the race: a run of one step takes care of it.
        replace(solver, max_iter=1).solve(problem, fresh(gram))
        lines += way(name, problem, solver.solve(problem, fresh(gram)))
    return table(lines)


class ExactGram(Gram):
    """In float64 from the first step: the gradient on the way is as true as the last."""

    precision = np.float64


def fresh(gram: Gram) -> Gram:
    """The same matrix with nothing computed yet."""
    return ExactGram(gram.kernel, gram.X, cache_size=gram.cache_size, threads=gram.threads)


def way(name: str, problem: DualProblem, solution: Solution) -> list[dict[str, Any]]:
    """The lines of one solver; the last is what its certificate says."""
    lines = []
    for record in solution.history:
        gap, dual = record["gap"], record["objective"]
        scale = max(abs(dual + gap), abs(dual))
        costs = {key: record[key].item() for key in ("kernel_evaluations", "seconds", "steps")}
        lines.append(
            {
                "solver": name,
                "relative_gap": gap / scale if 0 < scale < np.inf else gap,
                "violation": record["violation"],
                **costs,
            }
        )
    proof = Certificate.of(problem, solution)
    lines.append(
        {
            "solver": name,
            "relative_gap": proof.relative_gap,
            "violation": proof.kkt_violation,
            "kernel_evaluations": proof.kernel_evaluations,
            "seconds": proof.seconds,
            "steps": proof.n_iter,
            "status": proof.status.value,
            "why": solution.why,
        }
    )
    return lines


def finish(ways: Any) -> Any:
    """Where each solver ended: the last line of each."""
    return ways.groupby("solver", sort=False).tail(1).reset_index(drop=True)


def plot_race(ways: Any, rows: int, *, goal: float = 1e-6, axes: Any = None) -> Any:
    """Draw a race: gap against kernel evaluations, and against time.

    Parameters
    ----------
    ways : what `race` returned
    rows : n; evaluations are drawn in units of n², the whole matrix
    goal : where a thin line is drawn
    axes : two matplotlib axes, or None to make a figure

    Returns
    -------
    the two axes
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot_race needs matplotlib: pip install 'maxmargin[plot]'") from error
    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(12, 4.5), sharey=True, layout="constrained")
    floor, ends = goal / 1000, []
    for number, (name, points) in enumerate(ways.groupby("solver", sort=False)):
        last = points.iloc[-1]
        if last["status"] == "refused":
            continue
        thin = max(1, len(points) // MOST_POINTS)
        drawn = points[points["kernel_evaluations"] > 0].iloc[::-1].iloc[::thin].iloc[::-1]
        gap = drawn["relative_gap"].clip(floor, 1.0)
        style = {"color": f"C{number % 10}", "linestyle": "-" if number < 10 else "--"}
        marker = {"color": style["color"], "marker": "o" if last["status"] == "converged" else "X"}
        for axis, cost in zip(axes, _costs(drawn, rows), strict=True):
            axis.plot(cost, gap, lw=1.2, **style)
            axis.plot(cost.iloc[-1], gap.iloc[-1], ms=7, clip_on=False, **marker)
        text = f"{name}: {last['status']}"
        if last["status"] in ("stagnated", "out of iterations"):
            text += f",\n{last['why']}"
        ends.append((gap.iloc[-1], last["seconds"], text, style["color"]))
    for axis, label in zip(axes, ("kernel evaluations / n²", "seconds"), strict=True):
        axis.set(xscale="log", yscale="log", ylim=(floor, 1.5), xlabel=label)
        axis.axhline(goal, color="grey", lw=0.6, ls=":")
        axis.grid(alpha=0.2)
    axes[0].set_ylabel("duality gap / objective")
    _label(axes[1], ends, floor)
    return axes


def _costs(points: Any, rows: int) -> tuple[Any, Any]:
    return points["kernel_evaluations"] / rows**2, points["seconds"]


def _label(axis: Any, ends: list[tuple[float, float, str, str]], floor: float) -> None:
    """Name each line beside the axis, at the height of its end and clear of the others."""
    ends = sorted(ends, key=lambda end: end[:2])
    heights = [float(np.log(gap / floor) / np.log(1.5 / floor)) for gap, *_ in ends]
    room = 1.0 / max(len(ends), 9)
    for k in range(1, len(ends)):
        heights[k] = max(heights[k], heights[k - 1] + room)
    for k in reversed(range(len(ends))):
        heights[k] = min(heights[k], 1.0 - room * (len(ends) - 1 - k))
    for height, (gap, cost, text, colour) in zip(heights, ends, strict=True):
        axis.annotate(
            text,
            xy=(cost, gap),
            xytext=(1.03, height),
            textcoords="axes fraction",
            color=colour,
            va="center",
            fontsize=8,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.5, "alpha": 0.5},
        )
