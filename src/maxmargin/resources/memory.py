"""Memory: how much is free, and large arrays whose memory is reused."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

# A piece of memory that is kept for reuse has the bytes of a block of 6,144 × 6,144 float32, the
# largest of `BlockSMO`. Up to MOST_KEPT of them trade memory held between fits for time: up to
# half of a fit (docs/how-it-works/speed.md, "memory used again").
PIECE = 144 << 20
MOST_KEPT = 4
# Bytes below which an array gets no piece, which would be lost to a larger one; for speed any
# limit from 4 kB to 4 MB is as good (docs/how-it-works/speed.md, "Constants").
SMALLEST = 1 << 19

LINE = 64  # bytes of a cache line
IDLE = 60.0  # seconds after which memory that nobody used is given back

_free: list[NDArray[np.uint8]] = []
_timer: Timer | None = None
_last_return = 0.0


def available_memory() -> int:
    """Bytes that can be had without swapping, within the container's limit if there is one."""
    meminfo, limit = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")
    if not meminfo.exists():
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    lines = (line.split() for line in meminfo.read_text().splitlines())
    available = next(int(words[1]) * 1024 for words in lines if words[0] == "MemAvailable:")
    if limit.exists() and (text := limit.read_text().strip()).isdigit():
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        available = min(available, max(int(text) - used, 0))
    return available


class _Loan:
    """A piece of memory in use by an array and its views; when the last is gone, it is free."""

    def __init__(self, memory: NDArray[np.uint8]) -> None:
        self.memory, self.__array_interface__ = memory, memory.__array_interface__

    def __del__(self) -> None:
        # When the interpreter ends no thread can begin: waiting for one would never end.
        if len(_free) < MOST_KEPT and not sys.is_finalizing():
            _free.append(self.memory)
            _release_when_idle()


def release_memory() -> None:
    """Give the memory that is kept for the next fit back to the system.

    That happens by itself when no fit has used it for a minute.

    Examples
    --------
    >>> import maxmargin
    >>> maxmargin.release_memory()
    """
    _free.clear()


def kept_memory() -> int:
    """Bytes that are kept for the next fit."""
    return sum(memory.nbytes for memory in _free)


def _release_when_idle() -> None:
    """Release the memory after a minute in which none was returned."""
    global _timer, _last_return
    _last_return = monotonic()
    if _timer is None or not _timer.is_alive():
        _wait(IDLE)


def _wait(seconds: float) -> None:
    global _timer
    _timer = Timer(seconds, _look)
    _timer.daemon = True
    try:
        _timer.start()
    except RuntimeError:  # the interpreter is about to end, and all memory with it
        release_memory()


def _look() -> None:
    left = _last_return + IDLE - monotonic()
    if left > 0:
        _wait(left)
    else:
        release_memory()


def large_array(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """`np.empty`; up to the size of a PIECE it reuses memory of earlier arrays.

    On a virtual machine memory that was returned to the system costs up to three seconds per GB
    to get again, which is longer than it takes to compute what is then stored in it. So a few
    pieces are kept from fit to fit, of which only the pages that were ever written take memory.

    Examples
    --------
    >>> K = large_array((2, 3), np.float32)
    >>> K.shape, K.dtype
    ((2, 3), dtype('float32'))
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if not SMALLEST <= size <= PIECE:
        return np.empty(shape, dtype)
    try:
        memory = _free.pop()
    except IndexError:
        memory = np.empty(PIECE, np.uint8)
    return np.asarray(_Loan(memory))[:size].view(dtype).reshape(shape)


def aligned(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Zeros that begin where a line of the cache does: no vector lies across two of them."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(size + LINE, np.uint8)
    start = -memory.__array_interface__["data"][0] % LINE  # `ctypes` takes four times as long
    zeros: NDArray[Any] = memory[start : start + size].view(dtype).reshape(shape)
    return zeros
