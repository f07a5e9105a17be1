"""Second-order SMO on a small dense problem whose matrix stays in cache: the compiled loop."""

from __future__ import annotations

import numpy as np
from numba import njit

from maxmargin.solvers.pair import (
    best_partner,
    best_single,
    curvature,
    single_step,
    take_pair,
    worst_up,
)


@njit(cache=True, nogil=True)
def smo_block(K, gradient, beta, lower, upper, group, n_groups, tol, max_steps):
    """Minimise over β in place until the violation is ≤ tol; returns the steps taken."""
    diagonal = np.diag(K).astype(np.float64)
    for step in range(max_steps):
        if n_groups == 0:
            i = best_single(diagonal, gradient, beta, lower, upper, tol)
            if i < 0:
                return step
            t = single_step(i, diagonal, gradient, beta, lower, upper)
            beta[i] += t
            for k in range(len(beta)):
                gradient[k] += t * K[i, k]
        else:
            i = worst_up(gradient, beta, lower, upper, group, n_groups, tol)
            if i < 0:
                return step
            j = best_partner(i, K[i], diagonal, gradient, beta, lower, group)
            a = curvature(diagonal[i], diagonal[j], K[i, j])
            t = take_pair(i, j, a, gradient, beta, lower, upper)
            for k in range(len(beta)):
                gradient[k] += t * (K[i, k] - K[j, k])
    return max_steps
