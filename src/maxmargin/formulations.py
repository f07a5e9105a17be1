"""Formulations: data to `DualProblem`. A pure function each; no solver ever sees C, ν or ε."""

from __future__ import annotations

import numpy as np

from maxmargin.problem import DualProblem


def one_sum(fit_intercept: bool) -> np.ndarray:
    """The sum constraint Σβ = 0 that an offset brings, or none."""
    return np.zeros(1 if fit_intercept else 0)


def c_svc(y: np.ndarray, C: np.ndarray | float, *, fit_intercept: bool = True) -> DualProblem:
    """Soft-margin classifier: minimise ½‖w‖² + Σ C_i max(0, 1 − y_i(wᵀφ(x_i) + b)).

    With β_i = y_i α_i the dual is ½βᵀKβ − yᵀβ with β_i in [0, C_i] where y_i = +1 and in
    [−C_i, 0] where y_i = −1, and Σβ = 0 if there is an offset.

    Parameters
    ----------
    y : labels, +1 or −1
    C : penalty of each row (weights included), or one for all; infinite for the hard margin
    """
    bound = np.broadcast_to(np.asarray(C, float), y.shape)
    return DualProblem(
        linear=-y.astype(float),
        lower=np.where(y > 0, 0.0, -bound),
        upper=np.where(y > 0, bound, 0.0),
        sums=one_sum(fit_intercept),
    )
