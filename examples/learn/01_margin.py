r"""
The margin
==========

A line :math:`y(x) = w^T x + b = 0` separates two classes if :math:`t_i\, y(x_i) > 0` for every
point. Many lines do. The support vector machine takes the one that is farthest from the nearest
point. The distance of :math:`x_i` from the line is :math:`t_i\, y(x_i) / \|w\|`. A multiple of
:math:`w` and :math:`b` is the same line, so we may ask that the nearest point has
:math:`t_i\, y(x_i) = 1`; then the margin is :math:`1 / \|w\|`, and the widest margin is the answer
to

.. math::

   \min_{w, b} \tfrac{1}{2} \|w\|^2 \quad \text{with} \quad t_i\, y(x_i) \ge 1 \text{ for all } i
"""

import numpy as np
from sklearn.datasets import make_blobs

from maxmargin import SVC
from maxmargin.plots import MarginDisplay

X, y = make_blobs(60, centers=[[-2, -1], [2, 1]], cluster_std=0.8, random_state=3)
clf = SVC(kernel="linear", C=np.inf).fit(X, y)
display = MarginDisplay.from_estimator(clf, X, y)

# %%
# The solid line is :math:`y(x) = 0`, the dashed ones are :math:`y(x) = \pm 1`. Points that touch
# them are the **support vectors**: all other points could be removed, and the line would stay.
# ``C=np.inf`` asks for a *hard* margin, with no exception.
w = clf.coef_[0]
print(f"margin {clf.margin_:.4f} = 1/‖w‖ = {1 / np.linalg.norm(w):.4f}")
print("support vectors:", len(clf.support_), "of", len(X))
