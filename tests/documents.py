"""The examples of a document and what they print: shared by the tests that run them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = re.compile(r"```python\n(?P<program>.*?)```(\n+```text\n(?P<output>.*?)```)?", re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?")


def assert_same_output(actual: str, documented: str) -> None:
    """The same words, and the same values of what does not depend on the machine and its speed."""
    assert NUMBER.sub("#", actual) == NUMBER.sub("#", documented)
    for ours, theirs in zip(actual.splitlines(), documented.splitlines(), strict=True):
        if theirs.startswith(("primal", "dual", "test accuracy")):
            assert float(NUMBER.search(ours)[0]) == pytest.approx(
                float(NUMBER.search(theirs)[0]), rel=0.01
            )
