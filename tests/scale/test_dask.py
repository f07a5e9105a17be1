"""Partitions on a real cluster: worker processes on this machine, killed, lost and come back."""

import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas
import pytest
from cloudpickle import register_pickle_by_value
from dask import delayed
from distributed import Client, LocalCluster, futures_of, wait
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from maxmargin import SVC, SVCCV, SVR, SVRCV, LinearSVC, LinearSVR, OneClassSVM, load, save, tune
from maxmargin.datasets import moons
from maxmargin.machines.partitioned import MULTIPLICATION
from maxmargin.scale import ArrayPartitions, ClusterLost, DaskPartitions, StandardScaler
from maxmargin.scale.round import fetch
from maxmargin.selection.progress import SearchBar
from maxmargin.solvers import BlockSMO, Chunking

X, Y = moons(240, seed=3)
T = np.sin(2 * X[:, 0]) + 0.1 * X[:, 1]
FEW = Chunking(inner=BlockSMO(), violators=20)
register_pickle_by_value(sys.modules[__name__])  # workers cannot import this file
# So few rows are not for a cluster, and `fit` says so.
pytestmark = pytest.mark.filterwarnings("ignore:one process is faster:UserWarning")
LIMIT = 240.0  # seconds for a fit: so that nothing hangs


@pytest.fixture(scope="module")
def client():
    quiet = {"silence_logs": logging.CRITICAL, "dashboard_address": ":0", "memory_limit": 0}
    two = {"n_workers": 2, "threads_per_worker": 1}
    with LocalCluster(**two, **quiet) as cluster, Client(cluster) as client:
        yield client


def in_blocks(n=60):
    return da.from_array(X, chunks=(n, 1)), da.from_array(Y, chunks=100)


@pytest.fixture(scope="module")
def local():
    return SVC(solver=FEW).fit(ArrayPartitions(X, Y, rows=60))


def test_arrays_give_the_machine_of_one_process(client, local):
    clf = SVC(solver=FEW, max_time=LIMIT).fit(*in_blocks())
    np.testing.assert_array_equal(clf.support_, local.support_)
    np.testing.assert_allclose(clf.dual_coef_, local.dual_coef_, atol=1e-6)
    assert clf.history_["rounds"][-1] == local.history_["rounds"][-1]


def test_frames_of_unknown_length_and_lazy_answers(client, local):
    table = pandas.DataFrame(X, columns=["u", "v"]).assign(label=Y)
    table = dd.from_pandas(table, npartitions=4)
    rows = table[["u", "v"]]
    clf = SVC(solver=FEW, max_time=LIMIT).fit(rows, table["label"])
    assert clf.feature_names_in_.tolist() == ["u", "v"]
    assert clf.certificate_.dual == pytest.approx(local.certificate_.dual, rel=1e-5)
    lazy, score = clf.predict(rows), clf.score(rows, table["label"])
    assert isinstance(lazy, da.Array)
    assert isinstance(score, float)
    answer = clf.predict(pandas.DataFrame(X, columns=["u", "v"]))
    np.testing.assert_array_equal(lazy.compute(), answer)
    assert score == pytest.approx((answer == Y).mean())


def test_delayed_blocks_of_one_class_or_none(client, local):
    order = Y.argsort(kind="stable")
    ends = [0, 50, 50, 130, 240]  # the second has no rows, the first but one class
    rows = [delayed(X[order][a:b]) for a, b in pairwise(ends)]
    labels = [delayed(Y[order][a:b]) for a, b in pairwise(ends)]
    clf = SVC(solver=FEW, max_time=LIMIT).fit(rows, labels)
    assert clf.certificate_.dual == pytest.approx(local.certificate_.dual, rel=1e-5)


def test_regression_and_one_class(client):
    rows, target = da.from_array(X, chunks=(80, 2)), da.from_array(T, chunks=80)
    reg = SVR(solver=FEW, max_time=LIMIT).fit(rows, target)
    assert reg.certificate_.dual == pytest.approx(SVR().fit(X, T).certificate_.dual, rel=1e-4)
    assert reg.score(rows, target) == pytest.approx(reg.score(X, T))
    one = OneClassSVM(nu=0.3, solver=FEW, max_time=LIMIT).fit(rows)
    np.testing.assert_allclose(
        one.decision_function(rows).compute(), one.decision_function(X), atol=1e-9
    )


def test_pairs_of_classes_run_on_the_cluster(client):
    rows, names = load_iris(return_X_y=True)
    data = da.from_array(rows, chunks=(50, 4)), da.from_array(names, chunks=50)
    clf = SVC(solver=FEW, max_time=LIMIT).fit(*data)  # each partition has one class only
    whole = SVC().fit(rows, names)
    for one, other in zip(clf.certificates_, whole.certificates_, strict=True):
        assert one.dual == pytest.approx(other.dual, rel=1e-4)


def test_two_fits_at_once(client, local):
    found = {}

    def fit(number):
        with client.as_current():
            data = DaskPartitions(*in_blocks(), client=client)
            found[number] = SVC(solver=FEW, max_time=LIMIT).fit(data)

    threads = [threading.Thread(target=fit, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    for number in range(2):
        np.testing.assert_array_equal(found[number].support_, local.support_)


def test_nan_and_ragged_blocks_are_named(client):
    bad = X.copy()
    bad[130, 1] = np.nan
    with pytest.raises(ValueError, match="partition 2: X contains NaN at row 10, column 1"):
        SVC().fit(da.from_array(bad, chunks=(60, 2)), Y)
    rows = [delayed(X[:100]), delayed(X[100:, :1])]
    with pytest.raises(ValueError, match="partition 1 differs from partition 0: columns is 1"):
        SVC().fit(rows, [delayed(Y[:100]), delayed(Y[100:])])
    tables = [delayed(pandas.DataFrame)(X[:100], columns=["u", "v"])]
    tables += [delayed(pandas.DataFrame)(X[100:], columns=["v", "u"])]
    with pytest.raises(ValueError, match=r"partition 1 differs from .* names is \('v', 'u'\)"):
        SVC().fit(tables, [delayed(Y[:100]), delayed(Y[100:])])
    missing = [delayed(np.load)("there is no such file"), delayed(X[100:])]
    with pytest.raises(FileNotFoundError, match="no such file") as found:
        SVC().fit(missing, [delayed(Y[:100]), delayed(Y[100:])])
    assert found.value.__notes__ == ["while computing partition 0"]
    with pytest.raises(ValueError, match="X has 2 partitions, but the labels or weights 1"):
        SVC().fit(rows, [delayed(Y)])


@pytest.mark.parametrize("options", [{}, {"early": "racing"}, {"early": "halving"}], ids=str)
def test_a_search_on_the_cluster_finds_what_one_process_finds(client, options):
    rows, names = load_iris(return_X_y=True)
    options = options | {"Cs": [0.1, 1.0, 10.0], "gammas": [0.01, 0.1, 1.0], "cv": 3}
    found = tune(SVC(), rows, names, client=client, **options)
    here = tune(SVC(), rows, names, **options)
    assert found.best_params_ == here.best_params_
    scores = [search.cv_results_["mean_test_score"] for search in (found, here)]
    np.testing.assert_allclose(*scores)
    assert found.best_estimator_.certificate_.status.value == "converged"


def test_machines_that_tune_themselves_find_on_the_cluster_what_they_find_here(client, tmp_path):
    options = {"Cs": [0.1, 1.0, 10.0], "gammas": [0.1, 1.0], "cv": 3}
    for machine, y, answer in (
        (SVCCV(**options), Y, "predict_proba"),
        (SVRCV(**options), T, "predict_interval"),
    ):
        here = clone(machine).fit(X, y)
        found = clone(machine.set_params(client=client)).fit(X, y)
        assert found.client is client
        assert found.best_params_ == here.best_params_
        np.testing.assert_allclose(found.best_score_, here.best_score_)
        np.testing.assert_allclose(getattr(found, answer)(X), getattr(here, answer)(X))
        save(found, tmp_path / "found.maxmargin")
        for copied in (load(tmp_path / "found.maxmargin"), pickle.loads(pickle.dumps(found))):
            assert copied.client is None
            np.testing.assert_array_equal(copied.predict(X), found.predict(X))


def test_a_search_on_the_cluster_that_is_stopped_has_the_best_so_far(client, monkeypatch):
    def pressed(bar, fits, best):
        raise KeyboardInterrupt

    monkeypatch.setattr(SearchBar, "done", pressed)  # Ctrl-C as soon as a task is done
    options = {"Cs": [1.0], "gammas": [0.01, 0.1, 1.0], "cv": 2, "client": client}
    search = tune(SVC(), X, Y, **options)
    assert search.status == "interrupted"
    assert sum(cell.complete for cell in search.cells) == 1
    with pytest.raises(TimeoutError, match="the search was out of time"):
        tune(SVC(), X, Y, max_time=1e-6, **options)


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_partitions_that_a_worker_holds_share_its_tasks(client, local, kind):
    rows, labels = da.from_array(X, chunks=(20, 2)), da.from_array(Y, chunks=20)
    if kind == "frame":
        rows, labels = dd.from_dask_array(rows), dd.from_dask_array(labels)
    lazy = DaskPartitions(rows, labels)
    assert lazy._bundles() == [[k] for k in range(12)]  # each made, and forgotten, on its own
    held = DaskPartitions(*client.persist([rows, labels]))
    held.map(fetch, None, [(0, np.arange(2))] * 12)  # now they are there
    bundles = held._bundles()
    assert len(bundles) <= 2
    assert sorted(k for bundle in bundles for k in bundle) == [*range(12)]
    clf = SVC(solver=FEW, max_time=LIMIT).fit(held)
    assert clf.certificate_.dual == pytest.approx(local.certificate_.dual, rel=1e-5)


def test_the_ten_lines_of_the_document(client, tmp_path, monkeypatch, capsys):
    """The program of docs/do/cluster.md, with the cluster and the files that are here."""
    page = (Path(__file__).parents[2] / "docs" / "do" / "cluster.md").read_text()
    indented = page.split("On a cluster, ten lines:\n\n")[1].split("\n\n`fit` takes")[0]
    program = dedent(indented)
    assert len(program.splitlines()) == 10
    for place in ("train", "test"):
        (tmp_path / place).mkdir()
        for part in range(3):
            table = pandas.DataFrame(X[part::3], columns=["u", "v"]).assign(y=Y[part::3])
            table.to_parquet(tmp_path / place / f"{part}.parquet")
    here = {"tcp://scheduler:8786": client.scheduler.address, "s3://bucket": str(tmp_path)}
    for there, place in here.items():
        assert there in program
        program = program.replace(there, place)
    monkeypatch.chdir(tmp_path)
    made = {}
    try:
        exec(program, made)
    finally:
        made["client"].close()
    whole = SVC(C=10).fit(X, Y)
    assert made["clf"].certificate_.dual == pytest.approx(whole.certificate_.dual, rel=1e-3)
    assert load("fit.maxmargin").n_features_in_ == 2
    printed = capsys.readouterr().out.splitlines()
    assert any("converged" in line for line in printed)
    assert float(printed[-1]) == pytest.approx(whole.score(X, Y), abs=0.01)


def test_weights_count_as_they_do_in_memory(client):
    weights = np.arange(len(X)) % 3.0
    rows, labels, target, each = (
        da.from_array(v, chunks=(70, *v.shape[1:])) for v in (X, Y, T, weights)
    )
    clf, whole = SVC(max_time=LIMIT).fit(rows, labels, each), SVC().fit(X, Y, weights)
    assert clf.certificate_.dual == pytest.approx(whole.certificate_.dual, rel=1e-3)
    assert clf.score(rows, labels, each) == pytest.approx(clf.score(X, Y, weights))
    reg = SVR(max_time=LIMIT).fit(rows, target, each)
    lazy = reg.predict(rows)
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), reg.predict(X), atol=1e-9)
    assert reg.score(rows, target, each) == pytest.approx(reg.score(X, T, weights))


def test_a_client_is_needed_to_train(monkeypatch):
    def none():
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr("distributed.get_client", none)
    with pytest.raises(ValueError, match=r"needs a distributed\.Client: make one"):
        SVC().fit(*in_blocks())


# --- faults -------------------------------------------------------------------------------


def deadly(number, calls, deaths):
    """A block of rows; its worker is killed, by its process id, when it is asked for often."""
    with Path(calls).open("ab") as file:
        file.write(b"x")
    if number == 1 and Path(calls).stat().st_size > 20 and not Path(deaths).exists():
        Path(deaths).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return X[60 * number : 60 * (number + 1)]


class Made(DaskPartitions):
    """Blocks made again in every round, as those are that the cluster cannot hold."""

    def held(self, size):
        return self


def test_a_worker_killed_in_a_round_is_a_recomputation(client, local, tmp_path):
    calls, deaths = str(tmp_path / "calls"), str(tmp_path / "deaths")
    rows = [delayed(deadly)(number, calls, deaths) for number in range(4)]
    labels = [delayed(Y[60 * k : 60 * (k + 1)]) for k in range(4)]
    clf = SVC(solver=FEW, max_time=LIMIT).fit(Made(rows, labels))
    assert Path(deaths).exists()
    np.testing.assert_array_equal(clf.support_, local.support_)
    np.testing.assert_allclose(clf.dual_coef_, local.dual_coef_, atol=1e-6)


def test_features_are_computed_on_the_workers_and_again_if_one_is_killed(client, tmp_path):
    calls, deaths = str(tmp_path / "calls"), str(tmp_path / "deaths")
    rows = [delayed(deadly)(number, calls, deaths) for number in range(4)]
    labels = [delayed(Y[60 * k : 60 * (k + 1)]) for k in range(4)]
    machine = SVC(approximation="nystroem", n_components=30, random_state=0, max_time=LIMIT)
    local = clone(machine).fit(ArrayPartitions(X, Y, rows=60))
    clf = machine.fit(Made(rows, labels))
    assert Path(deaths).exists()
    assert clf.certificate_.status.value == "converged"
    assert "Nystroem" in clf.certificate_.holds_for
    np.testing.assert_allclose(clf.decision_function(X), local.decision_function(X), atol=1e-3)


def killing(client, calls):
    """A thread that kills all workers after some calls of `deadly`, and their process ids.

    Dask does not start a worker again that was killed while it started: one may be all there are.
    """
    calls.touch()
    client.wait_for_workers(1, timeout=LIMIT)
    processes = list(client.run(os.getpid).values())

    def kill():
        deadline = time.monotonic() + LIMIT
        while calls.stat().st_size <= 12 and time.monotonic() < deadline:
            time.sleep(0.02)
        for process in processes:
            os.kill(process, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    return killer, processes


def test_rows_that_cannot_be_made_again_are_an_error_with_the_model_so_far(client, tmp_path):
    def block(rows, number):
        deadly(number, str(calls), __file__)
        return rows

    scattered = client.scatter([X[60 * k : 60 * (k + 1)] for k in range(4)])
    calls = tmp_path / "calls"
    killer, _ = killing(client, calls)
    rows = [delayed(block)(part, k) for k, part in enumerate(scattered)]
    labels = [delayed(Y[60 * k : 60 * (k + 1)]) for k in range(4)]
    clf = SVC(solver=FEW, tol=1e-8, max_time=LIMIT)
    with (
        pytest.warns(ConvergenceWarning, match="rows that a worker held are gone"),
        pytest.raises(ClusterLost, match="they were scattered"),
    ):
        clf.fit(Made(rows, labels))
    killer.join(LIMIT)
    assert clf.predict(X).shape == Y.shape


def test_all_workers_gone_and_come_back(client, local, tmp_path):
    calls = tmp_path / "calls"
    killer, processes = killing(client, calls)
    rows = [delayed(deadly)(number, str(calls), __file__) for number in range(4)]
    labels = [delayed(Y[60 * k : 60 * (k + 1)]) for k in range(4)]
    clf = SVC(solver=FEW, max_time=LIMIT).fit(Made(rows, labels))
    killer.join(LIMIT)
    client.wait_for_workers(1, timeout=LIMIT)
    assert not {*processes} & {*client.run(os.getpid).values()}
    np.testing.assert_allclose(clf.dual_coef_, local.dual_coef_, atol=1e-6)


@pytest.fixture
def lonely(tmp_path):
    """A scheduler and a worker that are processes of their own."""
    file = tmp_path / "scheduler.json"
    source = str(Path(__file__).parents[2] / "src")
    environment = os.environ | {"PYTHONPATH": source}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    place = ["--scheduler-file", str(file)]
    programs = [
        ["distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", *place],
        ["distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", *place],
    ]
    started = [subprocess.Popen([sys.executable, "-m", *program], **quiet) for program in programs]
    yield file, started[0]
    for process in started:
        process.kill()
        process.wait(timeout=60)


def test_a_lost_scheduler_is_an_error_with_the_model_so_far(lonely, tmp_path):
    file, scheduler = lonely
    saved = tmp_path / "fit.maxmargin"

    def kill():
        deadline = time.monotonic() + LIMIT
        while not saved.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        scheduler.kill()

    deadline = time.monotonic() + LIMIT
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    with dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
        client = Client(scheduler_file=str(file), timeout=LIMIT, set_as_default=False)
        client.wait_for_workers(1, timeout=LIMIT)
        killer = threading.Thread(target=kill)
        killer.start()
        slow = Chunking(inner=BlockSMO(), violators=4)
        clf = SVC(solver=slow, checkpoint=saved, tol=1e-6, max_time=LIMIT)
        with (
            pytest.warns(ConvergenceWarning, match="scheduler at .* is gone"),
            pytest.raises(ClusterLost, match=r"make a new distributed\.Client"),
        ):
            clf.fit(DaskPartitions(*in_blocks(), client=client))
        killer.join(LIMIT)
        client.close(timeout=10)
    assert clf.certificate_.status.value == "interrupted"
    assert clf.predict(X).shape == Y.shape
    again = SVC(solver=slow, checkpoint=saved).fit(ArrayPartitions(X, Y, rows=60))
    assert again.history_["violators"][0] < len(X)


@pytest.mark.parametrize("machine", [LinearSVC(), LinearSVC(loss="hinge"), SVC(solver=FEW)])
def test_a_pipeline_standardises_learns_and_scores_on_the_cluster(client, machine):
    rows, labels = X * [1.0, 1000.0], Y
    lazy = da.from_array(rows, chunks=(60, 1)), da.from_array(labels, chunks=100)
    model = make_pipeline(StandardScaler(), clone(machine)).fit(*lazy)
    whole = make_pipeline(StandardScaler(), clone(machine)).fit(rows, labels)
    assert model[-1].certificate_.dual == pytest.approx(whole[-1].certificate_.dual, rel=2e-3)
    assert model.score(*lazy) == pytest.approx(model.score(rows, labels))
    np.testing.assert_array_equal(model.predict(lazy[0]).compute(), model.predict(rows))


def test_columns_of_frames_are_standardised(client):
    frame = pandas.DataFrame(X * [1.0, 1000.0], columns=["a", "b"])
    lazy, target = dd.from_pandas(frame, npartitions=3), dd.from_pandas(pandas.Series(T), 3)
    model = make_pipeline(StandardScaler(), LinearSVR(C=10.0)).fit(lazy, target)
    assert model[0].feature_names_in_.tolist() == ["a", "b"]
    whole = make_pipeline(StandardScaler(), LinearSVR(C=10.0)).fit(frame, T)
    np.testing.assert_allclose(model[-1].coef_, whole[-1].coef_, atol=1e-2)
    assert model.score(lazy, target) == pytest.approx(model.score(frame, T))


def test_blocks_that_were_not_persisted_are_held_while_they_are_fitted_to(client):
    """Each is computed once, and a round takes a task per worker, not one per block."""
    data = DaskPartitions(*in_blocks(20))
    held = data.held(X.nbytes)
    wait(futures_of(held._collections))
    assert len(data._bundles()) == data.count == 12
    assert len(held._bundles()) <= 2
    np.testing.assert_array_equal(held.block(3).X, X[60:80])
    assert held.held(X.nbytes) is held
    assert data.held(np.inf) is data


def test_fit_warns_where_one_process_is_faster(client):
    """By L and e of docs/do/sizing.md: workers save less than messages cost."""

    class Near(DaskPartitions):
        latency = 1e-12  # seconds
        workers = 2  # one alone saves nothing

    for machine in (SVC(max_time=LIMIT), SVC(probability=True, max_time=LIMIT)):
        with pytest.warns(UserWarning, match="one process is faster than the cluster") as found:
            machine.fit(*in_blocks())
        assert len(found) == 1
    with warnings.catch_warnings(action="error"):
        SVC(max_time=LIMIT).fit(Near(*in_blocks()))
        SVC(max_time=LIMIT).fit(ArrayPartitions(X, Y, rows=60))
    page = (Path(__file__).parents[2] / "docs" / "do" / "sizing.md").read_text()
    L, e = (re.search(rf"\b{name} = (\S+) s\b", page)[1] for name in "Le")
    assert (float(L), float(e)) == (DaskPartitions.latency, MULTIPLICATION)


def test_blocks_that_are_held_are_in_the_log(client, caplog):
    rows, labels = in_blocks()
    DaskPartitions(rows, labels).held(X.nbytes)
    assert "4 blocks of Dask that were not persisted" in caplog.text
    caplog.clear()
    kept = DaskPartitions(*client.persist([rows, labels]))
    kept.held(X.nbytes)
    assert not caplog.text
