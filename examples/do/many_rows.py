"""
Millions of rows
================

An exact machine compares support vectors with each other, and where classes overlap their number
grows with the rows. ``approximation="nystroem"`` replaces the kernel by a few hundred columns:
time then grows in proportion to the rows, and ``partial_fit`` takes them in batches. It costs some
accuracy, so it is for more rows than an exact machine can take.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from maxmargin import SVC

X, y = make_classification(
    50_000, 10, n_informative=6, flip_y=0.2, class_sep=0.7, shuffle=True, random_state=0
)
X, X_test, y, y_test = X[:40_000], X[40_000:], y[:40_000], y[40_000:]
rows, exact, columns = [2500, 5000, 10_000, 20_000, 40_000], [], []
for n in rows:
    for times, clf in ((exact, SVC()), (columns, SVC(approximation="nystroem", n_components=100))):
        start = time.process_time()
        clf.fit(X[:n], y[:n])
        times.append(time.process_time() - start)
        print(f"{n:>6} rows, {clf.approximation or 'exact'}: {clf.score(X_test, y_test):.1%}")

# %%
# Up to some ten thousand rows the exact machine is the quicker one; from there its line is steeper.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.loglog(rows, exact, "o-", label="exact")
ax.loglog(rows, columns, "s--", label="100 Nyström columns")
ax.set(xlabel="rows", ylabel="CPU seconds of a fit")
_ = ax.legend()

# %%
# The same machine from batches. Its certificate says what it holds for: the problem with these
# columns.
clf = SVC(approximation="nystroem", n_components=100)
for batch in np.array_split(np.arange(len(X)), 10):
    clf.partial_fit(X[batch], y[batch], classes=[0, 1])
print(f"ten batches: {clf.score(X_test, y_test):.1%}")
