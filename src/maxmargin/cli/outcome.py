"""What `maxmargin train` says at its end: one table, or one JSON object."""

from __future__ import annotations

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


def tell_outcome(
    model: BaseEstimator,
    shown: Rows,
    tested: Rows | None,
    where: str,
    *,
    reading: float,
    place: Path,
    as_json: bool,
) -> None:
    """Say what was trained on `shown`, and how good it is on the rows `tested`, if any.

    `where` names these rows, `reading` is the time to read them, `place` the model's file.
    """
    machine = machine_of(model)
    proof = machine.certificate_
    found = {} if tested is None else scores(model, tested)
    size = place.stat().st_size
    if as_json:
        facts: dict[str, Fact] = {
            "machine": type(machine).__name__,
            "parameters": parameters(machine),
            "rows": shown.shape[0],
            "features": shown.shape[1],
            "target": shown.target,
            where: found,
            "certificate": proof_facts(proof),
            "support_vectors": support_count(machine),
            "seconds": {"reading": reading, "fit": proof.seconds},
            "model": str(place),
            "bytes": size,
        }
        print_json(facts)
        return
    lines = {f"{name}, {where}": value for name, value in headline(found).items()}
    lines["certificate"] = proof_words(proof)
    if (count := support_count(machine)) is not None:
        lines["support vectors"] = f"{count:,} of {shown.shape[0]:,} rows"
    lines["time"] = f"fit {seconds_words(proof.seconds)}, reading {seconds_words(reading)}"
    lines["model"] = f"{place}, {size_words(size)}"
    print_facts(str(machine), lines)


def support_count(machine: BaseEstimator) -> int | None:
    """How many support vectors, of a machine that has some."""
    return len(machine.support_) if hasattr(machine, "support_vectors_") else None


def parameters(machine: BaseEstimator) -> dict[str, Any]:
    """The parameters of a machine that JSON can have."""
    plain = (str, int, float, bool, type(None))
    return {k: v for k, v in machine.get_params(deep=False).items() if isinstance(v, plain)}
