"""The options that say which machine to train, and what each machine takes.

An option that the machine or the kernel does not have is refused: ignored, it would leave the user
with another model than the one asked for.
"""

from __future__ import annotations

import inspect
from typing import Annotated, Any, Literal

import numpy as np
import typer
from sklearn.base import BaseEstimator

from maxmargin import machines
from maxmargin.cli.application import WRONG_USE, say
from maxmargin.cli.options import MACHINE
from maxmargin.conventions import validate_parameters
from maxmargin.io.rows import Rows
from maxmargin.resources.arrays import Labels

# Name of a machine to that of its class.
MACHINES = {
    "svc": "SVC",
    "nusvc": "NuSVC",
    "svr": "SVR",
    "nusvr": "NuSVR",
    "oneclass": "OneClassSVM",
    "linear": "LinearSVC",
    "linear-svr": "LinearSVR",
}
CLASSIFIERS = {"svc", "nusvc", "linear"}
REGRESSORS = {"svr", "nusvr", "linear-svr"}
# Which kernels have which of their parameters.
OF_KERNELS = {
    "gamma": {"rbf", "poly", "sigmoid", "laplacian"},
    "degree": {"poly"},
    "coef0": {"poly", "sigmoid"},
}

Name = Literal["svc", "nusvc", "svr", "nusvr", "oneclass", "linear", "linear-svr"]
KernelName = Literal["rbf", "linear", "poly", "laplacian", "sigmoid"]
Approximation = Literal["rff", "nystroem"]


def _option(help_text: str, *flags: str, **settings: Any) -> Any:
    return typer.Option(
        *flags, help=help_text, rich_help_panel=MACHINE, show_default=False, **settings
    )


MachineName = Annotated[Name | None, _option("By default svc; svr if the target has fractions.")]
Kernel = Annotated[KernelName | None, _option("Of the kernel machines; by default rbf.")]
C = Annotated[
    float | None,
    _option("Price of a margin violation; by default 1. inf: hard margin.", "--C", min=0),
]
Gamma = Annotated[
    str | None, _option("Of the kernel: a number, scale (the default) or auto.", metavar="γ")
]
Degree = Annotated[int | None, _option("Of the kernel poly; by default 3.", min=0)]
Coef0 = Annotated[float | None, _option("Of the kernels poly and sigmoid; by default 0.")]
Nu = Annotated[float | None, _option("Of nusvc, nusvr and oneclass, in (0, 1]; by default 0.5.")]
Epsilon = Annotated[float | None, _option("Half the width of the tube of svr and linear-svr.")]
Balanced = Annotated[
    bool, _option("Weigh classes by one over their share of the rows.", "--balanced")
]
Probability = Annotated[
    bool, _option("Calibrate probabilities of classes (five more fits).", "--probability")
]
Approximate = Annotated[
    Approximation | None,
    _option("Features in place of the kernel, for very many rows (svc, svr)."),
]
Components = Annotated[int | None, _option("How many features of --approximation.", min=1)]
SolverName = Annotated[str | None, _option("block (the default), second-order, …", metavar="NAME")]
Tol = Annotated[float | None, _option("How far from optimal the machine may be.")]
MaxTime = Annotated[float | None, _option("Seconds after which to stop and keep the model.")]
MaxIter = Annotated[int | None, _option("Steps after which to stop and keep the model.")]
Jobs = Annotated[int | None, _option("Threads; by default one for each core.")]
Seed = Annotated[int, _option("Of everything that is drawn at random; 0 by default.")]


def named_machine(name: str) -> Any:
    """The class of a machine."""
    return getattr(machines, MACHINES[name])


def built(name: str, given: dict[str, Any], *, seed: int = 0) -> BaseEstimator:
    """The machine of that name with the options that were given, those that are not None.

    >>> built("svc", {"C": 10.0, "gamma": "0.5", "nu": None})
    SVC(C=10.0, gamma=0.5, random_state=0)
    """
    options = {key: value for key, value in given.items() if value is not None}
    kind = named_machine(name)
    known = set(inspect.signature(kind).parameters)
    for option in options:
        if option not in known:
            having = [
                other
                for other in MACHINES
                if option in inspect.signature(named_machine(other)).parameters
            ]
            raise wrong(f"{flag(option)} is not an option of {name}; it is of {', '.join(having)}")
    kernel = str(options.get("kernel", "rbf"))
    for option, kernels in OF_KERNELS.items():
        if option in options and kernel not in kernels:
            raise wrong(
                f"{flag(option)} has no effect with the kernel {kernel}; it is of "
                f"{', '.join(sorted(kernels))}"
            )
    if "n_components" in options and "approximation" not in options:
        raise wrong("--components counts the features of --approximation, which is not given")
    if "gamma" in options:
        options["gamma"] = number_or_word(options["gamma"])
    if "random_state" in known:
        options["random_state"] = seed
    machine: BaseEstimator = kind(**options)
    try:
        validate_parameters(machine)
    except ValueError as error:
        raise wrong(str(error)) from error
    return machine


def number_or_word(gamma: str) -> float | str:
    """γ as scikit-learn takes it."""
    if gamma in ("scale", "auto"):
        return gamma
    try:
        return float(gamma)
    except ValueError:
        raise wrong(f"--gamma is a number, scale or auto, not {gamma!r}") from None


def suited(y: Labels | None) -> str:
    """The machine for a target: a regressor if it has fractions."""
    return "svr" if y is not None and y.dtype.kind == "f" else "svc"


def check_target(rows: Rows, name: str) -> None:
    """Refuse a target that the machine of that name cannot learn."""
    if name in REGRESSORS and rows.y is not None and rows.y.dtype.kind not in "fiu":
        raise rows.error(
            f"the target {rows.target!r} is text, but {name} learns numbers; a classifier: "
            "--machine svc"
        )
    if name in CLASSIFIERS and rows.y is not None and rows.y.dtype.kind == "f":
        raise rows.error(
            f"the target {rows.target!r} has fractions, but {name} learns classes; a regressor: "
            "--machine svr"
        )
    if name != "oneclass":
        y = rows.targets
        if len(np.unique(y)) < 2:
            raise rows.error(
                f"the target {rows.target!r} is always {y[0]}: there is nothing to learn"
            )


FLAGS = {
    "class_weight": "--balanced",
    "n_components": "--components",
    "n_jobs": "--jobs",
}


def flag(parameter: str) -> str:
    """The option that sets a parameter."""
    return FLAGS.get(parameter, f"--{parameter.replace('_', '-')}")


def wrong(message: str) -> typer.Exit:
    """Say what is wrong with the use of options; returns the exception to raise."""
    say(message, style="red")
    return typer.Exit(WRONG_USE)
