"""Data: seeded simulations, and real sets that are what they claim to be."""

import csv
import hashlib
from zipfile import ZipFile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from maxmargin import datasets
from maxmargin.datasets import REAL, SIMULATIONS, RealSet, load, load_reviews

pytestmark = pytest.mark.small


@pytest.mark.parametrize("name", SIMULATIONS)
def test_simulations_are_what_their_seed_says(name):
    make = SIMULATIONS[name]
    X, y = make(50, seed=1)
    assert X.shape == (50, 2)
    assert set(y) == {0, 1}
    again, labels = make(50, seed=1)
    assert_array_equal(X, again)
    assert_array_equal(y, labels)
    assert not np.array_equal(X, make(50, seed=2)[0])


def test_a_missing_set_says_where_to_obtain_it(tmp_path, monkeypatch):
    monkeypatch.delenv("MAXMARGIN_DATA", raising=False)
    with pytest.raises(
        FileNotFoundError, match=r"MAXMARGIN_DATA is not set. It comes from .*kaggle"
    ):
        load_reviews()
    monkeypatch.setenv("MAXMARGIN_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"letter.npz is not there. It comes from .*libsvm"):
        load("letter")
    with pytest.raises(ValueError, match="no set 'lettre'; there are a9a, abalone"):
        load("lettre")
    with pytest.raises(ValueError, match="load_reviews"):
        load("womens-clothing-reviews")


@pytest.mark.parametrize("name", REAL)
def test_every_file_has_a_checksum(name):
    for file in REAL[name].files:
        assert len(datasets.SHA256[file]) == 64


def test_a_changed_file_is_refused(tmp_path):
    (tmp_path / "abalone.npz").write_bytes(b"something else")
    found = hashlib.sha256(b"something else").hexdigest()
    with pytest.raises(ValueError, match=f"its SHA-256 is {found}, not .*. Obtain it again"):
        load("abalone", tmp_path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of small sets that pass for real ones."""

    def admit(name, files):
        monkeypatch.setitem(REAL, name, RealSet(tuple(files), "nowhere"))
        for file in files:
            digest = hashlib.sha256((tmp_path / file).read_bytes()).hexdigest()
            monkeypatch.setitem(datasets.SHA256, file, digest)
        return tmp_path

    return tmp_path, admit


def test_dense_sets_with_and_without_a_test_part(folder):
    place, admit = folder
    X, y = np.eye(3), np.arange(3)
    np.savez(place / "one.npz", X=X, y=y)
    np.savez(place / "two.npz", X=X, y=y, Xt=2 * X, yt=y)
    admit("one", ["one.npz"])
    admit("two", ["two.npz"])
    one, two = load("one", place), load("two", place)
    assert_array_equal(one.X, X)
    assert one.X_test is None
    assert_array_equal(two.X_test, 2 * X)


def test_sparse_sets_have_the_columns_of_both_parts(folder):
    place, admit = folder
    for name, columns in (("s.npz", 3), ("s.t.npz", 5)):
        shape = np.array([2, columns])
        parts = {"data": [1.0, 2.0], "indices": [0, columns - 1], "indptr": [0, 1, 2]}
        np.savez(place / name, shape=shape, y=[1, -1], **parts)
    admit("s", ["s.npz", "s.t.npz"])
    read = load("s", place)
    assert read.X.shape == read.X_test.shape == (2, 5)
    assert read.X_test[1, 4] == 2


def test_reviews_are_read_with_their_gaps(folder, monkeypatch):
    place, admit = folder
    rows = [
        {"Title": "Good", "Review Text": "So, so\ngood", "Recommended IND": 1, "Rating": 5},
        {"Title": "", "Review Text": "", "Recommended IND": 0, "Rating": 2},
    ]
    name = "womens-clothing-reviews.csv.zip"
    with (place / "reviews.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    with ZipFile(place / name, "w") as archive:
        archive.write(place / "reviews.csv")
    admit("womens-clothing-reviews", [name])
    monkeypatch.setenv("MAXMARGIN_DATA", str(place))
    reviews = load_reviews()
    assert reviews.title.tolist() == ["Good", ""]
    assert reviews.text[0] == "So, so\ngood"
    assert reviews.recommended.tolist() == [1, 0]
    assert reviews.rating.tolist() == [5, 2]
