"""A module that is imported when something in it is used, or not at all.

scikit-learn imports `scipy.stats` for three functions that few models need, and importing it takes
a sixth of the time in which a small `maxmargin predict` answers. Where pandas is installed, it
imports that too, without need: whether X is a frame it decides later, by `sys.modules`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class Deferred(ModuleType):
    """Stands for a module until it is used.

    Parameters
    ----------
    name : of the module
    functions : those that others take from it before they call them; whatever else is taken from
        it is taken from the module itself, which is imported then
    """

    def __init__(self, name: str, functions: tuple[str, ...]) -> None:
        super().__init__(name)
        spec = find_spec(name)
        self.__path__ = (spec and spec.submodule_search_locations) or []
        self._functions = functions

    def __getattr__(self, attribute: str) -> Any:
        return self._called(attribute) if attribute in self._functions else self._get(attribute)

    def _get(self, attribute: str) -> Any:
        if sys.modules[self.__name__] is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), attribute)

    def _called(self, function: str) -> Callable[..., Any]:
        return lambda *arguments, **options: self._get(function)(*arguments, **options)


def defer(name: str, *functions: str) -> None:
    """Import a module later, unless it is there already.

    >>> defer("wave", "open")
    >>> import wave
    >>> type(wave).__name__, wave.WAVE_FORMAT_PCM, type(sys.modules["wave"]).__name__
    ('Deferred', 1, 'module')
    """
    if name not in sys.modules:
        sys.modules[name] = Deferred(name, functions)


@contextmanager
def without(name: str) -> Iterator[None]:
    """A module is not found meanwhile, as if it were not installed, unless it is there already.

    >>> with without("sys"):
    ...     import sys
    >>> with without("tabnanny"):
    ...     import tabnanny
    Traceback (most recent call last):
    ModuleNotFoundError: No module named 'tabnanny'
    >>> import tabnanny
    """
    hidden = Hidden(name)
    sys.meta_path.insert(0, hidden)
    try:
        yield
    finally:
        sys.meta_path.remove(hidden)


class Hidden(MetaPathFinder):
    """Says of one module that there is none; None in `sys.modules` is not read so by Cython."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if name == self.name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
