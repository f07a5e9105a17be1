"""What the dual kernel machines share: a certified run over a kernel model, and warm starts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods, StrOptions

from maxmargin.gram import Gram
from maxmargin.machines.certified import CertifiedMachine
from maxmargin.machines.kernel_model import KernelModel
from maxmargin.problem import Solution
from maxmargin.solvers import SOLVERS
from maxmargin.solvers.polish import polish


class KernelMachine(KernelModel, CertifiedMachine):
    """Base of the machines that are formulations of the one dual problem."""

    _solvers: ClassVar[dict] = SOLVERS
    _parameter_constraints: ClassVar[dict] = {
        **CertifiedMachine._parameter_constraints,
        **KernelModel._parameter_constraints,
        "shrinking": ["boolean"],
        "solver": [StrOptions(set(SOLVERS)), HasMethods("solve")],
        "warm_start": ["boolean"],
    }

    def _last_coefficients(self, bounds: np.ndarray) -> np.ndarray | None:
        """Where a warm start begins: each row at the same share of its new bound, new rows at 0.

        One line per line of `dual_coef_`; None for a cold start.
        """
        if not self.warm_start or not hasattr(self, "dual_coef_"):
            return None
        before = self._bounds_
        if len(bounds) < len(before):
            raise ValueError(
                "warm_start=True continues on the same rows, with new ones appended: had "
                f"{len(before)} rows, got {len(bounds)}"
            )
        coef = np.zeros((self.dual_coef_.shape[0], len(bounds)))
        coef[:, self.support_] = self._dense_dual_coef()
        now = bounds[: len(before)]
        scaled = np.flatnonzero((before > 0) & np.isfinite(before) & np.isfinite(now))
        coef[:, scaled] = coef[:, scaled] / before[scaled] * now[scaled]  # a bound stays a bound
        return coef

    def _finish(self, task: Any, gram: Gram, solution: Solution) -> Solution:
        return polish(task.problem, gram, solution)
