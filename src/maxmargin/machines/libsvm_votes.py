"""LIBSVM's answers from the decision values of all pairs of classes.

LIBSVM keeps the classes in an order of its own: that in which the training file first names them.
Three of its answers depend on this order, so a machine of a LIBSVM file keeps it:

- a decision value of 0 is a vote for the later class of a pair;
- of the classes with the most votes, the first wins;
- probabilities are those after the last sweep of an iteration whose tolerance is 0.005 / classes,
  and of equal probabilities the first wins. They are not moved to agree with the votes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import expit

from maxmargin.core import native
from maxmargin.machines.multiclass import OneVersusOne
from maxmargin.resources.arrays import Floats, Numbers

CLIP = 1e-7  # LIBSVM's smallest probability of a pair
SWEEPS = 100  # LIBSVM's most sweeps, or one for each class if these are more
TOLERANCE = 0.005  # LIBSVM's, divided by the number of classes


@dataclass(frozen=True)
class LibsvmVotes(OneVersusOne):
    """One-versus-one with the answers of LIBSVM.

    Attributes
    ----------
    order : the place in `classes` of each class of the file, in the file's order
    """

    order: Numbers

    def confidence(self, decisions: Floats) -> Floats:
        """A score per class whose argmax is LIBSVM's vote; the other scores are ours."""
        votes = np.zeros((len(self.order), len(decisions)))
        values = np.ascontiguousarray(self._in_order(decisions).T)
        sums: Floats = np.zeros_like(votes)
        native.count_votes(values, votes, sums)
        winner = votes.argmax(axis=0)
        rows = np.arange(len(decisions))
        scores = votes + sums / (3 * (np.abs(sums) + 1))
        scores[winner, rows] = votes[winner, rows] + 0.5  # more than any of as many votes
        return self._sorted(scores.T)

    def probabilities(self, z: Floats) -> Floats:
        """(rows, classes), from P(positive) = 1 / (1 + exp(z)) of every pair."""
        r = np.clip(expit(-self._in_order(z)), CLIP, 1 - CLIP)
        return self._sorted(coupled(r, len(self.order)))

    def likeliest(self, p: Floats) -> Numbers:
        """The class of the largest probability; of equal ones, the first of the file."""
        best: Numbers = self.order[p[:, self.order].argmax(axis=1)]
        return best

    def _in_order(self, values: Floats) -> Floats:
        """Values of the file's pairs: one that is positive for our other class is negated."""
        ours = {pair: k for k, pair in enumerate(self.pairs)}
        columns = []
        for a, b in combinations(self.order.tolist(), 2):
            columns.append(values[:, ours[a, b]] if (a, b) in ours else -values[:, ours[b, a]])
        return np.column_stack(columns)

    def _sorted(self, scores: Floats) -> Floats:
        """Columns of the file's classes, in the order of ours."""
        return scores[:, self.order.argsort()]


def coupled(r: Floats, count: int) -> Floats:
    """p with r_ab ≈ p_a / (p_a + p_b), by the sweeps that LIBSVM takes (Wu, Lin and Weng 2004).

    It minimises ½ pᵀQp over Σp = 1, a coordinate after the other. A row ends when
    |(Qp)_a − pᵀQp| < 0.005 / classes for every a. Two classes need no sweep.
    """
    if count == 2:
        return np.column_stack([r, 1 - r])
    Q = np.zeros((len(r), count, count))
    for k, (a, b) in enumerate(combinations(range(count), 2)):
        ab, ba = r[:, k], 1 - r[:, k]
        Q[:, a, a] += ba**2
        Q[:, b, b] += ab**2
        Q[:, a, b] = Q[:, b, a] = -ab * ba
    p, left = np.full((len(r), count), 1 / count), np.arange(len(r))
    for _ in range(max(SWEEPS, count)):
        q, part = Q[left], p[left]
        Qp = np.einsum("nab,nb->na", q, part)
        pQp = (part * Qp).sum(axis=1)
        far = np.abs(Qp - pQp[:, None]).max(axis=1) >= TOLERANCE / count
        left, q, part, Qp, pQp = left[far], q[far], part[far], Qp[far], pQp[far]
        if not len(left):
            break
        for a in range(count):
            step = (pQp - Qp[:, a]) / q[:, a, a]
            part[:, a] += step
            whole = 1 + step
            pQp = (pQp + step * (step * q[:, a, a] + 2 * Qp[:, a])) / whole**2
            Qp = (Qp + step[:, None] * q[:, a]) / whole[:, None]
            part /= whole[:, None]
        p[left] = part
    return p
