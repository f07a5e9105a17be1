"""What a fit has found: the states of its tasks, or a table of all pairs of classes.

Both give the coefficients over the rows, the certificates and the histories. Those of a table are
made when they are asked for: a thousand classes have half a million pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.machines.multiclass import Made
from maxmargin.machines.plan import Plan
from maxmargin.problem import Ending, Solution, Status, Values
from maxmargin.resources.arrays import Floats, Numbers, Records
from maxmargin.solvers.progress import HISTORY
from maxmargin.solvers.qp.all_pairs import DUAL, MOVEMENT, PRIMAL, VIOLATION, PairTable

Decode = Callable[[Floats, Floats], tuple[Floats, float]]
Mark = Callable[[Certificate], Certificate]
STATUSES = list(Status)


class Decoded(NamedTuple):
    """Coefficients over the rows, the offset of each function, and b of each problem's groups."""

    coef: Floats
    intercept: Floats
    offsets: Sequence[Floats]


class Proofs(NamedTuple):
    """The certificate of each problem and of all together, the histories, and the endings."""

    certificates: Sequence[Certificate]
    total: Certificate
    histories: Sequence[Records]
    endings: list[Ending]

    def set_on(self, machine: Any) -> None:
        """Set them as fitted attributes."""
        machine.certificates_, machine.certificate_ = self.certificates, self.total
        machine._histories = self.histories


class Answers(list[Any]):
    """The Solution of each task; in mid-fit its Progress, or None."""

    def decoded(self, plan: Plan, decode: Decode) -> Decoded:
        """The model; a task that has not begun is at 0."""
        problems = list(plan.problems)
        found = [
            (np.zeros(p.size), np.zeros(p.n_groups)) if each is None else (each.beta, each.offsets)
            for each, p in zip(self, problems, strict=True)
        ]
        decoded = [
            decode(problem.on_rows(beta), b)
            for problem, (beta, b) in zip(problems, found, strict=True)
        ]
        coef = plan.scheme.scatter(plan.splits, [each for each, _ in decoded], len(plan.bounds))
        return Decoded(coef, np.array([b for _, b in decoded]), [b for _, b in found])

    def proofs(self, mark: Mark, seconds: float) -> Proofs:
        """What the solutions prove; `mark` is that of the form of the machine."""
        proofs = [Certificate.of(each) for each in self]
        return Proofs(
            [mark(proof) for proof in proofs],
            mark(Certificate.total(proofs, seconds)),
            [each.history for each in self],
            [Ending(each.status, each.why) for each in self],
        )


@dataclass(frozen=True)
class PairAnswers:
    """The solutions of all pairs of classes, as lines of a table.

    Parameters
    ----------
    coef : in LIBSVM's layout, rows in the order of their classes
    order : these rows among all
    table : what is known of each pair
    statuses : of each pair, as a place in STATUSES
    histories : of pairs that were solved by themselves afterwards
    why : what ended the pairs that did not converge
    """

    coef: Floats
    order: Numbers
    table: PairTable
    statuses: Numbers
    histories: dict[int, Records]
    why: str

    def enter(self, number: int, solution: Solution) -> None:
        """The solution of a pair that was solved by itself, in the table."""
        t, values = self.table, solution.values
        t.records[number, -1, :MOVEMENT] = values.dual, values.primal, values.violation
        t.offsets[number] = solution.offsets[0]
        t.steps[number] += solution.n_iter
        t.evaluations[number] += solution.kernel_evaluations
        t.seconds[number] += solution.seconds
        self.statuses[number] = STATUSES.index(solution.status)
        self.histories[number] = solution.history

    def decoded(self, plan: Plan, decode: Decode) -> Decoded:
        """The model: β are the coefficients of a C-SVC, and b its offset."""
        coef, offsets = np.empty_like(self.coef), self.table.offsets
        coef[:, self.order] = self.coef
        return Decoded(coef, offsets, [offsets])

    def proofs(self, mark: Mark, seconds: float) -> Proofs:
        """What the table proves; the values of all pairs are summed."""
        table = self.table
        dual, primal, violation, _ = table.records[:, -1].T
        values = Values(float(dual.sum()), float(primal.sum()), float(violation.max()), np.zeros(0))
        worst = np.lexsort([primal - dual, self.statuses != 0])[-1]
        costs = int(table.steps.sum()), int(table.evaluations.sum()), seconds
        total = Certificate.made(values, STATUSES[self.statuses[worst]], *costs)
        endings = [Ending(STATUSES[k], self.why) for k in np.unique(self.statuses)]
        certificates = PairCertificates(table, self.statuses)
        return Proofs(certificates, mark(total), PairHistories(table, self.histories), endings)


@dataclass(frozen=True)
class PairCertificates(Made[Certificate]):
    """The certificate of each pair of a table."""

    table: PairTable
    statuses: Numbers

    def __len__(self) -> int:
        return len(self.statuses)

    def make(self, number: int) -> Certificate:
        """The certificate of one pair."""
        t = self.table
        dual, primal, violation = t.records[number, -1, :MOVEMENT].tolist()
        costs = int(t.steps[number]), int(t.evaluations[number]), float(t.seconds[number])
        status = STATUSES[self.statuses[number]]
        return Certificate.made(Values(dual, primal, violation, np.zeros(0)), status, *costs)


@dataclass(frozen=True)
class PairHistories(Made[Records]):
    """The history of each pair of a table; `known` are those of pairs solved by themselves."""

    table: PairTable
    known: dict[int, Records]

    def __len__(self) -> int:
        return len(self.table.steps)

    def make(self, number: int) -> Records:
        """At β = 0, after SMO and, if it changed β, after the active-set method."""
        if number in self.known:
            return self.known[number]
        t = self.table
        stages = t.records[number]
        history = np.zeros(len(stages), HISTORY)
        history["objective"], history["violation"] = stages[:, DUAL], stages[:, VIOLATION]
        history["gap"], history["movement"] = stages[:, PRIMAL] - stages[:, DUAL], stages[:, -1]
        history["steps"][1:] = t.steps[number]
        history["kernel_evaluations"][1:] = t.evaluations[number]
        history["seconds"][1:] = t.seconds[number]
        there = history["movement"] > 0
        there[0] = True
        return history[there]
