"""`python -m benchmarks`: measure, judge, report."""

import argparse
from pathlib import Path

from benchmarks import report
from benchmarks.ablation import variants
from benchmarks.peers import PEERS
from benchmarks.runner import Record, run
from benchmarks.suite import MODES


def main(arguments: list[str] | None = None) -> list[Record]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--mode", choices=MODES, default="quick", help="how much to measure")
    parser.add_argument("--only", nargs="+", metavar="KIND", help="kinds of work: train, SVR, …")
    parser.add_argument("--peers", nargs="+", metavar="NAME", help="libraries: maxmargin-32, …")
    parser.add_argument("--out", type=Path, metavar="STEM", help="writes STEM.md, .csv and .png")
    options = parser.parse_args(arguments)
    full = Path(__file__).parent / "RESULTS"
    out = options.out or (full if options.mode == "full" else Path("build/benchmarks/quick"))

    suite, settings = MODES[options.mode]
    kinds = {case.kind: None for case in suite()}
    if unknown := [kind for kind in options.only or () if kind not in kinds]:
        parser.error(f"no kind of work {', '.join(unknown)}; there are {', '.join(kinds)}")
    cases = [case for case in suite() if not options.only or case.kind in options.only]
    peers = [peer for peer in PEERS if not options.peers or peer.name in options.peers]
    earlier = report.read_csv(out) if options.only else []
    records: list[Record] = []
    for group, libraries in (
        ([case for case in cases if case.kind != "ablation"], peers),
        ([case for case in cases if case.kind == "ablation"], variants()),
    ):
        for record in run(group, libraries, settings) if group else ():
            records.append(record)
            print(report.line(record), flush=True)
            report.write_csv(joined(earlier, records), out)  # cut short, it keeps what it has
    report.write(joined(earlier, records), out, options.mode)
    print(f"\n{out}.md, .csv, .png")
    return records


def joined(earlier: list[Record], records: list[Record]) -> list[Record]:
    """What was measured now, and of an earlier run the kinds of work that were not."""
    kinds = {(r.kind, r.case) for r in records}
    return [r for r in earlier if (r.kind, r.case) not in kinds] + records


if __name__ == "__main__":
    main()
