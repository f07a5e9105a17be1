"""Random problems, judged; and those on which library and judge once disagreed."""

import json

import pytest

from fuzz import REGRESSIONS
from fuzz.problem import Problem
from fuzz.shrink import shrunk
from fuzz.trial import DISAGREES, REFUSES, has_no_solution, tried

BATCH = 20
KEPT = json.loads(REGRESSIONS.read_text())


@pytest.mark.parametrize("first", range(0, 300, BATCH))
def test_random_problems(first):
    for seed in range(first, first + BATCH):
        problem = Problem.drawn(seed, most_rows=60)
        outcome = tried(problem)
        assert outcome.kind != DISAGREES, (problem.words, outcome.why)


@pytest.mark.parametrize("words", KEPT, ids=str)
def test_what_once_disagreed(words):
    outcome = tried(Problem(**words))
    assert outcome.kind != DISAGREES, outcome.why


@pytest.mark.parametrize(
    ("problem", "right"),
    [
        (Problem(classes=2, n=1), True),
        (Problem(machine="NuSVC", n=40, nu=0.9, classes=3, multiclass="ovr"), True),
        (Problem(machine="NuSVC", n=40, nu=0.3), False),
        (Problem(machine="SVR", n=1), False),
    ],
    ids=str,
)
def test_what_is_refused_has_no_solution(problem, right):
    assert has_no_solution(problem, *problem.rows()[1:]) == right
    assert (tried(problem).kind == REFUSES) == right


def test_a_problem_that_fails_is_made_small():
    failing = Problem.drawn(5, 300)
    small = shrunk(failing, lambda problem: problem.C == failing.C)
    assert small.words.keys() <= {"C", "n", "seed", "machine"}
    assert small.n == 1
