"""Compiled once, and where it lies."""

from pathlib import Path

from maxmargin.cli import warm_up


def test_it_says_where_the_compiled_code_lies_and_how_large_it_is(run, monkeypatch):
    """With two of its paths: all of them take a minute where nothing is compiled yet."""
    work = list(warm_up.paths())
    assert len({name for name, _ in work}) == len(work) > 20
    monkeypatch.setattr(warm_up, "paths", lambda: work[:2])
    found = run("warm-up", "--json").json
    files = [f for folder in warm_up.cache_folders() for f in Path(folder).glob("*.nb[ic]")]
    assert found["files"] == len(files) > 0
    assert found["bytes"] == sum(file.stat().st_size for file in files)
    assert Path(found["cache"]).is_dir()
    shown = run("warm-up").out
    assert "2 fits and predictions" in shown
    assert "MB in" in shown


def test_every_path_runs(run, monkeypatch):
    """Only that a name, an argument or a shape is not wrong: one of each kind."""
    kinds = {name.split(",")[0]: item for item in warm_up.paths() for name in item[:1]}
    monkeypatch.setattr(warm_up, "paths", lambda: list(kinds.values()))
    assert run("warm-up").code == 0
