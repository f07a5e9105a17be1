"""How far to go along a direction: to the zero of a slope that rises, or to the nearest bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from maxmargin.resources.arrays import Floats

REMAINING = 0.05  # share of the first slope: with 0.2 a step can overshoot, and the function rise
FARTHEST = 64.0  # lengths of the step: a slope still negative there comes from rounding
MOST_TRIALS = 50  # so that rounding errors in the slope cannot loop for ever
SHORT = 0.995  # of the way to the nearest bound that an interior point goes: Mehrotra's


def line_minimum(slope: Callable[[float], float], remaining: float = REMAINING) -> float:
    """A t > 0 at which |slope(t)| ≤ remaining · |slope(0)|, by Brent's method.

    If none is found in 50 trials, the largest t known to be before the minimum; 0 if the slope
    there is ≥ 0.

    Examples
    --------
    >>> t = line_minimum(lambda t: t**3 - 2.0)
    >>> abs(t**3 - 2.0) <= REMAINING * 2.0
    True
    """
    low, high = 0.0, 1.0
    slopes = {low: slope(low), high: slope(high)}
    if slopes[low] >= 0:  # by rounding: this is the minimum
        return low
    aim = remaining * -slopes[low]
    while slopes[high] < -aim and high < FARTHEST:
        low, high = high, 2 * high
        slopes[high] = slope(high)
    if slopes[high] <= aim:
        return high

    def level(t: float) -> float:
        """The slope; 0, which ends the search, where it is small enough."""
        if t not in slopes:
            slopes[t] = slope(t)
        return slopes[t] if abs(slopes[t]) > aim else 0.0

    t: float = brentq(level, low, high, maxiter=MOST_TRIALS, full_output=True, disp=False)[0]
    return t if abs(slopes[t]) <= aim else max(t for t in slopes if slopes[t] < 0)


def way(room: Floats, move: Floats) -> float:
    """The largest t ≤ 1 with room + t·move ≥ 0."""
    falls = move < 0
    return float(np.min(room[falls] / -move[falls], initial=1.0))
