"""Kernel regression by dual SGD, and how long its steps may be.

Lecture 6: β_i += (α/|b|)(t_i − Σ_j β_j K_ij) for the rows i of a batch b, all at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.experiment import Finding, Outcome, panels
from experiments.noisy_sine import noisy_sine
from maxmargin import KernelRegressor
from maxmargin.plots.palette import DASHES, ink

GAMMA, RIDGE, FEW = 20.0, 0.1, 30


def run(n: int = 100, epochs: int = 1000, batch: int = 10, tried: int = 24) -> Outcome:
    X, t = noisy_sine(n, seed=1)
    exact = KernelRegressor(gamma=GAMMA, ridge=RIDGE).fit(X, t)
    best = float(exact.history_["objective"][0])
    limits = {size: _sgd(size, "auto", 1).fit(X, t).largest_rate_ for size in (1, batch, n)}
    fits = {k: _sgd(batch, "auto", k).fit(X, t) for k in (1, 10, 100, epochs) if k <= epochs}
    apart = float(np.max(np.abs(fits[max(fits)].predict(X) - exact.predict(X))))
    ways = {
        share: _sgd(n, share * limits[n], epochs).fit(X, t).history_["objective"] / best - 1
        for share in (0.1, 0.5, 0.95)
    }
    ways[1.05] = np.array(_refused(n, 1.05 * limits[n], X, t)) / best - 1
    shares = np.geomspace(0.1, 2, tried)
    ends = {
        size: np.array([_end(_sgd(size, share * limit, FEW), X, t) / best - 1 for share in shares])
        for size, limit in limits.items()
    }
    rows = [
        {"batch": size, "α / limit": share, "objective above the optimum": float(value)}
        for size, values in ends.items()
        for share, value in zip(shares.tolist(), values, strict=True)
    ]
    return Outcome(
        text=f"""
        A noisy sine of {n} points, RBF kernel, λ = {RIDGE:g}. Above, the fit after some epochs in
        batches of {batch}, beside the exact one. In the middle, by what share the objective is
        above the exact optimum, with all rows in one batch: a step is a gradient step on
        ½βᵀ(K + λ)β − tᵀβ, and is stable below α = 2|b|/λ_max(K_bb + λ), the limit that the machine
        reports. Nearer to the limit it is faster in the long run; beyond it the objective grows.
        Below, the same after {FEW} epochs against α, for three sizes of the batch; a curve ends in
        a cross where the machine refuses to go on because its steps grow.
        """,
        rows=rows,
        figures={
            "Kernel regression by dual SGD": lambda: _draw(X, t, exact, fits, ways, shares, ends)
        },
        findings=[
            Finding(
                "lecture 6",
                "SGD on β in the dual trains kernel linear regression",
                f"largest difference to the exact fit after {max(fits)} epochs: {apart:.1e}",
                "reproduced",
            ),
            Finding(
                "lecture 6",
                "a learning rate α > 0; its limit is not said",
                "steps grow "
                + ", ".join(f"{_first(shares, ends[k])} in batches of {k}" for k in ends),
                "the limit is α ≈ 2|b|/λ_max(K_bb + λ); exact where one batch holds all rows",
            ),
            Finding(
                "lecture 6",
                "φ(x)·φ(z) of all cubic monomials is 1 + xz + (xz)² + (xz)³",
                f"largest relative difference: {_cubic():.1e}",
                "reproduced",
            ),
        ],
    )


def _sgd(batch: int, rate: Any, epochs: int) -> KernelRegressor:
    return KernelRegressor(
        gamma=GAMMA,
        ridge=RIDGE,
        solver="sgd",
        batch_size=batch,
        learning_rate=rate,
        epochs=epochs,
        random_state=0,
    )


def _end(machine: KernelRegressor, X: np.ndarray, t: np.ndarray) -> float:
    """The objective at the end, infinite if the machine says that it diverges."""
    try:
        return float(machine.fit(X, t).history_["objective"][-1])
    except ValueError as refusal:
        if "diverges" not in str(refusal):
            raise
        return np.inf


def _refused(batch: int, rate: float, X: np.ndarray, t: np.ndarray) -> list[float]:
    """The objective after each epoch, until the machine says that it diverges."""
    values: list[float] = []
    while len(values) < 200:
        value = _end(_sgd(batch, rate, len(values) + 1), X, t)
        if np.isinf(value):
            break
        values.append(value)
    return values


def _first(shares: np.ndarray, ends: np.ndarray) -> str:
    """From which share of the limit on the steps grow."""
    grown = np.flatnonzero(np.isinf(ends))
    if len(grown) == 0:
        return f"nowhere up to {shares[-1]:.2f} limits"
    below = shares[max(grown[0] - 1, 0)]
    return f"between {below:.2f} and {shares[grown[0]]:.2f} limits"


def _cubic(D: int = 4, pairs: int = 20) -> float:
    """Lecture 6's identity on random rows: 1, x_i, x_i x_j and x_i x_j x_k, all of them."""
    random = np.random.default_rng(0)
    x, z = random.normal(size=(2, pairs, D))

    def features(x: np.ndarray) -> np.ndarray:
        squares = np.einsum("ni,nj->nij", x, x).reshape(pairs, -1)
        cubes = np.einsum("ni,nj->nij", squares, x).reshape(pairs, -1)
        return np.hstack([np.ones((pairs, 1)), x, squares, cubes])

    explicit, dot = np.sum(features(x) * features(z), axis=1), np.sum(x * z, axis=1)
    return float(np.max(np.abs(explicit / (1 + dot + dot**2 + dot**3) - 1)))


def _draw(
    X: np.ndarray,
    t: np.ndarray,
    exact: KernelRegressor,
    fits: Mapping[int, KernelRegressor],
    ways: Mapping[float, np.ndarray],
    shares: np.ndarray,
    ends: Mapping[int, Sequence[float]],
) -> Figure:
    figure, (above, middle, below) = panels(3, 1, size=(5.4, 3.0))
    grid = np.linspace(0, 1, 300)[:, None]
    above.scatter(X[:, 0], t, s=12, color=ink(), alpha=0.5, linewidths=0)
    for k, (epochs, machine) in enumerate(fits.items()):
        name = "1 epoch" if epochs == 1 else f"{epochs:,} epochs"
        above.plot(grid, machine.predict(grid), label=name, linestyle=DASHES[k % 4])
    above.plot(grid, exact.predict(grid), color=ink(), linewidth=1, label="exact")
    above.set(xlabel="x", ylabel="target", title="the function after some epochs")
    for k, (share, way) in enumerate(ways.items()):
        epochs = np.arange(1, len(way) + 1)
        middle.plot(epochs, way, linestyle=DASHES[k], label=f"α = {share:g} limits")
    middle.set(xscale="log", yscale="log", xlabel="epoch", ylabel="excess")
    middle.set_title("the loss above its optimum, by step size α")
    for k, (size, values) in enumerate(ends.items()):
        values = np.asarray(values)
        stable = np.isfinite(values)
        name = "all rows" if size == len(X) else f"batch of {size}"
        (line,) = below.plot(shares[stable], values[stable], linestyle=DASHES[k], label=name)
        if not stable.all():
            end = shares[stable][-1], values[stable][-1]
            below.plot(*end, "X", color=line.get_color(), markeredgecolor=ink(), markersize=9)
    below.axvline(1, color=ink(), linewidth=1, linestyle=":")
    below.set(xscale="log", yscale="log", xlabel="α / limit", ylabel=f"excess after {FEW} epochs")
    below.set_title("how large a step may be, by batch")
    below.set_xticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
    below.set_xticks([], minor=True)
    for ax in (above, middle, below):
        ax.grid(alpha=0.5)
        ax.legend(fontsize=9, loc="best")
    return figure
