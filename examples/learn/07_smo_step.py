r"""
A step of SMO
=============

Two multipliers :math:`a_i, a_j` move together so that :math:`a_i t_i + a_j t_j` stays. With
:math:`E_i = y(x_i) - t_i` and :math:`\eta = 2K_{ij} - K_{ii} - K_{jj} \le 0` the best :math:`a_j`
is

.. math:: a_j^{\text{new}} = a_j - t_j \frac{E_i - E_j}{\eta} , \quad \text{clipped to } [L, H],

where :math:`L` and :math:`H` are the ends of the line of constant :math:`a_i t_i + a_j t_j` inside
the box. If the labels differ the line rises, and :math:`L = \max(0, a_j - a_i)`, :math:`H = \min(C,
C + a_j - a_i)`; if they are equal it falls, and :math:`L = \max(0, a_i + a_j - C)`, :math:`H =
\min(C, a_i + a_j)`.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import Linear
from maxmargin.plots import PairStepDisplay

X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [3.0, 2.0]])
t = np.array([-1, -1, 1, 1])
problem, gram = c_svc(t, C=1.0), Gram(Linear(), X)

# %%
# Four points, two steps, and SMO is done. The first step would like to go twice as far, and the box
# stops it; the second one ends where the parabola has its top.
start, after = np.zeros(4), np.array([-1.0, 0.0, 1.0, 0.0])  # t · a before each step
figure, axes = plt.subplots(1, 2, figsize=(10, 5.4), layout="constrained")
PairStepDisplay.from_problem(problem, gram, start, i=2, j=0, ax=axes[0])
PairStepDisplay.from_problem(problem, gram, after, i=0, j=1, ax=axes[1])
for ax, title in zip(axes, ["labels differ, clipped", "labels equal, not clipped"], strict=True):
    ax.set_title(title)
    ax.get_legend().remove()
handles, labels = axes[0].get_legend_handles_labels()
_ = figure.legend(handles, labels, loc="outside upper center", ncols=4)

# %%
# :doc:`/learn/worked-example` computes both steps with every number.
