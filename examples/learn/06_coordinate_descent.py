r"""
One coordinate at a time
========================

To maximise over many variables, improve one after the other: that is **coordinate descent**. For a
machine without offset :math:`b` the dual has only the box :math:`0 \le a_i \le C`, and one variable
can move alone. Its best value is a Newton step, since the dual is quadratic, cut off where the box
ends.

Here are two points, so that the dual can be drawn. In signed variables :math:`\beta_i = t_i a_i`
every step is parallel to an axis and ends where the objective is smallest along it.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import Linear
from maxmargin.plots import DescentDisplay

X, t = np.array([[1.0, 0.15], [-0.75, -0.9]]), np.array([1, -1])
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, C in zip(axes, [9.0, 0.62], strict=True):
    problem = c_svc(t, C=C, fit_intercept=False)
    DescentDisplay.from_problem(problem, Gram(Linear(), X), start=[0.1, -0.7], ax=ax)
    ax.set_title(f"C = {C}")
    ax.get_legend().remove()
handles, labels = axes[0].get_legend_handles_labels()
_ = figure.legend(handles, labels, loc="outside upper center", ncols=4)

# %%
# On the left the optimum is inside the box, on the right the box stops one variable. With an offset
# there is one more condition, :math:`\sum_i a_i t_i = 0`. It holds every variable fast as long as
# the others stay: one alone cannot move. So two have to move together, and that is SMO.
