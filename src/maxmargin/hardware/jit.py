"""How functions are compiled: cached on disk, and run without Python's lock.

They never allocate, so numba's reference counting is off. Division by zero gives what NumPy's
does. Most of the time to compile is saved by leaving out what nobody needs:

- wrappers by which other code calls a function: none is made for C, and none for Python where only
  compiled functions call it (`inner`);
- machine code of inner functions, which are compiled as a part of each function that calls them;
- the passes of the optimiser that numba runs on each function by itself, and once more to find
  reference counts that can go, before the one that counts, on a function with all that it calls.

If compiling takes longer than a second, a line on the terminal says so, once; where there is no
terminal, the logger `maxmargin` does.

Where nothing can be written, neither beside the package nor in the user's cache directory,
functions are compiled anew by every process, which a warning says once.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol, TypeVar

from numba import _dynfunc, njit
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

Function = TypeVar("Function", bound=Callable[..., object])

OURS = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True, "_nrt": False}


LONG = 1.0  # seconds of compiling that nobody waits for without a word


class Announcement(event.Listener):
    """Says once that functions of this package are being compiled, if that takes long."""

    def __init__(self) -> None:
        self.seconds, self.depth, self.began, self.said = 0.0, 0, 0.0, False

    def on_start(self, event: Any) -> None:
        """A function is going to be compiled, maybe as a part of another."""
        if event.data["dispatcher"].py_func.__module__.startswith("maxmargin."):
            self._count()
            self.depth += 1

    def on_end(self, event: Any) -> None:
        """It is compiled, or an error has ended that."""
        if event.data["dispatcher"].py_func.__module__.startswith("maxmargin."):
            self._count()
            self.depth -= 1

    def _count(self) -> None:
        now = perf_counter()
        self.seconds += now - self.began if self.depth else 0.0
        self.began = now
        if self.seconds > LONG and not self.said:
            self.said = True
            say("maxmargin is compiling its functions for this computer, once: some seconds more")


def say(message: str) -> None:
    """A line on the terminal; without one, in the log."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(message, file=sys.stderr)
    else:
        logging.getLogger("maxmargin").info(message)


event.register("numba:compile", Announcement())


class Decorator(Protocol):
    """Compiles a function, whose signature stays as it is."""

    def __call__(self, function: Function, /) -> Function: ...


class OptimisedOnce(JITCodeLibrary):
    """The code of a function and of all that it calls, optimised together."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class OnlyLinked(OptimisedOnce):
    """The code of an inner function: it is optimised where it is called."""

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerOnce(NativeLowering):
    """As numba's, with `OptimisedOnce`."""

    _name = "maxmargin_lower_once"

    def run_pass(self, state: Any) -> bool:
        state.library = OptimisedOnce(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerToLink(NativeLowering):
    """As numba's, with `OnlyLinked`, and no machine code."""

    _name = "maxmargin_lower_to_link"

    def run_pass(self, state: Any) -> bool:
        state.library = OnlyLinked(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        what, _, _, environment = state.cr
        name, module = what.qualname.split(".")[-1], what.lookup_module()
        stands_for = _dynfunc.make_function(module, name, "", 0, environment, (state.library,))
        state.targetctx.insert_user_function(stands_for, what, [state.library])
        state["cr"] = state.cr._replace(cfunc=stands_for)
        return True


class OnceCompiler(Compiler):
    """numba's compiler with another last step."""

    lowering: type[NativeLowering] = LowerOnce

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [
            (self.lowering if step is NativeLowering else step, why)
            for step, why in pipeline.passes
        ]
        pipeline.finalize()
        return [pipeline]


class InnerCompiler(OnceCompiler):
    """Of inner functions."""

    lowering = LowerToLink


def compiled(**options: object) -> Decorator:
    """A decorator that compiles with numba; `options` are those of `numba.njit`."""
    options = {**OURS, "pipeline_class": OnceCompiler, **options}

    def decorator(function: Function) -> Function:
        try:
            made: Function = njit(cache=True, **options)(function)
            place_for_cache(made)
        except (RuntimeError, OSError):
            warn_of_no_cache()
            made = njit(**options)(function)
        return made

    return decorator


def place_for_cache(function: Any) -> None:
    """Make the directory that numba has found, which it does not do for a package in a zip."""
    if hasattr(function, "stats"):  # not where the JIT is off
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
    how = {**OURS, "pipeline_class": InnerCompiler, "no_cpython_wrapper": True, **options}
    decorator: Decorator = njit(**how)
    return decorator


def linked(function: Function) -> Function:
    """A compiled function for compiled callers: it becomes a part of them.

    So its own machine code is made only if Python calls it, too.
    """
    dispatcher: Any = function
    if not hasattr(dispatcher, "py_func"):  # NUMBA_DISABLE_JIT
        return function
    fast: Any = dispatcher.targetoptions.get("fastmath", False)
    part: Function = inner(fastmath=fast)(dispatcher.py_func)
    return part
