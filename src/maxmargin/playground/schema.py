"""What a page may ask, and what it is told if it asks for anything else.

A request is JSON with a `type`, which names the class it is read into. Every field is checked
before anything is computed; `Refused` says in words what is wrong and what would be right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from maxmargin.playground.catalogue import (
    DECIMALS,
    FARTHEST,
    KERNELS,
    MACHINES,
    MOST_CLASSES,
    MOST_POINTS,
    MULTICLASS,
    PARAMETERS,
    PRESETS,
    SOLVERS,
)
from maxmargin.resources.arrays import Floats, Numbers

HUGE = 1e300  # a whole number beyond it has no float
LONGEST = 1 << 18  # characters of a message: a thousand points take a tenth of it


class Refused(ValueError):
    """A request that is not one of those below."""


@dataclass(frozen=True)
class Points:
    """The drawn points: their places, and the number of the class of each."""

    xy: Floats
    classes: Numbers

    def __len__(self) -> int:
        return len(self.xy)

    def without(self, row: int) -> Points:
        """All of them but one."""
        return Points(np.delete(self.xy, row, axis=0), np.delete(self.classes, row))

    def as_json(self) -> list[list[float]]:
        """As the page has them: [x, y, class] each."""
        return [
            [float(x), float(y), int(k)] for (x, y), k in zip(self.xy, self.classes, strict=True)
        ]


@dataclass(frozen=True)
class Settings:
    """The machine as its sliders and switches stand."""

    machine: str = "svc"
    kernel: str = "rbf"
    multiclass: str = "ovo"
    offset: bool = True
    fourier: bool = False
    C: float = PARAMETERS["C"].default
    gamma: float = PARAMETERS["gamma"].default
    degree: int = int(PARAMETERS["degree"].default)
    coef0: float = PARAMETERS["coef0"].default
    mix: float = PARAMETERS["mix"].default
    epsilon: float = PARAMETERS["epsilon"].default
    nu: float = PARAMETERS["nu"].default
    ridge: float = PARAMETERS["ridge"].default
    features: int = int(PARAMETERS["features"].default)


@dataclass(frozen=True)
class Request:
    """What every request has: a number of the page's own, which comes back with the answer."""

    id: int


@dataclass(frozen=True)
class FitRequest(Request):
    """Fit the machine, and show it on a grid of so many points a side."""

    points: Points
    settings: Settings
    grid: int


@dataclass(frozen=True)
class LeaveOut(Request):
    """Fit it without one point, and tell what moves."""

    points: Points
    settings: Settings
    grid: int
    row: int


@dataclass(frozen=True)
class Start(Request):
    """Begin to solve the dual with one solver, or with two that race to the same relative gap."""

    points: Points
    settings: Settings
    solvers: tuple[str, ...]
    goal: float


@dataclass(frozen=True)
class Advance(Request):
    """So many steps more of each solver that was started, and how they then stand."""

    steps: int


@dataclass(frozen=True)
class Preset(Request):
    """A set of points by name."""

    name: str
    n: int
    noise: float
    seed: int


@dataclass(frozen=True)
class Code(Request):
    """The program that makes this machine."""

    points: Points
    settings: Settings


KINDS: dict[str, type[Request]] = {
    "fit": FitRequest,
    "leave-out": LeaveOut,
    "start": Start,
    "advance": Advance,
    "preset": Preset,
    "code": Code,
}


def read(text: object) -> Request:
    """A message, as text or decoded, as a request.

    Examples
    --------
    >>> read('{"type": "advance", "id": 7, "steps": 3}')
    Advance(id=7, steps=3)
    >>> read('{"type": "advance", "id": 7, "steps": "all"}')
    Traceback (most recent call last):
    maxmargin.playground.schema.Refused: steps must be a whole number from 1 to 1,000, got 'all'
    """
    message = _decoded(text) if isinstance(text, str) else text
    if not isinstance(message, Mapping):
        raise Refused("a message is a JSON object with a type")
    kind = KINDS.get(str(message.get("type")))
    if kind is None:
        raise Refused(f"type must be one of {', '.join(KINDS)}, got {_shown(message.get('type'))}")
    wanted = {each.name for each in fields(kind)}
    given = set(message) - {"type"}
    if given != wanted:
        raise Refused(
            f"a {message['type']} has the fields {', '.join(sorted(wanted))}"
            + "".join(f"; {name} is missing" for name in sorted(wanted - given))
            + "".join(f"; {_shown(name)} is unknown" for name in sorted(given - wanted))
        )
    request = kind(**{name: READERS[name](name, message[name]) for name in sorted(wanted)})
    if isinstance(request, LeaveOut) and request.row >= len(request.points):
        raise Refused(f"row {request.row} is not one of the {len(request.points)} points")
    return request


def read_settings(name: str, value: object) -> Settings:
    """Settings, with the defaults where nothing is said."""
    if not isinstance(value, Mapping):
        raise Refused(f"{name} must be an object, got {_shown(value)}")
    unknown = [key for key in value if key not in SETTING_READERS]
    if unknown:
        raise Refused(f"{name} has no {_shown(unknown[0])}: {', '.join(SETTING_READERS)}")
    return Settings(**{key: SETTING_READERS[key](key, given) for key, given in value.items()})


def read_points(name: str, value: object) -> Points:
    """At most a thousand [x, y, class], in or near the square that is shown."""
    if not isinstance(value, list):
        raise Refused(f"{name} must be a list of [x, y, class], got {_shown(value)}")
    if len(value) > MOST_POINTS:
        raise Refused(f"{len(value):,} points are too many: the page takes up to {MOST_POINTS:,}")
    for i, point in enumerate(value):
        if not (isinstance(point, list) and len(point) == 3 and all(map(_is_number, point))):
            raise Refused(f"point {i} must be [x, y, class], three numbers, got {_shown(point)}")
        x, y, k = point
        if not (abs(x) <= FARTHEST and abs(y) <= FARTHEST):
            raise Refused(
                f"point {i} at ({x:g}, {y:g}) is too far out: coordinates go from {-FARTHEST:g} "
                f"to {FARTHEST:g}"
            )
        if k not in range(MOST_CLASSES):
            raise Refused(f"point {i} has class {k:g}: classes go from 0 to {MOST_CLASSES - 1}")
    table = np.array(value, float).reshape(-1, 3)
    return Points(table[:, :2].round(DECIMALS), table[:, 2].astype(int))


def _decoded(text: str) -> object:
    if len(text) > LONGEST:
        raise Refused(
            f"a message of {len(text):,} characters is too long: {LONGEST:,} are enough for "
            f"{MOST_POINTS:,} points"
        )
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(f"this is not JSON: {error}") from error


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < HUGE


def _shown(value: object) -> str:
    """A value for an error: short, whatever it is."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


Reader: TypeAlias = Callable[[str, object], Any]  # of a field: its name, what came → its value


def _whole(low: int, high: int) -> Reader:
    def reader(name: str, value: object) -> int:
        if not (_is_number(value) and value == int(value) and low <= value <= high):
            raise Refused(
                f"{name} must be a whole number from {low:,} to {high:,}, got {_shown(value)}"
            )
        return int(value)

    return reader


def _real(low: float, high: float) -> Reader:
    def reader(name: str, value: object) -> float:
        if not (_is_number(value) and low <= value <= high):
            raise Refused(f"{name} must be a number from {low:g} to {high:g}, got {_shown(value)}")
        return float(value)

    return reader


def _word(words: Mapping[str, object]) -> Reader:
    def reader(name: str, value: object) -> str:
        if not (isinstance(value, str) and value in words):
            raise Refused(f"{name} must be one of {', '.join(words)}, got {_shown(value)}")
        return value

    return reader


def _switch(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise Refused(f"{name} must be true or false, got {_shown(value)}")
    return value


def _solvers(name: str, value: object) -> tuple[str, ...]:
    if not (isinstance(value, list) and 1 <= len(value) <= 2):
        raise Refused(f"{name} must be a list of one solver, or of two that race")
    return tuple(_word(SOLVERS)(name, each) for each in value)


SETTING_READERS: dict[str, Reader] = {
    "machine": _word(MACHINES),
    "kernel": _word(KERNELS),
    "multiclass": _word(MULTICLASS),
    "offset": _switch,
    "fourier": _switch,
    **{
        name: _whole(int(each.low), int(each.high)) if each.whole else _real(each.low, each.high)
        for name, each in PARAMETERS.items()
    },
}

READERS: dict[str, Reader] = {
    "id": _whole(0, 1 << 53),
    "points": read_points,
    "settings": read_settings,
    "grid": _whole(8, 128),
    "row": _whole(0, MOST_POINTS),
    "solvers": _solvers,
    "goal": _real(0.0, 1.0),
    "steps": _whole(1, 1000),
    "name": _word(PRESETS),
    "n": _whole(2, 600),
    "noise": _real(0.0, 1.0),
    "seed": _whole(0, 1 << 31),
}
