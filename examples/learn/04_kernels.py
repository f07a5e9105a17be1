r"""
Kernels
=======

The dual needs :math:`K(x, z)` only, never the points themselves. So :math:`x^T z` may be replaced
by :math:`\varphi(x)^T \varphi(z)` for any map :math:`\varphi`, without computing :math:`\varphi`.
The Gaussian kernel

.. math:: K(x, z) = e^{-\gamma \|x - z\|^2}

is the inner product of a space of infinite dimension. A large :math:`\gamma` sees only close
neighbours, a small one blurs everything.
"""

import matplotlib.pyplot as plt

from maxmargin import SVC
from maxmargin.datasets import moons
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.plots import MarginDisplay

X, y = moons(100, seed=0)
kernels = {
    "linear": Linear(),
    "polynomial of degree 3": Polynomial(degree=3, gamma=1, coef0=1),
    "Gaussian, γ = 1": RBF(gamma=1),
    "Gaussian, γ = 50": RBF(gamma=50),
}
figure, axes = plt.subplots(2, 2, figsize=(10, 9), layout="constrained")
for ax, (name, kernel) in zip(axes.flat, kernels.items(), strict=True):
    clf = SVC(kernel=kernel, C=10).fit(X, y)
    MarginDisplay.from_estimator(clf, X, y, ax=ax, legend=False)
    ax.set_title(f"{name}: {clf.score(X, y):.0%} of the points right")

# %%
# The last one knows every point by heart, and little else: it has taken nearly all of them as
# support vectors. Kernels can be added and multiplied: ``Linear() + 0.5 * RBF(gamma=1)`` is one
# too.
clf = SVC(kernel=Linear() + 0.5 * RBF(gamma=1), C=10).fit(X, y)
print("sum of two kernels:", len(clf.support_), "support vectors")
