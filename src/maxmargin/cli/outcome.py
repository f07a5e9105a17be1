"""What `maxmargin train` says at its end: one table, or one JSON object."""

from __future__ import annotations

from collections.abc import Callable
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
from maxmargin.cli.scores import headline
from maxmargin.io.columns import machine_of


@dataclass(frozen=True)
class Trained:
    """What was trained, and on what.

    Attributes
    ----------
    model : fitted, with its preprocessing
    shape : rows and features that it was trained on
    target : name of the target
    reading : seconds that it took to read the rows
    where : "test" or "training", the rows that `scores` are of
    scores : computes how good the model is
    notes : what the model file is to say of the training
    """

    model: BaseEstimator
    shape: tuple[int, int]
    target: str
    reading: float
    where: str
    scores: Callable[[], dict[str, Fact]]
    notes: dict[str, Any]


def tell_outcome(trained: Trained, place: Path, *, tested: bool, as_json: bool) -> None:
    """Say what was trained, how good it is if it is to be tested, and where the model's file is."""
    machine = machine_of(trained.model)
    proof = machine.certificate_
    found = trained.scores() if tested else {}
    size = place.stat().st_size
    if as_json:
        facts: dict[str, Fact] = {
            "machine": type(machine).__name__,
            "parameters": parameters(machine),
            "rows": trained.shape[0],
            "features": trained.shape[1],
            "target": trained.target,
            trained.where: found,
            "certificate": proof_facts(proof),
            "support_vectors": support_count(machine),
            "seconds": {"reading": trained.reading, "fit": proof.seconds},
            "model": str(place),
            "bytes": size,
        }
        print_json(facts)
        return
    lines = {f"{name}, {trained.where}": value for name, value in headline(found).items()}
    lines["certificate"] = proof_words(proof)
    if (count := support_count(machine)) is not None:
        lines["support vectors"] = f"{count:,} of {trained.shape[0]:,} rows"
    fit, reading = seconds_words(proof.seconds), seconds_words(trained.reading)
    lines["time"] = f"fit {fit}, reading {reading}"
    lines["model"] = f"{place}, {size_words(size)}"
    print_facts(str(machine), lines)


def support_count(machine: BaseEstimator) -> int | None:
    """How many support vectors, of a machine that has some."""
    return len(machine.support_) if hasattr(machine, "support_vectors_") else None


def parameters(machine: BaseEstimator) -> dict[str, Any]:
    """The parameters of a machine that JSON can have."""
    plain = (str, int, float, bool, type(None))
    return {k: v for k, v in machine.get_params(deep=False).items() if isinstance(v, plain)}
