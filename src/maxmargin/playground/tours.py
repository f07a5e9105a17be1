"""Lessons and exercises: files that a teacher can write, checked when they are read.

A lesson is a JSON object with a `title`, a `start` and `steps`. A step has a `text`, and may have a
`state`, which is put over the start, an `exercise` and a `hint`. lessons.md says what each may
contain; an error says which file and step are wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from maxmargin.playground.catalogue import PRESETS, SOLVERS
from maxmargin.playground.message import Message
from maxmargin.playground.schema import Refused, read_points, read_settings

STATE = {"preset", "points", "settings", "mode", "solver", "rival", "goal", "speed", "layers"}
STATE |= {"hover", "leaveOut", "advance", "play"}
CHOICES = ("pair", "violator", "satisfied", "idle", "bound")
RELATIONS = ("=", "<", ">", "≤", "≥", "contains")


@cache
def lessons(folder: Path | None = None) -> list[Message]:
    """The lessons of the playground, in order, and after them those of a folder.

    Examples
    --------
    >>> [lesson["id"] for lesson in lessons()][:3]
    ['margin', 'slack', 'kernels']
    """
    own = files("maxmargin.playground") / "lessons"
    found = _numbered(own.iterdir())
    if folder is not None:
        found += sorted(folder.glob("*.json"), key=lambda path: path.name)
    return [read_lesson(each.name, each.read_text("utf-8")) for each in found]


def _numbered(paths: Iterable[Traversable]) -> list[Traversable]:
    wanted = [path for path in paths if path.name.endswith(".json")]
    return sorted(wanted, key=lambda path: int(path.name.partition("-")[0]))


def read_lesson(name: str, text: str) -> Message:
    """A lesson as the page takes it; `Refused` names the file, the step and what is wrong.

    Examples
    --------
    >>> read_lesson("mine.json", '{"title": "Mine", "start": {}, "steps": [{"txt": "…"}]}')
    Traceback (most recent call last):
    maxmargin.playground.schema.Refused: mine.json, step 1: a step has text, state, exercise, hint
    """
    try:
        lesson = json.loads(text)
        _need(isinstance(lesson, Mapping), "a lesson is an object")
        _need(set(lesson) == {"title", "start", "steps"}, "a lesson has title, start and steps")
        _need(isinstance(lesson["steps"], list) and bool(lesson["steps"]), "steps is a list")
    except (ValueError, TypeError) as error:
        raise Refused(f"{name}: {error}") from error
    for number, step in enumerate(lesson["steps"], 1):
        try:
            known = {"text", "state", "exercise", "hint"}
            right = isinstance(step, Mapping) and "text" in step and set(step) <= known
            _need(right, "a step has text, state, exercise, hint")
            _check_state({**lesson["start"], **step.get("state", {})})
            _check_exercise(step.get("exercise", {}))
        except (ValueError, TypeError) as error:
            raise Refused(f"{name}, step {number}: {error}") from error
    stem = name.removesuffix(".json")
    number_of, _, rest = stem.partition("-")
    return {"id": rest if number_of.isdigit() else stem, **lesson}


def _check_state(state: Mapping[str, object]) -> None:
    unknown = sorted(set(state) - STATE)
    _need(not unknown, f"a state has no {', '.join(unknown)}: {', '.join(sorted(STATE))}")
    read_settings("settings", state.get("settings", {}))
    read_points("points", state.get("points", []))
    for solver in ("solver", "rival"):
        chosen = state.get(solver, "platt")
        _need(chosen in SOLVERS, f"{solver} is one of {', '.join(SOLVERS)}, got {chosen!r}")
    mode = state.get("mode", "explore")
    _need(mode in ("explore", "steps", "race"), f"mode is explore, steps or race, got {mode!r}")
    preset = state.get("preset", {"name": "moons"})
    right = isinstance(preset, Mapping) and preset.get("name") in PRESETS
    _need(right, f"the name of a preset is one of {', '.join(PRESETS)}")


def _check_exercise(exercise: Mapping[str, object]) -> None:
    if not exercise:
        return
    if "choose" in exercise:
        _need(exercise["choose"] in CHOICES, f"choose is one of {', '.join(CHOICES)}")
        return
    goal = exercise.get("goal")
    right = isinstance(goal, list) and all(
        isinstance(each, list) and len(each) == 3 and each[1] in RELATIONS for each in goal
    )
    _need(right, f"a goal is a list of [measure, {' or '.join(RELATIONS)}, value]")


def _need(right: bool, why: str) -> None:
    if not right:
        raise Refused(why)
