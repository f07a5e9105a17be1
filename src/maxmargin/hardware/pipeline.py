"""numba's compiler, and its cache, without the steps that nobody here needs.

Most of the time to compile is saved by leaving out

- machine code of inner functions, which are compiled as a part of each function that calls them,
  and linked once, not also with the inner functions between;
- the passes of the optimiser that numba runs on each inner function by itself, and once more to
  find reference counts that can go, before the one that counts, on a function with all it calls;
- the passes for closures, `with`, literals and array expressions, which no function here has, for
  the ends of variables' lives, which nobody counts, and for the source annotated with types, which
  nobody reads; and what numba does around each pass: a fifteenth;
- most of the instructions that are to be removed again (`lowering`), the optimiser's passes on
  wrappers, which only call, and on declarations;
- the search for the implementation of an operation that was found before: a quarter of the time;
- Python's search for unreachable objects, which looks at all that is alive again and again while
  the compiler makes its own: a seventh.

To load a function that was compiled before, numba imports forty modules that only compiling needs:
four fifths of the time of a first fit in a new process, left out here as well.

These are numba's private classes, and this module is the one place that names them: where a version
of numba has others, the import of this module fails, and `jit` does with numba's own compiler.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from numba import _dynfunc
from numba.core import ir
from numba.core.base import BaseContext
from numba.core.caching import FunctionCache
from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.cpu import CPUTargetOptions
from numba.core.imputils import builtin_registry
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import (
    AnnotateTypes,
    DumpParforDiagnostics,
    InlineOverloads,
    IRLegalization,
    NativeLowering,
    NopythonRewrites,
    NoPythonSupportedFeatureValidation,
)
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import (
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineInlinables,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    RewriteDynamicRaises,
    WithLifting,
)

from maxmargin.hardware.extremes import extreme
from maxmargin.hardware.lowering import PlainLower

LESS = {"no_cfunc_wrapper": True, "_nrt": False}

NEEDLESS = (
    *(WithLifting, InlineClosureLikes, MakeFunctionToJitFunction),
    *(InlineInlinables, InlineOverloads, RewriteDynamicRaises, NopythonRewrites),
    *(FindLiterallyCalls, LiteralUnroll, LiteralPropagationSubPipelinePass),
    IRLegalization,  # says when variables die, for reference counts
    *(AnnotateTypes, DumpParforDiagnostics, NoPythonSupportedFeatureValidation),
)

WRAPPER = "_ZN7cpython"  # how the names of functions for Python begin
CALLS: Any = BaseFunction
FIND = CALLS.get_call_type
CONTEXT: Any = BaseContext
REFRESH = CONTEXT.refresh
STATEMENTS: Any = ir.Inst
LIST = STATEMENTS._rec_list_vars
AFTER: Any = PostProcessor
TIDY = AFTER.run
USED = (  # below: what a numba lacks of it is an AttributeError here, not at the first fit
    *(getattr(CPUTargetOptions, option) for option in (*LESS, "no_cpython_wrapper")),
    JITCodeLibrary._optimize_functions,
    JITCodeLibrary._optimize_final_module,
    *(JITCodeLibrary.add_linking_library, JITCodeLibrary.finalize, PassManager._runPass),
    CPUCodegen._module_pass_manager,
    CPUCodegen._function_pass_manager,
    FunctionCache._guard_against_spurious_io_errors,
    FunctionCache._load_overload,
)


class OnDisk(FunctionCache):
    """Compiled functions on disk: loaded as they are, without what numba needs to compile."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def keep_on_disk(dispatcher: Any) -> None:
    """As `dispatcher.enable_caching`, with `OnDisk`."""
    dispatcher._cache = OnDisk(dispatcher.py_func)


class OptimisedOnce(JITCodeLibrary):
    """The code of a function and of all that it calls, optimised together."""

    def add_linking_library(self, library: Any) -> None:
        super().add_linking_library(library)
        if isinstance(library, OnlyLinked):  # which leaves to us what it calls
            self._linking_libraries += library._linking_libraries

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if function.name.startswith(WRAPPER):
                function.add_function_attribute("noinline")
                function.add_function_attribute("optnone")
            elif not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class OnlyLinked(OptimisedOnce):
    """The code of an inner function: it is optimised where it is called."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._finalized = True


class CalledAndSmall(OnlyLinked):
    """The code of an inner function that takes little time: called, and with no loop unrolled."""

    def _optimize_functions(self, ll_module: Any) -> None:
        super()._optimize_functions(ll_module)
        for function in ll_module.functions:
            if not function.is_declaration:
                function.add_function_attribute("noinline")
                function.add_function_attribute("optsize")


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerOnce(NativeLowering):
    """As numba's, with `OptimisedOnce`."""

    _name = "maxmargin_lower_once"
    lowering_class = PlainLower

    def run_pass(self, state: Any) -> bool:
        state.library = OptimisedOnce(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerToLink(NativeLowering):
    """As numba's, with `OnlyLinked`, and no machine code."""

    _name = "maxmargin_lower_to_link"
    lowering_class = PlainLower
    code: type[OnlyLinked] = OnlyLinked

    def run_pass(self, state: Any) -> bool:
        state.library = self.code(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        what, _, _, environment = state.cr
        name, module = what.qualname.split(".")[-1], what.lookup_module()
        stands_for = _dynfunc.make_function(module, name, "", 0, environment, (state.library,))
        state.targetctx.insert_user_function(stands_for, what, [state.library])
        state["cr"] = state.cr._replace(cfunc=stands_for)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerToCall(LowerToLink):
    """As `LowerToLink`, with `CalledAndSmall`."""

    _name = "maxmargin_lower_to_call"
    code = CalledAndSmall


class Economy:
    """Around the compilation of a function with all that it calls; numba does one at a time.

    numba tries every implementation of `+` for each sum of two floats. A function has thousands of
    operations on few types, so their signatures are kept, until it is compiled: other code may add
    implementations later.
    """

    depth, collecting = 0, True

    def __enter__(self) -> None:
        if not Economy.depth:
            Economy.collecting = gc.isenabled()
            gc.disable()
            CALLS.get_call_type, CONTEXT.refresh = remembered(), refreshed_once()
            STATEMENTS._rec_list_vars, AFTER.run = listed, tidied
        Economy.depth += 1

    def __exit__(self, *error: object) -> None:
        Economy.depth -= 1
        if not Economy.depth:
            CALLS.get_call_type, CONTEXT.refresh = FIND, REFRESH
            STATEMENTS._rec_list_vars, AFTER.run = LIST, TIDY
            if Economy.collecting:
                gc.enable()


def remembered() -> Callable[..., Any]:
    """As FIND, which finds the signature of a call from its types, but once for the same ones."""
    known: dict[Any, tuple[Any, Any]] = {}

    def found(function: Any, context: Any, args: Any, keywords: Any) -> tuple[Any, Any]:
        signature = FIND(function, context, args, keywords)
        return signature, function.get_impl_key(signature)

    def get_call_type(function: Any, context: Any, args: Any, keywords: Any) -> Any:
        call = function, context, tuple(args), tuple(keywords.items())
        if call not in known:
            known[call] = extreme(*call[:3], keywords) or found(*call[:3], keywords)
        signature, key = known[call]
        function._impl_keys[signature.args] = key
        return signature

    return get_call_type


def listed(statement: Any, parts: Any) -> list[ir.Var]:
    """As LIST, the variables in parts of a statement, with a call for each part that has parts."""
    found: list[ir.Var] = []
    for part in parts.values() if isinstance(parts, dict) else parts:
        if isinstance(part, ir.Var):
            found.append(part)
        elif isinstance(part, ir.Inst):
            found += part.list_vars()
        elif isinstance(part, list | tuple | dict):
            found += listed(statement, part)
    return found


def tidied(process: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """As TIDY after a step, without the variables alive in each block, which generators need."""
    function = process.func_ir
    if emit_dels or function.is_generator:
        TIDY(process, emit_dels, extend_lifetimes)
    else:
        function.blocks = canonicalize_cfg(function.blocks)
        function.variable_lifetime = VariableLifetime(function.blocks)


def refreshed_once() -> Callable[[Any], None]:
    """As REFRESH, which looks for new implementations, but not while it is at that.

    numba begins anew for each of some hundred that it adds to those of a first function.
    """
    busy = False

    def refresh(context: Any) -> None:
        nonlocal busy
        if busy and builtin_registry in context._registries:
            return
        outermost, busy = not busy, True
        try:
            REFRESH(context)
        finally:
            busy = busy and not outermost

    return refresh


class Steps(PassManager):
    """The steps of a compiler, without the events, clocks and checks around each."""

    def _runPass(self, index: int, pss: Any, internal_state: Any) -> None:
        pss.analysis = self._analysis
        pss.run_pass(internal_state)


class OnceCompiler(Compiler):
    """numba's compiler with another last step."""

    lowering: type[NativeLowering] = LowerOnce

    def __init__(self, *args: Any) -> None:
        with Economy():
            super().__init__(*args)

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        with Economy():
            return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        steps = Steps("nopython")
        steps.passes = [
            (self.lowering if step is NativeLowering else step, why)
            for step, why in DefaultPassBuilder.define_nopython_pipeline(self.state).passes
            if step not in NEEDLESS
        ]
        steps.finalize()
        return [steps]


class InnerCompiler(OnceCompiler):
    """Of inner functions."""

    lowering = LowerToLink


class SmallCompiler(OnceCompiler):
    """Of inner functions that take little time."""

    lowering = LowerToCall
