r"""
Several classes
===============

A machine knows two sides. For more classes there are two schemes:

- **one-versus-one** trains a machine for every pair of classes, :math:`k(k-1)/2` of them on few
  points each, and takes the class with most votes;
- **one-versus-rest** trains a machine for every class against all others, and takes the largest
  value.

Either way there are places where the machines disagree: no class wins all its duels, or none claims
the point, or two do. They are hatched here.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from maxmargin import SVC
from maxmargin.plots import RegionsDisplay

X, y = make_blobs(120, centers=[[0, 2], [-2, -1], [2, -1]], cluster_std=0.9, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for ax, scheme in zip(axes, ["ovo", "ovr"], strict=True):
    clf = SVC(kernel="linear", multiclass=scheme).fit(X, y)
    display = RegionsDisplay.from_estimator(clf, X, y, ax=ax, legend=False)
    ax.set_title(f"{scheme}: {display.ambiguous.mean():.1%} of the plane is disputed")
handles, labels = axes[0].get_legend_handles_labels()
_ = figure.legend(handles, labels, loc="outside upper center", ncols=4)

# %%
# ``SVC.ambiguous(X)`` says for which rows that is so.
print("disputed training points, one-versus-rest:", int(clf.ambiguous(X).sum()))
