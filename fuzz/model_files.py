"""Mutated model files: `python -m fuzz.model_files [seconds]` by atheris, and in the tests.

A file is made by a few changes of a good one: bytes flipped, removed, repeated; or a value of its
document or header replaced and the checksum made right again, so that what lies behind the checksum
is reached too. Reading it must give a model or a `ModelFileError`, and a model predict or refuse.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Pick = Callable[[int], int]  # a number below another, however it is chosen
ODD: list[Any] = [0, 1, -1, 2**31, 2**63, 1e308, -0.5, None, True, "", "inf", "SVC", "Sum", [], {}]
ODD += [[[]], {"type": "Linear"}, {"number": "nan"}, {"kernel": {}}, {"csr": "array", "shape": [1]}]
SEEDS = ("svc composed", "svc csr", "svc calibrated, three", "svc rff", "columns")
SEEDS += ("tuned isotonic", "tuned numbers")
SIZES = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "U8": 1, "BOOL": 1}


def mutated(good: bytes, pick: Pick) -> bytes:
    """A file that differs from a good one in one to three places."""
    ways, bad = (flipped, shortened, repeated, with_other_value, with_other_number), good
    for _ in range(1 + pick(3)):
        bad = ways[pick(len(ways))](bad, pick)
    return bad


def flipped(file: bytes, pick: Pick) -> bytes:
    """One byte changed."""
    if not file:
        return file
    place = pick(len(file))
    return file[:place] + bytes([file[place] ^ (1 + pick(255))]) + file[place + 1 :]


def shortened(file: bytes, pick: Pick) -> bytes:
    """A part removed."""
    start = pick(len(file) + 1)
    return file[:start] + file[start + pick(64) :] if pick(2) else file[:start]


def repeated(file: bytes, pick: Pick) -> bytes:
    """A part twice."""
    start = pick(len(file) + 1)
    stop = start + pick(64)
    return file[:stop] + file[start:]


def parts(file: bytes) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """Header, document and arrays."""
    start = 8 + int.from_bytes(file[:8], "little")
    header = json.loads(file[8:start])
    return header, json.loads(header["__metadata__"]["maxmargin"]), file[start:]


def joined(header: dict[str, Any], document: Any, arrays: bytes) -> bytes:
    """A file of these parts, with the right checksum."""
    text = json.dumps(document)
    digest = hashlib.sha256(text.encode())
    for name in sorted(header.keys() - {"__metadata__"}):
        entry = header[name]
        begin, end = entry["data_offsets"]
        shape = " ".join(map(str, entry["shape"]))
        digest.update(f"\n{name}\n{entry['dtype']}\n{shape}\n".encode() + arrays[begin:end])
    header["__metadata__"] = {"maxmargin": text, "sha256": digest.hexdigest()}
    made = json.dumps(header).encode()
    made += b" " * (-len(made) % 8)
    return len(made).to_bytes(8, "little") + made + arrays


def with_other_value(file: bytes, pick: Pick) -> bytes:
    """A value of the document or of the header replaced, removed or moved."""
    try:
        header, document, arrays = parts(file)
        place: Any = header if pick(4) == 0 else document
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = keys[pick(len(keys))]
            inner = place[key]
            if not isinstance(inner, dict | list) or not inner or pick(6) == 0:
                break
            place = inner
        if pick(5) == 0:
            del place[key]
        else:
            place[key] = ODD[pick(len(ODD))]
        return joined(header, document, arrays)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return flipped(file, pick)  # it was no model any more


def with_other_number(file: bytes, pick: Pick) -> bytes:
    """A number of an array replaced by an odd one."""
    try:
        header, document, arrays = parts(file)
        names = sorted(header.keys() - {"__metadata__"})
        entry = header[names[pick(len(names))]]
        size, (begin, end) = SIZES[entry["dtype"]], entry["data_offsets"]
        place = begin + size * pick(max((end - begin) // size, 1))
        odd = [b"\xff" * 8, b"\x00" * 8, np.float64(np.nan).tobytes(), np.int64(2**31).tobytes()]
        changed = arrays[:place] + odd[pick(len(odd))][-size:] + arrays[place + size :]
        return joined(header, document, changed)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return flipped(file, pick)


def tried(file: bytes, path: Path, rows: Any) -> str:
    """What becomes of a file: "refused", "read", or "read, then refused" by predict."""
    from maxmargin.io import ModelFileError, load

    path.write_bytes(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = load(path)
        except ModelFileError:
            return "refused"
        try:
            (model.predict if hasattr(model, "predict") else model.transform)(rows)
        except ValueError:
            return "read, then refused"
    return "read"


def models() -> list[tuple[bytes, Any]]:
    """Good files of a few kinds, and rows for each."""
    from fitted import fitted
    from maxmargin.io import save

    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        for name in SEEDS:
            save(fitted(name).model, path)
            found.append((path.read_bytes(), fitted(name).rows[:3]))
    return found


def main() -> None:
    """Run atheris for some seconds, and say how many files there were and what became of them."""
    import atheris

    import maxmargin.io

    seconds = sys.argv[1] if len(sys.argv) > 1 else "60"
    for name in [name for name in sys.modules if name.startswith("maxmargin.io")]:
        del sys.modules[name]  # imported again, instrumented
    with atheris.instrument_imports(include=["maxmargin.io"]):
        import maxmargin.io
    good, counts = models(), Counter[str]()
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name, "model")

    def one(data: bytes) -> None:
        given = atheris.FuzzedDataProvider(data)
        file, rows = good[given.ConsumeIntInRange(0, len(good) - 1)]
        bad = mutated(file, lambda n: given.ConsumeIntInRange(0, n - 1))
        counts[tried(bad, path, rows)] += 1
        if sum(counts.values()) % 1000 == 0:
            print(f"{sum(counts.values()):,} files: {dict(counts)}", flush=True)

    limits = [f"-max_total_time={seconds}", "-rss_limit_mb=2048", "-timeout=20"]
    atheris.Setup([maxmargin.io.__name__, *limits], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
