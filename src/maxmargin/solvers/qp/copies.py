"""The two variables of a regressor's row, of which one at least is 0 at the optimum.

β₊ ≥ 0 pulls f(x_i) up and β₋ ≤ 0 down. Moving both by t towards 0 changes neither Kβ nor a sum, and
pᵀβ falls by t (p₊ − p₋) = 2εt. SMO brings that about where its violation of 2ε is the worst; where
C is large, those that rounding leaves are worse, and many rows keep both. Newton's method on a face
needs one of them to be fixed: rows twice in K_FF make it singular.
"""

from __future__ import annotations

import numpy as np

from maxmargin.hardware.arrays import Floats
from maxmargin.problem import DualProblem


def apart(p: DualProblem, beta: Floats) -> Floats:
    """β without what two variables of a row and a group have in common.

    Examples
    --------
    >>> y, rows = np.array([1.0, 2.0]), np.array([0, 1, 0, 1])
    >>> p = DualProblem(
    ...     linear=np.r_[0.1 - y, -0.1 - y],
    ...     lower=np.array([0.0, 0.0, -9.0, -9.0]),
    ...     upper=np.array([9.0, 9.0, 0.0, 0.0]),
    ...     rows=rows,
    ... )
    >>> apart(p, np.array([5.0, 1.0, -3.0, -3.0]))
    array([ 2.,  0.,  0., -2.])
    """
    if p.rows is None or p.n_groups > 1:
        return beta
    above, below = (np.bincount(p.rows, np.maximum(side, 0.0)) for side in (beta, -beta))
    t = np.minimum(above, below)
    if not t.any():
        return beta
    pairs = np.bincount(p.rows, beta != 0) == 2
    pairs &= np.bincount(p.rows, np.sign(beta) * p.linear) >= 0
    moved = beta - np.sign(beta) * np.where(pairs, t, 0.0)[p.rows]
    inside = (p.lower <= moved) & (moved <= p.upper)
    return moved if inside.all() else beta
