"""`maxmargin inspect`: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from maxmargin.cli import options as o
from maxmargin.cli.application import app, examples
from maxmargin.cli.models import Model, open_model
from maxmargin.cli.outcome import parameters, support_count
from maxmargin.cli.report import (
    Fact,
    print_facts,
    print_json,
    proof_facts,
    proof_words,
    size_words,
)
from maxmargin.io import read_document
from maxmargin.io.columns import schema_of
from maxmargin.io.rows import Schema, listed


@app.command(epilog=examples("maxmargin inspect iris.maxmargin"))
def inspect(model: o.ModelFile, as_json: o.Json = False) -> None:
    """Show what a model file holds: machine, kernel, columns, proof, versions."""
    opened = open_model(model)
    versions: dict[str, str] = read_document(model).get("versions", {})
    if as_json:
        print_json(_facts(opened, versions))
    else:
        print_facts(str(model), _words(opened, versions))


def _facts(model: Model, versions: dict[str, str]) -> dict[str, Fact]:
    machine, schema = model.machine, schema_of(model.estimator)
    proof = getattr(machine, "certificate_", None)
    return {
        "model": str(model.path),
        "bytes": model.path.stat().st_size,
        "machine": type(machine).__name__,
        "parameters": parameters(machine),
        "kernel": str(machine.kernel_) if hasattr(machine, "kernel_") else None,
        "preprocessing": _steps(model.estimator),
        "classes": getattr(machine, "classes_", None),
        "features": schema.count,
        "names": schema.names,
        "text": schema.text,
        "support_vectors": support_count(machine),
        "certificate": None if proof is None else proof_facts(proof),
        "notes": model.notes,
        "versions": versions,
    }


def _words(model: Model, versions: dict[str, str]) -> dict[str, str]:
    machine, schema = model.machine, schema_of(model.estimator)
    lines = {"machine": str(machine)}
    if hasattr(machine, "kernel_"):
        lines["kernel"] = str(machine.kernel_)
    if steps := _steps(model.estimator):
        lines["preprocessing"] = "; ".join(steps)
    lines["features"] = _columns(schema)
    if hasattr(machine, "classes_"):
        lines["classes"] = listed([str(each) for each in machine.classes_])
    if target := model.notes.get("target"):
        lines["target"] = f"{target}, of {model.notes.get('data')}"
    if tuned := model.notes.get("tuned"):
        lines["tuned"] = ", ".join(f"{name} {value:.4g}" for name, value in tuned.items())
    if (count := support_count(machine)) is not None:
        lines["support vectors"] = f"{count:,} of {machine.shape_fit_[0]:,} rows"
    if hasattr(machine, "certificate_"):
        lines["certificate"] = proof_words(machine.certificate_)
    lines["written by"] = ", ".join(f"{name} {version}" for name, version in versions.items())
    lines["size"] = size_words(Path(model.path).stat().st_size)
    return lines


def _columns(schema: Schema) -> str:
    return f"{schema.count:,}: {listed(schema.names)}" if schema.names else f"{schema.count:,}"


def _steps(estimator: Any) -> list[str]:
    """What comes before the machine, a phrase for each step."""
    if not isinstance(estimator, Pipeline):
        return []
    found = []
    for name, step in estimator.steps[:-1]:
        if name == "columns":
            parts = [(each, columns) for _, each, columns in step.transformers_ if len(columns)]
            found += [f"{type(each).__name__} of {listed(columns)}" for each, columns in parts]
        else:
            found.append(type(step).__name__)
    return found
