"""A graph of ONNX operators in the making, and the operators of kernels.

`graph("Mul", a, b)` adds a node and returns the name of its result; arrays among the arguments
become constants, real numbers in float64. Nothing here imports `onnx`: the same nodes go into a
model of our own (`to_onnx`) or into one that skl2onnx makes (`register_onnx`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from maxmargin.io.container import ModelFileError, Table
from maxmargin.kernels import Kernel
from maxmargin.kernels.formula import Tree, tree_of
from maxmargin.resources.arrays import Data, RealType

Value: TypeAlias = str  # the name of what a node gives, or of an input
Argument: TypeAlias = str | float | Table
OPSET = 18
FLOAT, INT64, DOUBLE = 1, 7, 11  # ONNX's numbers of types


class OnnxNode(NamedTuple):
    """One operator."""

    op: str
    inputs: list[Value]
    output: Value
    attributes: dict[str, Any]


@dataclass
class Graph:
    """Nodes and constants.

    Parameters
    ----------
    dtype : np.float64 or np.float32, of the input and the outputs; what is between is float64, for
        f = Σ β k + b loses up to Σ|β| times what its terms are rounded to
    prefix : of every name
    """

    dtype: RealType
    prefix: str = ""
    nodes: list[OnnxNode] = field(default_factory=list)
    constants: dict[str, Table] = field(default_factory=dict)

    def __call__(self, op: str, *inputs: Argument, **attributes: Any) -> Value:
        """Add a node; the name of what it gives."""
        names = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        output = f"{self.prefix}{op.lower()}_{len(self.nodes)}"
        self.nodes.append(OnnxNode(op, names, output, attributes))
        return output

    def constant(self, value: float | Table) -> Value:
        """A constant; real numbers in float64."""
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        name = f"{self.prefix}constant_{len(self.constants)}"
        self.constants[name] = array
        return name

    def numbers(self, *values: int) -> Value:
        """A constant list of integers: axes, shapes, places."""
        return self.constant(np.array(values, np.int64))

    def number(self, mask: Value) -> Value:
        """1 where true, 0 elsewhere."""
        return self("Cast", mask, to=DOUBLE)

    def affine(self, X: Value, coef: Data, offset: Argument) -> Value:
        """X coefᵀ + offset."""
        coef = coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef)
        return self("Add", self("MatMul", X, np.ascontiguousarray(coef.T)), offset)


def kernel_values(graph: Graph, kernel: Kernel, X: Value, Z: Data) -> Value:
    """k(x, z) of the rows x of X and the constant rows z of Z."""
    Z = np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z, np.float64)
    return _values(graph, tree_of(kernel), X, Z)


def _values(graph: Graph, tree: Tree, X: Value, Z: Table) -> Value:
    kind, gamma = tree["type"], float(tree.get("gamma", 0.0))
    if kind in ("Sum", "Product"):
        left, right = (_values(graph, tree[side], X, Z) for side in ("left", "right"))
        return graph("Add" if kind == "Sum" else "Mul", left, right)
    if kind == "Scaled":
        # Not by a single number: onnxruntime would fuse it with MatMul, rounded to float32.
        factors = np.full(len(Z), float(tree["factor"]))
        return graph("Mul", _values(graph, tree["kernel"], X, Z), factors)
    if kind == "Constant":
        return graph("Add", graph("MatMul", X, np.zeros(Z.T.shape)), float(tree["value"]))
    if kind == "RBF":
        return graph("Exp", graph("Mul", squared_distances(graph, X, Z), -gamma))
    if kind == "Laplacian":
        apart = graph("Abs", graph("Sub", graph("Unsqueeze", X, graph.numbers(1)), Z[None]))
        total = graph("ReduceSum", apart, graph.numbers(2), keepdims=0)
        return graph("Exp", graph("Mul", total, -gamma))
    if kind not in ("Linear", "Polynomial", "Sigmoid"):
        raise ModelFileError(f"ONNX has no operators for the kernel {kind}, which is a function")
    scale = 1.0 if kind == "Linear" else gamma
    dot = graph("MatMul", X, np.ascontiguousarray(scale * Z.T))
    if kind == "Linear":
        return dot
    t = graph("Add", dot, float(tree["coef0"]))
    return graph("Tanh", t) if kind == "Sigmoid" else graph("Pow", t, float(tree["degree"]))


def squared_distances(graph: Graph, X: Value, Z: Table) -> Value:
    """‖x − z‖² = ‖x‖² + ‖z‖² − 2x·z, of rows moved by the mean of Z so that digits stay."""
    centre = Z.mean(axis=0)
    Z = Z - centre
    X = graph("Sub", X, centre)
    squares = graph("ReduceSum", graph("Mul", X, X), graph.numbers(1), keepdims=1)
    dots = graph("MatMul", X, np.ascontiguousarray(-2 * Z.T))
    both = graph("Add", graph("Add", dots, squares), (Z**2).sum(axis=1))
    return graph("Max", both, 0.0)
