"""The libraries compared, one adapter each.

An adapter is a `Peer`: `prepare` turns rows into what the library likes best, outside the clock;
`fit` and `predict` are timed; `answer` reads the coefficients for the judge.
"""

from .intelex import Intelex
from .liblinear import Liblinear
from .libsvm import Libsvm
from .maxmargin import Maxmargin
from .peer import Peer
from .scikit_learn import ScikitLearn
from .snapml import SnapML
from .thundersvm import ThunderSVM

__all__ = ["PEERS", "Maxmargin", "Peer"]

PEERS: list[Peer] = [
    Maxmargin("maxmargin-32", "float32"),
    Maxmargin("maxmargin-64"),
    Intelex("intelex-32", "float32"),
    Intelex("intelex-64"),
    ScikitLearn("scikit-learn"),
    Libsvm("libsvm"),
    ThunderSVM("thundersvm", "float32"),
    Liblinear("liblinear"),
    SnapML("snapml", "float32"),
]
