"""The judge is asked after every fit of a certified machine."""

from contextlib import contextmanager
from functools import wraps
from inspect import signature
from threading import local

import numpy as np
from scipy.sparse import issparse, vstack

import maxmargin
from judge import judge, known
from maxmargin.machines.classifier import KernelClassifier
from maxmargin.machines.svr import DualRegressor
from maxmargin.scale.kinds import as_partitions

__name__ = "maxmargin.judging"  # a warning names the first line outside of the package: not ours

# Where the certified machines define `fit`.
DEFINED = (
    KernelClassifier,
    DualRegressor,
    maxmargin.OneClassSVM,
    maxmargin.LinearSVC,
    maxmargin.LinearSVR,
)


@contextmanager
def judging_every_fit():
    """Inside, a fit whose certificate is false raises `FalseCertificate`."""
    before, under_way = {machine: machine.fit for machine in DEFINED}, local()
    for machine, fit in before.items():
        machine.fit = judging(fit, under_way)
    try:
        yield
    finally:
        for machine, fit in before.items():
            machine.fit = fit


def has_beta(machine):
    """A machine on features of partitions has w: its β stay with the rows."""
    return hasattr(machine, "dual_coef_") or not hasattr(machine, "feature_coef_")


def in_one_piece(X, y, weights):
    """The rows of partitions together: the judge does not care where they were."""
    data = as_partitions(X, y, weights)
    if data is None:
        return X, y, weights
    blocks = [block for block in map(data.block, range(data.count)) if block.X.shape[0]]
    X, y, weights, _ = zip(*blocks, strict=True)
    X = vstack(X, format="csr") if issparse(X[0]) else np.vstack(X)
    return X, *(None if each[0] is None else np.concatenate(each) for each in (y, weights))


def judging(fit, under_way):
    """`fit`, and then the judge; a fit that calls its parent's is judged once.

    So is one that Ctrl-C ended, if it left a model.
    """

    @wraps(fit)
    def judged_fit(self, *args, **kwargs):
        machines = vars(under_way).setdefault("machines", set())
        if id(self) in machines:
            return fit(self, *args, **kwargs)
        machines.add(id(self))
        before = getattr(self, "certificate_", None)
        try:
            return fit(self, *args, **kwargs)
        except ConnectionError:  # the rows are gone with their cluster: nothing to judge by
            before = getattr(self, "certificate_", None)
            raise
        finally:
            machines.discard(id(self))
            # A machine of a user's own has a problem that is not among the formulas.
            if known(self) and getattr(self, "certificate_", None) is not before and has_beta(self):
                given = signature(fit).bind(self, *args, **kwargs).arguments
                judge(self, *in_one_piece(given["X"], given.get("y"), given.get("sample_weight")))

    return judged_fit
