r"""
When is it optimal?
===================

Two answers, and a machine of this library carries both.

**The KKT conditions** hold at the optimum and nowhere else. With the error :math:`E_i = y(x_i) -
t_i`:

- :math:`a_i < C` asks for :math:`t_i E_i \ge 0` (the point is on or outside its margin);
- :math:`a_i > 0` asks for :math:`t_i E_i \le 0` (it is on or inside).

**The duality gap** is the difference of the two objectives. No dual value is above a primal one, so
where they meet both are optimal, and where they do not yet, the gap bounds what is still to be won:

.. math:: \text{dual}(a) \;\le\; \text{optimum} \;\le\; \text{primal}(w, b)
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SVC
from maxmargin.datasets import moons

X, y = moons(1000, seed=1)
clf = SVC(C=10, gamma=2, solver="second-order", tol=1e-6).fit(X, y)
print(clf.certificate_)

# %%
# While a solver works, the dual rises and the violation falls. The fit keeps both.
history = clf.history_
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(history["objective"])
left.set(xlabel="iteration", title="dual value: it never falls")
right.semilogy(np.maximum(history["violation"], 1e-9), label="worst KKT violation")
right.semilogy(np.maximum(history["gap"], 1e-9), label="duality gap")
right.set(xlabel="iteration", title="how far from optimal")
_ = right.legend()
