"""
Stop in time
============

``max_time`` bounds the whole fit in seconds, and Ctrl-C ends it at once. Either way there is a
usable machine, and a certificate that says how far it is from the best one: no need to begin again.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC
from maxmargin.datasets import moons

X, y = moons(2000, seed=0)
X_test, y_test = moons(2000, seed=1)
steps, gaps, scores = [10, 30, 100, 300, 1000, 3000, 10_000], [], []
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # that is the point here
    for limit in steps:
        clf = SVC(C=10, gamma=2, solver="second-order", max_iter=limit).fit(X, y)
        gaps.append(clf.certificate_.relative_gap)
        scores.append(clf.score(X_test, y_test))

# %%
# Before the gap is small, accuracy is a matter of luck; once it is a few per cent, the accuracy is
# that of the end. It is the gap that tells, without test rows, whether more can come.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.loglog(steps, np.maximum(gaps, 1e-6), "o-")
left.set(xlabel="steps", title="relative duality gap")
right.semilogx(steps, scores, "o-")
right.set(xlabel="steps", title="test accuracy", ylim=(0.3, 1))
print(clf.certificate_.status.value)
