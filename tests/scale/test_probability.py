"""`probability=True` on partitions: calibrated on rows that were held out where they are."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import brier_score_loss

from maxmargin import SVC
from maxmargin.scale import ArrayPartitions

X, Y = make_moons(1500, noise=0.4, random_state=1)
NEW, TRUTH = make_moons(1500, noise=0.4, random_state=2)


@pytest.mark.parametrize("options", [{}, {"approximation": "rff", "n_components": 50}])
def test_they_are_as_good_as_those_of_all_rows(options):
    whole = SVC(probability=True, random_state=0, **options).fit(X, Y)
    parts = SVC(probability=True, random_state=0, **options).fit(ArrayPartitions(X, Y, rows=400))
    ours, theirs = (
        brier_score_loss(TRUTH, each.predict_proba(NEW)[:, 1]) for each in (parts, whole)
    )
    assert ours == pytest.approx(theirs, abs=0.005)
    np.testing.assert_allclose(parts.probA_, whole.probA_, rtol=0.2)


def test_several_classes_and_partitions_in_the_order_of_the_classes():
    rows, species = load_iris(return_X_y=True)
    clf = SVC(probability=True).fit(ArrayPartitions(rows, species, rows=50))
    found = clf.predict_proba(ArrayPartitions(rows, rows=40))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.mean(found.argmax(axis=1) == species) > 0.9


def test_a_class_of_few_rows_is_refused_by_words():
    few = np.r_[0:40, 100:101]
    rows, species = (each[few] for each in load_iris(return_X_y=True))
    with pytest.raises(ValueError, match="class"):
        SVC(probability=True).fit(ArrayPartitions(rows, species, rows=20))
