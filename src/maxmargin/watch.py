"""One solve as a table (`trace`), several solvers on one problem (`race`).

In a race each starts from zero on a Gram matrix of its own, with nothing cached, in float64: so
every gap on the way is a true one. The gap is that of the certificate, as a share of the objective,
the same for all; so is the rule by which each is said to have converged. A solver that stalls is
drawn to where it stopped, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, clone

from maxmargin.certificate import Certificate
from maxmargin.gram import Gram
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.problem import DualProblem, Solution
from maxmargin.problem.solution import relative_gap
from maxmargin.resources.arrays import Floats
from maxmargin.solvers import SOLVERS, Moves, Observer, Progress, Solver, as_solver

MEASURED = ("violation", "kernel_evaluations", "seconds", "steps")  # of a history, in a race


def race(solvers: Mapping[str, str | Solver], problem: DualProblem, gram: Gram) -> Any:
    """Run each solver on the problem, and return their progress in one pandas table.

    Parameters
    ----------
    solvers : dict of str to Solver or str
        What to call each, and the solver, with the `tol` and `max_time` that the race is to have;
        or its name in `maxmargin.solvers.SOLVERS`.
    problem : DualProblem
    gram : Gram
        Its kernel and data are used; each solver gets a fresh one. The matrix is held whole up
        to 1,024 rows: solvers differ in their entries on larger problems only.

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
    >>> finish(ways)[["solver", "status"]]
             solver             status
    0  second order          converged
    1  random pairs  out of iterations
    2    one by one            refused
    >>> finish(ways)["why"].iloc[-1]
    'CoordinateDescent cannot take a problem with a sum constraint (an offset): use BlockSMO, ...'
    """
    lines: list[dict[str, Any]] = []
    for name, given in solvers.items():
        solver = as_solver(given, SOLVERS)
        try:
            solver.check(problem, gram)
        except ValueError as refusal:
            lines.append({"solver": name, "status": "refused", "why": str(refusal)})
            continue
        lines += way(name, solver.solve(problem, fresh(gram)))
    return table(lines)


class ExactGram(Gram):
    """In float64 from the first step: gradients on the way are as exact as the last."""

    precision = np.float64


def fresh(gram: Gram) -> Gram:
    """The same matrix with nothing computed yet."""
    return ExactGram(gram.kernel, gram.X, cache_size=gram.cache_size, threads=gram.threads)


def way(name: str, solution: Solution) -> list[dict[str, Any]]:
    """The lines of one solver; the last is its certificate."""
    lines: list[dict[str, Any]] = [
        {
            "solver": name,
            "relative_gap": relative_gap(record["objective"] + record["gap"], record["objective"]),
            **{key: record[key].item() for key in MEASURED},
        }
        for record in solution.history
    ]
    proof = Certificate.of(solution)
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
    """The last line of each solver."""
    return ways.groupby("solver", sort=False).tail(1).reset_index(drop=True)


def trace(
    solver: str | Solver | BaseEstimator,
    problem: Any,
    gram: Any,
    *,
    every: Literal["iteration", "step"] = "iteration",
) -> Any:
    """Solve, and return the progress as a pandas table.

    Parameters
    ----------
    solver : Solver, str or estimator
        A solver, its name in `maxmargin.solvers.SOLVERS`, or a kernel machine, whose solver is
        then watched while a copy of the machine is fitted.
    problem : DualProblem; for a machine X, the rows
    gram : Gram; for a machine y, the labels or targets
    every : {"iteration", "step"}
        One line for each outer iteration (a sweep, a block), or one for each step, which says
        also what variables were chosen and why, the step t before and after it was clipped to
        [low, high], and the offset.

    Returns
    -------
    pandas.DataFrame
        `accuracy` is the share of rows on their own side of the boundary (NaN for a regressor,
        which has no sides), `loss` the primal value without ½‖w‖², both with the solver's own b
        where its steps set one; `movement` is Σ|Δβ| + Σ|Δb| since the sweep began; `objective`,
        `gap` and `violation` are as in the certificate, with the b that β implies. Of a machine,
        `problem` is the number of the binary problem, in the order of `certificates_`.

    Examples
    --------
    >>> from maxmargin.formulations import c_svc
    >>> from maxmargin.kernels import Linear
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])
    >>> problem, gram = c_svc(y, C=5.0), Gram(Linear(), X)
    >>> table = trace("maximal-violating-pair", problem, gram)
    >>> table[["steps", "accuracy", "loss", "movement", "gap"]].round(3)
       steps  accuracy  loss  movement   gap
    0      0       0.5  20.0     0.000  20.0
    1      3       1.0   0.0     3.444   0.0
    >>> table = trace("maximal-violating-pair", problem, gram, every="step")
    >>> table[["indices", "unclipped", "clipped", "low", "high", "offset"]].round(3)
      indices  unclipped  clipped    low   high  offset
    0  (2, 0)      0.222    0.222  0.000  5.000  -1.000
    1  (0, 1)      0.667    0.222  0.000  0.222  -1.444
    2  (2, 1)      0.278    0.278 -0.222  4.778  -2.000
    >>> from maxmargin import SVC
    >>> table = trace(SVC(kernel="linear", C=5.0, solver="platt"), X, y)
    >>> table[["problem", "steps", "gap"]].round(3)
       problem  steps   gap
    0        0      0  20.0
    1        0      3   0.0
    """
    if not isinstance(solver, BaseEstimator):
        recorder = _Recorder(every)
        as_solver(solver, SOLVERS).solve(problem, gram, observe=recorder)
        return table(recorder.lines)
    if not isinstance(solver, DualMachine) or getattr(solver, "approximation", None) is not None:
        raise TypeError(
            f"trace watches the solvers of the dual problem, and {solver!r} is not trained by one: "
            "give a kernel machine such as SVC(), or a solver and its problem"
        )
    watched = _Watched(inner=as_solver(solver.solver, SOLVERS), every=every)
    clone(solver).set_params(solver=watched, n_jobs=1).fit(problem, gram)
    return table(watched.lines())


@dataclass
class _Recorder:
    """An observer that records every `Progress` as a line, and passes it on."""

    every: str
    then: Observer | None = None
    lines: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, now: Progress) -> bool | None:
        if self.every == "iteration" or now.step is not None:
            self.lines.append(line(now))
        return None if self.then is None or now.step is not None else self.then(now)


@dataclass(frozen=True)
class _Watched(Solver):
    """Another solver, every solve of which is recorded."""

    inner: Solver = field(default_factory=lambda: SOLVERS["block"]())
    every: str = "iteration"
    seen: list[tuple[DualProblem, _Recorder]] = field(default_factory=list)

    def solve(
        self,
        problem: DualProblem,
        matrix: Gram,
        *,
        start: Floats | None = None,
        observe: Observer | None = None,
    ) -> Solution:
        recorder = _Recorder(self.every, observe)
        self.seen.append((problem, recorder))
        solver = replace(self.inner, tol=self.tol, max_iter=self.max_iter, max_time=self.max_time)
        return solver.solve(problem, matrix, start=start, observe=recorder)

    def iterate(self, state: Any) -> Moves:
        return self.inner.iterate(state)

    def lines(self) -> list[dict[str, Any]]:
        """Of all solves; one that continues with the same problem has the same number."""
        numbers: dict[int, int] = {}
        return [
            {"problem": numbers.setdefault(id(problem), len(numbers)), **each}
            for problem, recorder in self.seen
            for each in recorder.lines
        ]


def line(now: Progress) -> dict[str, Any]:
    """One line of the table."""
    state, problem = now.state, now.state.problem
    norm = 0.5 * float(state.beta @ (state.gradient - problem.linear))
    primal = problem.values(state.beta, state.gradient, state.offsets).primal
    return {
        "steps": now.steps,
        **(asdict(now.step) if now.step else {}),
        "accuracy": accuracy(now),
        "loss": primal - norm,
        "movement": now.movement,
        "objective": now.objective,
        "gap": now.gap,
        "violation": now.violation,
        "kernel_evaluations": now.kernel_evaluations,
        "seconds": now.seconds,
    }


def accuracy(now: Progress) -> float:
    """Share of variables whose decision value has the sign of their bounds.

    A classifier's β_i lies in [0, C] or [−C, 0] by its label; a one-class machine's rows are all
    on the positive side. A row without weight has no side and does not count.
    """
    state, problem = now.state, now.state.problem
    if problem.rows is not None:
        return float("nan")
    side = np.sign(problem.lower + problem.upper)
    decision = state.gradient - problem.linear + (state.offsets.mean() if problem.n_groups else 0.0)
    return float(np.mean((decision > 0)[side != 0] == (side > 0)[side != 0]))


def table(lines: list[dict[str, Any]]) -> Any:
    """A pandas table, or how to get pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("this table needs pandas: pip install pandas") from error
    return pd.DataFrame(lines)
