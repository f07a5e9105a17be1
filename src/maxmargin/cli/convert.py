"""`maxmargin convert`: a model file as LIBSVM's, as ONNX, or as ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from maxmargin.cli import options as o
from maxmargin.cli.application import app, examples
from maxmargin.cli.machine_options import wrong
from maxmargin.cli.models import Model, open_model
from maxmargin.cli.report import print_facts, print_json, size_words
from maxmargin.io import load_libsvm, save, save_libsvm, to_onnx
from maxmargin.io.container import whole_or_not_at_all

LIBSVM = (".model", ".libsvm")
Precision = Literal["float64", "float32"]


@app.command(
    epilog=examples(
        "maxmargin convert iris.maxmargin iris.onnx",
        "maxmargin convert heart.maxmargin heart.model",
        "maxmargin convert heart.model heart.maxmargin",
    )
)
def convert(
    model: Annotated[Path, typer.Argument(help="A model file of ours or of LIBSVM.")],
    output: Annotated[Path, typer.Argument(help="OUT.maxmargin, OUT.model (LIBSVM) or OUT.onnx.")],
    precision: Annotated[
        Precision | None, typer.Option(help="Of an ONNX graph; float64 by default.")
    ] = None,
    as_json: o.Json = False,
) -> None:
    """Write a model in another format, by the name of the new file."""
    kind = output.suffix.lower()
    if precision is not None and kind != ".onnx":
        raise wrong("--precision is of an ONNX graph: OUT.onnx")
    if kind not in (".maxmargin", ".onnx", *LIBSVM):
        raise wrong(f"{output}: the name of the new file ends in .maxmargin, .model or .onnx")
    opened = opened_from(model)
    if kind == ".maxmargin":
        save(opened.estimator, output, opened.notes)
    elif kind == ".onnx":
        _save_onnx(opened, output, precision or "float64")
    else:
        _save_libsvm(opened, output)
    size = output.stat().st_size
    if as_json:
        print_json({"model": str(model), "output": str(output), "bytes": size})
    else:
        name = type(opened.machine).__name__
        print_facts(str(output), {"from": f"{model}, {name}", "size": size_words(size)})


def opened_from(path: Path) -> Model:
    """A model of ours, or of LIBSVM by its first word."""
    if path.is_file():
        with path.open("rb") as file:
            if file.read(9) == b"svm_type ":
                return Model(path, load_libsvm(path), {})
    return open_model(path)


def _save_libsvm(model: Model, output: Path) -> None:
    if model.estimator is not model.machine:
        raise ValueError(
            f"{model.path}: LIBSVM's files have no place for its preprocessing; train with "
            "--no-scale and columns of numbers, on data that svm-scale has scaled"
        )
    save_libsvm(model.machine, output)


def _save_onnx(model: Model, output: Path, precision: Precision) -> None:
    try:
        graph = to_onnx(model.estimator, precision)
    except ImportError as error:
        raise ImportError("ONNX needs a package: pip install 'maxmargin[onnx]'") from error
    with whole_or_not_at_all(output) as part:
        part.write_bytes(graph.SerializeToString())
