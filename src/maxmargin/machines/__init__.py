"""The estimators, `l1_min_c`; and `DualRegressor`, from which a regressor of your own is made."""

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
from maxmargin.machines.svr import SVR, DualRegressor, NuSVR

__all__ = [
    "SVC",
    "SVR",
    "DualRegressor",
    "KernelPerceptron",
    "KernelRegressor",
    "LinearSVC",
    "LinearSVR",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "Perceptron",
    "QuantileSVR",
    "l1_min_c",
]
