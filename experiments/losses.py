"""The losses: a table and a plot on t·y.

Lectures 6 and 7 compare the losses of linear, logistic and softmax regression, of the support
vector classifier, and of support vector regression.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from experiments.experiment import Finding, Outcome, panels
from maxmargin.losses import EpsilonInsensitive, Hinge, Logistic, Softmax, Squared, SquaredHinge
from maxmargin.plots import LossDisplay

ON_MARGIN = {
    "squared, ½(1 − ty)²": Squared(),
    "logistic, −log σ(ty)": Logistic(),
    "hinge, max(0, 1 − ty)": Hinge(),
    "squared hinge": SquaredHinge(),
}
ON_RESIDUAL = {
    "squared, ½(t − y)²": Squared(),
    "ε-insensitive, ε = 0.5": EpsilonInsensitive(0.5),
}
MARGINS = (-2.0, -1.0, 0.0, 0.5, 1.0, 2.0)


def run(points: int = 201) -> Outcome:
    names = ("squared", "logistic", "hinge", "squared hinge")
    rows = [
        {
            "t·y": margin,
            **{
                name: round(float(loss.value(1.0, margin)), 4)
                for name, loss in zip(names, ON_MARGIN.values(), strict=True)
            },
        }
        for margin in MARGINS
    ]
    y = np.linspace(-6, 6, points)
    two_scores = np.stack([np.zeros_like(y), y], axis=1)
    softmax = max(
        float(np.max(np.abs(Softmax().value(label, two_scores) - Logistic().value(sign, y))))
        for label, sign in ((np.ones(points, int), 1.0), (np.zeros(points, int), -1.0))
    )
    sigma = 1 / (1 + np.exp(-y))
    wrong = float(np.max(np.abs(sigma - Logistic().value(1.0, y))))
    printed_sum = -np.log(sigma**1 + (1 - sigma) ** 0)  # t = 1 in lecture 6's formula
    negative = float(printed_sum.min())
    return Outcome(
        text="""
        All from `maxmargin.losses`, the functions that the machines and their certificates use. On
        the axis t·y, right of 0 is right: the hinge asks for a margin of 1 and then for nothing
        more, the logistic loss never quite stops asking, the squared loss punishes answers that are
        too right. On the residual, the ε-insensitive loss of SVR is flat inside its tube.
        """,
        rows=rows,
        figures={"Losses on the margin and on the residual": _draw},
        findings=[
            Finding(
                "lectures 6, 7",
                "the logistic loss is the softmax loss of the scores [y, 0]",
                f"largest difference {softmax:.1e}",
                "reproduced",
            ),
            Finding(
                "lecture 6",
                "on the axis t·y the logistic loss is σ(ty)",
                f"it is −log σ(ty); σ(ty) differs by up to {wrong:.1f} on [−6, 6]",
                "an error of lecture 6; lecture 7 has it right",
            ),
            Finding(
                "lecture 6",
                "its loss per instance is −log of a sum, σ(y)^t + (1−σ(y))^(1−t)",
                f"a sum makes the loss negative, down to {negative:.2f}; it is a product",
                "an error of lecture 6; lecture 7 has it right",
            ),
        ],
        table=["t·y", *names],
    )


def _draw() -> Figure:
    figure, (left, right) = panels(2, 1, size=(4.8, 3.1))
    LossDisplay.from_losses(ON_MARGIN, ax=left)
    LossDisplay.from_losses(ON_RESIDUAL, against="residual", ax=right)
    left.set_title("classification")
    right.set_title("regression")
    return figure
