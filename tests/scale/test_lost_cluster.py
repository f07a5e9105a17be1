"""A cluster that is lost, after whatever number of maps: an error, and the best model so far."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import SVC, SVR, OneClassSVM
from maxmargin.datasets import moons
from maxmargin.scale import ArrayPartitions, ClusterLost
from maxmargin.solvers import BlockSMO, Chunking

X, Y = moons(200, seed=4)
T = np.sin(2 * X[:, 0])
FEW = Chunking(inner=BlockSMO(), violators=30)


class Losing(ArrayPartitions):
    """Rows that are gone after some maps."""

    def __init__(self, y, left):
        super().__init__(X, y, rows=80)
        self.left = left

    def step(self, *arguments):
        if self.left <= 0:
            raise ClusterLost("the scheduler is gone")
        self.left -= 1
        return super().step(*arguments)


@pytest.mark.parametrize(
    ("machine", "y", "before"),
    [  # maps before there is a model: survey, opening and a first round; or a sample and two more
        (SVC(solver=FEW), Y, 3),
        (SVR(solver=FEW), T, 3),
        (OneClassSVM(nu=0.3, solver=FEW), None, 3),
        (SVC(approximation="nystroem", n_components=20, random_state=0), Y, 4),
        (SVR(approximation="rff", n_components=20), T, 4),
    ],
    ids=repr,
)
def test_the_model_so_far_is_there_however_late_the_cluster_is_lost(machine, y, before):
    whole, data = clone(machine), Losing(y, 1_000)
    best = whole.fit(data).certificate_
    maps = 1_000 - data.left
    assert maps > before + 2
    for number in range(maps):
        model = clone(machine)
        with (
            warnings.catch_warnings(record=True, action="always") as warned,
            pytest.raises(ClusterLost, match="is gone"),
        ):
            model.fit(Losing(y, number))
        assert hasattr(model, "certificate_") == (number >= before)
        if number < before:
            continue
        (said,) = (str(each.message) for each in warned)
        assert "the scheduler is gone" in said
        assert "warm_start" not in said  # which partitions do not take
        assert model.certificate_.status.value == "interrupted"
        assert model.predict(X).shape == (len(X),)
        # The values are those of that model: none of its kind has a smaller primal value.
        assert model.certificate_.primal >= best.dual - 1e-4 * abs(best.dual)
