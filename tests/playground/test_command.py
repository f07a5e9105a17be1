"""`maxmargin playground`: starts, finds a port, stops."""

import json
import socket
import sys

from typer.testing import CliRunner

from maxmargin.cli import app


def test_it_finds_a_free_port_and_stops_on_ctrl_c(server, start_server):
    other = start_server()
    assert other.port != server.port
    assert other.stop() == "Stopped.\n"
    assert other.process.returncode == 0


def test_json_is_one_object_with_the_address(start_server):
    other = start_server("--json")
    assert json.loads(other.greeting) == {"address": other.url}
    assert other.stop() == ""


def test_a_port_that_was_asked_for_and_is_taken_is_an_error():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(app, ["playground", "--no-browser", "--port", port])
    assert result.exit_code == 1
    assert f"port {port} is taken" in result.output


def test_it_names_the_extra_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)
    result = CliRunner().invoke(app, ["playground", "--no-browser"])
    assert result.exit_code == 1
    assert "pip install 'maxmargin[playground]'" in result.output
