"""
Rare classes
============

If one class has 3 % of the rows, to predict the other one always is right in 97 %. What is wanted
is usually to find most of the rare ones at a tolerable price. Two remedies:
``class_weight="balanced"``, which makes a rare row count for more, or a threshold on
``decision_function`` other than 0.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.metrics import PrecisionRecallDisplay, precision_score, recall_score
from sklearn.model_selection import train_test_split

from maxmargin import SVC

X, y = make_classification(4000, 8, n_informative=5, weights=[0.97], class_sep=0.8, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
machines = {
    "as it is": SVC(C=1).fit(X_train, y_train),
    "balanced": SVC(C=1, class_weight="balanced").fit(X_train, y_train),
}
figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
for k, (name, clf) in enumerate(machines.items()):
    PrecisionRecallDisplay.from_estimator(clf, X_test, y_test, ax=ax, name=name)
    found = clf.predict(X_test)
    recall, precision = recall_score(y_test, found), precision_score(y_test, found)
    ax.plot(recall, precision, "o", color=f"C{k}", markersize=10)
    print(f"{name}: accuracy {clf.score(X_test, y_test):.1%}, recall {recall:.0%}")

# %%
# Dots are what ``predict`` does. Weights move the dot along the curve, and the curve itself a
# little; a threshold moves the dot only, at no cost: ``clf.decision_function(X) > t``.
# scikit-learn's ``TunedThresholdClassifierCV(SVC())`` chooses it by cross-validation.
