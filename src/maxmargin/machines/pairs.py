"""All pairs of classes of a C-SVC solved together, as tasks of one fit."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.machines.answers import STATUSES, PairAnswers
from maxmargin.machines.fit import Fit, Model
from maxmargin.machines.plan import Plan
from maxmargin.machines.tasks import Task
from maxmargin.resources.threads import thread_count
from maxmargin.solvers.qp.all_pairs import VIOLATION, solve_all_pairs


def solve_together(
    run: Fit, plan: Plan, gram: Any, task: Callable[[int], Task], model: Model
) -> PairAnswers:
    """The answers to all pairs of the plan; `task` makes that of one pair.

    A pair that the table leaves open goes to the solver, from the β that it has.
    """
    order, count, first = plan.labels.argsort(kind="stable"), len(plan.splits), task(0)
    run.tasks, run.model = [first], model
    with run.bar_of(count) or nullcontext() as bar:
        coef, table = solve_all_pairs(
            gram.take(order),
            np.bincount(plan.labels),
            plan.bounds[order],
            first.solver.tol,
            thread_count(run.machine.n_jobs),
            lambda: run.halted() is not None,
            run.interrupt,
            bar.skip if bar else None,
        )
        if bar:
            bar.reached(float(table.records[:, -1, VIOLATION].max()), first.solver.tol)
    open_pairs, ending = np.flatnonzero(~table.converged(first.solver.tol)), run.halted()
    answers = PairAnswers(coef, order, table, np.zeros(count, np.uint8), {}, "")
    if ending is not None:
        answers.statuses[open_pairs] = STATUSES.index(ending.status)
        return replace(answers, why=ending.why)
    places = {number: plan.scheme.place(plan.splits, number) for number in open_pairs.tolist()}
    betas = np.empty_like(coef)
    betas[:, order] = coef
    tasks = [replace(task(number), start=betas[place]) for number, place in places.items()]
    found = run.solve(tasks, model, in_parallel=False) if tasks else []
    for (number, place), solution in zip(places.items(), found, strict=True):
        answers.enter(number, solution)
        betas[place] = solution.beta
    coef[:] = betas[:, order]
    return replace(answers, why=next((each.why for each in found if each.why), ""))
