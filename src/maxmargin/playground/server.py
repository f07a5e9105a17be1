"""The local server: one page, its files, and a WebSocket for each tab.

It listens on 127.0.0.1 only, and answers only pages that it has served itself: a request whose
`Host` or `Origin` is another one is refused, so that no other site's page can drive it or read
from it (DNS rebinding included). Each tab has a session of its own. Of the requests of a kind the
newest counts: one that has not begun is replaced by it, one that is under way is stopped.
"""

from __future__ import annotations

import asyncio
import json
import socket
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from threading import Event

from starlette.applications import Starlette
from starlette.requests import Request as HTTPRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from maxmargin.playground import assets
from maxmargin.playground.message import Message
from maxmargin.playground.picture import Outdated
from maxmargin.playground.schema import Refused, Request, read
from maxmargin.playground.session import Session, greeting, kind

HOST = "127.0.0.1"
PORT = 8765
MOST_TABS = 32
LARGEST = 1 << 24  # bytes of a message that are read at all, if only to say that it is too long
REFUSED_TAB = 4429  # the code by which a tab too many is closed

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors * file:"  # slides may show the page: it holds what is drawn on it only
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class SameOrigin:
    """Lets through only what was asked of this server by its own page."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.hosts = {f"{host}:{port}" for host in (HOST, "localhost")}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a foreign Host or Origin; a WebSocket must name its origin, as browsers do."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {key.decode(): value.decode("latin-1") for key, value in scope["headers"]}
        origin = headers.get("origin")
        known = origin in self.origins or (origin is None and scope["type"] == "http")
        if headers.get("host") in self.hosts and known:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 4403})
        else:
            refusal = PlainTextResponse("This server answers its own page only.\n", 403)
            await refusal(scope, receive, send)


class Tab:
    """One WebSocket: reads requests, works on the newest of each kind, sends answers."""

    def __init__(self, socket: WebSocket, lessons: Path | None = None) -> None:
        self.socket, self.session, self.lessons = socket, Session(), lessons
        self.pending: dict[str, Request] = {}
        self.current: tuple[str, Event] | None = None
        self.arrived = asyncio.Event()

    async def run(self) -> None:
        """Until the page is gone."""
        await self.send(greeting(self.lessons))
        work = asyncio.create_task(self.work())
        try:
            while True:
                await self.take(await self.socket.receive_text())
        except (WebSocketDisconnect, RuntimeError, KeyError):
            pass  # gone, or it sent bytes where text is spoken
        finally:
            if self.current:
                self.current[1].set()
            self.session.close()
            work.cancel()
            with suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await work

    async def take(self, text: str) -> None:
        """Note a request, in place of an older one of its kind."""
        try:
            request = read(text)
        except Refused as refusal:
            await self.send({"type": "refused", "id": None, "of": None, "why": str(refusal)})
            return
        name = kind(request)
        self.pending[name] = request
        if self.current and self.current[0] == name:
            self.current[1].set()
        self.arrived.set()

    async def work(self) -> None:
        """One request after the other, each in a thread: the loop stays free to read."""
        while True:
            await self.arrived.wait()
            name = next(iter(self.pending))
            request, stop = self.pending.pop(name), Event()
            if not self.pending:
                self.arrived.clear()
            self.current = (name, stop)
            with suppress(Outdated):
                await self.send(await asyncio.to_thread(self.session.answer, request, stop))
            self.current = None

    async def send(self, message: Message) -> None:
        """As JSON, which has no NaN and no ∞: a page could not read them."""
        try:
            text = json.dumps(message, allow_nan=False, separators=(",", ":"))
        except ValueError:
            why = "The numbers of this machine are not finite: take other settings"
            of = {"id": message["id"], "of": message["type"]}
            text = json.dumps({"type": "refused", **of, "why": why})
        await self.socket.send_text(text)


def application(
    port: int, ready: Callable[[], None] = lambda: None, lessons: Path | None = None
) -> ASGIApp:
    """The whole of it, for the address that it will be served at.

    Parameters
    ----------
    port : int
        The port that pages will have in their `Host`.
    ready : function
        Called when pages can be asked for.
    lessons : Path or None
        A folder with more lessons.

    Returns
    -------
    an ASGI application
    """
    tabs: set[Tab] = set()

    async def page(_: HTTPRequest) -> Response:
        return Response(assets.page(), media_type="text/html", headers=HEADERS)

    async def static(request: HTTPRequest) -> Response:
        name = request.path_params["name"]
        if name not in assets.names():
            return PlainTextResponse("There is no such file.\n", 404, headers=HEADERS)
        kind = assets.TYPES[name.rpartition(".")[2]]
        return Response(assets.text(name), media_type=kind, headers=HEADERS)

    async def converse(socket: WebSocket) -> None:
        await socket.accept()
        if len(tabs) >= MOST_TABS:
            await socket.close(REFUSED_TAB, f"{MOST_TABS} tabs are open already")
            return
        tab = Tab(socket, lessons)
        tabs.add(tab)
        try:
            await tab.run()
        finally:
            tabs.discard(tab)

    @asynccontextmanager
    async def opened(_: Starlette) -> AsyncIterator[None]:
        """Open the page once it is served."""
        opening = asyncio.create_task(asyncio.to_thread(ready))
        yield
        await opening

    routes = [
        Route("/", page),
        Route("/static/{name}", static),
        WebSocketRoute("/ws", converse),
    ]
    return SameOrigin(Starlette(routes=routes, lifespan=opened), port)


def free_port(wanted: int | None) -> socket.socket:
    """A socket on the port wanted; by default on 8765, or on any free one if that is taken."""
    for port in [wanted] if wanted is not None else [PORT, 0]:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen()  # a browser that comes before the server is ready has to wait only
        except OSError:
            listener.close()
        else:
            return listener
    raise OSError(f"port {wanted} is taken: give another one, or none to have a free one found")


def serve(
    port: int | None = None,
    *,
    browser: bool = True,
    tell: Callable[[str], None] = print,
    lessons: Path | None = None,
) -> None:
    """Serve the playground on this computer until Ctrl-C.

    Parameters
    ----------
    port : int or None
        None takes 8765, or a free one if that is taken.
    browser : bool
        Whether to open the page.
    tell : function of the address
        Called when the page is there.
    lessons : Path or None
        A folder with lessons of your own, as JSON files.
    """
    import uvicorn

    greeting(lessons)  # a lesson that cannot be read is said before the page opens
    listener = free_port(port)
    number = listener.getsockname()[1]
    address = f"http://{HOST}:{number}/"

    def ready() -> None:
        tell(address)
        if browser:
            webbrowser.open(address)

    config = uvicorn.Config(
        application(number, ready, lessons),
        log_level="warning",
        ws_max_size=LARGEST,
        ws_max_queue=4,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    with closing(listener), suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
