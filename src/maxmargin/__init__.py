"""Kernel machines for Python: exact, certified, fast, and readable.

A name is imported when it is first asked for, so that a program waits only for what it uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maxmargin.explanations import explain
    from maxmargin.features import Nystroem, RandomFourierFeatures
    from maxmargin.io import ModelFileError, load, save
    from maxmargin.machines.kernel_perceptron import KernelPerceptron
    from maxmargin.machines.kernel_regressor import KernelRegressor
    from maxmargin.machines.l1_min_c import l1_min_c
    from maxmargin.machines.linear_svc import LinearSVC
    from maxmargin.machines.linear_svr import LinearSVR
    from maxmargin.machines.nu_svc import NuSVC
    from maxmargin.machines.one_class import OneClassSVM
    from maxmargin.machines.perceptron import Perceptron
    from maxmargin.machines.quantile_svr import QuantileSVR
    from maxmargin.machines.svc import SVC
    from maxmargin.machines.svr import SVR, NuSVR
    from maxmargin.resources.memory import release_memory
    from maxmargin.resources.versions import show_versions
    from maxmargin.selection import (
        SVCCV,
        SVRCV,
        LearnedMetric,
        TabularSVC,
        TabularSVR,
        c_path,
        leave_one_out,
        tune,
    )
    from maxmargin.watch import race, trace

__version__ = "0.1.0"

__all__ = [
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "KernelPerceptron",
    "KernelRegressor",
    "LearnedMetric",
    "LinearSVC",
    "LinearSVR",
    "ModelFileError",
    "NuSVC",
    "NuSVR",
    "Nystroem",
    "OneClassSVM",
    "Perceptron",
    "QuantileSVR",
    "RandomFourierFeatures",
    "TabularSVC",
    "TabularSVR",
    "c_path",
    "explain",
    "l1_min_c",
    "leave_one_out",
    "load",
    "race",
    "release_memory",
    "save",
    "show_versions",
    "trace",
    "tune",
]

# Where they are, from the ground up: a room imports those before it anyway.
ROOMS = (
    "resources.memory",
    "resources.versions",
    "features",
    "machines",
    "watch",
    "selection",
    "explanations",
    "io",
)


def __getattr__(name: str) -> Any:
    """A public name or a module of the package, imported now."""
    for room in ROOMS if name in __all__ else ():
        module = import_module(f"maxmargin.{room}")
        if hasattr(module, name):
            globals()[name] = getattr(module, name)
            return globals()[name]
    try:
        return import_module(f"maxmargin.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"maxmargin.{name}":
            raise
    raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")
