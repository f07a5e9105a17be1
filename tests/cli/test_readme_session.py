"""The terminal session in the README is what happens."""

import re

from documents import NUMBER, ROOT

SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)
LINES = re.compile(r"[\s│┃─━┏┓┗┛┡┩└┘├┤┬┴┼╇┳┻╋]+")  # as wide as the numbers in a table


def commands():
    """Each line after a dollar, and what is printed below it."""
    text = "".join(SESSION.findall((ROOT / "README.md").read_text()))
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def words(text):
    """The text without its numbers, units of time and frames of tables."""
    return LINES.sub(" ", re.sub(r"# m?s\b", "# s", NUMBER.sub("#", text))).strip()


def test_the_session_in_the_readme(run, folder):
    (folder / "iris.csv").unlink()
    done = list(commands())
    assert len(done) >= 5
    for command, printed in done:
        line, _, head = command.partition(" | head -")
        program, *arguments = line.split()
        assert program == "maxmargin"
        result = run(*arguments)
        assert result.code == 0, result.err
        shown = result.out.splitlines()[: int(head)] if head else result.out.splitlines()
        assert words("\n".join([*result.lines, *shown])) == words(printed), command
