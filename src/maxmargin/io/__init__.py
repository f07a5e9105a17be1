"""Models that travel: model files of our own, and models of other libraries."""

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
