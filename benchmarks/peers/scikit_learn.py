"""scikit-learn: LIBSVM 3 with dense rows and a single core, and LIBLINEAR; both in float64."""

from benchmarks.peers.peer import Peer


class ScikitLearn(Peer):
    """`sklearn.svm`."""

    module = "sklearn.svm"
    distribution = "scikit-learn"
