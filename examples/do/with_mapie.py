"""
With mapie
==========

mapie wraps any regressor or classifier in conformal predictions. Machines of this library are
estimators of scikit-learn's kind, so they go in as they are. (For regression,
``SVRCV.predict_interval`` needs no further library and no further fit.)
"""

import matplotlib.pyplot as plt
import numpy as np
from mapie.regression import CrossConformalRegressor
from sklearn.model_selection import train_test_split

from maxmargin import SVR

rng = np.random.default_rng(0)
X = rng.uniform(0, 6, size=(300, 1))
y = np.sin(X[:, 0]) + rng.normal(scale=0.25, size=300)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
mapie = CrossConformalRegressor(SVR(C=10, gamma=0.5), confidence_level=0.9, method="plus", cv=5)
mapie.fit_conformalize(X_train, y_train)
predicted, intervals = mapie.predict_interval(X_test)
low, high = intervals[:, 0, 0], intervals[:, 1, 0]
print(f"asked for 90 %, covered {np.mean((low <= y_test) & (y_test <= high)):.0%}")

# %%
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.errorbar(X_test[:, 0], predicted, [predicted - low, high - predicted], fmt="none", alpha=0.4)
ax.plot(X_test[:, 0], y_test, ".", label="test rows")
_ = ax.legend()
