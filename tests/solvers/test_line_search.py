"""The zero of a slope that rises, where it is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.solvers.line_search import FARTHEST, line_minimum

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("slope", "zero"),
    [
        (lambda t: t - 0.25, 0.25),
        (lambda t: 3 * t - 3, 1.0),
        (lambda t: t - 20, 20.0),
        (lambda t: t - FARTHEST, FARTHEST),
        (lambda t: t**3 - 2, 2 ** (1 / 3)),
        (lambda t: np.expm1(t - 5), 5.0),
        (lambda t: np.tanh(100 * (t - 0.7)), 0.7),
        (lambda t: (10.0 if t > 0.3 else 0.1) * (t - 0.3), 0.3),
        (lambda t: (0.1 if t > 0.3 else 10.0) * (t - 0.3), 0.3),
    ],
)
def test_known_zeros(slope, zero):
    assert line_minimum(slope, 1e-12) == pytest.approx(zero, rel=1e-6)


@given(
    kinks=st.lists(st.tuples(st.floats(0, 2), st.floats(0, 1e4)), max_size=12),
    square=st.floats(0.01, 100),
    zero=st.floats(0.01, FARTHEST),
    remaining=st.sampled_from([0.2, 0.05]),
)
@settings(max_examples=200, deadline=None)
def test_little_of_the_slope_remains(kinks, square, zero, remaining):
    """(t − zero) · square + Σ rise · max(0, t − kink): what Newton's steps have, if convex."""

    def slope(t):
        return (t - zero) * square + sum(rise * max(0.0, t - kink) for kink, rise in kinks)

    t = line_minimum(slope, remaining)
    assert t > 0
    assert abs(slope(t)) <= remaining * abs(slope(0.0))


@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("steep", [10.0, 1e3, 1e6])
def test_a_wall_is_not_mistaken_for_its_foot(width, steep):
    """−1 up to a ramp that ends at t = 1, far above: the weight of that end is halved often.

    If the foot is not found in time, the answer is before it: there the function has fallen.
    """

    def slope(t):
        return -1.0 + (1 + steep) * max(0.0, t - 1 + width) / width

    t = line_minimum(slope, 0.05)
    assert 0.5 < t < 1
    assert slope(t) <= 0.05


@pytest.mark.parametrize("rounding", [0.0, 1e-32])
def test_at_the_minimum_there_is_nowhere_to_go(rounding):
    assert line_minimum(lambda t: rounding, 0.05) == 0.0
    assert line_minimum(lambda t: rounding + t, 0.05) == 0.0
