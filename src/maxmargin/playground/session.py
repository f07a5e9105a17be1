"""One page's conversation: a request in, an answer out, whatever carries them.

The server has one for each WebSocket, the notebook widget one for itself.
"""

from __future__ import annotations

from functools import cache
from logging import getLogger
from pathlib import Path
from threading import Event

from maxmargin import __version__
from maxmargin.playground import picture, presets
from maxmargin.playground.catalogue import PRESETS, as_json
from maxmargin.playground.code import program
from maxmargin.playground.message import Message
from maxmargin.playground.schema import (
    KINDS,
    Advance,
    Code,
    FitRequest,
    LeaveOut,
    Preset,
    Refused,
    Request,
    Start,
)
from maxmargin.playground.theatre import Theatre
from maxmargin.playground.tours import lessons

SAMPLE = 36  # points of a preset in small

log = getLogger(__name__)


class Session:
    """Answers requests; keeps the theatre between them."""

    def __init__(self) -> None:
        self.theatre: Theatre | None = None

    def answer(self, request: Request, stop: Event | None = None) -> Message:
        """What the page is told, with the number of its request.

        `stop` is set by whoever no longer wants the answer; then this raises `Outdated`.
        """
        try:
            return {"type": kind(request), "id": request.id, **self._answer(request, stop)}
        except Refused as refusal:
            why = str(refusal)
        except picture.Outdated:
            raise
        except Exception as error:  # whatever it is: a page that waits for an answer gets one
            log.exception("the playground could not answer %s", kind(request))
            why = f"This could not be computed: {type(error).__name__}: {error}"
        return {"type": "refused", "id": request.id, "of": kind(request), "why": why}

    def _answer(self, request: Request, stop: Event | None) -> Message:
        stop = stop or Event()
        match request:
            case FitRequest():
                return picture.answer(request, stop)
            case LeaveOut():
                return picture.leave_out(request, stop)
            case Preset(name=name, n=n, noise=noise, seed=seed):
                return {"points": presets.points(name, n, noise, seed).as_json(), "name": name}
            case Code(points=points, settings=settings):
                return {"text": program(points, settings)}
            case Start():
                self.close()
                self.theatre = Theatre(request)
                return self.theatre.opening()
            case Advance(steps=steps) if self.theatre is not None:
                return self.theatre.advance(steps)
        raise Refused("no solver was started")

    def close(self) -> None:
        """End what is under way."""
        if self.theatre is not None:
            self.theatre.close()
            self.theatre = None


def kind(request: Request) -> str:
    """The type by which a request came and its answer goes."""
    return next(name for name, each in KINDS.items() if each is type(request))


@cache
def greeting(folder: Path | None = None) -> Message:
    """What a page is told first: everything there is to choose from, and the lessons.

    `folder` has more lessons, a teacher's own.
    """
    samples: Message = {
        name: {
            "label": label,
            "machine": machine,
            "sample": presets.points(name, SAMPLE, 0.1, seed=0).as_json(),
        }
        for name, (label, machine) in PRESETS.items()
    }
    first: Message = {"type": "hello", "version": __version__}
    return {**first, **as_json(), "presets": samples, "lessons": lessons(folder)}
