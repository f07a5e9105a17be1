r"""
Regression: the tube
====================

For numbers instead of classes the machine draws a tube of half-width :math:`\varepsilon` around its
function. Points inside the tube cost nothing; outside, the cost is the distance from it:

.. math:: \min\; \tfrac{1}{2} \|w\|^2 + C \sum_i \max(0, |t_i - y(x_i)| - \varepsilon)

Each point has two multipliers, one for above and one for below, of which at most one is not 0. The
points outside the tube or on its edge are the support vectors. It is the same dual problem, so the
same solvers solve it.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SVR
from maxmargin.plots import TubeDisplay

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(0, 6, size=(60, 1)), axis=0)
y = np.sin(X[:, 0]) + rng.normal(scale=0.2, size=60)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
for ax, epsilon in zip(axes, [0.1, 0.4], strict=True):
    reg = SVR(C=10, gamma=0.5, epsilon=epsilon).fit(X, y)
    TubeDisplay.from_estimator(reg, X, y, ax=ax, legend=False)
    ax.set_title(f"ε = {epsilon}: {len(reg.support_)} support vectors")
handles, labels = axes[0].get_legend_handles_labels()
_ = figure.legend(handles, labels, loc="outside upper center", ncols=4)
