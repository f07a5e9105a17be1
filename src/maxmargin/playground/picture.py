"""A fitted machine as the page draws it: decision values on a grid, and what each point is to it.

Arrays travel as base64 of their bytes, so that they arrive as they are.
"""

from __future__ import annotations

import warnings
from base64 import b64encode
from copy import copy
from dataclasses import asdict
from threading import Event, Lock
from time import perf_counter

import numpy as np

from maxmargin.certificate import Certificate, IndefiniteCertificate
from maxmargin.machines.kernel_perceptron import KernelPerceptron
from maxmargin.machines.kernel_regressor import KernelRegressor
from maxmargin.playground.catalogue import HALF_WIDTH, MACHINES, SECONDS, TOL
from maxmargin.playground.machine import (
    Estimator,
    StoppableBlockSMO,
    check,
    learns,
    recipe,
    table,
)
from maxmargin.playground.message import JSON, Message, finite
from maxmargin.playground.schema import FitRequest, LeaveOut, Points, Refused, Settings
from maxmargin.plots.fitted import dense
from maxmargin.plots.regions import ambiguous, scheme_of
from maxmargin.resources.arrays import Floats, Numbers

ON_MARGIN = 0.01  # a support vector this close to its margin is on it, as in `maxmargin.plots`
LARGEST = 1e30  # decision value: beyond, float32 ends
GRID = 48  # points a side of the field of a step
FINEST = 160  # points a side of the grid that regions are drawn on
MOST_CUTS = 10  # boundaries of binary machines that are drawn: those of five classes

# One fit of a dual machine at a time: they take all cores and end in time, and Python's warnings
# are caught for a whole process. The other machines warn of nothing.
_fitting = Lock()


class Outdated(Exception):
    """A newer request has arrived: nobody waits for this answer."""


def fit(
    points: Points, settings: Settings, stop: Event | None = None
) -> tuple[Estimator, list[str]]:
    """The fitted machine, and what the library warned of.

    Examples
    --------
    >>> two = Points(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([0, 1]))
    >>> machine, notes = fit(two, Settings(kernel="linear"))
    >>> machine.coef_.round(2), notes
    (array([[1., 0.]]), [])
    """
    check(points, settings)
    machine, stop = recipe(settings).make(), stop or Event()
    X, y = table(points, settings)
    caught: list[warnings.WarningMessage] = []
    try:
        if MACHINES[settings.machine].no_solver:
            machine.fit(X, y)
        else:
            machine.set_params(solver=StoppableBlockSMO(stop=stop), max_time=SECONDS, tol=TOL)
            with _fitting, warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                machine.fit(X, y)
            machine.set_params(solver="block", max_time=None)
    except ValueError as error:
        raise Refused(_sentence(str(error))) from error
    if stop.is_set():
        raise Outdated
    return machine, [_sentence(str(each.message)) for each in caught]


def answer(request: FitRequest, stop: Event) -> Message:
    """The machine on the grid, at its points, with its certificate."""
    begin = perf_counter()
    machine, notes = fit(request.points, request.settings, stop)
    return {
        "field": field(machine, request.settings, request.grid),
        "at": at_points(machine, request.points, request.settings),
        "certificate": certificate(machine, request.points, request.settings),
        "support": len(np.unique(machine.support_)),
        "score": score(machine, request.points, request.settings),
        "tube": tube(machine),
        "notes": notes,
        "milliseconds": 1e3 * (perf_counter() - begin),
    }


def leave_out(request: LeaveOut, stop: Event) -> Message:
    """The machine without one point, and by how much its decision values change on the grid."""
    all_points, _ = fit(request.points, request.settings, stop)
    without, _ = fit(request.points.without(request.row), request.settings, stop)
    before = values(all_points, request.settings, request.grid)
    after = values(without, request.settings, request.grid)
    same = before.shape == after.shape
    return {
        "row": request.row,
        "field": field(without, request.settings, request.grid),
        "change": float(np.abs(before - after).max()) if same else None,
        "support": bool(request.row in all_points.support_),
    }


def grid_rows(settings: Settings, grid: int) -> Floats:
    """The rows of the grid: along x alone for a curve, else line by line from the bottom."""
    side = np.linspace(-HALF_WIDTH, HALF_WIDTH, grid)
    if learns(settings) == "curve":
        return side[:, None]
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


def values(machine: Estimator, settings: Settings, grid: int) -> Floats:
    """f on the grid; of several classes a column per binary machine, or per class."""
    f = decision(machine, grid_rows(settings, grid), settings)
    if not np.all(np.abs(f) < LARGEST):
        raise Refused(
            "This dual has no bound: its kernel is not positive semidefinite here, and the "
            "coefficients grow without end. Take a finite C, or another kernel"
        )
    return f


def decision(machine: Estimator, rows: Floats, settings: Settings) -> Floats:
    """f of some rows, a column per binary machine if there are several."""
    if learns(settings) == "curve":
        predicted: Floats = machine.predict(rows)
        return predicted
    if hasattr(machine, "multiclass") and len(machine.classes_) > 2 and machine.multiclass == "ovo":
        machine = copy(machine)
        machine.decision_function_shape = "ovo"
    decided: Floats = machine.decision_function(rows)
    return decided


def field(machine: Estimator, settings: Settings, grid: int) -> Message:
    """What is shaded: f itself, or the winning class and where the binary machines disagree."""
    f = values(machine, settings, grid)
    if f.ndim == 1:
        return {
            "kind": kind_of_field(settings),
            "grid": grid,
            "f": encode(f),
            "tube": tube(machine),
        }
    cuts = f.T if hasattr(machine, "multiclass") and f.shape[1] <= MOST_CUTS else f.T[:0]
    fine = min(2 * grid, FINEST)
    rows = grid_rows(settings, fine)
    each = decision(machine, rows, settings)
    winner = machine.predict(rows).astype(np.uint8)
    unsure = ambiguous(each, machine.classes_, scheme_of(machine)).astype(np.uint8)
    return {
        "kind": "regions",
        "grid": grid,
        "fine": fine,
        "winner": encode(winner + 128 * unsure, "u1"),
        "cuts": [encode(cut) for cut in cuts],
    }


def kind_of_field(settings: Settings) -> str:
    """What is drawn of f: "classes" with margins, "sides" without, a "curve" or a "region"."""
    sides = learns(settings) == "classes" and not MACHINES[settings.machine].margins
    return "sides" if sides else learns(settings)


def tube(machine: Estimator) -> float | None:
    """ε: given to an SVR, found by a ν-SVR; other machines have none."""
    width = getattr(machine, "epsilon_", getattr(machine, "epsilon", None))
    return None if width is None else float(width)


def at_points(machine: Estimator, points: Points, settings: Settings) -> Message:
    """α, f(x), y·f(x), slack and kind of every point; `upper` is what α may at most be."""
    X, y = table(points, settings)
    alpha = np.zeros(len(y))
    np.add.at(alpha, machine.support_, np.abs(dense(machine.dual_coef_)).sum(axis=0))
    f = decision(machine, X, settings)
    upper = _upper(machine, alpha) if f.ndim == 1 else None
    if f.ndim > 1:
        right = machine.predict(X) == y
        kinds = np.select([alpha == 0, right], ["", "support"], "wrong").tolist()
        return {"alpha": alpha.tolist(), "upper": upper, "kind": kinds}
    target = y if learns(settings) == "curve" else np.where(y == y.max(), 1.0, -1.0)
    proven = not isinstance(machine, KernelPerceptron)  # which has no KKT conditions
    return {"upper": upper, "kkt": proven, **cases(settings, alpha, f, target, tube(machine))}


def cases(
    settings: Settings, alpha: Floats, f: Floats, y: Floats, width: float | None
) -> dict[str, JSON]:
    """What each point is to a machine with these α and decision values f, optimal or not.

    The kind of a point with α > 0 says where it lies: "margin" (y·f(x) = 1, or on the edge of the
    tube or region), "inside" (0 < y·f(x) < 1), "wrong" (y·f(x) ≤ 0, outside the tube, outside the
    region), "outside" (beyond its margin or inside the tube, which no optimum has). Others are "".
    Without margins it is "support" (y·f(x) > 0) or "wrong".

    Examples
    --------
    >>> alpha, f, y = np.array([0.0, 0.5, 0.5]), np.array([2.0, -0.5, -0.1]), np.array([1, -1, 1])
    >>> cases(Settings(), alpha, f, y, None)["kind"]
    ['', 'inside', 'wrong']
    """
    told: dict[str, Floats] = {"alpha": alpha, "f": f}
    if learns(settings) == "curve":
        beyond = np.abs(y - f) - (width or 0.0)
        on, kinds = np.abs(beyond) <= ON_MARGIN, {"wrong": beyond > 0}
        told |= {"residual": y - f, "slack": np.maximum(beyond, 0.0)}
    elif learns(settings) == "region":
        on, kinds = np.abs(f) <= ON_MARGIN * max(np.abs(f).max(), 1e-12), {"wrong": f < 0}
        told |= {"slack": np.maximum(-f, 0.0)}
    elif kind_of_field(settings) == "sides":
        on, kinds = np.zeros(len(f), bool), {"wrong": y * f <= 0, "support": y * f > 0}
        told |= {"margin": y * f}
    else:
        margin = y * f
        on, kinds = np.abs(margin - 1) <= ON_MARGIN, {"wrong": margin <= 0, "inside": margin < 1}
        told |= {"margin": margin, "slack": np.maximum(1.0 - margin, 0.0)}
    unmarked = (alpha == 0) | (learns(settings) == "curve" and width is None)
    rules = {"": unmarked, "margin": on, **kinds}
    kind = np.select(list(rules.values()), list(rules), "outside")
    return {"kind": kind.tolist(), **{name: each.tolist() for name, each in told.items()}}


def certificate(machine: Estimator, points: Points, settings: Settings) -> Message | None:
    """The proof: the library's, that of a ridge regression, or None for the perceptron."""
    if isinstance(machine, KernelRegressor):
        return ridge_certificate(machine, *table(points, settings))
    proof = getattr(machine, "certificate_", None)
    return None if proof is None else proof_message(proof)


def proof_message(proof: Certificate) -> Message:
    """A certificate for the page: without the gap, where it bounds nothing."""
    fields = asdict(proof) | {"status": proof.status.value}
    if isinstance(proof, IndefiniteCertificate):
        fields |= {"gap": None, "relative_gap": None}
    return {
        key: finite(value) if isinstance(value, float) else value for key, value in fields.items()
    }


def ridge_certificate(machine: KernelRegressor, X: Floats, t: Floats) -> Message:
    """Primal and dual value of kernel regression at its β.

    With a = λβ the primal ½Σ(t_i − f(x_i))² + ½λβᵀKβ is at least aᵀt − ½aᵀa − ½aᵀKa/λ, its dual;
    both are equal where t − f = a, which is the linear system (K + λI)β = t.
    """
    f, a = machine.predict(X), machine.ridge * np.ravel(machine.dual_coef_)
    norm = 0.5 * float(a @ f)  # ½λβᵀKβ
    primal = 0.5 * float(np.sum((t - f) ** 2)) + norm
    dual = float(a @ t - 0.5 * a @ a) - norm
    violation = float(np.abs(t - f - a).max())
    gap = max(primal - dual, 0.0)
    status = "solved exactly: (K + λI)β = t"
    return {
        "primal": primal,
        "dual": dual,
        "gap": gap,
        "kkt_violation": violation,
        "status": status,
    }


def score(machine: Estimator, points: Points, settings: Settings) -> Message | None:
    """How well it does on the points it was trained on, in the words of its task."""
    X, y = table(points, settings)
    kind = learns(settings)
    if kind == "region":
        return {"name": "inside", "value": float(np.mean(machine.predict(X) > 0))}
    return {"name": "R²" if kind == "curve" else "accuracy", "value": float(machine.score(X, y))}


def encode(values: Floats | Numbers, dtype: str = "<f4") -> str:
    """As numbers of this type, float32 by default."""
    return b64encode(np.ascontiguousarray(values, dtype).tobytes()).decode()


def _upper(machine: Estimator, alpha: Floats) -> float | None:
    """C, where α is bounded by one."""
    C = getattr(machine, "C", None)
    if C is None:
        return float(alpha.max()) or None
    return float(C) if np.isfinite(C) else None


def _sentence(text: str) -> str:
    """The library's message without what only a programmer can do about it."""
    return text if len(text) <= 400 else f"{text[:397]}..."
