"""`maxmargin certify`: the proof of a model, computed again from its file and its data."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
import typer

from maxmargin.certificate import Certificate
from maxmargin.cli import options as o
from maxmargin.cli.application import NOT_PROVED, app, examples
from maxmargin.cli.models import Model, open_model
from maxmargin.cli.report import print_facts, print_json, proof_facts, seconds_words
from maxmargin.cli.scores import known
from maxmargin.cli.train import parts
from maxmargin.io.columns import features_for
from maxmargin.io.rows import Reading, Rows
from maxmargin.machines.proof import Proof, prove
from maxmargin.resources.arrays import Data, Labels


@app.command(epilog=examples("maxmargin certify iris.maxmargin iris.csv"))
def certify(
    model: o.ModelFile,
    data: o.DataFile,
    target: o.Target = None,
    header: o.Header = None,
    delimiter: o.Delimiter = None,
    thousands: o.Thousands = None,
    drop: o.Drop = None,
    zero_based: o.ZeroBased = False,
    as_json: o.Json = False,
) -> None:
    """Prove again that a model is optimal, from its file and the rows it was trained on.

    Exit code 0 if it is, up to the tolerance it was trained with; 3 if it is not.
    """
    began = perf_counter()
    opened = open_model(model)
    rows = opened.rows(
        data,
        Reading(
            target,
            True,
            header,
            drop or (),
            (),
            zero_based,
            delimiter=delimiter,
            thousands=thousands,
        ),
    )
    proof = proof_of(opened, trained_on(opened, rows))
    tol, stored = opened.machine.tol, opened.machine.certificate_
    within = min(proof.kkt_violation, proof.relative_gap) <= tol * (1 + 1e-6)
    holds = within and proof.offset_error <= max(10 * tol, 10 * proof.kkt_violation)
    if as_json:
        facts = {key: getattr(proof, key) for key in ("primal", "dual", "gap", "relative_gap")}
        violations = {"kkt_violation": proof.kkt_violation, "offset_error": proof.offset_error}
        print_json(
            {"model": str(model), "holds": holds, "tol": tol, **facts, **violations}
            | {"stored": proof_facts(stored)}
        )
    else:
        lines = _words(proof, stored)
        lines["optimal"] = f"{'yes' if holds else 'no'}; tol = {tol:g} was asked for"
        lines["time"] = seconds_words(perf_counter() - began)
        print_facts(f"{model}, proved again", lines)
    if not holds:
        raise typer.Exit(NOT_PROVED)


def _words(proof: Proof, stored: Certificate) -> dict[str, str]:
    return {
        "primal": f"{proof.primal:.10g}   (in the file: {stored.primal:.10g})",
        "dual": f"{proof.dual:.10g}   (in the file: {stored.dual:.10g})",
        "relative gap": f"{proof.relative_gap:.3g}   (in the file: {stored.relative_gap:.3g})",
        "KKT violation": f"{proof.kkt_violation:.3g}   (in the file: {stored.kkt_violation:.3g})",
    }


def trained_on(model: Model, rows: Rows) -> Rows:
    """The rows of a file that `train --holdout` trained on: the same split again."""
    notes = model.notes
    if notes.get("holdout") is None or rows.shape[0] == notes["rows"]:
        return rows
    return parts(rows, notes["machine"], notes["holdout"], notes["seed"])[0]


def proof_of(model: Model, rows: Rows) -> Proof:
    """The proof of a model on the rows of a file."""
    features: Any = features_for(model.estimator, rows)
    if model.estimator is not model.machine:
        features = model.estimator[:-1].transform(features)
    X: Data = features if sp.issparse(features) else np.asarray(features)
    y = _targets(model, rows)
    try:
        return prove(model.machine, X, y)
    except ValueError as error:
        raise rows.error(str(error)) from error


def _targets(model: Model, rows: Rows) -> Labels | None:
    if hasattr(model.machine, "classes_"):
        return known(model.machine.classes_, rows)
    return rows.y
