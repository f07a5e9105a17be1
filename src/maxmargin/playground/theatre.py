"""The solver theatre: solvers that take as many steps as the page asks for, and then wait.

Each solver runs in a thread of its own and is an ordinary `solve`, which its observer holds between
two requests. So nothing is computed that nobody looks at, and a solve that is no longer wanted ends
at its next step. A frame is made when it is asked for: a slow page gets fewer of them, never a
queue.

There is one b on the screen. While a solver steps it is the solver's own: boundary, marks, primal,
gap and accuracy are all computed from α and that b. At the end it is the b of the certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Condition, Thread

import numpy as np

from maxmargin.certificate import Certificate, IndefiniteCertificate
from maxmargin.gram import Gram
from maxmargin.machines.definiteness import evidence
from maxmargin.playground.catalogue import MACHINES, MOST_STEPS, SOLVERS
from maxmargin.playground.listing import Listing, page_of
from maxmargin.playground.machine import dual_problem, learns, table
from maxmargin.playground.message import Message, finite
from maxmargin.playground.perceptron import PerceptronLane
from maxmargin.playground.picture import GRID, cases, encode, grid_rows, proof_message
from maxmargin.playground.schema import Points, Refused, Settings, Start
from maxmargin.playground.sentences import Before, box, refusal, sentence
from maxmargin.problem import Solution, Values
from maxmargin.resources.arrays import Floats
from maxmargin.solvers import Progress

MOST_LINES = 40  # of the curves, per frame
PATIENCE = 1.0  # seconds after which a frame is made before all its steps are taken
RACE_TOL = 1e-7  # in a race the gap decides, not the solver's own rule


class Theatre:
    """One solver on the points of a page, or two that race; or the perceptron, which has none.

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
        self.subject = subject(request.points, request.settings)
        self.lanes: Sequence[Lane | PerceptronLane]
        if request.settings.machine == "kernel-perceptron":
            if len(request.solvers) > 1:
                raise Refused("The perceptron learns in one way only: choose SVC for a race.")
            self.lanes = [PerceptronLane(request.points, request.settings)]
        else:
            view = View(request.points, request.settings)
            self.lanes = [Lane(name, view, request.goal) for name in request.solvers]

    def opening(self) -> Message:
        """How it stands before the first step."""
        lanes = [lane.wait() for lane in self.lanes]
        listing = self.lanes[0].listing.as_json()
        return {"lanes": lanes, "subject": self.subject, "listing": listing}

    def advance(self, steps: int) -> Message:
        """So many steps more of each, all at the same time."""
        for lane in self.lanes:
            lane.allow(steps)
        return {"lanes": [lane.wait() for lane in self.lanes]}

    def close(self) -> None:
        """End every solve where it is."""
        for lane in self.lanes:
            lane.close()


def subject(points: Points, settings: Settings) -> str:
    """What is solved; of several classes, the last against the rest."""
    classes = np.unique(points.classes)
    if learns(settings) == "classes" and len(classes) > 2:
        return f"class {'ABCDEFGH'[classes[-1]]} against the rest"
    return MACHINES[settings.machine].label


class View:
    """The problem, and what turns its β and b into a picture."""

    def __init__(self, points: Points, settings: Settings) -> None:
        self.points, self.settings = points, settings
        try:
            self.problem, gram = dual_problem(points, settings)
        except ValueError as error:
            raise Refused(str(error)) from error
        self.kernel, self.rows = gram.kernel, gram.X
        self.grid_kernel = self.kernel(grid_rows(settings, GRID), self.rows)
        self.no_bound = evidence(self.kernel, self.rows, [], [], lambda: False)
        _, y = table(points, settings)
        self.target = y if learns(settings) == "curve" else np.where(y == y.max(), 1.0, -1.0)

    def gram(self) -> Gram:
        """A fresh one for each solver, so that each pays for its own kernel values."""
        return Gram(self.kernel, self.rows)

    def decision(self, gradient: Floats, offsets: Floats) -> tuple[Floats, float, float | None]:
        """f at the points, the unit of the ν classifier that it is divided by, and the tube."""
        problem, curve = self.problem, learns(self.settings) == "curve"
        unit, tube = 1.0, self.settings.epsilon if curve else None
        if problem.n_groups == 2:
            half = float(offsets[1] - offsets[0]) / 2
            unit, tube = (1.0, max(-half, 0.0)) if curve else (half if half > 0 else 1.0, None)
        b = float(offsets.mean()) if problem.n_groups else 0.0
        return ((gradient - problem.linear)[: len(self.rows)] + b) / unit, unit, tube

    def numbers(self, beta: Floats, gradient: Floats, offsets: Floats) -> Message:
        """Primal, dual, gap, violation and accuracy of the machine with these β and b."""
        values = self.problem.values(beta, gradient, offsets)
        kind, f = learns(self.settings), self.decision(gradient, offsets)[0]
        right = f > 0 if kind == "region" else f * self.target > 0
        return {
            "objective": finite(values.dual),
            "primal": finite(values.primal),
            "gap": None if self.no_bound else finite(values.gap),
            "violation": finite(values.violation),
            "accuracy": None if kind == "curve" else float(np.mean(right)),
        }

    def picture(self, beta: Floats, gradient: Floats, offsets: Floats) -> Message:
        """The field, and what every point is to the machine with these β and b."""
        f, unit, tube = self.decision(gradient, offsets)
        alpha = self.problem.on_rows(np.abs(beta))
        b = float(offsets.mean()) if self.problem.n_groups else 0.0
        shaded = (self.grid_kernel @ self.problem.on_rows(beta) + b) / unit
        field: Message = {
            "kind": learns(self.settings),
            "grid": GRID,
            "f": encode(shaded),
            "tube": tube,
        }
        upper = finite(float(np.abs([self.problem.lower, self.problem.upper]).max()))
        told = cases(self.settings, alpha, f, self.target, tube)
        return {"field": field, "offset": finite(b), "upper": upper, **told}


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
        if why := refusal(label, self.solver, view.problem):
            raise Refused(why)
        self.solver.check(view.problem, gram)
        self.listing = Listing(page_of(self.solver) if goal == 0 else [])  # no time in a race
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
        """The frame after the steps that were allowed; after fewer, if they take long."""
        with self._changed:
            for seconds in (PATIENCE, None):
                self._changed.wait_for(lambda: self._waiting or self.ended, seconds)
                self._allowed = 0
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
        curves = self._curves(now)
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
        self.listing.forget(awake=self._allowed <= 1)
        return self._closed or there

    def _curves(self, now: Progress) -> Message:
        """The numbers that the page draws against steps, with the b of the picture."""
        told = self.view.numbers(now.state.beta, now.state.gradient, now.state.offsets)
        return {"steps": now.steps, **told, "movement": finite(now.movement)}

    def _framed(self, now: Progress, curves: Message) -> Message:
        problem, step, state = self.view.problem, now.step, now.state
        frame: Message = {**curves, "rows": [], "box": None, "ran": self.listing.ran()}
        frame["sentence"] = "All α are 0. Nothing has been learnt yet."
        if problem.sums.any():
            frame["sentence"] = "The start: a point that satisfies the sum constraints."
        if step is not None and self._before is not None:
            rows = problem.row_of(np.array(step.indices, int))
            frame["rows"] = np.unique(rows).tolist() if len(rows) > 2 else rows.tolist()
            told = box(problem, self._before, state, step, self.view.kernel, self.view.rows)
            frame["sentence"] = sentence(problem, self._before, state, step, told)
            frame["box"] = told
        return {**frame, **self.view.picture(state.beta, state.gradient, now.state.offsets)}

    def _solve(self, gram: Gram) -> None:
        try:
            with self.listing.watched():
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
        """The last frame: the numbers of the certificate, and its b, from the final β alone."""
        view, proof = self.view, Certificate.of(solution)
        evident = evidence(view.kernel, view.rows, [view.problem], [solution], lambda: False)
        if evident:
            proof = IndefiniteCertificate.of_values(evident, proof)
        reached = self.goal > 0 and not evident and proof.relative_gap <= self.goal
        status = "reached the gap" if reached else proof.status.value
        told = f"{self.label}: {status} after {solution.n_iter:,} steps"
        values: Values = solution.values
        at_end = (solution.beta, solution.gradient, values.offsets)
        return {
            **view.numbers(*at_end),
            **view.picture(*at_end),
            **proof_message(proof),
            "steps": solution.n_iter,
            "objective": finite(proof.dual),
            "violation": proof.kkt_violation,
            "movement": finite(self._now.movement),
            "status": status,
            "why": solution.why,
            "sentence": f"{told}." if reached else f"{told} ({solution.why}).",
            "box": None,
            "rows": [],
            "ran": [],
        }
