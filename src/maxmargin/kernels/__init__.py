"""Kernels: k(x, z) = φ(x)ᵀφ(z), an inner product in a space that is never visited.

>>> import numpy as np
>>> X = np.array([[0.0, 1.0], [2.0, 1.0]])
>>> RBF(gamma=0.5)(X, X).round(3)
array([[1.   , 0.135],
       [0.135, 1.   ]])

Kernels compose: a sum, a product and a positive multiple of kernels are kernels.

>>> (Linear() + 2.0 * RBF(gamma=0.5))(X, X).round(3)
array([[3.   , 1.271],
       [1.271, 7.   ]])

A kernel of your own is either a function of two blocks of rows (`Vectorized`) or a function of
two rows (`Pairwise`). Neither ever forms the whole Gram matrix.

>>> def cosine(x, z):
...     return (x @ z) / np.sqrt((x @ x) * (z @ z))
>>> Pairwise(cosine)(X, X).round(3)
array([[1.   , 0.447],
       [0.447, 1.   ]])
"""

from maxmargin.kernels.form import Form
from maxmargin.kernels.gamma import Gamma
from maxmargin.kernels.kernel import Constant, Kernel, Product, Scaled, Sum
from maxmargin.kernels.names import as_kernel
from maxmargin.kernels.own import KernelFunction, Pairwise, Vectorized
from maxmargin.kernels.standard import (
    RBF,
    DotKernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)

__all__ = [
    "RBF",
    "Constant",
    "DotKernel",
    "Form",
    "Gamma",
    "Kernel",
    "KernelFunction",
    "Laplacian",
    "Linear",
    "Pairwise",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Sum",
    "Vectorized",
    "as_kernel",
]
