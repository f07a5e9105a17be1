"""Data: three simulations, and the real sets of the experiments.

The simulations are the review's: a mixture of Gaussians, two moons, two circles. The real sets
are read from a folder, the one that the environment variable MAXMARGIN_DATA names, and only if
their checksums are right: a number is reproduced on the data it was computed on, or not at all.

>>> X, y = mixture(100, seed=0)
>>> X.shape, sorted(set(y.tolist()))
((100, 2), [0, 1])
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any, TypeAlias
from zipfile import ZipFile

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import make_circles, make_moons

from maxmargin.resources.arrays import Data, Floats, Numbers
from maxmargin.results import Result

__all__ = [
    "REAL",
    "SIMULATIONS",
    "DataSet",
    "Reviews",
    "circles",
    "load",
    "load_reviews",
    "mixture",
    "moons",
]

Labelled: TypeAlias = tuple[Floats, Numbers]


def mixture(n: int = 400, *, seed: int = 0) -> Labelled:
    """Two classes, each a mixture of three round Gaussians of width 0.55.

    Parameters
    ----------
    n : int, default=400
        Number of points.
    seed : int, default=0

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of int of shape (n,), 0 or 1

    Examples
    --------
    >>> X, y = mixture(100, seed=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 2), [0, 1])
    """
    centres = np.array(
        [[[-1.6, 1.0], [0.3, 1.6], [1.9, 0.4]], [[-1.4, -0.8], [0.1, 0.0], [1.4, -1.3]]]
    )
    random = np.random.default_rng(seed)
    y, part = random.integers(2, size=n), random.integers(3, size=n)
    return centres[y, part] + random.normal(0, 0.55, (n, 2)), y


def moons(n: int = 400, *, seed: int = 0) -> Labelled:
    """Two half circles that reach into each other, with noise 0.25.

    Parameters and results are as of `mixture`.

    Examples
    --------
    >>> X, y = moons(100, seed=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 2), [0, 1])
    """
    points: Labelled = make_moons(n, noise=0.25, random_state=seed)
    return points


def circles(n: int = 400, *, seed: int = 0) -> Labelled:
    """A circle inside another of twice its radius, with noise 0.15.

    Parameters and results are as of `mixture`; inside, y is 1.

    Examples
    --------
    >>> X, y = circles(100, seed=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 2), [0, 1])
    """
    points: Labelled = make_circles(n, noise=0.15, factor=0.5, random_state=seed)
    return points


SIMULATIONS: dict[str, Callable[..., Labelled]] = {
    "mixture": mixture,
    "moons": moons,
    "circles": circles,
}


REVIEWS = "womens-clothing-reviews"

SHA256 = {
    "a9a.npz": "aa79597305bf26326780817a71cd10e3f7b93fe55373314b28ba43eef6f4591c",
    "a9a.t.npz": "213a6c346566f33f089a0d2c4b3180cbe04e78aa98b044aa7593b9afd3427591",
    "abalone.npz": "5bdb76268aa6a2aed94e1c582996b2b3442ea10717df3fffc2614ab7f81a6401",
    "california_housing.npz": "ca839e40d9b00639b7445ee2f0eb84aa84ba203231c480ebf74f5a3814efe290",
    "cover_adbench.npz": "0fadfab3bb3a8d01b95840fb21399451c90770e1a3d12a36313667ed1bae991a",
    "covtype_93k.npz": "9348890a2959a9070b84473d1ba2cfaef42f196a8fbe0cca5a31a4fd76179e5c",
    "letter.npz": "eda454d0595106b63d7869eabd356033d0528abb74a6302cd624f833d9c47e2d",
    "mnist.npz": "22df8e7e0361171bec75d7791d0503c02bcf7f497001f0ce507a59bdbd44bfdd",
    "pendigits.npz": "157bee84f24cbfb83ba070f6c61aef2cf75b212366c29f13ef8b90972b916e13",
    "reuters.npz": "3cf9b82b601cf3814d488b902eb2e07bf0356459d4936d4e880106acf2e105a8",
    "reuters.t.npz": "69f0d6abbe102ca7d9964c6008c6ce6cc26b78e7cac45d22c48f82944c5ad3a7",
    f"{REVIEWS}.csv.zip": "8dc01bbdf3e620dfc6dd416136bda0e2003636d308ee72ade879079038cd04d2",
}

_LIBSVM = "the LIBSVM data page, https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
_UCI = "the UCI repository, https://archive.ics.uci.edu"


@dataclass(frozen=True)
class RealSet:
    """The files of a real set, and where it comes from."""

    files: tuple[str, ...]
    origin: str


#: The real sets. `load` reads all but the reviews, which are text.
REAL: dict[str, RealSet] = {
    "a9a": RealSet(("a9a.npz", "a9a.t.npz"), f"a9a and a9a.t of {_LIBSVM}"),
    "abalone": RealSet(("abalone.npz",), f"Abalone of {_UCI}"),
    "california_housing": RealSet(
        ("california_housing.npz",), "sklearn.datasets.fetch_california_housing"
    ),
    "cover_adbench": RealSet(
        ("cover_adbench.npz",), "cover of ADBench, https://github.com/Minqi824/ADBench"
    ),
    "covtype_93k": RealSet(("covtype_93k.npz",), f"a 16 % sample of Covertype of {_UCI}"),
    "letter": RealSet(("letter.npz",), f"letter.scale of {_LIBSVM}"),
    "mnist": RealSet(("mnist.npz",), "mnist_784 of OpenML, https://www.openml.org/d/554"),
    "pendigits": RealSet(("pendigits.npz",), f"pendigits of {_LIBSVM}"),
    "reuters": RealSet(
        ("reuters.npz", "reuters.t.npz"), "Reuters-21578, one topic against the rest"
    ),
    REVIEWS: RealSet(
        (f"{REVIEWS}.csv.zip",),
        "Women's E-Commerce Clothing Reviews, "
        "https://www.kaggle.com/datasets/nicapotato/womens-ecommerce-clothing-reviews",
    ),
}


@dataclass(frozen=True, repr=False)
class DataSet(Result):
    """Rows and targets; a test part where the set comes with one."""

    X: Data
    y: Floats
    X_test: Any = None
    y_test: Floats | None = None


@dataclass(frozen=True, repr=False)
class Reviews(Result):
    """Customers' reviews of clothes, and whether they recommend them.

    Attributes
    ----------
    title, text : ndarray of str, empty where there is none
    recommended : ndarray of int, 1 or 0: the label
    rating : ndarray of int, 1 to 5: the label's twin, not to be learnt from
    """

    title: Floats
    text: Floats
    recommended: Floats
    rating: Floats


def load(name: str, folder: str | Path | None = None) -> DataSet:
    """Read a real set.

    Parameters
    ----------
    name : str
        A name in `REAL`.
    folder : path, default=None
        Where its files are; the folder in MAXMARGIN_DATA by default.

    Returns
    -------
    DataSet
        As it was published: not scaled. Sparse sets are CSR.

    Raises
    ------
    FileNotFoundError
        If a file is missing; it says where to obtain the set.
    ValueError
        If there is no set of that name, or a file is not the one these experiments were made on.
    """
    if name == REVIEWS:
        raise ValueError("the reviews are text: read them with load_reviews")
    parts = [_read(path) for path in _verified(name, folder)]
    first = parts[0]
    if "Xt" in first:
        return DataSet(first["X"], first["y"], first["Xt"], first["yt"])
    if "X" in first:
        return DataSet(first["X"], first["y"])
    columns = max(part["shape"][1] for part in parts)
    train, test = (
        sp.csr_array(
            (part["data"], part["indices"], part["indptr"]), shape=(part["shape"][0], columns)
        )
        for part in parts
    )
    return DataSet(train, first["y"], test, parts[1]["y"])


def load_reviews(folder: str | Path | None = None) -> Reviews:
    """Read the Women's Clothing reviews.

    Parameters
    ----------
    folder : path, default=None
        Where the file is; the folder in MAXMARGIN_DATA by default.

    Returns
    -------
    Reviews

    Raises
    ------
    FileNotFoundError, ValueError
        As `load`.
    """
    (path,) = _verified(REVIEWS, folder)
    with ZipFile(path) as archive, archive.open(archive.namelist()[0]) as raw:
        rows = list(csv.DictReader(io.TextIOWrapper(raw, encoding="utf-8", newline="")))
    return Reviews(
        title=np.array([row["Title"] for row in rows]),
        text=np.array([row["Review Text"] for row in rows]),
        recommended=np.array([int(row["Recommended IND"]) for row in rows]),
        rating=np.array([int(row["Rating"]) for row in rows]),
    )


def _read(path: Path) -> dict[str, Floats]:
    with np.load(path, allow_pickle=False) as archive:
        return dict(archive)


def _verified(name: str, folder: str | Path | None) -> list[Path]:
    """The files of a set, present and with the right checksums."""
    if name not in REAL:
        raise ValueError(f"there is no set {name!r}; there are {', '.join(REAL)}")
    source = REAL[name]
    place = folder if folder is not None else os.environ.get("MAXMARGIN_DATA")
    paths = [Path(place or "") / file for file in source.files]
    for path in paths:
        if place is None or not path.is_file():
            where = "MAXMARGIN_DATA is not set" if place is None else f"{path} is not there"
            raise FileNotFoundError(
                f"the set {name} needs {path.name}, and {where}. It comes from {source.origin}. "
                "Put the file into a folder and set MAXMARGIN_DATA to it, or give the folder."
            )
        with path.open("rb") as file:
            found = file_digest(file, "sha256").hexdigest()
        if found != SHA256[path.name]:
            raise ValueError(
                f"{path} is not the file these experiments were made on: its SHA-256 is {found}, "
                f"not {SHA256[path.name]}. Obtain it again; it comes from {source.origin}."
            )
    return paths
