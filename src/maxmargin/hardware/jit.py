"""How functions are compiled: cached on disk, and run without Python's lock.

They never allocate, so numba's reference counting is off. Division by zero gives what NumPy's
does. Most of the time to compile is saved by leaving out what nobody needs: wrappers by which other
code calls a function (none is made for C, and none for Python where only compiled functions call
it: `inner`), and steps of numba's compiler (`pipeline`).

Where nothing can be written, neither beside the package nor in the user's cache directory,
functions are compiled anew by every process, which a warning says once. With a numba that lacks
what `pipeline` changes, they are compiled by numba as it is, which takes longer.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from operator import methodcaller
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numba
from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])

PLAIN: dict[str, Any] = {"error_model": "numpy", "nogil": True}
try:
    from maxmargin.hardware import announcement, pipeline

    announcement.announce()
    OURS = {**PLAIN, **pipeline.LESS, "pipeline_class": pipeline.OnceCompiler}
    INNER = {**OURS, "no_cpython_wrapper": True, "pipeline_class": pipeline.InnerCompiler}
    SMALL = {**INNER, "pipeline_class": pipeline.SmallCompiler}
    keep_on_disk: Callable[[Any], None] = pipeline.keep_on_disk
except (ImportError, AttributeError) as missing:
    OURS = INNER = SMALL = PLAIN
    keep_on_disk = methodcaller("enable_caching")
    warnings.warn(
        f"numba {numba.__version__} is not one that maxmargin knows ({missing}): its functions are "
        "compiled by numba as it is, which takes longer. Versions that it knows: 0.68",
        RuntimeWarning,
        stacklevel=2,
    )


class Decorator(Protocol):
    """Compiles a function, whose signature stays as it is."""

    def __call__(self, function: Function, /) -> Function: ...


def compiled(**options: object) -> Decorator:
    """A decorator that compiles with numba; `options` are those of `numba.njit`."""
    options = {**OURS, **options}

    def decorator(function: Function) -> Function:
        made: Function = njit(**options)(function)
        try:
            cache(made)
        except (RuntimeError, OSError):
            warn_of_no_cache()
            made = njit(**options)(function)
        return made

    return decorator


def cache(function: Any) -> None:
    """Keep the compiled function where numba finds a place, in a directory that is there.

    For a package in a zip numba does not make it.
    """
    if hasattr(function, "py_func"):  # not where the JIT is off
        keep_on_disk(function)
        Path(function.stats.cache_path).mkdir(parents=True, exist_ok=True)


@lru_cache(maxsize=1)  # once
def warn_of_no_cache() -> None:
    """Say that every process compiles, and how to change that."""
    warnings.warn(
        "maxmargin has no directory to keep its compiled functions in, so every process compiles "
        "them anew: some seconds for the first fit. Set NUMBA_CACHE_DIR (imported from a zip: "
        "XDG_CACHE_HOME) to a directory that can be written, before maxmargin is imported",
        RuntimeWarning,
        stacklevel=3,
    )


def inner(**options: object) -> Decorator:
    """As `compiled`, for a function that only compiled functions call: it is a part of them."""
    decorator: Decorator = njit(**{**INNER, **options})
    return decorator


def small() -> Decorator:
    """As `inner`, for what takes little of the time: its code is short, which compiles sooner."""
    decorator: Decorator = njit(**SMALL)
    return decorator


def linked(function: Function, options: dict[str, Any] = INNER) -> Function:
    """A compiled function for compiled callers: it becomes a part of them.

    So its own machine code is made only if Python calls it, too. `options` are INNER or SMALL.
    """
    dispatcher: Any = function
    if not hasattr(dispatcher, "py_func"):  # NUMBA_DISABLE_JIT
        return function
    fast: Any = dispatcher.targetoptions.get("fastmath", False)
    part: Function = njit(**{**options, "fastmath": fast})(dispatcher.py_func)
    return part
