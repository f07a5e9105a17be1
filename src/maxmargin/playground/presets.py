"""Sets of points by name, with a number of points and an amount of noise.

The same name, number, noise and seed give the same points, to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_iris

from maxmargin.playground.catalogue import DECIMALS
from maxmargin.playground.schema import Points
from maxmargin.resources.arrays import Floats, Numbers

Maker = Callable[[np.random.Generator, int, float], tuple[Floats, Numbers]]


def points(name: str, n: int, noise: float, seed: int) -> Points:
    """n points, `noise` from 0 (none) to 1 (hardly a pattern left).

    Examples
    --------
    >>> moons = points("moons", 40, 0.2, seed=0)
    >>> len(moons), np.bincount(moons.classes)
    (40, array([20, 20]))
    """
    xy, classes = MAKERS[name](np.random.default_rng(seed), n, noise)
    return Points(xy.round(DECIMALS), classes)


def mixture(rng: np.random.Generator, n: int, noise: float) -> tuple[Floats, Numbers]:
    """Two classes, each of three round Gaussians."""
    centres = np.array(
        [[[-1.7, 0.6], [-0.4, -1.5], [1.2, 1.6]], [[0.1, 0.3], [1.7, -0.5], [-1.2, 2.0]]]
    )
    classes = np.arange(n) % 2
    which = (np.arange(n) // 2) % 3
    return centres[classes, which] + (0.15 + 1.2 * noise) * rng.normal(size=(n, 2)), classes


def moons(rng: np.random.Generator, n: int, noise: float) -> tuple[Floats, Numbers]:
    """Two half circles that reach into each other."""
    classes = np.arange(n) % 2
    angle = np.pi * _spread(n)
    x = np.where(classes == 0, np.cos(angle) - 0.5, 0.5 - np.cos(angle))
    y = np.where(classes == 0, np.sin(angle) - 0.25, 0.25 - np.sin(angle))
    return 1.5 * np.column_stack([x, y]) + noise * rng.normal(size=(n, 2)), classes


def circles(rng: np.random.Generator, n: int, noise: float) -> tuple[Floats, Numbers]:
    """A circle inside another of twice its radius."""
    classes = np.arange(n) % 2
    angle, radius = 2 * np.pi * _spread(n), np.where(classes == 0, 2.2, 1.1)
    ring = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return ring + noise * rng.normal(size=(n, 2)), classes


def xor(rng: np.random.Generator, n: int, noise: float) -> tuple[Floats, Numbers]:
    """Four squares, the classes on the diagonals."""
    signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])[np.arange(n) % 4]
    xy = signs * rng.uniform(0.3, 2.5, size=(n, 2))
    return xy + noise * rng.normal(size=(n, 2)), np.arange(n) % 2


def spirals(rng: np.random.Generator, n: int, noise: float) -> tuple[Floats, Numbers]:
    """Two spirals around each other."""
    classes, along = np.arange(n) % 2, _spread(n)
    angle, radius = 3.6 * np.pi * np.sqrt(along) + np.pi * classes, 0.25 + 2.4 * np.sqrt(along)
    xy = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return xy + 0.5 * noise * rng.normal(size=(n, 2)), classes


def blobs(rng: np.random.Generator, n: int, noise: float) -> tuple[Floats, Numbers]:
    """Three classes, a round Gaussian each."""
    centres, classes = np.array([[0.0, 1.7], [-1.6, -1.1], [1.6, -1.1]]), np.arange(n) % 3
    return centres[classes] + (0.2 + 1.5 * noise) * rng.normal(size=(n, 2)), classes


def sine(rng: np.random.Generator, n: int, noise: float) -> tuple[Floats, Numbers]:
    """A sine over the width of the page, for the machines that learn a curve."""
    x = np.linspace(-2.8, 2.8, n)
    y = 1.4 * np.sin(2 * x) + 1.5 * noise * rng.normal(size=n)
    return np.column_stack([x, y]), np.zeros(n, int)


def iris(rng: np.random.Generator, n: int, noise: float) -> tuple[Floats, Numbers]:
    """Length and width of iris petals, three species; scaled to the page."""
    X, species = load_iris(return_X_y=True)
    petals = (X[:, 2:] - X[:, 2:].mean(axis=0)) / X[:, 2:].std(axis=0) * 1.5
    rows = np.arange(150).reshape(3, 50).T.ravel()[:n]  # species in turn
    return petals[rows] + noise * rng.normal(size=(len(rows), 2)), species[rows]


def _spread(n: int) -> Floats:
    """Places along a curve from 0 to 1, the two classes at the same ones."""
    pairs = max((n + 1) // 2, 1)
    return ((np.arange(n) // 2) + 0.5) / pairs


MAKERS: dict[str, Maker] = {
    "mixture": mixture,
    "moons": moons,
    "circles": circles,
    "xor": xor,
    "spirals": spirals,
    "blobs": blobs,
    "iris": iris,
    "sine": sine,
}
