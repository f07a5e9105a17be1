"""scikit-learn-intelex: oneDAL's block SMO in float32 or float64, on all cores."""

from benchmarks.peers.peer import Peer


class Intelex(Peer):
    """`sklearnex.svm`; it has no OneClassSVM and no LinearSVC."""

    module = "sklearnex.svm"
    distribution = "scikit-learn-intelex"
