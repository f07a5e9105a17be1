"""numba's compiler without the steps that nobody here needs.

Most of the time to compile is saved by leaving out

- machine code of inner functions, which are compiled as a part of each function that calls them;
- the passes of the optimiser that numba runs on each inner function by itself, and once more to
  find reference counts that can go, before the one that counts, on a function with all it calls.

These are numba's private classes, and this module is the one place that names them: where a version
of numba has others, the import of this module fails, and `jit` does with numba's own compiler.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.cpu import CPUTargetOptions
from numba.core.typed_passes import NativeLowering

LESS = {"no_cfunc_wrapper": True, "_nrt": False}

USED = (  # below: what a numba lacks of it is an AttributeError here, not at the first fit
    *(getattr(CPUTargetOptions, option) for option in (*LESS, "no_cpython_wrapper")),
    JITCodeLibrary._optimize_functions,
    JITCodeLibrary._optimize_final_module,
    JITCodeLibrary._get_module_for_linking,
    CPUCodegen._module_pass_manager,
)


class OptimisedOnce(JITCodeLibrary):
    """The code of a function and of all that it calls, optimised together."""

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class OnlyLinked(OptimisedOnce):
    """The code of an inner function: it is optimised where it is called."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

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
