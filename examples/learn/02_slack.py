r"""
Slack, and the price of it
==========================

Most classes overlap, and no line separates them. The **soft margin** lets a point be inside the
margin, or on the wrong side, at a price: its slack

.. math:: \xi_i = \max(0,\; 1 - t_i\, y(x_i))

is 0 outside the margin, between 0 and 1 inside it, and larger than 1 where the point is
misclassified. The machine now minimises

.. math:: \tfrac{1}{2} \|w\|^2 + C \sum_i \xi_i .

:math:`C` is the price: a small one gives a wide margin that many points violate, a large one a
narrow margin that few do.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from maxmargin import SVC
from maxmargin.plots import MarginDisplay

X, y = make_blobs(60, centers=[[-1, -0.5], [1, 0.5]], cluster_std=0.9, random_state=1)
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, C in zip(axes, [0.01, 10], strict=True):
    clf = SVC(kernel="linear", C=C).fit(X, y)
    MarginDisplay.from_estimator(clf, X, y, ax=ax, slack=True, legend=False)
    ax.set_title(f"C = {C}: {len(clf.support_)} support vectors")
handles, labels = axes[0].get_legend_handles_labels()
_ = figure.legend(handles, labels, loc="outside upper center", ncols=4)

# %%
# A thin line from a point to the margin of its class is the point's slack. A ring marks a support
# vector on the margin, a diamond one inside it, a cross one on the wrong side.
