"""
More rows than memory
=====================

``fit`` takes rows in partitions, from files, a ``numpy.memmap`` or a Dask cluster. It returns the
machine that all rows at once would have given, and a certificate for all of them. A partition sends
only the rows that violate the KKT conditions worst; support vectors are few, so little travels.
"""

import tempfile
from pathlib import Path

import numpy as np

from maxmargin import SVC
from maxmargin.datasets import moons
from maxmargin.plots import RoundsDisplay
from maxmargin.scale import ArrayPartitions

X, y = moons(20_000, seed=0)
with tempfile.TemporaryDirectory() as folder:
    np.save(Path(folder) / "rows.npy", X)
    rows = np.load(Path(folder) / "rows.npy", mmap_mode="r")  # read from the disk as needed
    clf = SVC(cache_size=50).fit(ArrayPartitions(rows, y, rows=5000))

# %%
# Round by round: how many rows violate, how many are held, how many bytes were moved, and the gap.
display = RoundsDisplay.from_estimator(clf)
whole = SVC().fit(X, y)
print(
    f"dual value in partitions {clf.certificate_.dual:.2f}, at once {whole.certificate_.dual:.2f}"
)

# %%
# :doc:`/do/cluster` does it on a cluster, :doc:`/do/sizing` says what it costs.
