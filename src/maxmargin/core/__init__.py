"""The compiled core: what runs a million times, in C++, one header an idea.

`native` is the module with its functions: the build for this machine, where the source was built
on it, else the best that this CPU runs of those that a wheel holds. The variable MAXMARGIN_CORE
names another build, to find an error in one of them: "baseline", "avx2", "avx512", "sanitized".
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING


def _chosen() -> ModuleType:
    """The build to use."""
    if name := os.environ.get("MAXMARGIN_CORE"):
        return import_module(f"maxmargin.core.{name}")
    for name in ("native", "baseline"):
        if find_spec(f"maxmargin.core.{name}"):
            break
    else:
        raise ImportError(
            "the compiled core of maxmargin is missing: this is its source, which was not built; "
            "`make core` builds it, or `pip install` of its folder"
        )
    module = import_module(f"maxmargin.core.{name}")
    if name == "native" or not find_spec(f"maxmargin.core.{module.best()}"):
        return module
    return import_module(f"maxmargin.core.{module.best()}")


if TYPE_CHECKING:
    from maxmargin.core import native
else:
    native = _chosen()
