"""The values to try: of C, of γ and of ε, given or chosen from the data."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.utils.extmath import row_norms

from maxmargin.kernels import Kernel
from maxmargin.kernels.gamma import RULES
from maxmargin.machines.dual_machine import DualMachine
from maxmargin.resources.arrays import Data, Floats, Numbers

Point: TypeAlias = dict[str, Any]  # a value of each parameter: a number, or a rule for γ
Range: TypeAlias = "int | ArrayLike | None"  # how many values, or which; None for the machine's own

DECADES = (-2.0, 4.0)  # of C: below, every row is at its bound; above, none that matters is
AROUND = (-2.0, 2.0)  # decades of γ around the inverse median distance
SAMPLE = 1000  # rows whose distances are looked at: they are as many as half a million
FINER = 3  # values put between the best and its neighbours, and beyond an edge
STEP = 10.0  # ratio of two of those beyond an edge, at most: a coarse grid would leap to 10¹³


@dataclass(frozen=True)
class Grid:
    """Values of each parameter that is searched, by its name in the machine.

    Attributes
    ----------
    axes : numbers, in rising order
    rules : of γ, "scale" or "auto": γ is then computed on the training rows of each fold
    """

    axes: dict[str, Floats]
    rules: dict[str, list[str]] = field(default_factory=dict)

    @property
    def cells(self) -> list[Point]:
        """Every combination, in the order of scikit-learn's `ParameterGrid`."""
        names = sorted(self.axes)
        values = ([*self.axes[name].tolist(), *self.rules.get(name, [])] for name in names)
        return [dict(zip(names, each, strict=True)) for each in product(*values)]

    def around(self, best: Point) -> tuple[Grid, list[str]]:
        """A grid that goes on where the best cell is at an edge, else a finer one around it.

        Also says in words what it does.
        """
        edges = {name: side for name in self.axes if (side := self.edge(name, best[name]))}
        axes, rules, said = {}, dict[str, list[str]](), []
        for name, values in self.axes.items():
            if isinstance(best[name], str):
                axes[name], rules[name] = np.empty(0), [best[name]]
                continue
            place = int(np.argmin(np.abs(values - best[name])))
            if name in edges:
                ratio = values[1] / values[0] if edges[name] < 0 else values[-1] / values[-2]
                ratio = min(ratio, STEP)
                steps = np.arange(FINER + 1) * edges[name]
                axes[name] = np.sort(best[name] * ratio**steps)
                word = "smallest" if edges[name] < 0 else "largest"
                said.append(
                    f"the best {name}={best[name]:.4g} is the {word} tried: the grid goes on to "
                    f"{axes[name][0 if edges[name] < 0 else -1]:.4g}"
                )
            elif edges or len(values) == 1:
                axes[name] = values[max(place - 1, 0) : place + 2]
            else:
                low, high = values[max(place - 1, 0)], values[min(place + 1, len(values) - 1)]
                spaced = np.geomspace if low > 0 else np.linspace  # ε may be 0
                axes[name] = spaced(low, high, 2 * FINER + 1)
                said.append(f"a finer grid of {name} from {low:.4g} to {high:.4g}")
        return Grid(axes, rules), said

    def edge(self, name: str, value: float | str) -> int:
        """−1 if the value is the smallest of several, 1 if it is the largest, else 0."""
        values = self.axes[name]
        if isinstance(value, str) or len(values) < 3 or not (values > 0).all():
            return 0
        return int(value >= values[-1]) - int(value <= values[0])


def gamma_name(machine: DualMachine) -> str | None:
    """The parameter that is γ of the machine's kernel; None if it has none, or several."""
    if isinstance(machine.kernel, str):
        return "gamma" if hasattr(machine._kernel(), "gamma") else None
    if not hasattr(machine.kernel, "get_params"):
        return None
    names = machine.kernel.get_params(deep=True)
    found = [name for name in names if name == "gamma" or name.endswith("__gamma")]
    return f"kernel__{found[0]}" if len(found) == 1 else None


def with_gamma(machine: DualMachine, name: str | None, gamma: float | str) -> Kernel:
    """The machine's kernel with this γ, or this rule for it."""
    kernel = machine._kernel()
    if name is None:
        return kernel
    return kernel.with_params(**{name.removeprefix("kernel__"): gamma})


def grid_of(machine: DualMachine, X: Data, Cs: Range, gammas: Range, epsilons: Range) -> Grid:
    """The grid that the arguments of a search stand for; X are the rows that have a weight."""
    axes = {"C": checked("Cs", Cs, machine.C, lambda count: np.logspace(*DECADES, count))}
    name, rules = gamma_name(machine), dict[str, list[str]]()
    if name is not None and gammas is not None:
        kernel = with_gamma(machine, name, 1.0)
        numbers, rules[name] = parted(gammas)
        axes[name] = np.empty(0)
        if numbers is not None:
            axes[name] = checked(
                "gammas", numbers, 1.0, lambda count: gamma_range(kernel, X, count)
            )
    if epsilons is not None:
        if "epsilon" not in machine.get_params():
            raise ValueError(
                f"epsilons is for machines with a tube; {type(machine).__name__} has none: leave "
                "epsilons=None"
            )
        axes["epsilon"] = checked("epsilons", epsilons, 0.1, epsilon_range, least=0.0)
    return Grid(axes, rules)


def parted(gammas: Range) -> tuple[Range, list[str]]:
    """The numbers, None if there are only rules; and the rules."""
    if not isinstance(gammas, list | tuple):
        return gammas, []
    rules = [str(each) for each in gammas if isinstance(each, str)]
    for rule in rules:
        if rule not in RULES:
            raise ValueError(f"gammas has {rule!r}, which is no rule for γ: these are {RULES}")
    numbers = [each for each in gammas if not isinstance(each, str)]
    return (None if rules and not numbers else numbers), [*dict.fromkeys(rules)]


def checked(name: str, given: Any, own: float, some: Any, least: float | None = None) -> Floats:
    """The values that an argument stands for, or an error that names what is wrong."""
    if given is None:
        return np.array([float(own)])
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        if given < 1:
            raise ValueError(f"{name}={given} must be at least 1, or an array of values")
        values: Floats = some(int(given))
        return values
    try:
        values = np.atleast_1d(np.asarray(given, float))
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"{name} must be a number of values or a line of values, got {given!r}")
    bad = ~np.isfinite(values) | ((values < least) if least is not None else (values <= 0))
    if bad.any():
        what = "not negative" if least is not None else "positive"
        place = int(bad.argmax())
        raise ValueError(
            f"{name}[{place}]={values[place]:g}: every value must be finite and {what}"
        )
    return np.unique(values)  # any order is welcome: a search goes from small to large


def gamma_range(kernel: Kernel, X: Data, count: int) -> Floats:
    """γ around the one at which the kernel of a median pair of rows is 1/e."""
    some = X[distinct(X)]
    pairs = np.triu_indices(some.shape[0], 1)
    if kernel.radial:
        sizes = euclidean_distances(some, squared=True)[pairs]
    elif kernel.translation_invariant:
        sizes = manhattan_distances(some)[pairs]
    else:
        sizes = row_norms(some, squared=True)
    sizes = sizes[sizes > 0]
    middle = 1 / float(np.median(sizes)) if len(sizes) else 1.0
    low, high = AROUND if count > 1 else (0.0, 0.0)
    return np.asarray(middle * np.logspace(low, high, count))


def distinct(X: Data) -> Numbers:
    """Up to SAMPLE rows from the first to the last, no two of them equal."""
    rows = np.unique(np.linspace(0, X.shape[0] - 1, min(SAMPLE, X.shape[0])).astype(int))
    some = X[rows]
    if not sp.issparse(some):
        return rows[np.sort(np.unique(some, axis=0, return_index=True)[1])]
    known: dict[tuple[bytes, bytes], int] = {}
    for place, row in enumerate(rows.tolist()):
        part = slice(some.indptr[place], some.indptr[place + 1])
        known.setdefault((some.indices[part].tobytes(), some.data[part].tobytes()), row)
    return np.array(list(known.values()))


def epsilon_range(count: int) -> Floats:
    """ε from a thousandth to one, in the units of y."""
    return np.logspace(-3, 0, count)
