"""The cost model of docs/sizing.md, fitted on scale.csv: `python -m benchmarks.sizing`.

    seconds = L · (rounds + 3) + e · rows · support vectors · rounds · (columns + 17) / workers

L is the latency of a map over partitions, e the time of a multiplication of a kernel value (its
exponential counts as 17). It is fitted by least squares of relative errors on the smallest and the
largest size, on 1 and 2 workers of a cluster, and judged on the size in between.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

COLUMNS = 10  # of cover
WHOLE = 286_048  # its rows
HELD_OUT = 150_000


def terms(rows: float, support: float, rounds: float, workers: float, columns: int) -> np.ndarray:
    return np.array([rounds + 3, rows * support * rounds * (columns + 17) / workers])


def measured() -> list[tuple[int, int, np.ndarray, float]]:
    """Rows, workers, terms and seconds of the lines of cover on Dask."""
    with (Path(__file__).parent / "scale.csv").open() as file:
        records = [r for r in csv.DictReader(file) if r["case"] == "cover" and r["seconds"]]
    found = []
    for record in records:
        if not record["way"].startswith("dask"):
            continue
        rows = int(record["rows"]) or WHOLE
        workers = int(record["way"].split()[1])
        counts = float(record["support"]), float(record["rounds"])
        found.append((rows, workers, terms(rows, *counts, workers, COLUMNS), record["seconds"]))
    return [(rows, workers, each, float(seconds)) for rows, workers, each, seconds in found]


def main() -> None:
    lines = measured()
    fitted = [line for line in lines if line[0] != HELD_OUT]
    A = np.array([each / seconds for _, _, each, seconds in fitted])
    (latency, product), _ = nnls(A, np.ones(len(A)))
    print(f"L = {latency:.3g} s, e = {product:.3g} s, fitted on {len(fitted)} lines")
    for rows, workers, each, seconds in lines:
        guess = float(each @ [latency, product])
        kind = "held out" if rows == HELD_OUT else "fitted"
        print(
            f"| {rows:,} | {workers} | {seconds:.2f} | {guess:.2f} | {guess / seconds - 1:+.0%} "
            f"| {kind} |"
        )
    for rows in (1e7, 1e8, 1e9):
        few, many = 367 * (rows / WHOLE) ** 0.74, 0.32 * rows  # as cover grows; as covtype has
        for name, support in (("few", few), ("many", many)):
            rounds = 8 + np.log2(max(support / 2048, 1))
            seconds = float(terms(rows, support, rounds, 100, 20) @ [latency, product])
            print(
                f"| {rows:.0e} | {name}: {support:.2g} | {rounds:.0f} | {seconds / 3600:.3g} h "
                f"| {support * 160 / 2**30:.2g} GB |"
            )


if __name__ == "__main__":
    main()
