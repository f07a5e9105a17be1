"""A race of solvers, drawn: gap against kernel evaluations, and against time."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.plots.palette import DASHES, ink, paper, require_matplotlib

MOST_POINTS = 300  # of a drawn line: more than its pixels are not visible


def plot_race(ways: Any, rows: int, *, goal: float = 1e-6, axes: Any = None) -> Any:
    """Draw a race: gap against kernel evaluations, and against time.

    The legend has the solvers in the order in which their lines end, from the largest gap down. A
    circle at the end is convergence, a cross is not; a gap below goal / 1000 is drawn there.

    Parameters
    ----------
    ways : what `race` returned
    rows : n; evaluations are drawn in units of n², the whole matrix
    goal : where a thin line is drawn
    axes : two matplotlib axes, or None to make a figure

    Returns
    -------
    the two axes

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import race
    >>> from maxmargin.formulations import c_svc
    >>> from maxmargin.gram import Gram
    >>> from maxmargin.kernels import RBF
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> ways = race({"Platt": "platt"}, c_svc(2 * y - 1, C=1.0), Gram(RBF(gamma=1.0), X))
    >>> left, right = plot_race(ways, len(X))
    >>> right.get_legend().get_texts()[0].get_text()
    'Platt: converged'
    """
    require_matplotlib("plot_race")
    import matplotlib.pyplot as plt

    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(13, 4.8), sharey=True, layout="constrained")
    floor, ends = goal / 1000, []
    colors = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    for number, (name, points) in enumerate(ways.groupby("solver", sort=False)):
        last = points.iloc[-1]
        if last["status"] == "refused":
            continue
        thin = max(1, len(points) // MOST_POINTS)
        drawn = points[points["kernel_evaluations"] > 0].iloc[::-1].iloc[::thin].iloc[::-1]
        gap = drawn["relative_gap"].clip(floor, 1.0)
        style = {
            "color": colors[number % len(colors)],
            "linestyle": DASHES[(number + number // len(colors)) % len(DASHES)],
        }
        text = f"{name}: {last['status']}"
        if last["status"] in ("stagnated", "out of iterations"):
            text += f",\n{last['why']}"
        shape = {"marker": "o" if last["status"] == "converged" else "X", "ms": 8}
        if number >= len(colors):  # a colour that repeats has a hollow end
            shape["markerfacecolor"] = paper()
        costs = drawn["kernel_evaluations"] / rows**2, drawn["seconds"]
        for axis, cost in zip(axes, costs, strict=True):
            last_only = {"markevery": [len(drawn) - 1], "clip_on": False}
            (line,) = axis.plot(cost, gap, lw=1.8, label=text, **style, **shape, **last_only)
        ends.append((float(gap.iloc[-1]), float(last["seconds"]), line))
    for axis, label in zip(axes, ("kernel evaluations / n²", "seconds"), strict=True):
        axis.set(xscale="log", yscale="log", ylim=(floor, 1.5), xlabel=label)
        axis.axhline(goal, color=ink(), lw=0.8, ls=":")
        axis.grid(alpha=0.4)
    if any(gap <= floor for gap, *_ in ends):  # they end below what the axis shows
        decades = [np.log10(floor), *np.arange(0.0, np.log10(floor) + 0.5, -2)]
        names = [f"$10^{{{decade:.3g}}}$" for decade in decades]
        axes[0].set_yticks(10.0 ** np.array(decades), [f"≤ {names[0]}", *names[1:]])
    axes[0].set_ylabel("duality gap / objective")
    handles = [line for *_, line in sorted(ends, key=lambda end: end[:2], reverse=True)]
    axes[1].legend(handles=handles, loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    return axes
