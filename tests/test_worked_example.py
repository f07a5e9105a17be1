"""The worked example of the documents: its session runs, and its derivation is the lecture's."""

import doctest
import re
from pathlib import Path

import numpy as np

import naive
from problems import PROBLEMS

PAGE = Path(__file__).parents[1] / "docs" / "learn" / "worked-example.md"
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def test_the_session_prints_what_the_page_says():
    text = re.sub(r"^```.*$", "", PAGE.read_text(), flags=re.MULTILINE)
    session = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(session.examples) > 10
    results = doctest.DocTestRunner(optionflags=OPTIONS).run(session)
    assert results.failed == 0


def test_the_lecture_takes_the_same_two_steps():
    """In the textbook's notation, α and E, instead of β and G."""
    case = PROBLEMS["worked example"]
    K, y = case.matrix().block(range(4), range(4)), -case.problem.linear
    alpha, b = np.zeros(4), 0.0
    alpha, b, unclipped, L, H = naive.lecture_step(K, y, alpha, b, 1.0, 2, 0)
    assert (alpha.tolist(), b, unclipped, L, H) == ([1.0, 0.0, 1.0, 0.0], -0.5, 2.0, 0.0, 1.0)
    alpha, b, unclipped, L, H = naive.lecture_step(K, y, alpha, b, 1.0, 0, 1)
    assert (alpha.tolist(), b, unclipped, L, H) == ([0.5, 0.5, 1.0, 0.0], -1.5, 0.5, 0.0, 1.0)
    assert naive.violation(case.problem, K, y * alpha) == 0.0
    assert -naive.objective(case.problem, K, y * alpha) == 1.75
    assert naive.hinge_primal(K, y, y * alpha, b, np.ones(4)) == 1.75
