"""The compiled core: what runs a million times, in C++, one header an idea.

`native` is the module with its functions: the build for this machine, where the source was built
on it, else the best that this CPU runs of those that a wheel holds.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maxmargin.core import native
elif find_spec("maxmargin.core.native"):
    native = import_module("maxmargin.core.native")
elif find_spec("maxmargin.core.baseline"):
    native = import_module("maxmargin.core.baseline")
    if native.best() != "baseline" and find_spec(f"maxmargin.core.{native.best()}"):
        native = import_module(f"maxmargin.core.{native.best()}")
else:
    raise ImportError(
        "the compiled core of maxmargin is missing: this is its source, which was not built; "
        "`make core` builds it, or `pip install` of its folder"
    )
