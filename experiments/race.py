"""The race between all solvers, on four problems: figure, table, and the page on choosing one.

    python experiments/race.py

writes experiments/output/race.{png,svg,csv} and the table in docs/choosing-a-solver.md.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs, make_classification

from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Kernel, Linear
from maxmargin.problem import DualProblem
from maxmargin.race import finish, plot_race, race
from maxmargin.solvers import SOLVERS

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "experiments" / "output"
PAGE = ROOT / "docs" / "choosing-a-solver.md"
ROWS, TOL, SECONDS = 2000, 1e-6, 20.0
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
    figure, axes = plt.subplots(
        len(PROBLEMS), 2, figsize=(12, 4 * len(PROBLEMS)), sharey=True, layout="constrained"
    )
    ends = []
    for (name, (problem, kernel, X)), pair in zip(PROBLEMS.items(), axes, strict=True):
        solvers = {key: make(tol=TOL, max_time=SECONDS) for key, make in SOLVERS.items()}
        ways = race(solvers, problem, Gram(kernel, X))
        plot_race(ways, ROWS, goal=TOL, axes=pair)
        pair[0].set_title(f"{name}, n = {ROWS:,}", loc="left")
        ends.append(finish(ways).assign(problem=name))
        print(ends[-1].drop(columns="problem").to_string(index=False), flush=True)
    OUTPUT.mkdir(exist_ok=True)
    for suffix in ("png", "svg"):
        figure.savefig(OUTPUT / f"race.{suffix}", dpi=110)
    table = pd.concat(ends)
    table.to_csv(OUTPUT / "race.csv", index=False, float_format="%.3g")
    PAGE.write_text(with_table(PAGE.read_text(), table))


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
