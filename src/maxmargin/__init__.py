"""Kernel machines for Python: exact, certified, fast, and readable."""

from maxmargin.features import Nystroem, RandomFourierFeatures
from maxmargin.machines.kernel_perceptron import KernelPerceptron
from maxmargin.machines.kernel_regressor import KernelRegressor
from maxmargin.machines.linear_svc import LinearSVC
from maxmargin.machines.linear_svr import LinearSVR
from maxmargin.machines.nu_svc import NuSVC
from maxmargin.machines.one_class import OneClassSVM
from maxmargin.machines.perceptron import Perceptron
from maxmargin.machines.svc import SVC
from maxmargin.machines.svr import SVR, NuSVR
from maxmargin.trace import trace

__version__ = "0.1.0"

__all__ = [
    "SVC",
    "SVR",
    "KernelPerceptron",
    "KernelRegressor",
    "LinearSVC",
    "LinearSVR",
    "NuSVC",
    "NuSVR",
    "Nystroem",
    "OneClassSVM",
    "Perceptron",
    "RandomFourierFeatures",
    "trace",
]
