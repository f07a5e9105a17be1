"""The terminal sessions in the documents are what happens."""

import re

import pytest

from documents import NUMBER, ROOT

SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)
LINES = re.compile(r"[\s│┃─━┏┓┗┛┡┩└┘├┤┬┴┼╇┳┻╋]+")  # as wide as the numbers in a table


def commands(document):
    """Each line after a dollar, and what is printed below it."""
    text = "".join(SESSION.findall((ROOT / document).read_text()))
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def words(text):
    """The text without its numbers, units of time and frames of tables."""
    return LINES.sub(" ", re.sub(r"# m?s\b", "# s", NUMBER.sub("#", text))).strip()


@pytest.mark.parametrize(("document", "least"), [("README.md", 3), ("docs/do/command.md", 5)])
def test_the_session_of_a_document(run, folder, document, least):
    (folder / "iris.csv").unlink()
    done = list(commands(document))
    assert len(done) >= least
    for command, printed in done:
        line, _, head = command.partition(" | head -")
        program, *arguments = line.split()
        assert program == "maxmargin"
        result = run(*arguments)
        assert result.code == 0, result.err
        shown = result.out.splitlines()[: int(head)] if head else result.out.splitlines()
        assert words("\n".join([*result.lines, *shown])) == words(printed), command
