"""The certificate of a fit: primal and dual value, gap, worst KKT violation, cost.

The values are those of `problem`: D ≤ optimum ≤ P whenever K is positive semidefinite, computed
from the final coefficients alone, by kernel entries and sums in float64. Where a kernel has a
distance, a bound of its rounding times Σ|β| is at most a twentieth of `tol`; where it is not, even
with distances from differences, the status is not `converged` (`solvers.qp.state.is_certain`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from maxmargin.problem import Solution, Status, Values
from maxmargin.results import Result

ROUGH = 0.1  # relative gap above which a model is no rough version of the trained one


@dataclass(frozen=True, repr=False)
class Certificate(Result):
    """Primal and dual value of a fitted machine, and how far from optimal it can be.

    Attributes
    ----------
    primal : value of the regularised loss at the fitted model
    dual : Σα − ½ΣΣ ααyyK, in the terms of a C-SVC: a lower bound on the primal value of every model
    gap : primal − dual, ≥ 0
    relative_gap : gap / max(|primal|, |dual|)
    kkt_violation : worst violation of the optimality conditions, what `tol` bounds
    status : how the solver ended
    n_iter, kernel_evaluations, seconds : what it cost

    Examples
    --------
    >>> from maxmargin import SVC
    >>> proof = SVC(kernel="linear").fit([[-1.0], [1.0]], [0, 1]).certificate_
    >>> proof.primal, proof.dual, proof.status.value
    (0.5, 0.5, 'converged')
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    kkt_violation: float
    status: Status
    n_iter: int
    kernel_evaluations: int
    seconds: float

    @classmethod
    def of(cls, solution: Solution) -> Certificate:
        """What a solution proves."""
        return cls.made(
            solution.values,
            solution.status,
            solution.n_iter,
            solution.kernel_evaluations,
            solution.seconds,
        )

    @classmethod
    def total(cls, parts: Sequence[Certificate], seconds: float) -> Certificate:
        """Of several binary problems together: values summed, the worst violation and status."""
        if len(parts) == 1:
            return parts[0]
        worst = max(parts, key=lambda part: (part.status is not Status.CONVERGED, part.gap))
        values = Values(
            dual=sum(part.dual for part in parts),
            primal=sum(part.primal for part in parts),
            violation=max(part.kkt_violation for part in parts),
            offsets=np.zeros(0),
        )
        return cls.made(
            values,
            worst.status,
            sum(part.n_iter for part in parts),
            sum(part.kernel_evaluations for part in parts),
            seconds,
        )

    @classmethod
    def made(
        cls, values: Values, status: Status, n_iter: int, kernel_evaluations: int, seconds: float
    ) -> Certificate:
        """From the values and the costs."""
        return cls(
            primal=values.primal,
            dual=values.dual,
            gap=max(values.gap, 0.0),  # where it is nothing but rounding
            relative_gap=max(values.relative_gap, 0.0),
            kkt_violation=values.violation,
            status=status,
            n_iter=n_iter,
            kernel_evaluations=kernel_evaluations,
            seconds=seconds,
        )

    @property
    def shortfall(self) -> str:
        """How far from optimal the model may be, in words."""
        return (
            f"The KKT violation is {self.kkt_violation:.3g} and the duality gap {self.gap:.3g} "
            f"({self.relative_gap:.2%} of the objective)"
        )

    @property
    def worth(self) -> str:
        """What a model that is not trained to the end is good for, in words."""
        if self.relative_gap <= ROUGH:
            return "The model so far is usable; to come closer,"
        return "The model is far from trained: its objective may be much too large; to come closer,"

    def __getstate__(self) -> dict[str, Any]:
        """Words and numbers only: what a file format such as skops can keep."""
        return {**vars(self), "status": self.status.value}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, status=Status(state["status"]))

    def _rows(self) -> list[tuple[str, str]]:
        return [(f.name.replace("_", " "), _show(getattr(self, f.name))) for f in fields(self)]

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self._rows())
        return "\n".join(f"{name:<{width}}  {value}" for name, value in self._rows())


@dataclass(frozen=True)
class ApproximateCertificate(Certificate):
    """The certificate of a machine whose kernel was replaced by features.

    Its bounds hold for K̂, not for K; their difference is measured on a sample.

    Attributes
    ----------
    holds_for : which problem the values above are of
    kernel_error : √mean (K − K̂)² over all pairs of a sample of the rows

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from maxmargin import SVC
    >>> machine = SVC(approximation="rff", n_components=100, random_state=0)
    >>> proof = machine.fit(*make_moons(100, noise=0.3, random_state=0)).certificate_
    >>> proof.status.value, proof.kernel_error < 0.2
    ('converged', True)
    """

    holds_for: str
    kernel_error: float


@dataclass(frozen=True)
class IndefiniteCertificate(Certificate):
    """The certificate of a machine whose kernel is indefinite on its rows: it proves no bound.

    The optimality conditions hold as far as `kkt_violation` says. But the problem is not convex: a
    point that satisfies them need not be the optimum, and P − D, which `gap` is, bounds nothing.

    Attributes
    ----------
    no_bound : what shows that the kernel is indefinite

    Examples
    --------
    >>> import warnings
    >>> from maxmargin import SVC
    >>> clf = SVC(kernel=lambda A, B: -A @ B.T, C=0.1)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     proof = clf.fit([[0.0], [1.0], [2.0]], [0, 1, 1]).certificate_
    >>> proof.no_bound
    'stationary point of an indefinite kernel: ‖w‖² = -0.04'
    """

    no_bound: str

    @classmethod
    def of_values(cls, why: str, proof: Certificate) -> IndefiniteCertificate:
        """The values of a certificate, without its claim."""
        return cls(**vars(proof), no_bound=f"stationary point of an indefinite kernel: {why}")

    @property
    def shortfall(self) -> str:
        return f"The KKT violation is {self.kkt_violation:.3g}, and there is no bound"

    @property
    def worth(self) -> str:
        return (
            "The model is not even a stationary point; to come closer, take a kernel that is "
            "symmetric and positive semidefinite, or"
        )

    def _rows(self) -> list[tuple[str, str]]:
        return [row for row in super()._rows() if row[0] not in ("gap", "relative gap")]


def _show(value: float | int | str | Status) -> str:
    if isinstance(value, Status):
        return value.value
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
