"""The server: polite to what it cannot take, deaf to what is not its own page."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from starlette.websockets import WebSocketDisconnect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from maxmargin.playground.picture import Outdated
from maxmargin.playground.presets import points as preset
from maxmargin.playground.schema import LONGEST, FitRequest, Refused, Settings, read
from maxmargin.playground.server import MOST_TABS, Tab
from maxmargin.playground.session import Session

PATIENCE = 90  # seconds that an answer may take on a busy machine
MOONS = preset("moons", 40, 0.2, seed=0)
FIT = {"type": "fit", "id": 1, "points": MOONS.as_json(), "settings": {}, "grid": 8}
SOLVE = {"type": "start", "id": 2, "points": MOONS.as_json(), "settings": {}, "goal": 0}

HOSTILE = {
    "no JSON": "{",
    "no object": "[1, 2]",
    "no type": "{}",
    "unknown type": '{"type": "delete everything"}',
    "type of another kind": '{"type": ["fit"]}',
    "missing fields": '{"type": "fit", "id": 1}',
    "unknown field": json.dumps({**FIT, "command": "rm"}),
    "a million points": json.dumps({**FIT, "points": [[0, 0, 0]] * 1_000_000}),
    "too many points": json.dumps({**FIT, "points": [[0, 0, 0]] * 1001}),
    "NaN": json.dumps({**FIT, "points": [[float("nan"), 0, 0]] * 9}),
    "infinity": json.dumps({**FIT, "settings": {"C": float("inf")}}),
    "a number too large": json.dumps({**FIT, "points": [[1e308, 0, 0], [0, 1, 1]]}),
    "a huge integer": '{"type": "advance", "id": 1, "steps": ' + "9" * 4000 + "}",
    "points of text": json.dumps({**FIT, "points": [["a", "b", "c"]]}),
    "points of two": json.dumps({**FIT, "points": [[1, 2]]}),
    "a class out of range": json.dumps({**FIT, "points": [[0, 0, 99]]}),
    "half a class": json.dumps({**FIT, "points": [[0, 0, 0.5]]}),
    "unknown machine": json.dumps({**FIT, "settings": {"machine": "oracle"}}),
    "machine of another kind": json.dumps({**FIT, "settings": {"machine": {"a": 1}}}),
    "unknown setting": json.dumps({**FIT, "settings": {"__class__": 1}}),
    "settings of another kind": json.dumps({**FIT, "settings": [1]}),
    "absurd C": json.dumps({**FIT, "settings": {"C": 1e30}}),
    "negative gamma": json.dumps({**FIT, "settings": {"gamma": -1}}),
    "broken degree": json.dumps({**FIT, "settings": {"degree": 2.5}}),
    "many features": json.dumps({**FIT, "settings": {"features": 10**9}}),
    "an enormous grid": json.dumps({**FIT, "grid": 10**6}),
    "true for a number": json.dumps({**FIT, "grid": True}),
    "three solvers": json.dumps({**SOLVE, "solvers": ["platt"] * 3}),
    "unknown solver": json.dumps({**SOLVE, "solvers": ["magic"]}),
    "endless steps": '{"type": "advance", "id": 1, "steps": 1000000000}',
    "a row that is not there": json.dumps({**FIT, "type": "leave-out", "row": 40}),
    "unknown preset": '{"type": "preset", "id": 1, "name": "x", "n": 9, "noise": 0, "seed": 0}',
    "nested deeply": "[" * 100_000,
}


@contextmanager
def tab(server, **options):
    """A WebSocket as the server's own page would open it, after its greeting."""
    address = f"ws://127.0.0.1:{server.port}/ws"
    options = {"origin": f"http://127.0.0.1:{server.port}", "max_size": None, **options}
    with connect(address, **options) as socket:
        assert json.loads(socket.recv(PATIENCE))["type"] == "hello"
        yield socket


def ask(socket, message):
    socket.send(message if isinstance(message, str) else json.dumps(message))
    return json.loads(socket.recv(PATIENCE))


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_request_is_refused_in_words(name):
    with pytest.raises(Refused) as refusal:
        read(HOSTILE[name])
    assert 10 < len(str(refusal.value)) < 600


def test_a_hostile_page_gets_polite_errors_and_the_server_stays_up(server):
    with tab(server) as socket:
        for message in HOSTILE.values():
            answer = ask(socket, message)
            assert answer["type"] == "refused"
            assert answer["why"]
        assert ask(socket, FIT)["type"] == "fit"


def test_a_message_beyond_all_measure_ends_the_tab_only(server):
    with tab(server) as socket, pytest.raises(ConnectionClosed):
        ask(socket, "x" * (1 << 25))
    with tab(server) as socket:
        assert ask(socket, FIT)["type"] == "fit"
        socket.send(b"bytes")


def test_the_longest_request_is_read():
    text = json.dumps({**FIT, "points": [[-1.234, -1.234, 7]] * 1000})
    assert len(text) < LONGEST
    assert len(read(text).points) == 1000


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", None])
def test_a_foreign_page_cannot_open_a_socket(server, origin):
    with (
        pytest.raises(InvalidStatus) as refusal,
        connect(f"ws://127.0.0.1:{server.port}/ws", origin=origin),
    ):
        pass
    assert refusal.value.response.status_code == 403


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_a_foreign_host_or_origin_reads_nothing(server, headers):
    for path in ("", "static/app.js"):
        with pytest.raises(HTTPError) as refusal:
            urlopen(Request(server.url + path, headers=headers))
        assert refusal.value.code == 403
        refusal.value.close()


def test_its_own_page_may_not_load_anything_from_elsewhere(server):
    with urlopen(server.url) as page:
        policy = page.headers["Content-Security-Policy"]
        text = page.read().decode()
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert "//" not in text.replace("</", "")
    with pytest.raises(HTTPError) as missing:
        urlopen(server.url + "static/page.html")
    assert missing.value.code == 404
    missing.value.close()


class OtherSite(BaseHTTPRequestHandler):
    """A page of another origin."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>another site</title>")

    def log_message(self, *_):
        """Say nothing."""


def test_another_sites_page_can_neither_drive_nor_read_it(chromium, server):
    with ThreadingHTTPServer(("127.0.0.1", 0), OtherSite) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{site.server_port}/")
        told = page.evaluate(
            """async (port) => {
              const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
              const opened = await new Promise((done) => {
                socket.onopen = () => done(true);
                socket.onclose = () => done(false);
              });
              const read = await fetch(`http://127.0.0.1:${port}/`).then(() => true, () => false);
              return { opened, read };
            }""",
            server.port,
        )
        context.close()
        site.shutdown()
    assert told == {"opened": False, "read": False}


def test_two_tabs_do_not_disturb_each_other(server):
    start = [{**SOLVE, "solvers": [name]} for name in ("platt", "second-order")]
    advance = {"type": "advance", "id": 3, "steps": 1}

    def stepped(socket):
        lane = ask(socket, advance)["lanes"][0]
        return lane["sentence"], lane["objective"]

    alone = []
    for request in start:
        with tab(server) as socket:
            ask(socket, request)
            alone.append([stepped(socket) for _ in range(5)])
    with tab(server) as first, tab(server) as second:
        ask(first, start[0])
        ask(second, start[1])
        together = [(stepped(first), stepped(second)) for _ in range(5)]
    assert [one for one, _ in together] == alone[0]
    assert [two for _, two in together] == alone[1]


def test_a_burst_of_fits_is_answered_by_the_newest(server):
    points = preset("spirals", 300, 0.5, seed=0).as_json()
    with tab(server) as socket:
        for number in range(1, 41):
            message = {**FIT, "id": number, "points": points, "settings": {"C": 100 + number}}
            socket.send(json.dumps(message))
        answered = [json.loads(socket.recv(PATIENCE))["id"]]
        while answered[-1] != 40:
            answered.append(json.loads(socket.recv(PATIENCE))["id"])
    assert answered == sorted(answered)
    assert len(answered) < 40


def test_a_tab_too_many_is_told_so(server):
    with ExitStack() as stack:
        for _ in range(MOST_TABS):
            stack.enter_context(tab(server))
        with pytest.raises(ConnectionClosed) as refusal, tab(server):
            pass
    assert "tabs are open" in refusal.value.rcvd.reason
    with tab(server) as socket:
        assert ask(socket, FIT)["type"] == "fit"


def test_an_outdated_fit_is_given_up():
    stop = Event()
    stop.set()
    with pytest.raises(Outdated):
        Session().answer(FitRequest(1, MOONS, Settings(), 8), stop)


def completed(converse):
    """What a coroutine returns, in a thread of its own: Playwright has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(converse())).result()


class SlowSocket:
    """A page that takes its time to read what it is sent."""

    def __init__(self):
        self.sent, self.gate, self.left = [], asyncio.Event(), asyncio.Event()

    async def send_text(self, text):
        await self.gate.wait()
        self.sent.append(json.loads(text))

    async def receive_text(self):
        await self.left.wait()
        raise WebSocketDisconnect


def test_a_slow_page_gets_fewer_frames_and_no_queue_grows():
    async def converse():
        socket = SlowSocket()
        slow = Tab(socket)
        work = asyncio.create_task(slow.work())
        await slow.take(json.dumps({**SOLVE, "solvers": ["platt"]}))
        for number in range(200):
            await slow.take(json.dumps({"type": "advance", "id": number, "steps": 1}))
            await asyncio.sleep(0)
            assert len(slow.pending) <= 2
        socket.gate.set()
        while not socket.sent or socket.sent[-1]["id"] != 199:
            await asyncio.sleep(0.01)
        work.cancel()
        slow.session.close()
        return socket.sent

    frames = [message for message in completed(converse) if message["type"] == "advance"]
    assert len(frames) < 10


def test_numbers_that_json_does_not_have_are_refused():
    socket = SlowSocket()

    async def converse():
        socket.gate = asyncio.Event()
        socket.gate.set()
        await Tab(socket).send({"type": "fit", "id": 7, "score": float("nan")})

    completed(converse)
    assert [socket.sent[0][key] for key in ("type", "of", "id")] == ["refused", "fit", 7]


def test_a_page_that_leaves_takes_its_solvers_along():
    async def converse():
        socket = SlowSocket()
        socket.gate.set()
        gone = Tab(socket)
        await gone.take(json.dumps({**SOLVE, "solvers": ["platt", "simplified"]}))
        running = asyncio.create_task(gone.run())
        while gone.session.theatre is None:
            await asyncio.sleep(0.01)
        threads = [lane._thread for lane in gone.session.theatre.lanes]
        socket.left.set()
        await running
        return threads

    for thread in completed(converse):
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_the_page_comes_back_when_the_server_does(start_server, open_page):
    first = start_server("--port", "0")
    page = open_page(url=first.url)
    before, picture = page.fits(), page.picture()
    first.stop()
    page.page.locator(".message.problem", has_text="The server is away").wait_for()
    start_server("--port", str(first.port))
    page.wait("(n) => document.querySelector('.playground').dataset.fits > n", before)
    page.settle()
    assert page.picture() == picture
    assert page.page.locator(".message.problem").count() == 0
    page.refit(lambda: page.click(0.0, 2.5))


def test_a_hostile_message_from_the_page_itself_is_told_and_forgotten(playground):
    playground.page.evaluate(
        """() => {
          const { WebSocket: Socket } = window;
          const send = Socket.prototype.send;
          Socket.prototype.send = function (text) {
            send.call(this, JSON.stringify({ type: "fit", id: 1, points: "all of them" }));
            Socket.prototype.send = send;
            send.call(this, text);
          };
        }"""
    )
    playground.refit(lambda: playground.click(0.0, 2.5))
    assert playground.certificate()["gap"] < 1e-3
