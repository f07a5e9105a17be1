"""The command: `python -m fuzz [problems] [--seed first] [--keep]`."""

from __future__ import annotations

import argparse
import json
from collections import Counter

from fuzz import REGRESSIONS
from fuzz.problem import Problem
from fuzz.shrink import shrunk
from fuzz.trial import DISAGREES, STOPS, tried


def main() -> int:
    """Try random problems, say how many agree, and keep those that do not."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("problems", type=int, nargs="?", default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first problem")
    parser.add_argument("--rows", type=int, default=3000, help="most rows of a problem")
    parser.add_argument("--keep", action="store_true", help="add what disagrees to the regressions")
    options = parser.parse_args()
    counts, stopped, kept = Counter[str](), Counter[str](), json.loads(REGRESSIONS.read_text())
    try:
        for seed in range(options.seed, options.seed + options.problems):
            problem = Problem.drawn(seed, options.rows)
            outcome = tried(problem)
            counts[outcome.kind] += 1
            if outcome.kind == STOPS:
                stopped[f"{problem.machine}, {outcome.why}"] += 1
            if outcome.kind == DISAGREES:
                small = shrunk(problem, lambda each: tried(each).kind == DISAGREES)
                print(f"problem {seed}:", small.words, tried(small).why, sep="\n", flush=True)
                kept.append(small.words)
    except KeyboardInterrupt:
        print("Stopped by Ctrl-C: the counts so far.")
    print(f"{counts.total():,} problems:", dict(counts))
    print("not converged, and saying so:", dict(stopped))
    if options.keep:
        lines = ",\n".join(f" {json.dumps(words)}" for words in kept)
        REGRESSIONS.write_text(f"[\n{lines}\n]\n")
    return int(counts[DISAGREES] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
