r"""
The dual problem
================

Lagrange's method gives each condition a multiplier :math:`a_i`. Where the derivatives by :math:`w`
and :math:`b` vanish, :math:`w = \sum_i a_i t_i x_i` and :math:`\sum_i a_i t_i = 0`; what is left is
a problem in the multipliers alone, the **dual**:

.. math::

   \max_a\; \sum_i a_i - \tfrac{1}{2} \sum_i \sum_j a_i a_j t_i t_j K(x_i, x_j)
   \quad \text{with} \quad 0 \le a_i \le C, \quad \sum_i a_i t_i = 0

Points appear only in :math:`K(x_i, x_j) = x_i^T x_j`. A multiplier that is 0 leaves its point out.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from maxmargin import SVC

X, y = make_blobs(60, centers=[[-1, -0.5], [1, 0.5]], cluster_std=0.9, random_state=1)
t, C = 2 * y - 1, 1.0
clf = SVC(kernel="linear", C=C).fit(X, y)
a = np.zeros(len(X))
a[clf.support_] = np.abs(clf.dual_coef_[0])

# %%
# The multipliers, against where their points are. Outside the margin they are 0, inside it they are
# :math:`C`, and only on it are they in between.
figure, ax = plt.subplots(layout="constrained")
ax.scatter(t * clf.decision_function(X), a)
ax.set(xlabel="$t\\, y(x)$: 1 is the margin", ylabel="multiplier $a$", title="0, between, and C")
ax.axvline(1, linestyle="--", color="gray")

# %%
# Both sides of the theory, by hand: :math:`w` is the weighted sum of the points, and the value of
# the dual is what the certificate says.
w = (a * t) @ X
print("w by hand", w, " of the machine", clf.coef_[0])
print("Σ a t =", round(float(a @ t), 12))
print(f"dual by hand {a.sum() - w @ w / 2:.6f}, of the certificate {clf.certificate_.dual:.6f}")
