"""
Text
====

Words become columns, one for each, nearly all zero. In so many dimensions a linear machine is
usually as good as any, and ``LinearSVC`` never forms a kernel matrix.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from maxmargin import LinearSVC

rng = np.random.default_rng(0)
good = ["lovely", "soft", "perfect", "fits", "comfortable", "beautiful", "great"]
bad = ["returned", "itchy", "thin", "shrunk", "disappointed", "cheap", "faded"]
rest = [
    "dress",
    "top",
    "fabric",
    "colour",
    "size",
    "bought",
    "the",
    "and",
    "very",
    "sleeves",
    "store",
]


def review(happy):
    """Nine words: mostly neutral ones, some that tell, now and then one of the other side."""
    telling = rng.choice(good if happy else bad, 2).tolist()
    noise = rng.choice(good + bad, 2).tolist()
    return " ".join(rng.permutation(telling + noise + rng.choice(rest, 5).tolist()))


y = rng.random(1500) < 0.8
texts = [review(happy) for happy in y]
X_train, X_test, y_train, y_test = train_test_split(texts, y, stratify=y, random_state=0)
clf = make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC(C=0.3)).fit(X_train, y_train)
print(f"test accuracy {clf.score(X_test, y_test):.1%}, the larger class {y_test.mean():.1%}")

# %%
# A linear machine can be read: each word has its weight.
words, weights = clf[0].get_feature_names_out(), clf[-1].coef_[0]
order = np.argsort(weights)
shown = [*order[:6], *order[-6:]]
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.barh(words[shown], weights[shown], color=np.where(weights[shown] > 0, "C0", "C1"))
ax.set_title("what speaks against, and for, a recommendation")

# %%
# Always print the share of the larger class beside an accuracy: here four of five reviews
# recommend, so that a model that learned nothing is right in 80 %. A :doc:`notebook
# </learn/notebooks>` does the same with real reviews.
