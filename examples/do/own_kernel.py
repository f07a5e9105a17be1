"""
A kernel of your own
====================

A kernel is a similarity that is an inner product somewhere. This one compares *angles*: times of
the day, directions of the wind, where 23:59 and 00:01 are neighbours. A function of two rows
goes into ``Pairwise``; one of two blocks of rows is passed as it is.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SVC
from maxmargin.kernels import RBF, Pairwise


def circular(x, z):
    """1 for the same hour, less and less toward the other side of the clock."""
    return math.exp(2 * (math.cos((x[0] - z[0]) * math.pi / 12) - 1))


rng = np.random.default_rng(0)
hours = rng.uniform(0, 24, size=(300, 1))
night = (hours[:, 0] > 21) | (hours[:, 0] < 5)
y = night ^ (rng.random(300) < 0.1)
grid = np.linspace(0, 24, 400)[:, None]
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for name, kernel in {"circular": Pairwise(circular), "RBF": RBF(gamma=0.1)}.items():
    clf = SVC(kernel=kernel, C=1).fit(hours, y)
    ax.plot(grid, clf.decision_function(grid), label=f"{name}: {len(clf.support_)} support vectors")
ax.axhline(0, color="gray", linewidth=1)
ax.set(xlabel="hour", ylabel="decision value: night above 0", xticks=range(0, 25, 3))
_ = ax.legend()

# %%
# The circular kernel gives 0 h and 24 h the same value, as it must be.
# :doc:`/how-it-works/add-a-kernel` shows how a kernel gets compiled tiles, names and a place in
# model files.
