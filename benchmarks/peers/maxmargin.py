"""maxmargin itself."""

from benchmarks.peers.peer import Peer


class Maxmargin(Peer):
    """As a user has it: no cache size, no other setting than its defaults."""

    module = distribution = "maxmargin"

    def parameters(self, case, n):
        return {k: v for k, v in super().parameters(case, n).items() if k != "cache_size"}
