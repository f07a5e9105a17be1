"""What the computer offers: cores, memory, and a pool of threads."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

WORTH_A_TASK = 50_000  # nanoseconds; handing a task to another thread costs some thousand


def run_all(function: Callable[..., None], tasks: Iterable[tuple], threads: int) -> None:
    """Call `function(*task)` for every task, on several threads if there are several tasks.

    The caller works too: waking another thread takes as long as many a task.
    """
    tasks = list(tasks)
    left = iter(tasks)  # all take from it what comes next

    def work() -> None:
        try:
            for task in left:
                function(*task)
        finally:
            list(left)  # after an error nobody goes on

    helpers = [pool(threads, os.getpid()).submit(work) for _ in range(min(threads, len(tasks)) - 1)]
    try:
        work()
    finally:
        for helper in helpers:
            if not helper.cancel():  # if it has begun
                helper.result()


def run_split(function: Callable[[int, int], None], n: int, work: float, threads: int) -> None:
    """Call `function(start, stop)` on parts of range(n), in several threads if that is worth it.

    `work` is roughly the nanoseconds it takes one thread to do all of it.
    """
    parts = min(4 * threads, int(work / WORTH_A_TASK), n)
    if parts <= 1:
        function(0, n)
        return
    ends = [n * part // parts for part in range(parts + 1)]
    run_all(function, pairwise(ends), threads)


@lru_cache(maxsize=8)
def pool(threads: int, process: int, work: str = "tiles") -> ThreadPoolExecutor:
    """One pool per process, for threads do not survive a fork, and kind of work.

    Work that waits for other work must not take its threads.
    """
    return ThreadPoolExecutor(threads, thread_name_prefix=f"maxmargin-{work}")


_lock = Lock()
_inside: list[
    Any
] = []  # an entry per caller of `one_blas_thread`; the first is the limit that is set


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS with one thread, until the last of possibly many callers has left.

    For code that runs BLAS on threads of its own: two teams on the same cores wait for each
    other, and everything takes two to three times as long.
    """
    with _lock:
        _inside.append(None if _inside else _libraries().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _inside[0]
            _inside.pop()
            if not _inside:
                limit.restore_original_limits()


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """Finding the libraries takes longer than setting their threads."""
    return ThreadpoolController()


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(n_jobs: int | None) -> int:
    """`n_jobs` as a number of threads: None is all cores, −2 all but one."""
    if n_jobs is None:
        return available_cores()
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use None or −1 for all cores")
    return n_jobs if n_jobs > 0 else max(1, available_cores() + 1 + n_jobs)


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


PIECE = 144 << 20  # bytes: a block of 6,144 × 6,144 numbers in float32
PAGES = 1 << 19  # bytes from which an array is not likely to come from memory used before
MOST_KEPT = 4  # pieces of memory
_kept: list[np.ndarray] = []


class _Loan:
    """Memory lent to an array and its views; when the last of them is gone, it is kept."""

    def __init__(self, memory: np.ndarray) -> None:
        self.memory, self.__array_interface__ = memory, memory.__array_interface__

    def __del__(self) -> None:
        if len(_kept) < MOST_KEPT:
            _kept.append(self.memory)


def large_array(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """`np.empty`, up to a PIECE in memory that an earlier one has left.

    On a virtual machine memory that was returned to the system costs up to three seconds per GB
    to have again, which is longer than it takes to compute what is then stored in it. So a few
    pieces are kept from fit to fit, of which only what was ever used takes memory.

    Examples
    --------
    >>> K = large_array((2, 3), np.float32)
    >>> K.shape, K.dtype
    ((2, 3), dtype('float32'))
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if not PAGES <= size <= PIECE:
        return np.empty(shape, dtype)
    try:
        memory = _kept.pop()
    except IndexError:
        memory = np.empty(PIECE, np.uint8)
    return np.asarray(_Loan(memory))[:size].view(dtype).reshape(shape)
