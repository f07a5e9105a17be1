"""Making a problem on which library and judge disagree as small and plain as possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace

from fuzz.problem import Problem

PLAIN = Problem()


def shrunk(problem: Problem, fails: Callable[[Problem], bool]) -> Problem:
    """A simpler problem that still fails: each word as by default if it can be, then fewer rows.

    Examples
    --------
    >>> shrunk(Problem(C=100.0, n=50, scale=10.0), lambda p: p.n > 7 and p.C > 1).words
    {'C': 100.0, 'n': 8}
    """
    found = True
    while found:
        found = False
        for simpler in _simpler(problem):
            if fails(simpler):
                problem, found = simpler, True
                break
    return problem


def _simpler(problem: Problem) -> Iterator[Problem]:
    for n in (problem.n // 2, problem.n - 1):
        if 1 <= n < problem.n:
            yield replace(problem, n=n)
    for field in fields(problem):
        plain = getattr(PLAIN, field.name)
        if field.name not in ("n", "seed", "machine") and getattr(problem, field.name) != plain:
            yield replace(problem, **{field.name: plain})
