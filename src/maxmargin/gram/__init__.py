"""The matrix of kernel values: blocks, rows, products and diagonal, within a memory budget."""

from maxmargin.gram.cross import Cross, cross_dot
from maxmargin.gram.data_matrix import DataMatrix
from maxmargin.gram.matrix import Gram

__all__ = ["Cross", "DataMatrix", "Gram", "cross_dot"]
