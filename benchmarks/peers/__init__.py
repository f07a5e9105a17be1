"""The libraries compared, one adapter each.

An adapter is a `Peer`: `prepare` turns rows into what the library likes best, outside the clock;
`fit` and `predict` are timed; `answer` reads the coefficients for the judge.
"""

from benchmarks.peers.intelex import Intelex
from benchmarks.peers.liblinear import Liblinear
from benchmarks.peers.libsvm import Libsvm
from benchmarks.peers.maxmargin import Maxmargin
from benchmarks.peers.peer import Peer
from benchmarks.peers.scikit_learn import ScikitLearn
from benchmarks.peers.snapml import SnapML
from benchmarks.peers.thundersvm import ThunderSVM

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
