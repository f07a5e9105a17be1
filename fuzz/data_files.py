"""Mutated data files: `python -m fuzz.data_files [seconds]` by atheris, and in the tests.

Each is a good file of one kind with some bytes changed, removed or repeated. It must be read, or
refused with a reason.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from fuzz.model_files import Pick, flipped, repeated, shortened

TABLE = pa.table({"a": [1.5, 2, 3], "b": ["x", "y", "x"], "y": [0, 1, 0]})
CSV = b'a,b,y\n1.5,x,0\n2,"y,z",1\n3,x,0\n'
LIBSVM = b"1 1:2 3:4.5 # comment\n-1 2:1\n1 1:3\n"


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    """What a function writes into a file."""
    file = io.BytesIO()
    write(file)
    return file.getvalue()


SEEDS = {
    "csv": CSV,
    "libsvm": LIBSVM,
    "parquet": written(lambda file: pyarrow.parquet.write_table(TABLE, file)),
    "arrow": written(lambda file: pyarrow.feather.write_feather(TABLE, file)),
    "npy": written(lambda file: np.save(file, np.eye(4))),
    "npz": written(lambda file: np.savez(file, X=np.eye(3), y=np.arange(3))),
    "gz": gzip.compress(CSV),
    "bz2": bz2.compress(CSV),
    "xz": lzma.compress(LIBSVM),
}


def mutated(good: bytes, pick: Pick) -> bytes:
    """A file that differs from a good one in one to six places."""
    bad = good
    for _ in range(1 + pick(6)):
        bad = (flipped, shortened, repeated)[pick(3)](bad, pick)
    return bad


def tried(file: bytes, path: Path) -> str:
    """What becomes of a file: "read" or "refused"."""
    from maxmargin.io.sources import DataFileError
    from maxmargin.io.tables import read_rows

    path.write_bytes(file)
    try:
        read_rows(path)
    except DataFileError:
        return "refused"
    return "read"


def main() -> None:
    """Run atheris for some seconds, and say how many files there were and what became of them."""
    import atheris

    seconds = sys.argv[1] if len(sys.argv) > 1 else "60"
    with atheris.instrument_imports(include=["maxmargin.io"]):
        import maxmargin.io.tables
    counts, slowest, kinds = Counter[str](), 0.0, [*SEEDS]
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name, "data")

    def one(data: bytes) -> None:
        nonlocal slowest
        given = atheris.FuzzedDataProvider(data)
        kind = kinds[given.ConsumeIntInRange(0, len(kinds) - 1)]
        bad = mutated(SEEDS[kind], lambda n: given.ConsumeIntInRange(0, n - 1))
        began = perf_counter()
        counts[f"{kind} {tried(bad, path)}"] += 1
        slowest = max(slowest, perf_counter() - began)
        if sum(counts.values()) % 1000 == 0:
            found = dict(sorted(counts.items()))
            print(f"{sum(counts.values()):,} files, slowest {slowest:.2f} s: {found}", flush=True)

    limits = [f"-max_total_time={seconds}", "-rss_limit_mb=2048", "-timeout=20"]
    atheris.Setup([maxmargin.io.tables.__name__, *limits], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
