"""One-dimensional parts of both problems: a sum to repair, and the best offset."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from maxmargin.resources.arrays import Floats, Mask


def with_sum(
    beta: Floats,
    lower: Floats,
    upper: Floats,
    total: float,
    preference: Iterable[Floats],
) -> Floats:
    """A point of the box near β whose sum is `total`.

    The difference is spread over the variables of the first mask of `preference`, in proportion
    to their distances from their bounds; the rest over the second mask, and so on. A difference
    below the rounding error of the sum is left.

    Examples
    --------
    >>> some, every = np.array([True, True, False]), np.ones(3, bool)
    >>> with_sum(np.array([0.5, 0.5, 0.0]), np.zeros(3), np.ones(3), 2.2, [some, every])
    array([1. , 1. , 0.2])
    """
    for among in preference:
        missing = total - beta.sum()
        if abs(missing) <= np.finfo(float).eps * np.abs(beta).sum():
            break
        bound = upper if missing > 0 else lower
        room = np.where(among, np.minimum(np.abs(bound - beta), abs(missing)), 0.0)
        if room.sum() > 0:
            move = np.sign(missing) * room * min(1.0, abs(missing) / room.sum())
            beta = np.clip(beta + move, lower, upper)
        if room.sum() >= abs(missing):
            break
    return beta


def zero_of_steps(kinks: Floats, rises: Floats, start: float) -> float:
    """Where a slope that begins at `start` and rises by `rises` at each kink is zero.

    At a kink, or between two of them: then in the middle.

    Examples
    --------
    >>> zero_of_steps(np.array([3.0, 1.0, 2.0]), np.ones(3), -1.5)
    2.0
    >>> zero_of_steps(np.array([3.0, 1.0, 2.0]), np.ones(3), -2.0)
    2.5
    """
    order = np.argsort(kinks)
    kinks, slope = kinks[order], start + np.cumsum(rises[order])
    rounding = 1e-13 * max(float(np.abs(slope).max()), abs(start))
    first = min(int(np.searchsorted(slope, -rounding)), len(kinks) - 1)
    last = first + 1 if first + 1 < len(kinks) and slope[first] <= rounding else first
    return float(0.5 * (kinks[first] + kinks[last]))


def zero_of_lines(kinks: Floats, slopes: Floats, rising: Mask) -> float:
    """Where Σ ±slope · max(0, ±(b − kink)) is zero: + where it is `rising` right of the kink.

    In the middle if that is an interval.

    Examples
    --------
    >>> zero_of_lines(np.array([0.0, 4.0]), np.array([1.0, 3.0]), np.array([False, True]))
    2.0
    >>> zero_of_lines(np.array([0.0, 4.0]), np.array([1.0, 3.0]), np.array([True, False]))
    3.0
    """
    low, high = kinks[~rising].max(initial=-np.inf), kinks[rising].min(initial=np.inf)
    if -np.inf < low <= high < np.inf:  # no piece is active between
        return float(0.5 * (low + high))
    order = np.argsort(kinks)
    kinks, slopes, rising = kinks[order], slopes[order], rising[order]
    right, left = np.where(rising, slopes, 0.0), np.where(rising, 0.0, slopes)
    # Left of kink k + 1 the right pieces up to k and the left pieces after it are active.
    weight = np.cumsum(right) + left.sum() - np.cumsum(left)
    moment = np.cumsum(right * kinks) + (left * kinks).sum() - np.cumsum(left * kinks)
    value = weight * kinks - moment  # at each kink
    k = max(int(np.searchsorted(np.maximum.accumulate(value), 0.0)) - 1, 0)
    return float(moment[k] / weight[k] if weight[k] > 0 else kinks[k])


def rounding_of_sum(part: Floats, width: Floats, total: float) -> float:
    """How far Σβ of a group may be from its value by rounding alone.

    Millions of steps let a sum drift, which is repaired; so do a few across a box of this width
    that end at a small β. A wrong step changes it at once.
    """
    widest = np.max(width, where=np.isfinite(width), initial=0.0)
    return float(1e-6 * (abs(total) + np.abs(part).sum()) + 1e-14 * len(part) * widest)
