"""Probabilities of a machine on partitions: calibrated on rows that copies of it have not seen.

Each partition deals its rows to the folds at random, so that a copy is fitted where the rows are.
What comes back are decision values of held-out rows, as many as A and B need.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone

from maxmargin.machines.probability import FOLDS, Calibration, platt
from maxmargin.machines.validation import known_labels
from maxmargin.problem import Status
from maxmargin.resources.arrays import Floats, Labels, Mask
from maxmargin.scale.kinds import without_names
from maxmargin.scale.mapped import MappedPartitions
from maxmargin.scale.partitions import Block, Partitions

Machine: TypeAlias = Any  # a `KernelClassifier`, which imports this file
MOST = 200_000  # held-out rows whose decisions come back: two numbers are fitted to them


class HeldOut(NamedTuple):
    """Decision values of held-out rows of one partition, with their labels and weights."""

    decisions: Floats
    labels: Labels
    weights: Floats


def calibrated(machine: Machine, data: Partitions) -> Calibration:
    """A and B of each binary machine, from five copies of the machine on partitions."""
    began = perf_counter()
    seed = machine.random_state if isinstance(machine.random_state, int) else 0
    copy = clone(machine).set_params(probability=False, verbose=0, checkpoint=None)
    share = min(1.0, MOST / machine.shape_fit_[0])
    found = list[HeldOut]()
    for fold in range(FOLDS):
        if machine.certificate_.status is Status.INTERRUPTED:
            break
        if machine.max_time is not None:
            left = machine.max_time - machine.certificate_.seconds - (perf_counter() - began)
            if left <= 0:
                break
            copy.set_params(max_time=left / (FOLDS - fold))
        shown = MappedPartitions(data, partial(_shown, seed, fold))
        shown.latency = 0.0  # where one process is faster, the machine has said so
        copy.fit(shown)
        if not np.array_equal(copy.classes_, machine.classes_):
            raise ValueError(
                "probability=True holds a fifth of the rows out at a time, and without them a "
                "class has no row: every class needs about ten rows or more"
            )
        asked = without_names(copy), seed, fold, share
        found += data.map(_decided, asked, [None] * data.count)
    if not found:
        return Calibration.none()
    decisions, given, weights = (np.concatenate(each) for each in zip(*found, strict=True))
    labels = known_labels(machine.classes_, given)
    splits = machine._scheme().splits(labels)
    fits = [
        platt(decisions[split.rows, k], split.signs > 0, weights[split.rows])
        for k, split in enumerate(splits)
    ]
    slopes, shifts = np.array(fits).T
    return Calibration(slopes, shifts)


def _is_held(block: Block, seed: int, fold: int) -> Mask:
    """Which rows of a partition are held out."""
    held: Mask = np.random.default_rng(seed).permutation(block.X.shape[0]) % FOLDS == fold
    return held


def _some(block: Block, some: Mask) -> Block:
    y, weights = (None if each is None else each[some] for each in (block.y, block.weights))
    return block._replace(X=block.X[some], y=y, weights=weights)


def _shown(seed: int, fold: int, block: Block) -> Block:
    return _some(block, ~_is_held(block, seed, fold))


def _decided(block: Block, asked: tuple[Machine, int, int, float], own: None) -> HeldOut:
    """Decision values of the held-out rows of a partition, or of a share of them."""
    machine, seed, fold, share = asked
    held = _is_held(block, seed, fold)
    held &= np.random.default_rng([seed, fold]).random(len(held)) < share
    held &= block.weights_or_ones > 0  # a row without weight is absent
    part = _some(block, held)
    decisions = np.zeros((0, len(machine.intercept_)))
    if len(part.weights_or_ones):
        decisions = machine._decisions(part.X, of=np.array)
    return HeldOut(decisions, np.asarray(part.y), part.weights_or_ones)
