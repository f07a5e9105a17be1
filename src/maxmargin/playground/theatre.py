"""The solver theatre: solvers that take as many steps as the page asks for, and then wait.

Each solver runs in a thread of its own and is an ordinary `solve`, which its observer holds between
two requests. So nothing is computed that nobody looks at, the numbers are those that `trace` would
write down, and a solve that is no longer wanted ends at its next step. A frame is made when it is
asked for: a slow page gets fewer of them, never a queue.
"""

from __future__ import annotations

from dataclasses import replace
from threading import Condition, Thread

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.gram import Gram
from maxmargin.playground.catalogue import MACHINES, MOST_STEPS, SOLVERS
from maxmargin.playground.machine import dual_problem, kernel, learns
from maxmargin.playground.message import Message, finite
from maxmargin.playground.picture import encode, grid_rows
from maxmargin.playground.schema import Points, Refused, Settings, Start
from maxmargin.playground.sentences import Before, box, sentence
from maxmargin.problem import Solution
from maxmargin.solvers import Progress
from maxmargin.watch import line

GRID = 48  # points a side of the field of a frame
MOST_LINES = 40  # of the curves, per frame
PATIENCE = 5.0  # seconds that a frame may take
RACE_TOL = 1e-7  # in a race the gap decides, not the solver's own rule

CURVES = ("steps", "objective", "gap", "violation", "movement", "accuracy", "kernel_evaluations")


class Theatre:
    """One solver on the points of a page, or two that race.

    Examples
    --------
    >>> two = Points(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([0, 1]))
    >>> request = Start(1, two, Settings(kernel="linear"), ("maximal-violating-pair",), 0.0)
    >>> theatre = Theatre(request)
    >>> theatre.advance(1)["lanes"][0]["steps"]
    1
    >>> theatre.close()
    """

    def __init__(self, request: Start) -> None:
        self.view = View(request.points, request.settings)
        self.lanes = [Lane(name, self.view, request.goal) for name in request.solvers]

    def opening(self) -> Message:
        """How it stands before the first step."""
        return {"lanes": [lane.wait() for lane in self.lanes], "subject": self.view.subject()}

    def advance(self, steps: int) -> Message:
        """So many steps more of each, all at the same time."""
        for lane in self.lanes:
            lane.allow(steps)
        return {"lanes": [lane.wait() for lane in self.lanes]}

    def close(self) -> None:
        """End every solve where it is."""
        for lane in self.lanes:
            lane.close()


class View:
    """The problem, and what turns its β into a picture."""

    def __init__(self, points: Points, settings: Settings) -> None:
        self.points, self.settings = points, settings
        try:
            self.problem, gram = dual_problem(points, settings)
        except ValueError as error:
            raise Refused(str(error)) from error
        self.rows = gram.X
        self.grid_kernel = kernel(settings)(grid_rows(settings, GRID), self.rows)

    def gram(self) -> Gram:
        """A fresh one for each solver, so that each pays for its own kernel values."""
        return Gram(kernel(self.settings), self.rows)

    def subject(self) -> str:
        """What is solved, where that is not plain."""
        classes = np.unique(self.points.classes)
        if learns(self.settings) == "classes" and len(classes) > 2:
            return f"class {'ABCDEFGH'[classes[-1]]} against the rest"
        return MACHINES[self.settings.machine].label

    def picture(self, now: Progress) -> Message:
        """The field, and every point's α and kind, as β makes them."""
        problem, state = self.problem, now.state
        coef, alpha = problem.on_rows(state.beta), problem.on_rows(np.abs(state.beta))
        b = float(now.offsets.mean()) if problem.n_groups else 0.0
        unit, tube = 1.0, None
        if problem.n_groups == 2:
            half = float(now.offsets[1] - now.offsets[0]) / 2
            if learns(self.settings) == "curve":
                tube = -half
            else:
                unit = half if half > 0 else 1.0
        elif learns(self.settings) == "curve":
            tube = self.settings.epsilon
        inside = problem.on_rows(problem.free(state.beta).astype(float)) > 0
        return {
            "field": {
                "kind": learns(self.settings),
                "grid": GRID,
                "f": encode((self.grid_kernel @ coef + b) / unit),
                "tube": tube,
            },
            "alpha": alpha.tolist(),
            "kind": np.select([inside, alpha > 0], ["margin", "inside"], default="").tolist(),
            "upper": finite(float(np.abs([problem.lower, problem.upper]).max())),
        }


class Lane:
    """One solver in its thread, and the observer that holds it between frames."""

    every = "step"

    def __init__(self, name: str, view: View, goal: float) -> None:
        label, solver = SOLVERS[name]
        self.label, self.view, self.goal = label, view, goal
        self.solver = replace(solver, max_iter=MOST_STEPS)
        if goal > 0:
            self.solver = replace(self.solver, tol=RACE_TOL)
        gram = view.gram()
        try:
            self.solver.check(view.problem, gram)
        except (ValueError, ImportError) as error:
            raise Refused(f"{label}: {error}") from error
        self._changed = Condition()
        self._allowed, self._closed, self._waiting = 0, False, False
        self._now: Progress
        self._before: Before | None = None
        self._frame: Message = {}
        self._lines: list[Message] = []
        self.ended = False
        self._refusal: str | None = None
        self._thread = Thread(target=self._solve, args=(gram,), daemon=True)
        self._thread.start()

    def allow(self, steps: int) -> None:
        """Let the solver take so many steps."""
        with self._changed:
            if not self.ended:
                self._allowed, self._waiting = steps, False
                self._changed.notify_all()

    def wait(self) -> Message:
        """The frame after the steps that were allowed, when they are done."""
        with self._changed:
            done = self._changed.wait_for(lambda: self._waiting or self.ended, PATIENCE)
            if not done:
                self._closed = True
                raise Refused(f"{self.label} takes longer than {PATIENCE:g} s for these steps")
            if self._refusal is not None:
                raise Refused(f"{self.label}: {self._refusal}")
            thin = max(1, -(-len(self._lines) // MOST_LINES))
            curves = [*self._lines[:-1:thin], *self._lines[-1:]]
            self._lines = []
            return {**self._frame, "solver": self.label, "ended": self.ended, "curves": curves}

    def close(self) -> None:
        """End the solve at its next step."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def __call__(self, now: Progress) -> bool:
        """What the solver tells: each step, and each outer iteration, of which the first counts."""
        self._now = now
        if now.step is None and self._before is not None:
            return self._closed
        curves = _curves(now)
        with self._changed:
            self._lines.append(curves)
            self._allowed -= now.step is not None
            there = self.goal > 0 and now.values.relative_gap <= self.goal
            if self._allowed <= 0 or there:
                self._frame = self._framed(now, curves)
                self._waiting = not there
                self._changed.notify_all()
                self._changed.wait_for(lambda: not self._waiting or self._closed)
        self._before = Before.of(now.state)
        return self._closed or there

    def _framed(self, now: Progress, curves: Message) -> Message:
        problem, step = self.view.problem, now.step
        frame = {**curves, "primal": finite(now.objective + now.gap), "offset": None, "rows": []}
        frame |= {"sentence": "All α are 0. Nothing has been learnt yet.", "box": None}
        if problem.sums.any():
            frame["sentence"] = "The start: a point that satisfies the sum constraints."
        if step is not None and self._before is not None:
            rows = problem.row_of(np.array(step.indices, int))
            frame["rows"] = np.unique(rows).tolist() if len(rows) > 2 else rows.tolist()
            frame["offset"] = finite(step.offset)
            frame["sentence"] = sentence(problem, self._before, now.state, step)
            frame["box"] = box(problem, self._before, step)
        return {**frame, **self.view.picture(now)}

    def _solve(self, gram: Gram) -> None:
        try:
            solution = self.solver.solve(self.view.problem, gram, observe=self)
            with self._changed:
                if not self._closed:
                    self._frame = self._final(solution)
        except ValueError as error:
            self._refusal = str(error)
        finally:
            with self._changed:
                self.ended = True
                self._changed.notify_all()

    def _final(self, solution: Solution) -> Message:
        """The last frame: the numbers of the certificate, from the final β alone."""
        proof = Certificate.of(solution)
        frame = self._frame
        if self._lines or not frame:
            frame = self._framed(self._now, _curves(self._now))
        reached = self.goal > 0 and proof.relative_gap <= self.goal
        status = "reached the gap" if reached else proof.status.value
        return {
            **frame,
            "steps": solution.n_iter,
            "objective": finite(proof.dual),
            "primal": finite(proof.primal),
            "gap": finite(proof.gap),
            "violation": proof.kkt_violation,
            "relative_gap": finite(proof.relative_gap),
            "kernel_evaluations": proof.kernel_evaluations,
            "status": status,
            "why": solution.why,
            "sentence": f"{self.label}: {status} after {solution.n_iter:,} steps"
            + ("." if reached else f" ({solution.why})."),
            "box": None,
            "rows": [],
        }


def _curves(now: Progress) -> Message:
    """The columns of the trace that the page draws."""
    told = line(now)
    return {key: finite(told[key]) for key in CURVES}
