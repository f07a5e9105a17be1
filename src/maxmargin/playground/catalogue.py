"""What the page offers: machines, kernels, solvers, and the range of every slider.

The page builds its controls from this, and `schema` refuses whatever is not in it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from maxmargin.playground.message import Message
from maxmargin.solvers import (
    BlockSMO,
    Chunking,
    CoordinateDescent,
    Decomposition,
    InteriorPoint,
    MaximalViolatingPairSMO,
    PlattSMO,
    RandomPairSMO,
    SecondOrderSMO,
    SimplifiedSMO,
    Solver,
)

MOST_POINTS = 1000
MOST_CLASSES = 8
HALF_WIDTH = 3.0  # the page shows the square [−3, 3]²
FARTHEST = 10.0  # a coordinate may lie outside of it, but not by much
DECIMALS = 3  # of a coordinate: so a shared address restores exactly what was drawn
TOL = 1e-3
SECONDS = 2.0  # a fit may take
MOST_STEPS = 200_000  # a solver may take in the theatre


@dataclass(frozen=True)
class Parameter:
    """A slider: its range, where it starts, and whether its scale is logarithmic."""

    label: str
    low: float
    high: float
    default: float
    log: bool = True
    whole: bool = False
    about: str = ""


@dataclass(frozen=True)
class MachineChoice:
    """A machine of the page: what it learns, and which sliders and switches it has."""

    label: str
    learns: str  # "classes", "curve" (the height from x), or "region"
    parameters: tuple[str, ...]
    switches: tuple[str, ...] = ()
    margins: bool = True  # whether f(x) = ±1 means something
    no_solver: str = ""  # why no solver of a dual problem makes it
    about: str = ""


@dataclass(frozen=True)
class KernelChoice:
    """A kernel of the page."""

    label: str
    formula: str
    parameters: tuple[str, ...] = ()
    spectral: bool = False  # whether it has Fourier features


PARAMETERS: dict[str, Parameter] = {
    "C": Parameter("C", 1e-2, 1e4, 1.0, about="the price of a margin violation"),
    "gamma": Parameter("γ", 1e-2, 1e2, 1.0, about="how fast the kernel falls with distance"),
    "degree": Parameter("degree", 1, 6, 3, log=False, whole=True, about="of the polynomial"),
    "coef0": Parameter("constant", -2.0, 2.0, 1.0, log=False, about="added to the inner product"),
    "mix": Parameter("share of the Gaussian", 1e-2, 1e1, 0.5, about="its weight in the sum"),
    "epsilon": Parameter("ε", 1e-3, 2.0, 0.2, about="half the width of the tube"),
    "nu": Parameter("ν", 1e-2, 1.0, 0.2, about="bounds the share of errors and support vectors"),
    "ridge": Parameter("λ", 1e-4, 1e2, 0.1, about="the weight of ½‖w‖²"),
    "features": Parameter("D", 4, 1024, 64, whole=True, about="number of Fourier features"),
}

MACHINES: dict[str, MachineChoice] = {
    "svc": MachineChoice(
        "SVC", "classes", ("C",), ("multiclass", "offset", "fourier"), about="soft margin"
    ),
    "hard-margin": MachineChoice(
        "SVC, hard margin", "classes", (), ("multiclass", "offset"), about="C = ∞"
    ),
    "nu-svc": MachineChoice("ν-SVC", "classes", ("nu",), ("multiclass",), about="ν in place of C"),
    "one-class": MachineChoice("One-class", "region", ("nu",), about="where the points are dense"),
    "kernel-perceptron": MachineChoice(
        "Kernel perceptron",
        "classes",
        (),
        margins=False,
        no_solver="The perceptron has no dual problem: it minimises nothing, it only corrects its "
        "mistakes.",
        about="learns from its mistakes",
    ),
    "svr": MachineChoice(
        "SVR", "curve", ("C", "epsilon"), ("offset", "fourier"), about="the ε-tube"
    ),
    "nu-svr": MachineChoice("ν-SVR", "curve", ("C", "nu"), about="finds ε by itself"),
    "kernel-regression": MachineChoice(
        "Kernel regression",
        "curve",
        ("ridge",),
        no_solver="The dual of kernel regression is a linear system, (K + λI)β = t: it is solved "
        "exactly, in one step. Choose SVR to watch a solver.",
        about="squared loss",
    ),
}

KERNELS: dict[str, KernelChoice] = {
    "linear": KernelChoice("linear", "xᵀz"),
    "homogeneous": KernelChoice("polynomial, homogeneous", "(γ xᵀz)ᵈ", ("degree", "gamma")),
    "polynomial": KernelChoice("polynomial, with constant", "(γ xᵀz + 1)ᵈ", ("degree", "gamma")),
    "rbf": KernelChoice("Gaussian", "exp(−γ‖x − z‖²)", ("gamma",), spectral=True),
    "laplacian": KernelChoice("Laplacian", "exp(−γ‖x − z‖₁)", ("gamma",), spectral=True),
    "sigmoid": KernelChoice("sigmoid", "tanh(γ xᵀz + c)", ("gamma", "coef0")),
    "sum": KernelChoice("linear + Gaussian", "xᵀz + s·exp(−γ‖x − z‖²)", ("gamma", "mix")),
}

# Working sets of a few points each: those of large problems would settle a page at once.
SOLVERS: dict[str, tuple[str, Solver]] = {
    "simplified": ("Simplified SMO", SimplifiedSMO(tol=TOL)),
    "random-pair": ("Random pairs", RandomPairSMO(tol=TOL)),
    "platt": ("Platt's SMO", PlattSMO(tol=TOL)),
    "maximal-violating-pair": ("Maximal violating pair", MaximalViolatingPairSMO(tol=TOL)),
    "second-order": ("Second order", SecondOrderSMO(tol=TOL)),
    "block": ("Block", BlockSMO(tol=TOL)),
    "coordinate-descent": ("Coordinate descent", CoordinateDescent(tol=TOL)),
    "chunking": ("Chunking", Chunking(tol=TOL, violators=8)),
    "decomposition": ("Decomposition", Decomposition(tol=TOL, size=8)),
    "interior-point": ("Interior point", InteriorPoint(tol=TOL)),
}

MULTICLASS = {"ovo": "one versus one", "ovr": "one versus rest"}

PRESETS: dict[str, tuple[str, str]] = {
    "mixture": ("Mixture", "svc"),
    "moons": ("Moons", "svc"),
    "circles": ("Circles", "svc"),
    "xor": ("XOR", "svc"),
    "spirals": ("Spirals", "svc"),
    "blobs": ("Three blobs", "svc"),
    "iris": ("Iris petals", "svc"),
    "sine": ("Noisy sine", "svr"),
}


def as_json() -> Message:
    """All of it but the presets, for the page."""
    return {
        "machines": {name: asdict(machine) for name, machine in MACHINES.items()},
        "kernels": {name: asdict(kernel) for name, kernel in KERNELS.items()},
        "parameters": {name: asdict(parameter) for name, parameter in PARAMETERS.items()},
        "solvers": {name: label for name, (label, _) in SOLVERS.items()},
        "multiclass": MULTICLASS,
        "limits": {
            "points": MOST_POINTS,
            "classes": MOST_CLASSES,
            "half_width": HALF_WIDTH,
            "farthest": FARTHEST,
            "decimals": DECIMALS,
        },
    }
