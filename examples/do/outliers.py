"""
Outliers
========

``OneClassSVM`` learns where most of the data lie, without labels. ν bounds the share of training
rows that may be outside, and at least that share are support vectors.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import OneClassSVM
from maxmargin.datasets import moons

X, _ = moons(1000, seed=0)
strange = np.random.default_rng(0).uniform(-2, 3, size=(15, 2))
clf = OneClassSVM(nu=0.05, gamma=1).fit(X)
print(f"training rows outside: {np.mean(clf.predict(X) < 0):.1%}; ν was 5 %")
print("strange rows seen as such:", int((clf.predict(strange) < 0).sum()), "of", len(strange))

# %%
xx, yy = np.meshgrid(np.linspace(-2, 3, 200), np.linspace(-2, 3, 200))
f = clf.decision_function(np.column_stack([xx.ravel(), yy.ravel()])).reshape(xx.shape)
figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
ax.contourf(xx, yy, f, levels=[0, f.max()], alpha=0.3)
ax.contour(xx, yy, f, levels=[0])
ax.plot(*X.T, ".", label="training rows")
ax.plot(*strange.T, "x", markersize=9, label="strange rows")
_ = ax.legend()
