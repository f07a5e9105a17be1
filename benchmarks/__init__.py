"""maxmargin and its peers, timed in one run and judged by one float64 judge.

case.py       what is measured: a data set, a machine and its parameters
datasets/     where the rows come from
peers/        one small adapter for each library
judge.py      dual, primal and true KKT gap of any library's answer
worker.py     one library in a process of its own: times and memory
runner.py     interleaved repeats over all of them
suite.py      the lists of cases: tiny, quick, full
ablation.py   the ideas of maxmargin's solver, switched off in turn
targets.py    what must be reached, and what was
report.py     Markdown, CSV and a figure from what was measured
"""
