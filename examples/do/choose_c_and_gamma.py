"""
Choose C and γ
==============

A grid of ten values of C, ten of γ and five folds is 500 fits. ``tune`` gives what ``GridSearchCV``
would give, several times sooner: folds share one matrix of kernel values, and each fit starts at
the one before.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, tune
from maxmargin.plots import SearchDisplay

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
scaler = StandardScaler().fit(X_train)
search = tune(SVC(), scaler.transform(X_train), y_train)
print(search.best_params_)
print(f"test accuracy {search.best_estimator_.score(scaler.transform(X_test), y_test):.1%}")

# %%
# Without arguments the grid suggests itself from the data. The bright valley runs diagonally: a
# smoother kernel can take a larger C. The ring is the best cell.
figure, ax = plt.subplots(figsize=(7, 5.5), layout="constrained")
_ = SearchDisplay.from_search(search, ax=ax)

# %%
# :doc:`/do/choosing-C` says what else the search can do: stop in time, refine beyond an edge,
# leave-one-out.
