"""Kernel machines for Python: exact, certified, fast, and readable."""

from maxmargin.features import Nystroem, RandomFourierFeatures
from maxmargin.hardware.memory import release_memory
from maxmargin.io import ModelFileError, load, save
from maxmargin.machines.kernel_perceptron import KernelPerceptron
from maxmargin.machines.kernel_regressor import KernelRegressor
from maxmargin.machines.l1_min_c import l1_min_c
from maxmargin.machines.linear_svc import LinearSVC
from maxmargin.machines.linear_svr import LinearSVR
from maxmargin.machines.nu_svc import NuSVC
from maxmargin.machines.one_class import OneClassSVM
from maxmargin.machines.perceptron import Perceptron
from maxmargin.machines.svc import SVC
from maxmargin.machines.svr import SVR, NuSVR
from maxmargin.race import race, trace
from maxmargin.selection import SVCCV, SVRCV, c_path, leave_one_out, tune

__version__ = "0.1.0"

__all__ = [
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "KernelPerceptron",
    "KernelRegressor",
    "LinearSVC",
    "LinearSVR",
    "ModelFileError",
    "NuSVC",
    "NuSVR",
    "Nystroem",
    "OneClassSVM",
    "Perceptron",
    "RandomFourierFeatures",
    "c_path",
    "l1_min_c",
    "leave_one_out",
    "load",
    "race",
    "release_memory",
    "save",
    "trace",
    "tune",
]
