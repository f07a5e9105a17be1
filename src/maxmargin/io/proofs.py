"""Certificates and histories of a fit, as a model file has them.

The certificate of the whole fit is an object of the document, so that a person can read it; those
of the binary problems, of which there may be thousands, are lines of a table.
"""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace

import numpy as np

from maxmargin.certificate import ApproximateCertificate, Certificate, IndefiniteCertificate
from maxmargin.io.archive import Archive, whole
from maxmargin.io.container import Json, Model, ModelFileError, Node
from maxmargin.io.values import made, plain
from maxmargin.problem import Status

STATUSES = [*Status]
COUNTS = ("n_iter", "kernel_evaluations")
NUMBERS = [each.name for each in fields(Certificate) if each.name != "status"]
MARKS = ("holds_for", "kernel_error", "no_bound")  # of a certificate that proves less


def proofs(machine: Model, archive: Archive) -> None:
    """Certificates, histories and status of a fit; a machine that learned from blocks has none."""
    if not archive.has(machine, "certificate_"):
        return
    certificate(machine, "certificate_", archive)
    if archive.has(machine, "approximate_certificate_"):
        certificate(machine, "approximate_certificate_", archive)
    archive.value(machine, "fit_status_", int)
    tables = tables_of(machine) if archive.writes else SimpleNamespace()
    archive.array(tables, "certificates", ("problems", len(NUMBERS)), finite=False)
    archive.array(tables, "statuses", ("problems",), (np.uint8,))
    archive.records(tables, "history")
    archive.array(tables, "history_ends", ("problems",), (np.int64,), below=len(tables.history) + 1)
    if not archive.writes:
        set_tables(machine, tables)


def certificate(machine: Model, attribute: str, archive: Archive) -> None:
    """One certificate, as an object of the document."""
    name = attribute.strip("_")
    if archive.writes:
        values = {**vars(getattr(machine, attribute))}
        values["status"] = values["status"].value
        archive.node[name] = {key: plain(value, key) for key, value in values.items()}
        return
    values = {key: made(value, {}) for key, value in archive.node[name].items()}
    kinds = {"holds_for": ApproximateCertificate, "no_bound": IndefiniteCertificate}
    kind = next((kinds[mark] for mark in kinds if mark in values), Certificate)
    known = {each.name for each in fields(kind)}
    if not known <= values.keys():
        raise ModelFileError(f"{name} lacks {sorted(known - values.keys())}")
    values = {key: value for key, value in values.items() if key in known}
    for key in COUNTS:
        whole(values[key])
    for key in {*NUMBERS} - {*COUNTS}:
        values[key] = number(values[key], f"{name}.{key}")
    setattr(machine, attribute, kind(**{**values, "status": Status(values["status"])}))


def number(value: Json, what: str) -> float:
    """A number of the document as a float."""
    if type(value) not in (int, float):
        raise ModelFileError(f"{what} is {value!r}, which should be a number")
    return float(value)


def tables_of(machine: Model) -> SimpleNamespace:
    """The certificates of the problems, and their histories one after the other."""
    proofs, histories = machine.certificates_, machine._histories
    return SimpleNamespace(
        certificates=np.array(
            [[getattr(each, name) for name in NUMBERS] for each in proofs], float
        ),
        statuses=np.array([STATUSES.index(each.status) for each in proofs], np.uint8),
        history=np.concatenate(histories),
        history_ends=np.cumsum([len(each) for each in histories], dtype=np.int64),
    )


def set_tables(machine: Model, tables: SimpleNamespace) -> None:
    """Certificates and histories from their tables: undoes `tables_of`."""
    if tables.statuses.max(initial=0) >= len(STATUSES) or not len(tables.statuses):
        raise ModelFileError("statuses has a number that stands for no status")
    ends = tables.history_ends
    if (np.diff(ends) < 0).any() or ends[-1] != len(tables.history):
        raise ModelFileError("history_ends does not divide the history")
    whole_fit, found = machine.certificate_, []
    marks = {name: getattr(whole_fit, name) for name in MARKS if hasattr(whole_fit, name)}
    for line, status in zip(tables.certificates.tolist(), tables.statuses.tolist(), strict=True):
        values: Node = dict(zip(NUMBERS, line, strict=True))
        values |= {name: int(values[name]) for name in COUNTS}
        found.append(type(whole_fit)(**values, status=STATUSES[status], **marks))
    machine.certificates_ = found
    machine._histories = np.split(tables.history, ends[:-1])
