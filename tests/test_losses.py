"""Losses: their values, slopes and conjugates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.losses import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    Softmax,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)

FORMULAS = {
    Squared(): lambda y, f: 0.5 * (y - f) ** 2,
    Logistic(): lambda y, f: -np.log(1 / (1 + np.exp(-y * f))),
    Hinge(): lambda y, f: max(0.0, 1 - y * f),
    SquaredHinge(): lambda y, f: max(0.0, 1 - y * f) ** 2,
    EpsilonInsensitive(0.3): lambda y, f: max(0.0, abs(y - f) - 0.3),
    SquaredEpsilonInsensitive(0.3): lambda y, f: max(0.0, abs(y - f) - 0.3) ** 2,
}
label = st.sampled_from([-1.0, 1.0])
number = st.floats(-20, 20, allow_nan=False)
pytestmark = pytest.mark.small


@pytest.mark.parametrize("loss", FORMULAS, ids=lambda loss: type(loss).__name__)
@given(y=label, f=number)
@settings(max_examples=50, deadline=None)
def test_values_are_the_formulas(loss, y, f):
    assert loss.value(y, f) == pytest.approx(FORMULAS[loss](y, f), abs=1e-9)


@pytest.mark.parametrize("loss", FORMULAS, ids=lambda loss: type(loss).__name__)
@given(y=label, f=number)
@settings(max_examples=50, deadline=None)
def test_the_derivative_is_a_subgradient(loss, y, f):
    slope = float(loss.derivative(y, f))
    for g in np.linspace(f - 3, f + 3, 13):
        assert loss.value(y, g) >= loss.value(y, f) + slope * (g - f) - 1e-9


@pytest.mark.parametrize("loss", FORMULAS, ids=lambda loss: type(loss).__name__)
@given(y=label, f=number, s=st.floats(-3, 3))
@settings(max_examples=50, deadline=None)
def test_fenchel(loss, y, f, s):
    assert loss.value(y, f) + loss.conjugate(y, s) >= s * f - 1e-9
    slope = loss.derivative(y, f)
    tight = loss.value(y, f) + loss.conjugate(y, slope)
    assert float(tight) == pytest.approx(float(slope * f), abs=1e-7)


@given(f=st.lists(st.floats(-5, 5), min_size=3, max_size=3), y=st.integers(0, 2))
@settings(max_examples=50, deadline=None)
def test_softmax(f, y):
    f, loss, h = np.array([f]), Softmax(), 1e-6
    probability = np.exp(f[0]) / np.exp(f[0]).sum()
    assert loss.value([y], f)[0] == pytest.approx(-np.log(probability[y]), abs=1e-9)
    slope = loss.derivative([y], f)[0]
    for k in range(3):
        step = np.eye(3)[[k]] * h
        difference = (loss.value([y], f + step) - loss.value([y], f - step))[0] / (2 * h)
        assert slope[k] == pytest.approx(difference, abs=1e-6)
    tight = loss.value([y], f)[0] + loss.conjugate([y], slope[None])[0]
    assert tight == pytest.approx(slope @ f[0], abs=1e-7)


def test_two_classes_of_softmax_are_logistic():
    g = np.linspace(-4, 4, 9)
    scores = np.column_stack([np.zeros(9), g])
    np.testing.assert_allclose(
        Softmax().value(np.ones(9, int), scores), Logistic().value(1.0, g), atol=1e-12
    )
