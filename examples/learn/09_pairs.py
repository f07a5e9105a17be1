r"""
Which pair?
===========

All versions of SMO take the same step. They differ in the pair they take it on, and that decides
how long they need:

- the *simplified* SMO of lectures takes the next violator, and any other point at random;
- *Platt's* looks among the free multipliers first, and takes the partner with the largest
  :math:`|E_i - E_j|`;
- the *maximal violating pair* is Keerthi's;
- *second order* (LIBSVM's) also divides by the curvature :math:`K_{ii} + K_{jj} - 2K_{ij}`: it
  takes the partner that gains most;
- *block* SMO, the default here, solves for hundreds of variables before it looks at the others
  again.
"""

import matplotlib.pyplot as plt

from maxmargin import race
from maxmargin.datasets import moons
from maxmargin.formulations import c_svc
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.plots import plot_race
from maxmargin.solvers import PlattSMO, SimplifiedSMO

X, y = moons(300, seed=0)
problem, gram = c_svc(2 * y - 1, C=1.0), Gram(RBF(gamma=2.0), X)
solvers = {
    "simplified": SimplifiedSMO(tol=1e-3),
    "Platt": PlattSMO(tol=1e-3),
    "maximal violating pair": "maximal-violating-pair",
    "second order": "second-order",
    "block": "block",
}
ways = race(solvers, problem, gram)
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
_ = plot_race(ways, len(X), axes=axes)

# %%
# Do not read seconds of so small a problem as a verdict: :doc:`/benchmarks/index` has real ones.
