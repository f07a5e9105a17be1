"""What `maxmargin train` says at its end: one table, or one JSON object."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from maxmargin.cli.report import (
    Fact,
    print_facts,
    print_json,
    proof_facts,
    proof_words,
    seconds_words,
    size_words,
)
from maxmargin.cli.scores import headline, scores
from maxmargin.io.columns import machine_of
from maxmargin.io.rows import Rows


@dataclass(frozen=True)
class Outcome:
    """What there is to say at the end of a training."""

    model: BaseEstimator
    shown: Rows
    hidden: Rows | None
    reading: float
    place: Path

    def tell(self, as_json: bool, *, saved: bool) -> None:
        """One table, or one JSON object."""
        machine = machine_of(self.model)
        proof = machine.certificate_
        measured = self.hidden or self.shown
        where = "test" if self.hidden is not None else "training"
        found = scores(self.model, measured)
        size = self.place.stat().st_size if saved else 0
        if as_json:
            facts: dict[str, Fact] = {
                "machine": type(machine).__name__,
                "parameters": parameters(machine),
                "rows": self.shown.shape[0],
                "features": self.shown.shape[1],
                "target": self.shown.target,
                where: found,
                "certificate": proof_facts(proof),
                "support_vectors": support_count(machine),
                "seconds": {"reading": self.reading, "fit": proof.seconds},
                "model": str(self.place) if saved else None,
                "bytes": size,
            }
            print_json(facts)
            return
        lines = {f"{name}, {where}": value for name, value in headline(found).items()}
        lines["certificate"] = proof_words(proof)
        if (count := support_count(machine)) is not None:
            lines["support vectors"] = f"{count:,} of {self.shown.shape[0]:,} rows"
        lines["time"] = f"fit {seconds_words(proof.seconds)}, reading {seconds_words(self.reading)}"
        lines["model"] = f"{self.place}, {size_words(size)}" if saved else "not saved"
        print_facts(str(machine), lines)


def support_count(machine: BaseEstimator) -> int | None:
    """How many support vectors, of a machine that has some."""
    return len(machine.support_) if hasattr(machine, "support_vectors_") else None


def parameters(machine: BaseEstimator) -> dict[str, Any]:
    """The parameters of a machine that JSON can have."""
    plain = (str, int, float, bool, type(None))
    return {k: v for k, v in machine.get_params(deep=False).items() if isinstance(v, plain)}
