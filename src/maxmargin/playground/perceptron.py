"""The perceptron in the theatre: one mistake is one step.

It is a lane of the theatre like a solver, without a thread: `solvers.textbook.perceptron` is a
generator, and waits by itself. There is no dual problem, so a frame has no primal, dual or gap. In
their place stands the inequality of Novikoff's proof: ‖w‖² ≤ M R² after M mistakes, R the largest
‖φ(x)‖, for a mistake adds y·φ(x) with y·f(x) ≤ 0.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from maxmargin.machines.online_classifier import as_one
from maxmargin.playground.listing import Listing
from maxmargin.playground.machine import EPOCHS, check, kernel, table
from maxmargin.playground.message import Message
from maxmargin.playground.picture import GRID, cases, encode, grid_rows, kind_of_field
from maxmargin.playground.schema import Points, Settings
from maxmargin.playground.sentences import small
from maxmargin.solvers.textbook.perceptron import mistakes_of_a_pass


class PerceptronLane:
    """The kernel perceptron on two classes, or on the last class against the rest.

    Examples
    --------
    >>> two = Points(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([0, 1]))
    >>> lane = PerceptronLane(two, Settings(kernel="linear"))
    >>> lane.allow(1)
    >>> lane.wait()["alpha"]
    [1.0, 0.0]
    """

    def __init__(self, points: Points, settings: Settings) -> None:
        check(points, settings)
        self.settings, k = settings, kernel(settings)
        self.X, classes = table(points, settings)
        self.y = np.where(classes == classes.max(), 1.0, -1.0)
        self.K, self.grid_K = k(self.X, self.X), k(grid_rows(settings, GRID), self.X)
        self.scores = np.zeros((len(self.y), 2))  # of both classes
        self.alpha, self.f = np.zeros(len(self.y)), as_one(self.scores.T)
        self.passes, self.status, self.ended = 0, "under way", False
        self.listing = Listing([mistakes_of_a_pass])
        self._mistakes = self._learn()
        self._lines = [self._numbers()]
        self._rows: list[int] = []
        self._sentence = "f = 0: no mistake has been made yet."

    def allow(self, steps: int) -> None:
        """Make so many mistakes more, or end before."""
        for _ in range(steps):
            self.listing.forget()
            with self.listing.watched():
                t = next(self._mistakes, None)
            if t is None:
                self._end()
                return
            before, self.f = self.f[t] * self.y[t], as_one(self.scores.T)
            self._tell(t, before)
            self._lines.append(self._numbers())

    def wait(self) -> Message:
        """The frame after the mistakes that were allowed."""
        shaded = self.grid_K @ (self.y * self.alpha)
        field: Message = {
            "kind": kind_of_field(self.settings),
            "grid": GRID,
            "f": encode(shaded),
            "tube": None,
        }
        curves, self._lines = self._lines, []
        frame: Message = {**self._numbers(), "field": field, "offset": None, "upper": None}
        frame |= {"solver": "Perceptron", "ended": self.ended, "curves": curves, "box": None}
        frame |= {"rows": self._rows, "ran": self.listing.ran(), "sentence": self._sentence}
        frame |= {"kkt": False, "status": self.status}
        return {**frame, **cases(self.settings, self.alpha, self.f, self.y, None)}

    def close(self) -> None:
        """End it where it is."""
        self._mistakes.close()

    def _learn(self) -> Generator[int, None, None]:
        """Yield the row of each mistake, until a pass has none or there have been enough."""
        labels, ones = (self.y > 0).astype(int), np.ones(len(self.y))
        for self.passes in range(1, EPOCHS + 1):
            made = self.alpha.sum()
            for t, _ in mistakes_of_a_pass(self.K.__getitem__, labels, ones, self.scores):
                self.alpha[t] += 1
                yield t
            if self.alpha.sum() == made:
                self.status = "no mistake left"
                return
        self.status = f"gave up after {EPOCHS} passes"

    def _numbers(self) -> Message:
        """Mistakes, ‖w‖² and its bound, and the share of points on their side."""
        made = int(self.alpha.sum())
        return {
            "steps": made,
            "norm": self._norm,
            "bound": made * self._radius,
            "accuracy": float(np.mean(self.y * self.f > 0)),
        }

    @property
    def _norm(self) -> float:
        """‖w‖²."""
        return float(self.y * self.alpha @ self.f)

    @property
    def _radius(self) -> float:
        """R²."""
        return float(self.K.diagonal().max())

    def _tell(self, t: int, before: float) -> None:
        """What the mistake at row t was, and what was learnt from it."""
        at, sign = small(str(t)), "+" if self.y[t] > 0 else "−"
        self._rows = [t]
        self._sentence = (
            f"Pass {self.passes}, point {t}: y·f(x) = {_number(before)} ≤ 0, a mistake. "
            f"f gains {sign}k(x, x{at}), α{at} is now {self.alpha[t]:.0f}, and y·f(x) is "
            f"{_number(self.y[t] * self.f[t])}."
        )
        if self.settings.kernel == "linear":
            w = (self.y * self.alpha) @ self.X
            self._sentence += f" w = ({', '.join(map(_number, w))})."

    def _end(self) -> None:
        self.ended, self._rows = True, []
        made, least = int(self.alpha.sum()), float((self.y * self.f).min())
        if least > 0:
            most = self._radius * self._norm / least**2
            self._sentence = (
                f"A whole pass without a mistake, after {made}: every point is on its side. "
                f"Novikoff's bound: this margin allows at most R²‖w‖²/min(y·f)² = {most:,.0f}."
            )
        else:
            self._sentence = (
                f"Given up after {EPOCHS} passes and {made} mistakes. The perceptron ends only "
                "where a boundary without mistakes exists, and it takes long where that is narrow."
            )


def _number(value: float) -> str:
    return f"{value + 0.0:.3g}".replace("-", "−")
