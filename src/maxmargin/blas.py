"""BLAS with one thread, while we run threads of our own: two teams on the same cores wait for
each other (here a factor of two to three).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_inside: list[Any] = []  # one entry per caller inside; the first holds the limit that was set


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread until the last of possibly many callers has left."""
    with _lock:
        _inside.append(None if _inside else _controller().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            last = len(_inside) == 1
            limit = _inside[0]
            _inside.pop()
            if last:
                limit.restore_original_limits()


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """Finding the libraries takes longer than setting their threads."""
    return ThreadpoolController()
