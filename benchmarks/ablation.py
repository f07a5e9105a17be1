"""The ideas of maxmargin's solver, each switched off in turn, to see what it gains.

An idea is a name and constructor arguments of SVC; the table of the report needs nothing else.
"""

from typing import Any

from benchmarks.peers import Maxmargin, Peer


def ideas() -> list[tuple[str, dict[str, Any]]]:
    from maxmargin.solvers import BlockSMO

    return [
        ("as it is", {}),
        ("one thread", {"n_jobs": 1}),
        ("working sets of 256", {"solver": BlockSMO(smallest=256, largest=256)}),
        ("pairs of all rows, no blocks", {"solver": "second-order"}),
    ]


def variants(dtype: str = "float32") -> list[Peer]:
    return [Maxmargin(name, dtype, options) for name, options in ideas()]
