r"""
Leave one out
=============

How good is the machine on points it has not seen? Take out one point, train on the others, predict
it; for every point. That is :math:`n` trainings, but most are unnecessary: a point with :math:`a_i
= 0` can go, and the machine stays as it is. So the error is **at most** the share of support
vectors. (Not equal to it, as some notes say.) ``leave_one_out`` uses this and gives what all
trainings would give.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SVC, leave_one_out
from maxmargin.datasets import moons

X, y = moons(150, seed=2)
Cs = np.geomspace(0.01, 1000, 11)
errors, bounds = [], []
for C in Cs:
    left = leave_one_out(SVC(C=C, gamma=1), X, y)
    errors.append(left.error)
    bounds.append(left.bounds["support vectors"].value)

# %%
# The bound is far from the error, and falls where the error has long been flat. To choose C, look
# at the error itself.
figure, ax = plt.subplots(layout="constrained")
ax.semilogx(Cs, errors, "o-", label="leave-one-out error, exact")
ax.semilogx(Cs, bounds, "s--", label="share of support vectors")
ax.set(xlabel="C", ylabel="share of the points", ylim=(0, 1))
_ = ax.legend()
