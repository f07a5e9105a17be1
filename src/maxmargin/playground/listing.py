"""A textbook algorithm's own source beside the picture: which lines ran, the values they left.

The source is not a copy and has no marks for this: Python's trace of the thread that runs it says
which lines of its page run, and what each of them changed among the numbers of its function.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from maxmargin.playground.message import JSON
from maxmargin.solvers import Solver
from maxmargin.solvers.textbook import blackboard

KEPT = 60  # lines that ran, of a step: a sweep that looks at a thousand points shows its end


TYPES = re.compile(r"(?<=\w): [A-Z\w]+(\[.*?\])?(?=[,)]| =)| -> .*(?=:$)")


class Listing:
    """The functions of a page, and the lines of them that ran since the last step.

    Examples
    --------
    >>> from maxmargin.solvers import SimplifiedSMO
    >>> Listing(page_of(SimplifiedSMO())).as_json()[0]["text"]
    'def iterate(self, state):'
    """

    def __init__(self, page: Sequence[Callable[..., object]]) -> None:
        self._places: dict[CodeType, int] = {}  # of a function: its first line in the listing
        self._lines: list[str] = []
        self._ran: deque[tuple[int, dict[str, float]]] = deque(maxlen=KEPT)
        self._seen: dict[CodeType, dict[str, float]] = {}  # its numbers at its last line
        self._last: dict[CodeType, dict[str, float]] = {}  # what that line has changed
        self._awake = True
        for function in (each for each in page if isinstance(each, FunctionType)):
            self._places[function.__code__] = len(self._lines)
            text = inspect.cleandoc("\n" + inspect.getsource(function))
            self._lines += [*text.splitlines(), ""]

    def as_json(self) -> list[JSON]:
        """The lines, each with its text; a signature without its types, which fill a screen."""
        return [{"text": TYPES.sub("", line)} for line in self._lines[:-1]]

    def ran(self) -> list[JSON]:
        """The lines that ran since the last step, in order, with the values they changed."""
        return [{"line": at, "values": values} for at, values in self._ran]

    def forget(self, *, awake: bool = True) -> None:
        """Begin a new step, and note its lines if somebody will see them: that takes time."""
        self._ran.clear()
        self._awake = awake

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note the lines that run in this thread, in the functions of the page."""
        before = sys.gettrace()
        sys.settrace(self._called if self._places else before)
        try:
            yield
        finally:
            sys.settrace(before)

    def _called(self, frame: FrameType, event: str, _: Any) -> Any:
        if event != "call" or frame.f_code not in self._places:
            return None
        self._seen[frame.f_code] = _numbers(frame)
        self._last.pop(frame.f_code, None)
        return self._line

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        """Give what has changed to the last line of this function; note the line that comes."""
        if not self._awake:
            return self._line
        code, now = frame.f_code, _numbers(frame)
        old, last = self._seen.get(code, {}), self._last.get(code, {})
        last.update({name: value for name, value in now.items() if old.get(name) != value})
        self._seen[code] = now
        if event == "line":
            at = self._places[code] + frame.f_lineno - code.co_firstlineno
            self._last[code] = {}
            self._ran.append((at, self._last[code]))
        return self._line


def page_of(solver: Solver) -> Sequence[Callable[..., object]]:
    """The functions to project: those of a textbook solver's file, then the step of a pair.

    Examples
    --------
    >>> from maxmargin.solvers import BlockSMO
    >>> page_of(BlockSMO())  # no page of a textbook
    []
    """
    module = inspect.getmodule(type(solver))
    if module is None or not module.__name__.startswith("maxmargin.solvers.textbook."):
        return []
    own = [
        each
        for holder in (vars(type(solver)), vars(module))
        for each in holder.values()
        if isinstance(each, FunctionType)
        and each.__module__ == module.__name__
        and not each.__name__.startswith("__")
        and each.__name__ not in ("check", "advice")
    ]
    page = own
    for each in page:  # and what these call, in the order in which they are named
        used = each.__code__.co_names
        called = (one for one in blackboard.PAGES if one.__name__ in used and one not in page)
        page += [one for one in called if isinstance(one, FunctionType)]
    return page


def _numbers(frame: FrameType) -> dict[str, float]:
    """The numbers among the variables of a function, which a margin can show."""
    values = {
        name: float(value)
        for name, value in frame.f_locals.items()
        if not isinstance(value, bool | np.bool_) and isinstance(value, Real)
    }
    return {name: value for name, value in values.items() if np.isfinite(value)}
