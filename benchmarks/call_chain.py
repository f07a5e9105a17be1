"""Which of our functions `SVC().fit` and `.predict` call, in order; and how deep the classes are.

    PYTHONPATH=src python benchmarks/call_chain.py        # of another checkout: its src

docs/how-it-works/architecture.md has what it prints for the house before and after it was rebuilt.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import maxmargin
from maxmargin import kernels

ROOT = Path(maxmargin.__file__).parent
KERNELS = [
    name
    for name, kind in vars(kernels).items()
    if inspect.isclass(kind) and issubclass(kind, kernels.Kernel)
]


class Call(NamedTuple):
    """A call of one of our functions."""

    file: str
    name: str
    owner: int | None  # id of `self`
    way: tuple[str, ...]  # the files of the calls that led here


def calls_of(action: Callable[[], Any]) -> list[Call]:
    """Each call of ours, in order."""
    found: list[Call] = []
    way: list[str] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        path = Path(code.co_filename)
        if event not in ("call", "return") or not path.is_relative_to(ROOT):
            return
        if code.co_name.startswith("<") or is_property(frame):  # comprehensions are no calls either
            return
        if event == "return":
            way.pop()
            return
        owner = id(frame.f_locals["self"]) if "self" in code.co_varnames[:1] else None
        file = str(path.relative_to(ROOT))
        found.append(Call(file, code.co_qualname, owner, tuple(way)))
        way.append(file)

    sys.setprofile(watch)
    try:
        action()
    finally:
        sys.setprofile(None)
    return found


def is_property(frame: FrameType) -> bool:
    """Whether a frame computes an attribute."""
    owner, _, name = frame.f_code.co_qualname.rpartition(".")
    kind = frame.f_globals.get(owner)
    return isinstance(kind, type) and isinstance(vars(kind).get(name), property)


def file_changes(calls: list[Call]) -> int:
    """How often the next call inside machines/ is in another file than the last."""
    return sum(a.file != b.file for a, b in pairwise(inside_machines(calls)))


def class_changes(calls: list[Call], machine: object) -> int:
    """How often the next method of the machine itself is in another of its classes."""
    own = [call for call in inside_machines(calls) if call.owner == id(machine)]
    return sum(a.name.split(".")[0] != b.name.split(".")[0] for a, b in pairwise(own))


def inside_machines(calls: list[Call]) -> list[Call]:
    """Those in machines/, without what a solver tells its observer in each iteration."""
    return [
        call
        for call in calls
        if is_machine(call.file) and not any(file.startswith("solvers/") for file in call.way)
    ]


def is_machine(file: str) -> bool:
    """Whether a file is in machines/."""
    return file.startswith("machines/")


def shown(calls: list[Call]) -> list[str]:
    """The calls inside machines/ and those they make elsewhere, indented; repeated ones once."""
    lines = [
        f"{'  ' * len(call.way)}{call.file}: {call.name}"
        for call in calls
        if is_machine(call.file) or not call.way or is_machine(call.way[-1])
    ]
    return list(dict.fromkeys(lines))


def own_classes(kind: type) -> list[type]:
    """The classes of ours that a class is made of."""
    return [each for each in kind.__mro__ if each.__module__.startswith("maxmargin")]


def anatomy(kind: type) -> dict[str, int]:
    """How many classes, private methods, overridden ones and calls of `super` a machine has."""
    classes = own_classes(kind)
    private = [
        name
        for each in classes
        for name, value in vars(each).items()
        if re.match(r"_[a-z]", name) and (inspect.isroutine(value) or isinstance(value, property))
    ]
    sources = "".join(inspect.getsource(each) for each in classes)
    return {
        f"own classes of {kind.__name__}": len(classes),
        "private methods": len(private),
        "of different names": len(set(private)),
        "overridden": sum(count > 1 for count in Counter(private).values()),
        "calls of super()": sources.count("super()"),
    }


def size() -> dict[str, int]:
    """Of the whole package."""
    names = [p for p in ROOT.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()]
    texts = {str(p.relative_to(ROOT)): p.read_text() for p in sorted(ROOT.rglob("*.py"))}
    asks = re.compile(rf"isinstance\([^()]*(\([^()]*\))?[^()]*\b({'|'.join(KERNELS)})\b")
    outside = [text for name, text in texts.items() if not name.startswith("kernels")]
    return {
        "names at the root": len(names) - 1,
        "files": len(texts),
        "lines": sum(len(text.splitlines()) for text in texts.values()),
        "lines of code": sum(map(lines_of_code, texts.values())),
        "isinstance of a kernel outside kernels": sum(len(asks.findall(t)) for t in outside),
    }


def lines_of_code(text: str) -> int:
    """Lines that are neither blank nor comment nor docstring."""
    code = ast.parse(text)
    prose: set[int] = set()
    for node in ast.walk(code):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose.update(range(node.lineno, node.end_lineno + 1))
    return sum(
        number not in prose and bool(line.strip()) and not line.lstrip().startswith("#")
        for number, line in enumerate(text.splitlines(), start=1)
    )


def main() -> None:
    """Print everything."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    machine = maxmargin.SVC()
    machine.fit(X, y).predict(X)  # what is compiled or cached is so now
    numbers = {**anatomy(maxmargin.SVC), **size()}
    actions = {"fit": lambda: machine.fit(X, y), "predict": lambda: machine.predict(X)}
    for name, action in actions.items():
        calls = calls_of(action)
        print(f"SVC().{name}", *shown(calls), sep="\n", end="\n\n")
        numbers[f"file changes in machines/, {name}"] = file_changes(calls)
        numbers[f"class changes of the machine, {name}"] = class_changes(calls, machine)
    for title, count in numbers.items():
        print(f"{title:<40}{count:>7,}")


if __name__ == "__main__":
    main()
