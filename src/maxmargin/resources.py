"""What the computer offers: cores, memory, and a pool of threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

WORTH_A_TASK = 50_000  # nanoseconds; handing a task to another thread costs some thousand


def run_all(function: Callable[..., None], tasks: Iterable[tuple], threads: int) -> None:
    """Call `function(*task)` for every task, on several threads if there are several tasks."""
    tasks = list(tasks)
    if threads == 1 or len(tasks) == 1:
        for task in tasks:
            function(*task)
        return
    for future in [_pool(threads, os.getpid()).submit(function, *task) for task in tasks]:
        future.result()


def run_split(function: Callable[[int, int], None], n: int, work: float, threads: int) -> None:
    """Call `function(start, stop)` on parts of range(n), in several threads if that is worth it.

    `work` is roughly the nanoseconds it takes one thread to do all of it.
    """
    parts = max(1, min(4 * threads, int(work / WORTH_A_TASK), n))
    ends = [n * part // parts for part in range(parts + 1)]
    run_all(function, pairwise(ends), threads)


@lru_cache(maxsize=8)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """One pool per process: threads do not survive a fork."""
    return ThreadPoolExecutor(threads, thread_name_prefix="maxmargin")


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
