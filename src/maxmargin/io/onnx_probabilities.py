"""Calibrated probabilities as nodes of an ONNX graph: what `machines.probability` computes."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from sklearn.isotonic import IsotonicRegression

from maxmargin.io.onnx_graph import Graph, Value
from maxmargin.machines.probability import Calibration
from maxmargin.selection.calibration import Isotonic, Temperature


def exponents(
    graph: Graph, values: Value, calibration: Calibration | Isotonic | Temperature
) -> Value:
    """z in P = 1 / (1 + e^z), a column for each binary machine."""
    if isinstance(calibration, Temperature):
        return graph("Div", graph("Neg", values), calibration.T)
    if not isinstance(calibration, Isotonic):
        return graph("Add", graph("Mul", values, calibration.slopes), calibration.shifts)
    places = [graph.numbers(k) for k in range(len(calibration.steps) + 1)]
    columns = [
        interpolated(graph, graph("Slice", values, *ends, graph.numbers(1)), step)
        for step, ends in zip(calibration.steps, pairwise(places), strict=True)
    ]
    p = graph("Concat", *columns, axis=1)
    p = graph("Min", graph("Max", p, calibration.least), 1 - calibration.least)
    return graph("Log", graph("Div", graph("Sub", 1.0, p), p))


def interpolated(graph: Graph, f: Value, step: IsotonicRegression) -> Value:
    """y₀ + Σ_k (y_{k+1} − y_k) t_k, t_k the part of the k-th interval that lies below f."""
    x, y = step.X_thresholds_, step.y_thresholds_
    if len(x) == 1:
        return graph("Add", graph("Mul", f, 0.0), y[0])
    t = graph("Div", graph("Sub", f, x[:-1]), np.diff(x))
    t = graph("Min", graph("Max", t, 0.0), 1.0)
    return graph("Add", graph("MatMul", t, np.diff(y)[:, None]), y[0])


def of_two(graph: Graph, values: Value, z: Value) -> Value:
    """P of both classes."""
    return graph("Concat", graph("Sigmoid", z), graph("Sigmoid", graph("Neg", z)), axis=1)


def agreeing_two(graph: Graph, values: Value, z: Value) -> Value:
    """P of both classes, on the side of ½ where the decision is."""
    second = graph("Sigmoid", graph("Neg", z))
    least = 0.5 + 2 * float(np.finfo(graph.dtype).eps)
    above, below = graph("Max", second, least), graph("Min", second, 1 - least)
    second = graph("Where", graph("Greater", values, 0.0), above, below)
    return graph("Concat", graph("Sub", 1.0, second), second, axis=1)


def of_rest(graph: Graph, z: Value, count: int) -> Value:
    """P of each class over their sum, one-versus-rest: the softmax of −log(1 + e^z)."""
    # log(1 + e^z) = max(z, 0) + log(1 + e^−|z|), which overflows nowhere
    tail = graph("Log", graph("Add", graph("Exp", graph("Neg", graph("Abs", z))), 1.0))
    return graph("Softmax", graph("Neg", graph("Add", graph("Max", z, 0.0), tail)), axis=1)


def coupled(graph: Graph, z: Value, count: int) -> Value:
    """p minimising Σ_{a≠b} (r_ba p_a − r_ab p_b)² = pᵀQp with Σp = 1, r_ab = 1 / (1 + e^z).

    Its condition Qp = −λ1 makes p a multiple of u in (Q + 11ᵀ)u = 1, a positive definite system:
    Gauss and Jordan's elimination needs no pivots.
    """
    r = graph("Min", graph("Max", graph("Sigmoid", graph("Neg", z)), 1e-7), 1 - 1e-7)
    s = graph("Sub", 1.0, r)
    pairs = list(combinations(range(count), 2))
    own, other, both = np.zeros((3, len(pairs), count, count))
    for k, (a, b) in enumerate(pairs):
        own[k, a, a] = other[k, b, b] = 1.0
        both[k, a, b] = both[k, b, a] = -1.0
    terms = ((graph("Mul", s, s), own), (graph("Mul", r, r), other), (graph("Mul", r, s), both))
    flat = [graph("MatMul", term, part.reshape(len(pairs), -1)) for term, part in terms]
    Q = graph("Add", graph("Add", graph("Add", *flat[:2]), flat[2]), 1.0)
    system = graph("Reshape", Q, graph.numbers(-1, count, count))
    last = graph("Slice", system, graph.numbers(0), graph.numbers(1), graph.numbers(2))
    ones = graph("Add", graph("Mul", last, 0.0), 1.0)
    system = graph("Concat", system, ones, axis=2)
    for k in range(count):
        place = graph.numbers(k), graph.numbers(k + 1)
        row = graph("Slice", system, *place, graph.numbers(1))
        line = graph("Slice", system, *place, graph.numbers(2))
        pivot = graph("Slice", row, *place, graph.numbers(2))
        unit = np.eye(count)[:, k : k + 1]
        step = graph("MatMul", graph("Sub", line, unit), graph("Div", row, pivot))
        system = graph("Sub", system, step)
    u = graph("Slice", system, graph.numbers(count), graph.numbers(count + 1), graph.numbers(2))
    u = graph("Squeeze", u, graph.numbers(2))
    total = graph("ReduceSum", u, graph.numbers(1), keepdims=1)
    return normalised(graph, graph("Max", graph("Div", u, total), 0.0))


def normalised(graph: Graph, p: Value) -> Value:
    """Each row divided by its sum."""
    return graph("Div", p, graph("ReduceSum", p, graph.numbers(1), keepdims=1))


def agreeing(graph: Graph, p: Value, scores: Value, count: int) -> Value:
    """The nearest probabilities whose largest is that of the class with the largest score.

    That class c and the entries above it are replaced by their mean, entries joining from the
    largest down. The mean of c and the j largest others rises with j as long as they join, and
    falls after: the level is the largest of these means.
    """
    best = graph("ArgMax", scores, axis=1, keepdims=1)
    chosen = graph.number(graph("Equal", best, np.arange(count, dtype=np.int64)[None]))
    own = graph("ReduceSum", graph("Mul", p, chosen), graph.numbers(1), keepdims=1)
    others = graph("Sub", p, graph("Mul", chosen, 2.0))
    largest = graph("TopK", others, graph.numbers(count - 1), axis=1)
    sums = graph("CumSum", graph("Concat", own, largest, axis=1), np.array(1))
    means = graph("Div", sums, np.arange(1.0, count + 1))
    level = graph("ReduceMax", means, graph.numbers(1), keepdims=1)
    raised = graph("Mul", chosen, graph("Add", level, 4 * float(np.finfo(graph.dtype).eps)))
    kept = graph("Mul", graph("Sub", 1.0, chosen), graph("Min", p, level))
    return normalised(graph, graph("Add", raised, kept))
