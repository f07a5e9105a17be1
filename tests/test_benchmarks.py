"""The judge tells the truth about any answer, and the whole benchmark runs end to end."""

import csv
from contextlib import ExitStack
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from sklearn import svm
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks import report, scale, sizing, switch
from benchmarks.__main__ import joined, main
from benchmarks.ablation import (
    descent_variants,
    feature_variants,
    linear,
    linear_variants,
    on_features,
    seconds,
    variants,
)
from benchmarks.case import Answer, Case, Part
from benchmarks.datasets import load
from benchmarks.judge import judge
from benchmarks.peers import PEERS
from benchmarks.runner import Record, Settings, interleave, too_slow
from benchmarks.suite import MODES
from benchmarks.targets import TARGETS, factors, reached
from benchmarks.worker import PeerError, Timing, Worker

SCIKIT_LEARN = next(peer for peer in PEERS if peer.name == "scikit-learn")
CASES = [
    Case("test", "narrow", 60, "SVC", C=2.0, gamma=0.02),
    Case("test", "text", 60, "SVC", C=2.0, gamma=1.0),
    Case("test", "friedman", 60, "SVR", C=2.0, gamma=0.1),
    Case("test", "novelty", 60, "OneClassSVM", gamma=0.1),
]
NAMES = [f"{case.machine}-{case.data}" for case in CASES]


def naive_verdict(case, beta, intercept):
    """Dual, primal and KKT gap by the definitions, one variable at a time."""
    data = load(case.data, case.n)
    K, n, C = rbf_kernel(data.X, gamma=case.gamma), len(data.y), case.C
    y = np.where(data.y > 0, 1, -1) if case.machine == "SVC" else data.y
    f = K @ beta + intercept
    half_norm = 0.5 * beta @ K @ beta
    variables = []  # row, β, linear term, lower, upper
    primal = half_norm
    for i in range(n):
        if case.machine == "SVC":
            variables.append((i, beta[i], -y[i], min(0, C * y[i]), max(0, C * y[i])))
            primal += C * max(0, 1 - y[i] * f[i])
        elif case.machine == "SVR":
            variables.append((i, max(beta[i], 0), case.epsilon - y[i], 0, C))
            variables.append((i, min(beta[i], 0), -case.epsilon - y[i], -C, 0))
            primal += C * max(0, abs(y[i] - f[i]) - case.epsilon)
        else:
            variables.append((i, beta[i], 0, 0, 1))
            primal += max(0, -f[i]) + case.nu * intercept
    dual = -half_norm - sum(b * p for _, b, p, _, _ in variables)
    up = [-(K[i] @ beta + p) for i, b, p, _, u in variables if b < u]
    down = [-(K[i] @ beta + p) for i, b, p, l, _ in variables if b > l]
    return dual, primal, max(0, max(up) - min(down))


def random_beta(case, rng):
    """Coefficients within their bounds, some of them at a bound."""
    y, C = load(case.data, case.n).y, case.C
    share = np.clip(rng.uniform(-0.5, 1.5, len(y)), 0, 1)
    return {
        "SVC": np.where(y > 0, C, -C) * share,
        "SVR": C * (2 * share - 1),
        "OneClassSVM": share,
    }[case.machine]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_judge_agrees_with_the_definitions(case):
    rng = np.random.default_rng(0)
    for _ in range(5):
        beta, intercept = random_beta(case, rng), rng.normal()
        support = rng.permutation(np.flatnonzero(beta))
        pair = (1.0, 0.0) if case.machine == "SVC" else None
        verdict = judge(case, Answer([Part(support, beta[support], intercept, pair)]))
        expected = naive_verdict(case, beta, intercept)
        np.testing.assert_allclose((verdict.dual, verdict.primal, verdict.gap), expected, rtol=1e-9)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_judge_finds_a_tight_answer_tight_and_a_spoilt_one_infeasible(case):
    data = load(case.data, case.n)
    tight = replace(case, tol=1e-8)
    answer = SCIKIT_LEARN.answer(tight, SCIKIT_LEARN.fit(tight, data.X, data.y), data.y)
    verdict = judge(case, answer)
    assert verdict.gap <= 1e-6  # not 1e-8: LIBSVM keeps kernel entries in float32
    assert verdict.primal == pytest.approx(verdict.dual, rel=1e-6)
    assert verdict.passes(1e-3)
    part = answer.parts[0]
    assert not judge(case, Answer([replace(part, beta=1.5 * part.beta)])).passes(1e-3)


def test_every_pair_of_a_multiclass_machine_is_read_rightly():
    case = Case("test", "ten_classes", 200, gamma=1 / 16)
    data = load(case.data, case.n)
    machine = svm.SVC(C=case.C, gamma=case.gamma, decision_function_shape="ovo")
    machine.fit(data.X, data.y)
    answer = SCIKIT_LEARN.answer(case, machine, data.y)
    values = machine.decision_function(data.Xt)
    assert [part.pair for part in answer.parts] == list(combinations(machine.classes_, 2))
    for part, value in zip(answer.parts, values.T, strict=True):
        K = rbf_kernel(data.Xt, data.X[part.support], gamma=case.gamma)
        np.testing.assert_allclose(K @ part.beta + part.intercept, value, atol=1e-10)
    assert judge(case, answer).passes(case.tol)


@pytest.mark.parametrize(
    ("loss", "penalty"), [("hinge", "l2"), ("squared_hinge", "l2"), ("squared_hinge", "l1")]
)
def test_linear_gap_is_the_distance_from_a_dual_value(loss, penalty):
    case = Case("test", "narrow", 200, "LinearSVC", C=0.1, loss=loss, penalty=penalty)
    data = load(case.data, case.n)
    w = SCIKIT_LEARN.fit(replace(case, tol=1e-9), data.X, data.y).coef_[0]
    y = np.where(data.y > 0, 1, -1)
    zero = judge(case, Answer(weights=np.zeros_like(w)))
    assert zero.primal == pytest.approx(case.C * len(y))
    assert judge(case, Answer(weights=w)).gap <= 1e-5
    assert zero.gap == pytest.approx((zero.primal - zero.dual) / zero.primal)


def test_the_gap_of_several_classes_is_the_distance_from_a_dual_value():
    case = Case("test", "iris", 150, "LinearSVC", C=0.1, loss="crammer_singer")
    data = load(case.data, case.n)
    zero = judge(case, Answer(weights=np.zeros((3, 4))))
    assert zero.primal == pytest.approx(case.C * len(data.y))
    assert zero.gap > 0.1
    for peer in PEERS:
        if peer.name in ("scikit-learn", "maxmargin-64"):  # which every machine has
            model = peer.fit(replace(case, tol=1e-9), data.X, data.y)
            assert judge(case, peer.answer(case, model, data.y)).gap <= 1e-5


def test_both_dtypes_hold_the_same_problem():
    X = load("narrow", 50).X
    np.testing.assert_array_equal(X, X.astype(np.float32))


def test_repeats_take_turns_and_warming_up_counts_only_alone():
    calls = []

    def verb(peer):
        calls.append(peer.name)
        return Timing(1.0, 1.0, 0.0)

    fast, slow = (replace(SCIKIT_LEARN, name=name) for name in ("fast", "slow"))
    warm = {"fast": Timing(5.0, 5.0, 0.0), "slow": Timing(100.0, 100.0, 0.0)}
    results = interleave(verb, [fast, slow], warm, Settings(repeats=9, budget=3.0), {})
    assert results == {"fast": [Timing(1.0, 1.0, 0.0)] * 3, "slow": [warm["slow"]]}
    warm = dict.fromkeys(warm, Timing(1.0, 1.0, 0.0))
    calls.clear()
    interleave(verb, [fast, slow], warm, Settings(repeats=3, budget=9.0), {})
    assert calls == ["fast", "slow", "slow", "fast", "fast", "slow"]


def test_a_library_drops_out_of_sizes_it_cannot_finish():
    assert not too_slow(None, 10_000, 60.0)
    assert not too_slow((1_000, 0.5), 10_000, 60.0)
    assert too_slow((1_000, 0.7), 10_000, 60.0)


def test_a_failure_of_a_library_is_reported_not_raised_through():
    case = CASES[0]
    absent = replace(SCIKIT_LEARN, name="nobody")
    object.__setattr__(absent, "module", "no_such_library")
    with pytest.raises(PeerError, match="absent: No module named 'no_such_library'"):
        Worker(absent).ask("fit", case)
    late = Worker(SCIKIT_LEARN)
    with pytest.raises(PeerError, match="more than 0 s"):
        late.ask("fit", case, limit=0.0)
    dead = Worker(SCIKIT_LEARN)
    dead.wait()
    dead.process.kill()
    with pytest.raises(PeerError, match="crashed"):
        dead.ask("fit", case)


@pytest.mark.parametrize("variant", variants(), ids=lambda variant: variant.name)
def test_every_idea_of_the_ablation_solves_the_problem(variant):
    case = Case("ablation", "narrow", 300, gamma=1 / 40)
    data = load(case.data, case.n)
    model = variant.fit(case, *variant.prepare(data.X, data.y))
    assert judge(case, variant.answer(case, model, data.y)).passes(case.tol)


OTHERS = {
    "linear": (linear("squared_hinge"), linear_variants()),
    "descent": (linear("squared_hinge", "dual"), descent_variants()),
    "features": (on_features(1.0, 1e-3), feature_variants()),
}


@pytest.mark.parametrize(
    ("solver", "name"), [(solver, name) for solver, (_, all_) in OTHERS.items() for name in all_]
)
def test_every_idea_of_the_other_solvers_can_be_left_out(solver, name):
    data = load("narrow", 600)
    make, changes = OTHERS[solver]
    assert np.isfinite(seconds(make, data.X, data.y, changes[name]))


def test_memory_is_seen_whatever_the_parent_used():
    rows = np.ones(40_000_000)  # 320 MB here must not hide what the worker takes
    case = Case("memory", "narrow", 3_000, gamma=1 / 40)
    worker = Worker(SCIKIT_LEARN)
    worker.ask("fit", replace(case, n=100))
    cached_rows = load(case.data, case.n).X.shape[0] ** 2 * 4 / 1e6
    assert worker.ask("fit", case).extra > 0.3 * cached_rows
    worker.stop()
    assert rows.all()


def test_no_share_is_claimed_of_memory_that_was_not_noticed():
    ours, rival = (
        Record("memory", "a", name, peak_mb=0.0) for name in ("maxmargin-32", "intelex-32")
    )
    assert reached([ours, rival])[-1] == ("peak extra memory, a", "intelex-32", "a tenth", "–")
    rival = replace(rival, peak_mb=100.0)
    assert reached([replace(ours, peak_mb=5.0), rival])[-1][-1] == "0.05 ✓"


def test_factors_compare_the_same_input():
    records = [
        Record("train", "a", "maxmargin-32", seconds=1.0),
        Record("train", "a", "maxmargin-64", seconds=2.0),
        Record("train", "a", "intelex-32", seconds=4.0),
        Record("train", "a", "scikit-learn", seconds=6.0),
        Record("train", "b", "scikit-learn", seconds=6.0),
        Record("train", "a", "libsvm", "more than 60 s"),
    ]
    assert factors(records, "train", ("intelex-32", "scikit-learn")) == [4.0, 3.0]
    assert factors(records, "train", ("intelex-32", "scikit-learn"), fastest=True) == [3.0]
    assert factors(records, "train", ("libsvm",)) == []
    assert [work for work, *_ in reached(records)] == [target.work for target in TARGETS]


@pytest.mark.small
def test_measuring_a_kind_again_keeps_the_others(tmp_path):
    train = Record("train", "narrow", "libsvm", seconds=2.5, passed=False)
    before = [train, Record("SVR", "abalone", "libsvm", "absent")]
    report.write_csv(before, tmp_path / "run")
    assert report.read_csv(tmp_path / "run") == before
    again = [Record("SVR", "abalone", "libsvm", seconds=1.0)]
    assert joined(before, again) == [train, *again]
    assert report.read_csv(tmp_path / "another") == []


def test_the_whole_benchmark_runs(tmp_path):
    out = tmp_path / "tiny"
    peers = ["maxmargin-64", "scikit-learn"]
    records = main(["--mode", "tiny", "--peers", *peers, "--out", str(out)])
    assert all(record.status == "ok" for record in records)
    assert all(record.passed for record in records if record.peer.startswith("maxmargin"))
    kinds = {case.kind for case in MODES["tiny"][0]()} | {"predict"}
    assert {record.kind for record in records} == kinds
    with out.with_suffix(".csv").open() as file:
        assert [row["seconds"] for row in csv.DictReader(file)] == [str(r.seconds) for r in records]
    text = out.with_suffix(".md").read_text()
    assert all(f"## {kind}" in text for kind in kinds)
    assert "| work | against | at least | reached |" in text
    assert out.with_suffix(".png").stat().st_size > 0


def test_the_page_of_sizing_is_what_was_measured():
    """`python -m benchmarks.sizing` wrote it from scale.csv; nothing in it is typed by hand."""
    text = sizing.PAGE.read_text()
    assert sizing.page(text, sizing.records_of()) == text


def test_costs_that_follow_the_model_are_predicted_exactly():
    constants = {"maps": [0.05, 2e-11], "driver": [0.01, 3e-10], "moved": [0.4]}
    constants["memory"] = [300.0, 1.5]
    sets = [("cover", rows, rows // 1000) for rows in (50_000, 150_000, 0)]
    sets += [("covtype", rows, rows // 3) for rows in (23_000, 46_000, 0)]
    records = [
        {"case": "generated", "way": "dask nystroem, 2 workers", "rows": rows, "seconds": seconds}
        for rows, seconds in (("0", "50"), ("1000000", "8"))
    ]
    for case, rows, support in sets:
        for workers in (1, 2):
            work = sizing.Work(
                rows or sizing.ALL[case], sizing.COLUMNS[case], support or 300, 9, workers
            )
            cost = {
                name: np.dot(constants[name], model(work)) for name, model in sizing.MODELS.items()
            }
            record = {"case": case, "way": f"dask, {workers} workers", "rows": rows}
            record |= {"support": work.support, "rounds": work.rounds, "map_seconds": cost["maps"]}
            record |= {"seconds": cost["maps"] + cost["driver"], "moved_mb": cost["moved"]}
            records.append(record | {"worker_peak_mb": cost["memory"]})
    lines = sizing.measured(records)
    for name, wanted in constants.items():
        np.testing.assert_allclose(sizing.fitted(lines, name), wanted, rtol=1e-6)
    text = " ".join(sizing.page(sizing.PAGE.read_text(), records).split())
    assert "Fitted on 1 and 2 workers: L = 0.05 s" in text
    assert "seconds are off by 0% at most" in text
    assert text.count("| held out |") == 4
    assert "1,000,000 rows took 8.0 s and 10.0 s are predicted (+25%)" in text


@pytest.mark.parametrize("workers", [1, 3])
def test_a_cluster_has_as_many_workers_as_its_line_says(workers):
    with ExitStack() as stack:
        assert len(scale.cluster(stack, workers).nthreads()) == workers


def test_the_default_is_compared_with_the_better_of_its_two_methods(tmp_path):
    cell = ("german", 1.0, 0.0, 1.0)
    fits = [
        switch.Fit(*cell, "default", 3.0, "converged"),
        switch.Fit(*cell, "SMO", 4.0, "converged"),
        switch.Fit(*cell, "second order", 2.0, "converged"),
        switch.Fit("german", 10.0, 0.0, 1.0, "default", 3.0, "converged"),  # the others are missing
    ]
    assert switch.ratios(fits) == [(fits[0], 3.0 / 2.0, 3.0 / 4.0)]
    switch.write({(*fit.cell, fit.method): fit for fit in fits}, tmp_path / "switch.csv")
    switch.main(["--report", "--out", str(tmp_path)])
    assert "| german | 1 |  | 1 | 3.000 | 4.000 | 2.000 | 1.50 | 0.75 |" in (
        tmp_path / "SWITCH.md"
    ).read_text(encoding="utf-8")
    assert (tmp_path / "switch.png").stat().st_size
