"""
Millions of rows
================

An exact machine compares support vectors with each other, and with overlapping classes their number
grows with the rows. Beyond some 100,000, ``approximation="nystroem"`` replaces the kernel by a few
hundred columns, which costs time in proportion to the rows. ``partial_fit`` takes them in batches.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SVC
from maxmargin.datasets import moons

X, y = moons(20_000, seed=0)
X_test, y_test = moons(5_000, seed=1)
rows, exact, columns = [1000, 3000, 10_000, 20_000], [], []
for n in rows:
    for times, clf in ((exact, SVC()), (columns, SVC(approximation="nystroem", n_components=50))):
        clf.fit(X[:n], y[:n])
        start = time.process_time()
        clf.fit(X[:n], y[:n])
        times.append(time.process_time() - start)
        print(f"{n:>6} rows, {clf.approximation or 'exact'}: {clf.score(X_test, y_test):.2%}")

# %%
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.loglog(rows, exact, "o-", label="exact")
ax.loglog(rows, columns, "s--", label="50 Nyström columns")
ax.set(xlabel="rows", ylabel="CPU seconds of a fit")
_ = ax.legend()

# %%
# The certificate of such a fit says what it holds for: the problem with these columns.
clf = SVC(approximation="nystroem", n_components=50)
for batch in np.array_split(np.arange(len(X)), 10):
    clf.partial_fit(X[batch], y[batch], classes=[0, 1])
print(f"ten batches: {clf.score(X_test, y_test):.2%}")
