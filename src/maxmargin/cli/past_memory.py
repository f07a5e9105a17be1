"""`maxmargin train --memory`: rows of a file or a folder that memory does not hold.

The rows are read twice, a part at a time. The first time their columns are looked at: means and
variances of numbers, values of text. The second time they are kept as the machine takes them,
standardised, in a file without a name beside the model. The machine is trained on the parts of that
file, exactly: `maxmargin.scale`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, is_outlier_detector, is_regressor
from sklearn.preprocessing import StandardScaler

from maxmargin.cli import machine_options as m
from maxmargin.cli.application import say
from maxmargin.cli.deferred import without
from maxmargin.cli.outcome import Trained
from maxmargin.cli.report import Fact
from maxmargin.cli.text_columns import check_known, identifiers, identifiers_words
from maxmargin.io.arrow import dense
from maxmargin.io.columns import features_for, machine_of, prepared
from maxmargin.io.rows import Reading, Rows
from maxmargin.io.stream import stream_rows
from maxmargin.resources.arrays import Data, Mask
from maxmargin.scale.kept import KeptPartitions
from maxmargin.scale.partitions import Block

if TYPE_CHECKING:
    from maxmargin.io.rows import Features

# Shares of the memory given: about four copies of a part are in memory at once, while it is read
# as while it is computed with; the driver has support vectors beside its budget.
PART, DRIVER = 1 / 32, 2 / 3
MOST = 1000  # distinct targets that are counted: more classes than any machine here is for

Fit = Callable[[BaseEstimator, Any], BaseEstimator]


def check_streams(data: str, options: Mapping[str, bool]) -> None:
    """Refuse what needs all rows at once."""
    if data == "-":
        raise m.wrong("--memory reads the rows twice: give a file or a folder, not a pipe")
    for option, given in options.items():
        if given:
            raise m.wrong(f"{option} needs all rows at once; leave out it or --memory")


class Stream:
    """The rows of a file or a folder, read in parts.

    Parameters
    ----------
    data : path
    how : Reading
    budget : bytes to take
    folder : where rows are kept
    holdout : share of the rows to test on, or None
    seed : that chooses them
    """

    def __init__(
        self,
        data: str,
        how: Reading,
        budget: int,
        folder: Path,
        holdout: float | None,
        seed: int,
    ) -> None:
        if holdout is not None and not 0 < holdout < 1:
            raise m.wrong(f"--holdout is a share of the rows between 0 and 1, not {holdout}")
        self.data, self.how, self.budget, self.folder = data, how, budget, folder
        self.holdout, self.seed, self.began = holdout, seed, perf_counter()
        self.scaler, self.rows, self.columns = StandardScaler(), 0, 0
        self.left_out = list[str]()
        self._look()

    @property
    def suited(self) -> str:
        """The machine for the target."""
        return m.suited(self.first.y)

    def _look(self) -> None:
        """Read all rows once: what the columns hold, and how the numbers are spread."""
        targets, fractions, first = set[Any](), False, None
        shown, hidden = dict[str, set[str]](), dict[str, set[str]]()
        for rows, held in self._parts():
            first = first or rows
            for name in rows.text:
                for values, some in ((shown, ~held), (hidden, held)):
                    there = rows.X[name].filter(some).unique().to_pylist()
                    values.setdefault(name, set()).update(there)
            self.rows += int(np.count_nonzero(~held))
            self.columns = max(self.columns, rows.shape[1])
            counts = {name: len(shown[name]) for name in rows.text if name not in self.how.text}
            for name in identifiers(rows, counts, self.rows):
                self.left_out.append(name)
                del shown[name], hidden[name]
            numbers = numbers_of(rows)
            if numbers is not None and not held.all():
                self.scaler.partial_fit(numbers[~held])
            if rows.y is not None:
                fractions |= rows.y.dtype.kind == "f"
                if len(targets) < MOST:
                    targets.update(rows.y.tolist())
        if first is None or self.rows == 0:
            raise ValueError(f"{self.data}: has no rows to train on")
        if self.left_out:
            say(identifiers_words(self.data, self.left_out), style="yellow")
            columns = first.X.drop_columns(self.left_out)
            text = tuple(name for name in first.text if name not in self.left_out)
            first = replace(first, X=columns, text=text)
        y = None if first.y is None else np.array(sorted(targets), float if fractions else None)
        self.first, self.values, self.hidden = replace(first, y=y), shown, hidden

    def _parts(self) -> Iterator[tuple[Rows, Mask]]:
        """The parts without the columns that are left out, and which rows are held out."""
        random = np.random.default_rng(self.seed)
        with without("pandas"):
            for part in stream_rows(self.data, self.how, int(PART * self.budget), self.budget / 2):
                if gone := [name for name in self.left_out if name in part.text]:
                    text = tuple(name for name in part.text if name not in gone)
                    part = replace(part, X=part.X.drop_columns(gone), text=text)
                yield part, random.random(part.shape[0]) < (self.holdout or 0.0)
        if pyarrow := sys.modules.get("pyarrow"):  # which keeps what it had for the next time
            pyarrow.default_memory_pool().release_unused()

    def preparation(self, name: str, scale: bool) -> str:
        """What will be trained on what, in a line."""
        line = f"{self.data}: {self.rows:,} rows, {self.columns - len(self.left_out):,} features"
        if self.first.y is not None and name != "oneclass":
            line += f", target {self.first.target!r}"
            if name in m.CLASSIFIERS:
                line += f" with {len(self.first.y)} classes"
        if scale and not sp.issparse(self.first.X):
            line += "; numbers standardised (--no-scale to leave them)"
        return line

    def trained(
        self, machine: BaseEstimator, name: str, *, scale: bool, unknown: str, fit: Fit
    ) -> Trained:
        """The machine, fitted on all rows that are not held out."""
        m.check_target(self.first, name)
        if self.holdout is not None and unknown == "error":
            check_known(self.data, self.values, self.hidden)
        left = self.budget / 2 - self._state_bytes(machine, name)
        if left <= 0:
            raise MemoryError(
                f"{self.data}: what the machine knows of each of the {self.rows:,} rows takes "
                f"{(self.budget / 2 - left) / 2**20:,.0f} MB, more than half of what --memory gives"
            )
        if "cache_size" in machine.get_params():
            machine.set_params(cache_size=DRIVER * left / 2**20)
        model = self._prepared(machine, scale=scale, unknown=unknown)
        shown, hidden = self._kept(model)
        reading = perf_counter() - self.began
        fit(machine, shown)
        tested = hidden if hidden.count else shown
        notes: dict[str, Any] = {"target": self.first.target, "data": self.data, "rows": self.rows}
        return Trained(
            model,
            (self.rows, self.columns - len(self.left_out)),
            self.first.target,
            reading,
            "test" if hidden.count else "training",
            lambda: scores_of_parts(machine, tested),
            notes | ({"left_out": self.left_out} if self.left_out else {}),
        )

    def _state_bytes(self, machine: BaseEstimator, name: str) -> int:
        """Bytes of what stays in memory for each row: f, and on features two lines more."""
        classes = 2 if self.first.y is None or name not in m.CLASSIFIERS else len(self.first.y)
        lines = 3 if getattr(machine, "approximation", None) is not None else 1
        copies = 1 if name in m.CLASSIFIERS else 2  # of a regressor two variables for each row
        return 8 * self.rows * lines * copies * (classes - 1)

    def _prepared(self, machine: BaseEstimator, *, scale: bool, unknown: str) -> BaseEstimator:
        """The machine behind what the rows need, which is fitted to all of them."""
        rows = replace(self.first, X=self._sample())
        model = prepared(machine, rows, scale=scale, unknown=unknown)
        if model is machine:
            return model
        model[:-1].fit(rows.X)
        scaler = getattr(model[0], "named_transformers_", {"numbers": model[0]}).get("numbers")
        if scale and scaler is not None:
            learned = ("mean_", "var_", "scale_", "n_samples_seen_")
            vars(scaler).update({name: getattr(self.scaler, name) for name in learned})
        return model

    def _sample(self) -> Features:
        """A few rows with all values of text that there are."""
        X = self.first.X
        if self.first.names is None:
            return np.zeros((2, X.shape[1])) if isinstance(X, np.ndarray) else X
        import pyarrow as pa

        count = max([2, *map(len, self.values.values())])
        columns = {
            name: np.resize(sorted(self.values[name]), count)
            if name in self.first.text
            else np.zeros(count)
            for name in self.first.names
        }
        return pa.table(columns)

    def _kept(self, model: BaseEstimator) -> tuple[KeptPartitions, KeptPartitions]:
        """All rows as the machine takes them: those to train on, and those held out."""
        alone = model is machine_of(model)
        names = self.first.names if alone else None
        both = KeptPartitions(self.folder, names), KeptPartitions(self.folder, names)
        for rows, held in self._parts():
            X: Data = features_for(model, rows)
            X = X if alone else model[:-1].transform(X)
            y = rows.y
            if y is not None and self.first.y is not None and self.first.y.dtype.kind == "f":
                y = y.astype(float)
            for data, some in zip(both, (~held, held), strict=True):
                if some.any():
                    data.add(X[some], None if y is None else y[some])
        return both


def numbers_of(rows: Rows) -> Data | None:
    """The dense numbers of some rows, to be standardised; None if there are none."""
    if sp.issparse(rows.X):
        return None
    if rows.names is None:
        return rows.X
    numbers = [name for name in rows.names if name not in rows.text]
    return dense(rows.X.select(numbers)) if numbers else None


def scores_of_parts(machine: BaseEstimator, data: KeptPartitions) -> dict[str, Fact]:
    """What can be summed over parts: accuracy, R², or the share inside of one-class."""
    if is_outlier_detector(machine):
        return {"inside": data.combined(partial(_inside, machine), _share)}
    return {"r2" if is_regressor(machine) else "accuracy": machine.score(data)}


def _inside(machine: BaseEstimator, block: Block) -> tuple[int, int]:
    return int(np.count_nonzero(machine.predict(block.X) == 1)), block.X.shape[0]


def _share(parts: list[tuple[int, int]]) -> float:
    inside, rows = np.sum(parts, axis=0)
    return float(inside / rows)
