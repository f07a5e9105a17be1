"""The race between all solvers, on four problems: figure, table, and the page on choosing one.

    python experiments/race.py

writes experiments/output/race.{png,svg,csv}, race-dark.png and the table in
docs/do/choosing-a-solver.md.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs, make_classification

from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Kernel, Linear
from maxmargin.plots import plot_race, theme
from maxmargin.problem import DualProblem
from maxmargin.solvers import SOLVERS
from maxmargin.watch import finish, race

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "experiments" / "output"
PAGE = ROOT / "docs" / "do" / "choosing-a-solver.md"
ROWS, TOL, SECONDS = 2000, 1e-6, 10.0
HEAD = "| solver | status | gap | evaluations / n² | steps | seconds |\n|---|---|---|---|---|---|\n"


def easy() -> tuple[DualProblem, Kernel, np.ndarray]:
    X, y = make_blobs(ROWS, centers=[[-2, 0], [2, 1]], cluster_std=0.9, random_state=0)
    return c_svc(2 * y - 1, C=1.0), Linear(), X


def overlapping(C: float, *, fit_intercept: bool = True) -> tuple[DualProblem, Kernel, np.ndarray]:
    X, y = make_classification(ROWS, 10, n_informative=6, flip_y=0.1, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return c_svc(2 * y - 1, C, fit_intercept=fit_intercept), RBF(0.05), X


PROBLEMS = {
    "nearly separable, linear, C = 1": easy(),
    "overlapping, RBF, C = 1": overlapping(1.0),
    "overlapping, RBF, C = 1,000": overlapping(1000.0),
    "overlapping, RBF, C = 1, no offset": overlapping(1.0, fit_intercept=False),
}


def main() -> None:
    races = {}
    for name, (problem, kernel, X) in PROBLEMS.items():
        solvers = {key: make(tol=TOL, max_time=SECONDS) for key, make in SOLVERS.items()}
        races[name] = race(solvers, problem, Gram(kernel, X))
        print(finish(races[name]).to_string(index=False), flush=True)
    OUTPUT.mkdir(exist_ok=True)
    for shade, ending in (("light", ""), ("dark", "-dark")):
        with plt.rc_context(theme(shade)):
            figure = draw(races)
            figure.savefig(OUTPUT / f"race{ending}.png")
            if shade == "light":
                figure.savefig(OUTPUT / "race.svg", metadata={"Date": None})
    table = pd.concat([finish(ways).assign(problem=name) for name, ways in races.items()])
    table.to_csv(OUTPUT / "race.csv", index=False, float_format="%.3g")
    PAGE.write_text(with_table(PAGE.read_text(), table))


def draw(races: dict[str, pd.DataFrame]) -> Figure:
    """Two panels for each problem."""
    figure, axes = plt.subplots(len(races), 2, figsize=(13, 4.6 * len(races)), sharey=True)
    for (name, ways), pair in zip(races.items(), axes, strict=True):
        plot_race(ways, ROWS, goal=TOL, axes=pair)
        pair[0].set_title(f"{name}, n = {ROWS:,}")
    return figure


def with_table(page: str, table: pd.DataFrame) -> str:
    """The page with the results of each problem between its two marks."""
    begin, end = "<!-- race -->\n", "<!-- end of race -->"
    parts = []
    for problem, lines in table.groupby("problem", sort=False):
        rows = "".join(map(markdown, lines.to_dict("records")))
        parts.append(f"\n**{problem}**, n = {ROWS:,}\n\n{HEAD}{rows}")
    before, after = page.split(begin)[0], page.split(end)[1]
    return f"{before}{begin}{''.join(parts)}\n{end}{after}"


def markdown(line: dict) -> str:
    """One solver's line."""
    if line["status"] == "refused":
        return ""
    why = "" if line["status"] == "converged" else f", {line['why']}"
    return (
        f"| `{line['solver']}` | {line['status']}{why} | {line['relative_gap']:.0e} "
        f"| {line['kernel_evaluations'] / ROWS**2:.2f} | {line['steps']:,.0f} "
        f"| {line['seconds']:.2g} |\n"
    )


if __name__ == "__main__":
    main()
