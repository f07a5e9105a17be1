"""The perceptron: look at one row after the other, and learn from mistakes only.

    f = 0
    repeat
        for t = 1, …, n
            if y_t f(x_t) ≤ 0:      (a mistake)
                f += y_t k(x_t, ·)
    until a pass has no mistakes

With k(x, z) = xᵀz this is Rosenblatt's perceptron, w += y_t x_t. It minimises nothing and proves
nothing: it ends where the classes can be separated, and nowhere else.

Several classes have an f_k each. The row t is a mistake if another class scores as much as that of
y_t, or more; all of these classes share the step. With two classes (f_1 − f_0)/2 is the f above.

`f` has the scores of every row, one column for each class, and follows the steps; `K(t)` is row t
of the kernel matrix, y_t the number of a class, and c_t the length of the step of row t:

>>> X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([0, 1, 1])
>>> list(mistakes_of_a_pass(lambda t: X @ X[t], y, np.ones(3), np.zeros((3, 2))))
[(0, array([ 1., -1.]))]

The slides test y_t f(x_t) < 0, which learns nothing from f = 0.

Reference: F. Rosenblatt, The perceptron, Psychological Review 65 (1958), 386–408; K. Crammer,
Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3 (2003), 951–991.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from maxmargin.resources.arrays import Floats, Numbers

Rows: TypeAlias = Callable[[int], Floats]  # t → row t of the kernel matrix
Mistakes: TypeAlias = Iterator[tuple[int, Floats]]  # t, and the step of each class


def mistakes_of_a_pass(K: Rows, y: Numbers, c: Floats, f: Floats) -> Mistakes:
    """Look at every row once; yield each mistake t, and what k(x_t, ·) adds to each f_k."""
    for t in np.flatnonzero(c).tolist():
        E = f[t] >= f[t, y[t]]  # the classes that score as much as y_t, with y_t itself
        rivals = np.count_nonzero(E) - 1
        if rivals > 0:  # a mistake
            Δ = np.where(E, -c[t] / rivals, 0.0)
            Δ[y[t]] = c[t]
            f += np.outer(K(t), Δ)  # f_k(x) += Δ_k k(x_t, x)
            yield t, Δ
