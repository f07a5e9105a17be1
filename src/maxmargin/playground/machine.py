"""Settings as machines of the library, and back; and as the one dual problem.

A classifier learns the class of a point from its place. A machine that learns a curve takes the
horizontal coordinate of a point as its row and the vertical one as its target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Any, TypeAlias

import numpy as np

from maxmargin.formulations import c_svc, epsilon_svr, nu_svc, nu_svr, one_class
from maxmargin.gram import Gram
from maxmargin.kernels import (
    RBF,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    as_kernel,
)
from maxmargin.machines.kernel_perceptron import KernelPerceptron
from maxmargin.machines.kernel_regressor import KernelRegressor
from maxmargin.machines.nu_svc import NuSVC
from maxmargin.machines.one_class import OneClassSVM
from maxmargin.machines.svc import SVC
from maxmargin.machines.svr import SVR, NuSVR
from maxmargin.playground.catalogue import KERNELS, MACHINES
from maxmargin.playground.schema import Points, Refused, Settings, read_settings
from maxmargin.problem import DualProblem, Solution
from maxmargin.resources.arrays import Floats, Labels
from maxmargin.solvers import BlockSMO, Observer, Progress

EPOCHS = 10  # of the perceptron, which never ends on classes that overlap

Estimator: TypeAlias = SVC | NuSVC | OneClassSVM | KernelPerceptron | SVR | NuSVR | KernelRegressor


@dataclass(frozen=True)
class Recipe:
    """A machine and its arguments, before it is made: the code panel prints the same."""

    machine: type[Estimator]
    arguments: dict[str, Any]

    def make(self) -> Estimator:
        """The estimator, not yet fitted."""
        return self.machine(**self.arguments)


@dataclass(frozen=True)
class StoppableBlockSMO(BlockSMO):
    """The default solver, ended from another thread by setting `stop`."""

    stop: Event = field(default_factory=Event)

    def solve(
        self,
        problem: DualProblem,
        matrix: Gram,
        *,
        start: Floats | None = None,
        observe: Observer | None = None,
    ) -> Solution:
        def told(progress: Progress) -> bool:
            return bool(observe and observe(progress)) or self.stop.is_set()

        return super().solve(problem, matrix, start=start, observe=told)


def kernel(settings: Settings) -> Kernel:
    """The kernel as its sliders stand.

    Examples
    --------
    >>> kernel(Settings(kernel="sum", mix=2.0))
    Sum(left=Linear(), right=Scaled(factor=2.0, kernel=RBF(gamma=1.0)))
    """
    s, gamma = settings, settings.gamma
    kernels: dict[str, Kernel] = {
        "linear": Linear(),
        "homogeneous": Polynomial(s.degree, gamma, 0.0),
        "polynomial": Polynomial(s.degree, gamma, 1.0),
        "rbf": RBF(gamma),
        "laplacian": Laplacian(gamma),
        "sigmoid": Sigmoid(gamma, s.coef0),
        "sum": Linear() + s.mix * RBF(gamma),
    }
    return kernels[s.kernel]


def recipe(settings: Settings) -> Recipe:
    """The machine as its sliders and switches stand.

    Examples
    --------
    >>> recipe(Settings(C=10.0, gamma=2.0)).make()
    SVC(C=10.0, kernel=RBF(gamma=2.0))
    """
    s, k = settings, kernel(settings)
    several: dict[str, Any] = {} if s.multiclass == "ovo" else {"multiclass": s.multiclass}
    offset: dict[str, Any] = {} if s.offset else {"fit_intercept": False}
    if s.fourier and KERNELS[s.kernel].spectral and "fourier" in MACHINES[s.machine].switches:
        offset |= {"approximation": "rff", "n_components": s.features}
    recipes = {
        "svc": Recipe(SVC, {"C": s.C, "kernel": k, **several, **offset}),
        "hard-margin": Recipe(SVC, {"C": np.inf, "kernel": k, **several, **offset}),
        "nu-svc": Recipe(NuSVC, {"nu": s.nu, "kernel": k, **several}),
        "one-class": Recipe(OneClassSVM, {"nu": s.nu, "kernel": k}),
        "kernel-perceptron": Recipe(KernelPerceptron, {"kernel": k, "max_iter": EPOCHS}),
        "svr": Recipe(SVR, {"C": s.C, "epsilon": s.epsilon, "kernel": k, **offset}),
        "nu-svr": Recipe(NuSVR, {"C": s.C, "nu": s.nu, "kernel": k}),
        "kernel-regression": Recipe(KernelRegressor, {"ridge": s.ridge, "kernel": k}),
    }
    return recipes[s.machine]


def learns(settings: Settings) -> str:
    """What the machine learns: "classes", "curve" or "region"."""
    return MACHINES[settings.machine].learns


def table(points: Points, settings: Settings) -> tuple[Floats, Labels]:
    """X and y as the machine takes them."""
    if learns(settings) == "curve":
        return points.xy[:, :1], points.xy[:, 1]
    return points.xy, points.classes


def check(points: Points, settings: Settings) -> None:
    """Say what is missing before there can be a machine."""
    need = "Draw" if len(points) == 0 else "Add"
    if learns(settings) == "classes" and len(np.unique(points.classes)) < 2:
        raise Refused(f"{need} points of two classes: a classifier needs something to tell apart")
    if len(points) < 2:
        raise Refused(f"{need} a few points")


def dual_problem(points: Points, settings: Settings) -> tuple[DualProblem, Gram]:
    """The problem that the theatre's solvers take; of several classes, the last against the rest.

    Examples
    --------
    >>> two = Points(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([0, 1]))
    >>> problem, gram = dual_problem(two, Settings(C=5.0))
    >>> problem.lower, problem.upper
    (array([-5.,  0.]), array([0., 5.]))
    """
    check(points, settings)
    if why := MACHINES[settings.machine].no_solver:
        raise Refused(why)
    (X, y), s = table(points, settings), settings
    signs, ones = np.where(y == y.max(), 1.0, -1.0), np.ones(len(y))
    formulations: dict[str, Callable[[], DualProblem]] = {
        "svc": lambda: c_svc(signs, s.C, fit_intercept=s.offset),
        "hard-margin": lambda: c_svc(signs, np.inf, fit_intercept=s.offset),
        "nu-svc": lambda: nu_svc(signs, ones, s.nu, float(len(y))),
        "svr": lambda: epsilon_svr(y, s.C * ones, s.epsilon, fit_intercept=s.offset),
        "nu-svr": lambda: nu_svr(y, s.C * ones, s.nu),
        "one-class": lambda: one_class(ones, s.nu),
    }
    return formulations[s.machine](), Gram(kernel(s), np.ascontiguousarray(X))


def settings_of(machine: Estimator, X: Floats) -> Settings:
    """The sliders and switches that make this machine; `Refused` if there are none for it.

    Examples
    --------
    >>> settings_of(SVC(C=10.0, kernel="linear"), np.eye(2)).kernel
    'linear'
    """
    names = {
        SVC: "hard-margin" if np.isinf(getattr(machine, "C", 1.0)) else "svc",
        NuSVC: "nu-svc",
        OneClassSVM: "one-class",
        KernelPerceptron: "kernel-perceptron",
        SVR: "svr",
        NuSVR: "nu-svr",
        KernelRegressor: "kernel-regression",
    }
    if type(machine) not in names:
        known = ", ".join(each.__name__ for each in names)
        raise Refused(f"the playground shows {known}, not {type(machine).__name__}")
    given = machine.get_params(deep=False)
    name = names[type(machine)]
    values = {key: given[key] for key in MACHINES[name].parameters}
    values |= {key: given[key] for key in ("multiclass",) if key in given}
    values |= {"offset": given.get("fit_intercept", True), "machine": name}
    if given.get("approximation") is not None:
        if given["approximation"] != "rff":
            raise Refused("of the approximations the playground shows 'rff' only")
        values |= {"fourier": True, "features": given["n_components"]}
    own = {key: given[key] for key in ("degree", "gamma", "coef0")}
    values |= kernel_settings(as_kernel(given["kernel"], **own).bind(X))
    return read_settings("machine", values)


def kernel_settings(k: Kernel) -> dict[str, str | float]:
    """The settings that make this kernel, or one with the same values.

    Examples
    --------
    >>> kernel_settings(RBF(gamma=2.0) + Linear())
    {'kernel': 'sum', 'gamma': 2.0, 'mix': 1.0}
    """
    given = {name.rpartition("__")[2]: value for name, value in k.get_params().items()}
    given["mix"] = given.get("factor", 1.0)
    for name, choice in KERNELS.items():
        values = {key: given[key] for key in choice.parameters if key in given}
        made = kernel(Settings(kernel=name, **values))
        if made == k or (made.forms is not None and made.forms == k.forms):
            return {"kernel": name, **values}
    raise Refused(f"the playground has no {k!r}: its kernels are {', '.join(KERNELS)}")
