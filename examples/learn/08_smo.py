r"""
SMO, from the first step to the last
====================================

Repeat the step on pairs that violate the KKT conditions, until none does by more than ``tol``. The
pair that violates most is the one with the largest :math:`-E_i` among the variables :math:`t_i a_i`
that can rise and the smallest among those that can fall (Keerthi's rule). Each step raises the
dual, and none lowers it.

``trace`` runs a solver and returns a table with a row for every step.
"""

import matplotlib.pyplot as plt

from maxmargin import trace
from maxmargin.datasets import moons
from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.solvers import MaximalViolatingPairSMO

X, y = moons(40, seed=0)
problem, gram = c_svc(2 * y - 1, C=1.0), Gram(RBF(gamma=2.0), X)
table = trace(MaximalViolatingPairSMO(), problem, gram, every="step")
print(table[["indices", "unclipped", "clipped", "low", "high", "objective"]].head(8).round(3))

# %%
# The dual rises quickly and then slowly; the violation may rise for a while. What says that the
# end is near is the gap.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(table["objective"])
left.set(title=f"dual value, {len(table)} steps", xlabel="step")
right.semilogy(table["gap"].clip(lower=1e-6), label="duality gap")
right.semilogy(table["violation"].clip(lower=1e-6), label="KKT violation")
right.set(title="what is left", xlabel="step")
_ = right.legend()

# %%
# The algorithm is a page of Python that can be read from top to bottom: see
# :class:`maxmargin.solvers.MaximalViolatingPairSMO`, and watch it line by line in
# :doc:`/learn/playground`.
