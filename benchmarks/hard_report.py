"""The tables and the heat maps of `benchmarks.hard`."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.report import machine, table

LIMIT = 60.0  # seconds of a fit
MARKS = {"converged": "", "kkt only": "gap", "no": "no"}


def write(cells: list, folder: Path) -> None:
    """HARD.md and hard.png."""
    if not cells:
        return
    (folder / "HARD.md").write_text(markdown(cells))
    figure(cells).savefig(folder / "hard.png", dpi=110)


def names(cells: list, field: str) -> list[str]:
    return list(dict.fromkeys(getattr(cell, field) for cell in cells))


def markdown(cells: list) -> str:
    parts = [
        f"# Any C and any γ, run of {date.today().isoformat()}",
        "\n".join(f"- {fact}" for fact in machine()),
        "A grid of fits with C from 1e-2 to 1e6 and γ from 1e-3 to 1e2 in units of "
        "1/(columns · variance), each library in a process of its own with a limit of 60 s a fit; "
        "a fit that is killed counts 60 s. Answers are judged in float64: converged means a KKT "
        "violation and a relative duality gap ≤ 1e-3, whatever the library says. Libraries that "
        "were measured on a part of the grid are compared with maxmargin on that part, in the last "
        "column with 60 s for every fit that has not converged, however early it was given up.",
        "![seconds and endings](hard.png)",
        table(
            (
                "data",
                "library",
                "fits",
                "converged",
                "KKT only",
                "neither",
                "> 60 s",
                "sum s",
                "median s",
                "slowest s",
                "slowest / median",
                "sum / maxmargin's",
                "if not converged is 60 s",
            ),
            [
                row(cells, data, peer)
                for data in names(cells, "data")
                for peer in names([c for c in cells if c.data == data], "peer")
            ],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def row(cells: list, data: str, peer: str) -> tuple[str, ...]:
    mine = [c for c in cells if (c.data, c.peer) == (data, peer)]
    places = {(c.C, c.gamma) for c in mine}
    ours = [
        c.seconds
        for c in cells
        if (c.data, c.peer) == (data, "maxmargin") and (c.C, c.gamma) in places
    ]
    seconds = [c.seconds for c in mine]
    count = [sum(c.status == status for c in mine) for status in MARKS]
    middle, slowest = median(seconds), max(seconds)
    until_converged = sum(c.seconds if c.status == "converged" else LIMIT for c in mine)
    return (
        data,
        peer,
        str(len(mine)),
        *map(str, count),
        str(len(mine) - sum(count)),
        f"{sum(seconds):.1f}",
        f"{middle:.2f}",
        f"{slowest:.1f}",
        f"{slowest / middle:.0f}",
        *(f"{total / sum(ours):.1f}" if ours else "" for total in (sum(seconds), until_converged)),
    )


def figure(cells: list):
    """Seconds as colour, C across and γ up; what did not converge is marked."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm

    sets, peers = names(cells, "data"), names(cells, "peer")
    costs, gammas = sorted({c.C for c in cells}), sorted({c.gamma for c in cells})
    size = (3.6 * len(peers) + 1, 2.3 * len(sets) + 0.6)
    fig, axes = plt.subplots(
        len(sets), len(peers), figsize=size, squeeze=False, layout="constrained"
    )
    image = None
    for line, data in zip(axes, sets, strict=True):
        for ax, peer in zip(line, peers, strict=True):
            values = np.full((len(gammas), len(costs)), np.nan)
            for cell in cells:
                if (cell.data, cell.peer) != (data, peer):
                    continue
                x, y = costs.index(cell.C), gammas.index(cell.gamma)
                values[y, x] = cell.seconds
                mark = MARKS.get(cell.status, "> 60 s")
                ink = "white" if cell.seconds > 1 else "black"  # on a dark colour, on a light one
                ax.text(x, y, mark, ha="center", va="center", fontsize=6, color=ink)
            image = ax.imshow(
                values,
                origin="lower",
                aspect="auto",
                cmap="viridis_r",
                norm=LogNorm(0.01, 60),
                interpolation="nearest",
            )
            ax.set_facecolor("0.93")
            ax.set_title(f"{data}, {peer}", fontsize=9)
            ax.set_xticks(range(len(costs)), [f"{np.log10(c):.0f}" for c in costs], fontsize=7)
            ax.set_yticks(range(len(gammas)), [f"{np.log10(g):.0f}" for g in gammas], fontsize=7)
    for ax in axes[-1]:
        ax.set_xlabel("log₁₀ C", fontsize=8)
    for line in axes:
        line[0].set_ylabel("log₁₀ γ", fontsize=8)
    if image is not None:
        fig.colorbar(image, ax=axes, label="seconds; no: KKT violated, gap: only the gap is > 1e-3")
    return fig
