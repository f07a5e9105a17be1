"""
Prediction intervals
====================

``SVRCV.predict_interval`` puts an interval around each prediction that covers the true value as
often as you ask, whatever the distribution is, by the residuals of the search's own folds (CV+ of
Barber and others, 2021). No further fit is needed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from maxmargin import SVRCV

rng = np.random.default_rng(0)
X = rng.uniform(0, 6, size=(600, 1))
y = np.sin(X[:, 0]) + rng.normal(scale=0.25, size=600)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
reg = SVRCV(Cs=[0.1, 1, 10], gammas=[0.1, 1]).fit(X_train, y_train)
low, high = reg.predict_interval(X_test, coverage=0.9).T
print(f"asked for 90 %, covered {np.mean((low <= y_test) & (y_test <= high)):.1%}")

# %%
order = np.argsort(X_test[:, 0])
x = X_test[order, 0]
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.fill_between(x, low[order], high[order], alpha=0.25, label="90 % interval")
ax.plot(x, reg.predict(X_test)[order], label="prediction")
ax.plot(x, y_test[order], ".", label="test rows")
_ = ax.legend()

# %%
# The width is nearly the same everywhere. If the noise depends on x, take quantiles instead:
# :doc:`/do/recipes/quantiles`.
