"""
Quantiles
=========

Where the noise depends on x, one width does not fit all. ``QuantileSVR`` learns any number of
quantiles from one kernel matrix; ``noncrossing=True`` keeps them in order.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import QuantileSVR

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(0, 6, size=(400, 1)), axis=0)
y = np.sin(X[:, 0]) + (0.05 + 0.12 * X[:, 0]) * rng.normal(size=400)
levels = [0.05, 0.5, 0.95]
reg = QuantileSVR(quantiles=levels, C=10, gamma=0.3, noncrossing=True).fit(X, y)
low, middle, high = reg.predict(X).T

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.fill_between(X[:, 0], low, high, alpha=0.25, label="5 % to 95 %")
ax.plot(X[:, 0], middle, label="median")
ax.plot(X[:, 0], y, ".", markersize=4)
_ = ax.legend(loc="lower left")

# %%
# The share of the points below each curve:
for level, curve in zip(levels, (low, middle, high), strict=True):
    print(f"{level:.0%}: {np.mean(y < curve):.1%}")
