"""One library in a process of its own: its crash, its hang and its memory are its alone.

The process that started it asks, the worker answers; one worker works while the others sleep.
Times are taken inside, so that talking costs nothing.
"""

import contextlib
import ctypes
import gc
import multiprocessing
import os
import resource
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.case import Answer, Case
from benchmarks.datasets import load
from benchmarks.peers import Peer

IN_A_ROW = 0.1  # seconds of small fits, one after the other, before another library has its turn
SPAWN = multiprocessing.get_context("spawn")

# Spinning OpenMP threads ruin LIBSVM and ThunderSVM by factors of ten as soon as anything else
# runs on the machine, and would disturb whoever is timed next.
QUIET = {"OMP_WAIT_POLICY": "passive"}


class PeerError(Exception):
    """The library is absent, crashed, or ran out of time; the message says which."""


class Timing(NamedTuple):
    """Seconds on the clock, seconds of all cores, and what else was measured."""

    seconds: float
    cpu: float
    extra: float


class Session:
    """What a worker can be asked, in the worker."""

    def __init__(self, peer: Peer):
        self.peer = peer
        self.rows: tuple[object, ...] = ()

    def supports(self, case: Case) -> bool:
        return self.peer.supports(case)

    def fit(self, case: Case) -> Timing:
        """Train; the extra is the megabytes by which memory rose at its highest.

        A small fit is repeated, for what is asked is its time when warm: the median counts.
        """
        if self.rows != (case.data, case.n):
            self.model = None
            self.data = load(case.data, case.n)
            self.train = self.peer.prepare(self.data.X, self.data.y)
            self.test = self.peer.prepare(self.data.Xt, self.data.yt)
            self.rows = (case.data, case.n)
        self.model = None
        gc.collect()
        before, began, turns = forget_peak(), perf_counter(), []
        while not turns or (case.kind == "small" and perf_counter() - began < IN_A_ROW):
            start, start_cpu = perf_counter(), process_time()
            self.model = self.peer.fit(case, *self.train)
            turns.append((perf_counter() - start, process_time() - start_cpu))
        seconds, cpu = map(median, zip(*turns, strict=True))
        return Timing(seconds, cpu, peak() - before)

    def predict(self) -> Timing:
        """Predict the test rows; the extra is the share that is right."""
        start, start_cpu = perf_counter(), process_time()
        predicted = self.peer.predict(self.model, self.test[0])
        seconds, cpu = perf_counter() - start, process_time() - start_cpu
        return Timing(seconds, cpu, float(np.mean(predicted == self.data.yt)))

    def answer(self, case: Case) -> Answer:
        return self.peer.answer(case, self.model, self.data.y)


CURRENT, ON_FAULT = 1, 4  # Linux's MCL_CURRENT and MCL_ONFAULT


def forget_peak() -> float:
    """Set the highest memory use back to the present one, in MB, where Linux lets us.

    Pages that are there are kept there: one that the kernel took back on a busy machine, and that
    is read again, would be counted as new.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).mlockall(CURRENT | ON_FAULT)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> float:
    """The highest memory use of this process, in MB.

    Not `ru_maxrss` where it can be helped: it never falls below what the parent process used.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # macOS counts in bytes
    lines = status.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1e3


def serve(pipe, peer: Peer) -> None:
    try:
        import_module(peer.module)
    except (ImportError, OSError) as reason:
        pipe.send(f"absent: {reason}")
        return
    pipe.send("")
    session = Session(peer)
    with contextlib.suppress(EOFError):  # the other end is closed: we are done
        while True:
            verb, *arguments = pipe.recv()
            pipe.send(getattr(session, verb)(*arguments))


class Worker:
    """The handle of such a process."""

    def __init__(self, peer: Peer):
        self.peer = peer
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=serve, args=(theirs, peer), daemon=True)
        with changed_environment(QUIET):
            self.process.start()
        theirs.close()
        self.ready = False

    def ask(self, verb: str, *arguments: object, limit: float | None = None) -> Any:
        """The answer of `Session.verb`, or a PeerError when there is none within `limit` s."""
        self.wait()
        return self._receive(limit, (verb, *arguments))

    def wait(self) -> None:
        """Wait until the library is imported; a PeerError says that it cannot be."""
        if not self.ready:
            if absent := self._receive(None):
                raise PeerError(absent)
            self.ready = True

    def _receive(self, limit: float | None, question: tuple[object, ...] | None = None) -> Any:
        try:
            if question:
                self.pipe.send(question)
            if self.pipe.poll(limit):
                return self.pipe.recv()
        except (EOFError, ConnectionError):
            self.stop()
            raise PeerError(f"crashed, exit code {self.process.exitcode}") from None
        self.stop()
        raise PeerError(f"more than {limit:g} s")

    def stop(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


@contextlib.contextmanager
def changed_environment(changes: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
