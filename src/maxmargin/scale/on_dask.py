"""Partitions on a cluster: the blocks of collections of Dask.

Distribution is Dask's own. A round is a graph: the state of a partition (f of its rows) is the
result of a task whose arguments are its block, its last state, and the change of the support
vectors, which is in the graph itself. So every result can be computed again, anywhere: tasks are
not tied to workers, never wait for each other, and the loss of workers, even of all, is mended by
the scheduler. Blocks are those of the collection: held by the cluster after `X.persist()`, made
again in every round otherwise (read from files, say).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from functools import cached_property, partial
from itertools import chain, count
from logging import getLogger
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from maxmargin.resources.arrays import Data
from maxmargin.resources.memory import available_memory
from maxmargin.scale.partitions import (
    Block,
    Function,
    Given,
    Kept,
    Partitions,
    Result,
    checked_block,
    without_state,
)

Collection: TypeAlias = Any  # of Dask, or a list of delayed blocks
Dask: TypeAlias = Any  # an object of Dask, which has no types

LARGE = "distributed.admin.large-graph-warning-threshold"
SMALL = 1 << 20  # bytes
POLL = 5.0  # seconds after which it is seen whether there still is a scheduler


ROWS_LOST = (
    "rows that a worker held are gone with it, and cannot be made again, for they were scattered: "
    "give collections that are read from files or computed, and fit again; with checkpoint=path a "
    "fit continues where it was"
)


class ClusterLost(ConnectionError):
    """The scheduler of the cluster is gone, or rows that cannot be made again."""


class DaskPartitions(Partitions):
    """The blocks of a `dask.array`, the partitions of a `dask.dataframe`, or delayed blocks.

    Parameters
    ----------
    X : dask.array.Array, dask.dataframe.DataFrame, or a list of delayed blocks of rows
    y : likewise, or an array, or None
    sample_weight : likewise, or None
    client : distributed.Client or None
        The cluster to compute on; None is the current one.

    Examples
    --------
    >>> import dask.array as da
    >>> from maxmargin import SVC
    >>> from maxmargin.datasets import moons
    >>> X, y = moons(300)
    >>> clf = SVC().fit(X, y)
    >>> lazy = clf.predict(da.from_array(X, chunks=(100, 2)))  # nothing is computed yet
    >>> lazy.compute().shape
    (300,)
    """

    latency = 0.049  # L of docs/do/sizing.md

    def __init__(
        self,
        X: Collection,
        y: Collection = None,
        sample_weight: Collection = None,
        *,
        client: Dask = None,
    ) -> None:
        self._client = client
        self.columns = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        self.labelled = y is not None
        # What the cluster holds is forgotten when nobody holds the collections.
        self._collections = X, y, sample_weight
        parts = blocks_of(X)
        self.count, self.lengths = len(parts), lengths_of(X)
        others = [_matching(each, X, self.count) for each in (y, sample_weight)]
        # The arguments of `checked_block`, which each task calls itself: one task instead of two.
        self._parts = [
            (part, *(None if other is None else other[k] for other in others), self.name(k))
            for k, part in enumerate(parts)
        ]

    @property
    def client(self) -> Dask:
        """The cluster's client."""
        from distributed import get_client

        if self._client is not None:
            return self._client
        try:
            return get_client()
        except ValueError as error:
            raise ValueError(
                "training on Dask needs a distributed.Client: make one, Client() for this machine, "
                "or give DaskPartitions(X, y, client=...)"
            ) from error

    @cached_property
    def workers(self) -> int:  # asked for once: each question is a message to the scheduler
        return max(len(self.client.nthreads()), 1)

    @property
    def threads(self) -> int:
        return 1  # of a task: a worker has as many tasks at once as it has threads

    def name(self, number: int) -> str:
        return f"partition {number}"

    def block(self, number: int) -> Block:
        from dask import delayed

        found: Block = self.client.compute(delayed(checked_block)(*self._parts[number])).result()
        return found

    def held(self, size: float) -> DaskPartitions:
        """Blocks that the cluster holds while they are fitted to, if half its memory takes them.

        Blocks that are held share a task per thread of their worker; others are a task each in
        every round, of ten milliseconds of scheduling, and are made again.
        """
        from distributed import futures_of

        client = self.client
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        limit = sum(worker["memory_limit"] or available_memory() for worker in workers)
        if size > limit / 2 or futures_of(self._collections[:1]):
            return self
        blocks = [[each for each in part[:3] if each is not None] for part in self._parts]
        kept = iter(client.persist([each for block in blocks for each in block]))
        same = copy(self)
        same._parts = [
            (*(None if each is None else next(kept) for each in part[:3]), part[3])
            for part in self._parts
        ]
        same._collections = [part[0] for part in same._parts], None, None
        getLogger("maxmargin").info(
            "%d blocks of Dask that were not persisted (%.3g MB) are held by the cluster until the "
            "fit ends; X.persist() holds them for several fits",
            self.count,
            size / 2**20,
        )
        return same

    def step(
        self, function: Function, shared: Given, own: Sequence[Given], states: Sequence[Kept]
    ) -> tuple[Sequence[Kept], list[Result]]:
        from dask import config, delayed
        from dask.sizeof import sizeof
        from distributed import futures_of

        stateless = function is without_state
        part_of = self._parts.__getitem__
        tasks = self._bundles() if states[0] is None else [bundle for bundle, _ in states]
        last = [None] * len(tasks) if states[0] is None else [pair for _, pair in states]
        # What is small is in each task: a key of its own is a task more, and sent among workers.
        small = sizeof(shared) * len(tasks) <= SMALL
        told = Sent(shared) if small else delayed(Sent(shared), traverse=False)
        compute, second = delayed(partial(_stepped, function)), delayed(itemgetter(1))
        pairs = [
            compute(told, Sent([own[k] for k in bundle]), pair, *chain(*map(part_of, bundle)))
            for bundle, pair in zip(tasks, last, strict=True)
        ]
        with config.set({LARGE: "1 TiB"}):  # the support vectors are in the graph: see above
            # Without states the pairs come here whole: a task more would wait for the scheduler.
            wanted = [] if stateless else [second(pair) for pair in pairs]
            held = self.client.persist([*pairs, *wanted])
        found = self._gathered(futures_of(held[len(wanted) :]), tasks)
        kept: list[Kept] = list(zip(tasks, held, strict=False))
        if stateless:
            kept, found = [None] * self.count, [result for _, result in found]
        results = dict(zip(chain(*tasks), chain(*found), strict=True))
        return kept, [results[k] for k in range(self.count)]

    def _bundles(self) -> list[list[int]]:
        """Which partitions share a task: those that lie on one worker, a bundle for each thread.

        A task takes milliseconds of scheduling, as long as a round of few rows. A partition that
        the cluster does not hold has a task of its own: it is in memory only while it is computed.
        """
        from distributed import futures_of

        futures = {future.key: future for future in futures_of(self._collections[:1])}
        keys = [_source(part) for part, *_ in self._parts]
        try:
            where = self.client.who_has([futures[key] for key in keys if key in futures])
            threads = self.client.nthreads()
        except OSError as error:
            raise ClusterLost(_lost(self.client)) from error
        turns = defaultdict[str, Iterator[int]](count)
        bundles = defaultdict[Hashable, list[int]](list)
        for k, key in enumerate(keys):
            worker: str = next(iter(where.get(key, ())), "")
            place = (worker, next(turns[worker]) % threads[worker]) if worker in threads else k
            bundles[place].append(k)
        return list(bundles.values())

    def _gathered(self, futures: list[Dask], tasks: list[list[int]]) -> list[Result]:
        """The results, or the error of a task, which names its partitions, or `ClusterLost`."""
        from distributed import wait
        from distributed.client import CancelledError

        client = self.client
        try:
            while True:
                try:
                    with client.as_current():
                        wait(futures, timeout=POLL)
                    break
                except TimeoutError:
                    if client.status in ("closed", "closing"):
                        raise ClusterLost(_lost(client)) from None
            ended = zip(tasks, futures, strict=True)
            failed = [(some, each.exception()) for some, each in ended if each.status == "error"]
            results: list[Result] = [] if failed else client.gather(futures)
        except (CancelledError, OSError) as error:
            there = isinstance(error, CancelledError) and client.status == "running"
            raise ClusterLost(ROWS_LOST if there else _lost(client)) from error
        finally:
            for future in futures:
                future.release()
        for some, why in failed:  # the error of a task, of reading a file perhaps
            why.add_note("while computing " + ", ".join(map(self.name, some)))
            raise why
        return results

    def answers(self, function: Callable[[Data], Result], like: Data) -> Result:
        import dask.array as da
        from dask import delayed

        answer = delayed(_answered, pure=True)
        given = delayed(function, traverse=False, pure=True)
        shape = like.shape[1:]
        return da.concatenate(
            [
                da.from_delayed(answer(given, like, *part), (rows, *shape), like.dtype)
                for part, rows in zip(self._parts, self.lengths, strict=True)
            ],
            allow_unknown_chunksizes=True,
        )

    def combined(
        self, function: Callable[[Block], Result], finish: Callable[[list[Result]], Result]
    ) -> Result:
        from dask import compute, delayed

        parts = [delayed(partial(_combined, function))(*part) for part in self._parts]
        if self._client is not None:
            return finish(self._client.compute(parts, sync=True))
        return finish(list(compute(*parts)))


class Sent:
    """An argument of a task in which Dask need not look for collections."""

    def __init__(self, value: Given) -> None:
        self.value = value


def _stepped(
    function: Function,
    shared: Sent,
    own: Sent,
    pair: tuple[list[Kept], list[Result]] | None,
    *parts: Given,
) -> tuple[list[Kept], list[Result]]:
    """One step of the partitions of a bundle; of the pair of the last one the states are taken."""
    states = [None] * len(own.value) if pair is None else pair[0]
    blocks = (checked_block(*part) for part in zip(*[iter(parts)] * 4, strict=True))
    done = [
        function(block, shared.value, mine, state)
        for block, mine, state in zip(blocks, own.value, states, strict=True)
    ]
    return [state for state, _ in done], [result for _, result in done]


def _answered(function: Callable[[Data], Result], like: Data, *part: Given) -> Result:
    X = checked_block(*part).X
    return function(X) if X.shape[0] else like[:0]


def _combined(function: Callable[[Block], Result], *part: Given) -> Result:
    return function(checked_block(*part))


def _lost(client: Dask) -> str:
    where = client.scheduler.address if client.scheduler is not None else "the cluster"
    return (
        f"the scheduler at {where} is gone: start it again, make a new distributed.Client, and fit "
        "again; with checkpoint=path a fit continues where it was"
    )


def _source(part: Dask) -> Hashable:
    """The key of what a block is, or is another name of."""
    key: Hashable = getattr(part.__dask_graph__().get(part.key), "target", part.key)
    return key


def blocks_of(X: Collection) -> list[Dask]:
    """The delayed blocks of a collection, or of a list of them."""
    if isinstance(X, list | tuple):
        return list(X)
    if hasattr(X, "rechunk"):  # a dask.array: all columns of a row in one block
        X = X.rechunk({1: -1}) if X.ndim == 2 else X
        return list(X.to_delayed().ravel())
    # Optimised, a frame of few columns has fewer partitions, which would not match another's.
    return list(X.to_delayed(optimize_graph=False))


def lengths_of(X: Collection) -> list[float]:
    """Rows of each block; NaN where they are not known yet."""
    if hasattr(X, "rechunk"):
        return list(X.chunks[0])
    return [np.nan] * (len(X) if isinstance(X, list | tuple) else X.npartitions)


def _matching(values: Collection, X: Collection, count: int) -> list[Dask] | None:
    """Labels or weights in blocks that match those of X."""
    if values is None:
        return None
    if hasattr(X, "rechunk") and not np.isnan(X.chunks[0]).any():
        if hasattr(values, "to_dask_array"):
            values = values.to_dask_array(lengths=True)
        if hasattr(values, "rechunk"):
            values = values.ravel().rechunk((X.chunks[0],))
        elif not isinstance(values, list):
            import dask.array as da

            values = da.from_array(np.asarray(values).ravel(), chunks=(X.chunks[0],))
    if not hasattr(values, "to_delayed") and not isinstance(values, list | tuple):
        raise ValueError(
            f"labels and weights of partitions of unknown length must be a collection of Dask, "
            f"got {type(values).__name__}"
        )
    parts = blocks_of(values)
    if len(parts) != count:
        raise ValueError(f"X has {count} partitions, but the labels or weights {len(parts)}")
    return parts
