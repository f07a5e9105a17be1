"""The ideas of maxmargin's solvers, each switched off in turn, to see what it gains.

`variants()` are those of the block solver, timed with the other libraries. Those of the linear and
of the feature solvers are timed by

    python -m benchmarks.ablation
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from time import process_time
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.datasets.generated import narrow, text
from benchmarks.peers import Maxmargin, Peer


@dataclass(frozen=True)
class Variant(Maxmargin):
    """maxmargin with other constructor arguments, or with other values of names in its modules."""

    values: dict[str, Any] = field(default_factory=dict)

    def fit(self, case, X, y):
        with patched(self.values):
            return super().fit(case, X, y)


def patched(values: dict[str, Any]) -> ExitStack:
    """Other values of names in maxmargin, until the stack is closed."""
    stack = ExitStack()
    for name, value in values.items():
        stack.enter_context(patch(name, value))
    return stack


def variants() -> list[Peer]:
    from maxmargin.solvers import BlockSMO

    def variant(name: str, **options: Any) -> Variant:
        return Variant(name, "float32", options)

    def changed(name: str, place: str, value: Any) -> Variant:
        return Variant(name, "float32", values={f"maxmargin.{place}": value})

    return [
        variant("as it is"),
        variant("one thread", n_jobs=1),
        variant("working sets of 256", solver=BlockSMO(smallest=256, largest=256)),
        variant("pairs of all rows, no blocks", solver="second-order"),
        changed("entries in float64", "gram.Gram.precision", np.float64),
        changed("blocks in float32", "gram.Gram.entries_round", False),
        changed("no rows kept", "gram.entries.WIDE", np.inf),
        changed("memory given back", "resources.memory.MOST_KEPT", 0),
    ]


# What replaces an idea of the linear or feature solvers: options of the machine, and
# values of names in `maxmargin.solvers`.
Change = tuple[dict[str, Any], dict[str, Any]]


def linear_variants() -> dict[str, Change]:
    return {
        "as it is": ({}, {}),
        "coordinate descent only": ({"solver": "dual"}, {}),
        "Newton or interior point only": ({"solver": "second"}, {}),
        "Newton on all rows from the start": ({}, {"linear.newton.ROWS_PER_COLUMN": np.inf}),
    }


def descent_variants() -> dict[str, Change]:
    def changed(name: str, value: Any) -> Change:
        return {}, {f"linear.dual_coordinate_descent.{name}": value}

    return {
        "as it is": ({}, {}),
        "no centring": changed("DualCoordinateDescent._variables", off_centre()),
        "no conjugate gradients": changed("minimise_on_face", lambda problem, rows, beta: beta),
        "the gap after every sweep": changed("PASSES", 1),
        "ρ ten times larger": changed("PENALTY", 1.0),
    }


def feature_variants() -> dict[str, Change]:
    return {
        "as it is": ({}, {}),
        "all rows from the start": ({}, {"features.newton.FEWEST": np.inf}),
        "δ does not shrink": ({}, {"features.proximal_newton.SHRINK": 1.0}),
        "δC = 0.5 after fewer rows too": ({}, {"features.newton.NEAR": 0.5}),
        "proximal steps solved to 1e-4 of the gap": ({}, {"features.proximal_newton.INNER": 1e-4}),
        "exact line searches": ({}, {"line_search.REMAINING": 1e-6}),
    }


def off_centre() -> Callable[..., Any]:
    """The table of the variables of rows that are not centred."""
    from maxmargin.solvers.linear.dual_coordinate_descent import DualCoordinateDescent

    table = DualCoordinateDescent._variables

    def variables(solver, state):
        problem = replace(state.problem, fit_intercept=False)
        return table(solver, SimpleNamespace(problem=problem, rows=state.rows, beta=state.beta))

    return variables


def seconds(make: Callable[..., Any], X, y, change: Change) -> float:
    """CPU time, the least of five fits after one that compiles; NaN if they do not converge."""
    options, values = change
    with patched({f"maxmargin.solvers.{name}": value for name, value in values.items()}):
        times, converged = [], True
        for _ in range(6):
            began = process_time()
            machine = make(**options).fit(X, y)
            times.append(process_time() - began)
            converged &= machine.fit_status_ == 0
    return min(times[1:]) if converged else np.nan


def print_table(variants: dict[str, Change], cases: dict[str, tuple[Any, ...]]) -> None:
    """Seconds of the solver as it is, and of each variant as a multiple of these."""
    print("| | " + " | ".join(cases) + " |\n" + "|---" * (len(cases) + 1) + "|")
    first: list[float] = []
    for name, change in variants.items():
        times = [seconds(*case, change) for case in cases.values()]
        cells = (
            [f"{t / t0:.2g}" for t, t0 in zip(times, first, strict=True)]
            if first
            else [f"{t:.3f} s" for t in times]
        )
        first = first or times
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def linear(loss: str, default: str = "auto") -> Callable[..., Any]:
    """Makes a LinearSVC; its solver "second" is the second-order method for the loss."""
    from maxmargin import LinearSVC

    names = {"second": "newton" if loss == "squared_hinge" else "interior-point"}
    return lambda solver=default: LinearSVC(loss=loss, solver=names.get(solver, solver))


def on_features(C: float, tol: float) -> Callable[..., Any]:
    """Makes an SVC on 300 Nyström features."""
    from maxmargin import SVC

    return partial(SVC, C=C, gamma=1 / 40, tol=tol, approximation="nystroem", n_components=300)


def main() -> None:
    X, y, *_ = narrow(5_000)
    T, z, *_ = text(5_000)
    losses = {"hinge": "hinge", "squared hinge": "squared_hinge"}
    print_table(
        linear_variants(),
        {f"narrow, {name}": (linear(loss), X, y) for name, loss in losses.items()},
    )
    print_table(
        descent_variants(),
        {
            f"{data}, {name}": (linear(loss, "dual"), *rows)
            for data, rows in {"narrow": (X, y), "text": (T, z)}.items()
            for name, loss in losses.items()
        },
    )
    X, y, *_ = narrow(20_000)
    print_table(
        feature_variants(),
        {
            f"C = {C:g}, tol = {tol:g}": (on_features(C, tol), X, y)
            for tol in (1e-3, 1e-6)
            for C in (1.0, 100.0)
        },
    )


if __name__ == "__main__":
    main()
