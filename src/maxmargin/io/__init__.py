"""Models that travel: model files of our own, and models of other libraries.

A name is imported when it is first asked for: whoever loads a model waits for no other library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maxmargin.io.container import ModelFileError
    from maxmargin.io.libsvm import load_libsvm, save_libsvm
    from maxmargin.io.model_file import load, read_document, save
    from maxmargin.io.onnx_model import register_onnx, to_onnx
    from maxmargin.io.scikit_learn import from_sklearn, to_sklearn, trusted_types

__all__ = [
    "ModelFileError",
    "from_sklearn",
    "load",
    "load_libsvm",
    "read_document",
    "register_onnx",
    "save",
    "save_libsvm",
    "to_onnx",
    "to_sklearn",
    "trusted_types",
]

FILES = ("container", "model_file", "libsvm", "onnx_model", "scikit_learn")


def __getattr__(name: str) -> Any:
    """A public name, imported now."""
    for file in FILES if name in __all__ else ():
        module = import_module(f"maxmargin.io.{file}")
        if hasattr(module, name):
            globals()[name] = getattr(module, name)
            return globals()[name]
    raise AttributeError(f"module 'maxmargin.io' has no attribute {name!r}")
