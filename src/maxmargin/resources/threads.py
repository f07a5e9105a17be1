"""Threads: how many cores there are, and how work is split among them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from multiprocessing import parent_process
from threading import Lock
from typing import Any

from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

# Nanoseconds of work below which a task is not given to another thread: handing it over costs
# some thousand, and up to a million if that thread sleeps
# (docs/how-it-works/speed.md, "The caller works too").
WORTH_A_TASK = 50_000


def run_all(function: Callable[..., None], tasks: Iterable[tuple[Any, ...]], threads: int) -> None:
    """Call `function(*task)` for every task, on several threads if there are several tasks.

    The caller works too: waking another thread takes as long as many a task.
    """
    tasks = list(tasks)
    left = iter(tasks)  # shared: each thread takes the next task from it

    def work() -> None:
        try:
            for task in left:
                function(*task)
        finally:
            list(left)  # after an error no other task is begun

    helpers = [pool(threads, os.getpid()).submit(work) for _ in range(min(threads, len(tasks)) - 1)]
    try:
        work()
    finally:
        for helper in helpers:
            if not helper.cancel():  # it has begun: wait for it
                helper.result()


def run_split(function: Callable[[int, int], None], n: int, work: float, threads: int) -> None:
    """Call `function(start, stop)` on parts of range(n), in several threads if that is worth it.

    `work` is roughly the nanoseconds that one thread takes for all of it. Four parts per thread
    even out parts that take longer than others.
    """
    parts = min(4 * threads, int(work / WORTH_A_TASK), n) if threads > 1 else 1
    if parts <= 1:
        function(0, n)
        return
    ends = [n * part // parts for part in range(parts + 1)]
    run_all(function, pairwise(ends), threads)


@lru_cache(maxsize=8)
def pool(threads: int, process: int, work: str = "tiles") -> ThreadPoolExecutor:
    """One pool per process and kind of work.

    Threads do not survive a fork; and a task that waits for tasks of its own needs another pool
    than theirs, or all threads could wait for each other.
    """
    return ThreadPoolExecutor(threads, thread_name_prefix=f"maxmargin-{work}")


_lock = Lock()
_limits: list[Any] = []  # one per caller inside `one_blas_thread`; only the first sets a limit


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS with one thread, until the last of possibly many callers has left.

    For code that calls BLAS from several threads: two teams of threads on the same cores wait for
    each other, and everything takes two to three times as long.
    """
    with _lock:
        _take_control()
        _limits.append(None if _limits else _libraries().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _limits[0]
            _limits.pop()
            if not _limits:
                _take_control()
                limit.restore_original_limits()


def _take_control() -> None:
    """Let this thread set the threads of OpenBLAS.

    Since threadpoolctl 3.7 only the first thread to set them can, and others silently cannot. Here
    `_lock` and `_limits` keep the threads of this process apart.
    """
    for library in _libraries().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """Finding the libraries takes longer than setting their threads: done once."""
    return ThreadpoolController()


def available_cores() -> int:
    """Cores that are ours: all, but in a worker only its share, or workers wait for each other.

    loky and Dask give their workers OMP_NUM_THREADS, which a user may set too. Any other worker
    (a process or a thread of joblib, a process of a pool) does not know how many there are: one.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    share = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if share.isdecimal():
        return min(max(int(share), 1), cores)
    backend, _ = get_active_backend()
    return 1 if backend.nesting_level or parent_process() else cores


def thread_count(n_jobs: int | None) -> int:
    """`n_jobs` as a number of threads: None is all `available_cores`, −2 all but one."""
    if n_jobs is None:
        return available_cores()
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use None or −1 for all cores")
    return n_jobs if n_jobs > 0 else max(1, available_cores() + 1 + n_jobs)
