"""Data files with bytes changed, cut and added: each is read, or refused with a reason.

PYTHONPATH=src python -m fuzz.data_files 5000
"""

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

from maxmargin.io.sources import DataFileError
from maxmargin.io.tables import read_rows

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


def mutated(data: bytes, random: np.random.Generator) -> bytes:
    """One to six changes."""
    changed = bytearray(data)
    for _ in range(int(random.integers(1, 7))):
        place, some = int(random.integers(len(changed))), int(random.integers(1, 9))
        match random.choice(["change", "change", "cut", "add", "end"]):
            case "change":
                changed[place] = int(random.integers(256))
            case "cut":
                del changed[place : place + some]
            case "add":
                changed[place:place] = random.bytes(some)
            case _:
                del changed[place:]
        changed = changed or bytearray(b"x")
    return bytes(changed)


def main(count: int) -> None:
    """Try that many files; any other error than a refusal ends it."""
    random, found, slowest = np.random.default_rng(0), Counter[str](), 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data"
        for _ in range(count):
            kind = str(random.choice([*SEEDS]))
            path.write_bytes(mutated(SEEDS[kind], random))
            began = perf_counter()
            try:
                read_rows(path)
                found[f"{kind} read"] += 1
            except DataFileError:
                found[f"{kind} refused"] += 1
            slowest = max(slowest, perf_counter() - began)
    print(f"{count} files, the slowest in {slowest:.2f} s: {dict(sorted(found.items()))}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
