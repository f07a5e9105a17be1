"""`python -m maxmargin.cli` is the command `maxmargin`."""

from maxmargin.cli import app

app(prog_name="maxmargin")
