r"""
The hinge among the losses
==========================

The slack is a function of :math:`t\,y` alone, the **hinge loss** :math:`\max(0, 1 - t y)`. So the
machine is a regularised model like others, with another loss:

.. math:: \min_{w, b}\; \tfrac{1}{2} \|w\|^2 + C \sum_i L(t_i, y(x_i))

What distinguishes it: the loss is exactly 0 beyond the margin. Points there have no say, which is
why few of them are support vectors. The logistic loss is never 0, and all points keep a say.
"""

from maxmargin.losses import Hinge, Logistic, Squared, SquaredHinge
from maxmargin.plots import LossDisplay

losses = {
    "hinge": Hinge(),
    "squared hinge": SquaredHinge(),
    "logistic": Logistic(),
    "squared": Squared(),
}
display = LossDisplay.from_losses(losses, limits=(-2.0, 3.0))

# %%
# The squared loss punishes points that are far on the *right* side, too: least squares is a poor
# classifier where one class reaches far out.
for name, loss in losses.items():
    print(f"{name:14} at ty = 2: {float(loss.value(1.0, 2.0)):.3f}")
