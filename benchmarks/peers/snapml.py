"""Snap ML: parallel dual coordinate descent for the hinge loss, in float32."""

import os

from benchmarks.peers.peer import Peer


class SnapML(Peer):
    """`snapml.SupportVectorMachine`; its kernel machine is an approximation, so only linear."""

    module = distribution = "snapml"

    def supports(self, case):
        return case.machine == "LinearSVC" and case.loss == "hinge"

    def fit(self, case, X, y):
        from snapml import SupportVectorMachine

        return SupportVectorMachine(
            regularizer=1 / case.C, tol=case.tol, max_iter=100_000, n_jobs=os.cpu_count()
        ).fit(X, y)
