"""The ideas of maxmargin's solver, each switched off in turn, to see what it gains."""

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.peers import Maxmargin, Peer


@dataclass(frozen=True)
class Variant(Maxmargin):
    """maxmargin with other constructor arguments, or with other values of names in its modules."""

    values: dict[str, Any] = field(default_factory=dict)

    def fit(self, case, X, y):
        with ExitStack() as stack:
            for name, value in self.values.items():
                stack.enter_context(patch(name, value))
            return super().fit(case, X, y)


def variants() -> list[Peer]:
    from maxmargin.solvers import BlockSMO

    def variant(name: str, **options: Any) -> Variant:
        return Variant(name, "float32", options)

    def changed(name: str, place: str, value: Any) -> Variant:
        return Variant(name, "float32", values={f"maxmargin.{place}": value})

    return [
        variant("as it is"),
        variant("one thread", n_jobs=1),
        variant("working sets of 256", solver=BlockSMO(smallest=256, largest=256)),
        variant("pairs of all rows, no blocks", solver="second-order"),
        changed("entries in float64", "gram.Gram.precision", np.float64),
        changed("blocks in float32", "gram.Gram.entries_round", False),
        changed("proof in float64", "solvers.state.NEGLIGIBLE", 0.0),
        changed("no rows kept", "gram.WIDE", np.inf),
        changed("memory given back", "resources.MOST_KEPT", 0),
    ]
