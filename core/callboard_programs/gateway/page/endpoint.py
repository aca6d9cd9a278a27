"""Serves the page at ``/``, and answers its requests under ``/page/``."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, get_args

from callboard.calls.consent import Decision
from callboard.clients.book import ClientBook
from callboard.clients.holder import LOCAL
from callboard.content import Json
from callboard.errors import CallboardError, HostError, PeerError
from callboard.protocol import jsonrpc
from callboard.transport.http.access import Refusal
from callboard.transport.http.incoming_request import IncomingRequest
from callboard.transport.instances import Instance
from callboard_programs.gateway.page import requests
from callboard_programs.gateway.page.access import (
    BELOW,
    ENTER,
    LINK,
    PAGE_HEADER,
    PageAccess,
    PageLogin,
    read_query,
)
from callboard_programs.gateway.page.feed import PageFeed

log = logging.getLogger(__name__)

_FILES = Path(__file__).with_name("static")
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: Load nothing from other servers and nothing inline, and never treat text as markup.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_ACTS = ("cancel", "undo", *get_args(Decision))
#: The answers that the page can give to a client on another machine that requests access.
_WORDS = {"approve": True, "turn_away": False}
_TOOLS = {"viewport": "viewport__capture", "look": "viewport__look"}


class PageEndpoint:
    """The endpoint for the page's paths. Use it on the gateway's loop. Access has already been
    checked: the page's own paths need the cookie or a link's code, and the path that makes a link
    needs a token."""

    def __init__(self, login: PageLogin, feed: PageFeed, access: Callable[[], PageAccess]) -> None:
        """``access`` must not be called before the gateway is listening."""
        self._login = login
        self._feed = feed
        self._access = access
        self._tasks: set[asyncio.Task[None]] = set()
        self._answers: dict[tuple[str, str], Callable[[IncomingRequest], Awaitable[None]]] = {
            ("POST", "/page/act"): self._act,
            ("GET", "/page/picture"): self._picture,
            ("GET", "/page/report"): self._report,
            ("GET", "/page/calls"): self._calls,
            ("GET", "/page/trace"): self._trace,
        }

    def __call__(self, incoming: IncomingRequest) -> None:
        asked = (incoming.method, incoming.path)
        if asked == ("POST", LINK):
            self._make_link(incoming)
        elif asked == ("GET", ENTER):
            self._enter(incoming)
        elif asked == ("GET", "/page/events"):
            if self._is_page(incoming):
                incoming.on_gone = self._feed.attend(incoming.open_stream(_HEADERS))
        elif asked in self._answers:
            if self._is_page(incoming):
                self._start(incoming, self._answers[asked])
        elif incoming.method == "GET":
            self._file(incoming)
        else:
            incoming.refuse(Refusal(404, "nothing is served here; the page is at /"))

    def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()

    # -- requests ---------------------------------------------------------------------------

    def link(self) -> str:
        """Return a link that opens the page in one browser. The link works once, within ten
        minutes."""
        return f"http://127.0.0.1:{self._access().port}{ENTER}?code={self._login.new_code()}"

    def _make_link(self, incoming: IncomingRequest) -> None:
        if incoming.holder != LOCAL:
            incoming.refuse(
                Refusal(403, "a link needs the gateway's own token, not a client's token")
            )
            return
        incoming.respond_json(200, {"url": self.link()}, _HEADERS)

    def _enter(self, incoming: IncomingRequest) -> None:
        entry = self._login.enter(read_query(incoming.query).get("code", ""))
        if entry is None:
            incoming.refuse(
                Refusal(401, "this link has already been used; run `callboard gateway --open`")
            )
            return
        cookie = f"{self._access().cookie_name}={entry.cookie}; Path=/; HttpOnly; SameSite=Strict"
        # Don't redirect: if another program opened the link, the browser wouldn't send the cookie
        # with the redirected request.
        text = (
            '<!doctype html><meta charset="utf-8"><title>callboard</title>'
            '<link rel="icon" href="/page/icon.svg">'
            f'<meta http-equiv="refresh" content="0;url=/#{entry.secret}">'
        )
        headers = {**_HEADERS, "Set-Cookie": cookie}
        incoming.respond(200, text.encode(), _TYPES[".html"], headers)

    def _is_page(self, incoming: IncomingRequest) -> bool:
        """Return whether the page itself sent this request, and refuse the request if not. A
        request that changes something also needs an Origin header."""
        secret = incoming.headers.get(PAGE_HEADER.lower(), "")
        cookie = self._access().cookie_of(incoming.headers)
        if not self._login.belongs(cookie, secret):
            incoming.refuse(
                Refusal(403, "open the page again: run `callboard gateway --open` on this machine")
            )
            return False
        if incoming.method == "POST" and "origin" not in incoming.headers:
            incoming.refuse(Refusal(403, "a request that changes something needs an Origin header"))
            return False
        return True

    # -- answering --------------------------------------------------------------------------

    def _file(self, incoming: IncomingRequest) -> None:
        name = "index.html" if incoming.path == "/" else incoming.path.removeprefix(BELOW)
        # Look the file up by name alone, so that a path in the name can't lead to another file.
        files = {path.name: path for path in _FILES.iterdir() if path.suffix in _TYPES}
        path = files.get(name)
        if path is None:
            incoming.refuse(Refusal(404, "nothing is served here; the page is at /"))
            return
        incoming.respond(200, path.read_bytes(), _TYPES[path.suffix], _HEADERS)

    def _start(
        self, incoming: IncomingRequest, answer: Callable[[IncomingRequest], Awaitable[None]]
    ) -> None:
        task = asyncio.get_running_loop().create_task(self._run(incoming, answer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        incoming.on_gone = task.cancel

    async def _run(
        self, incoming: IncomingRequest, answer: Callable[[IncomingRequest], Awaitable[None]]
    ) -> None:
        try:
            await answer(incoming)
        except CallboardError as error:
            incoming.on_gone = None
            status = 400 if isinstance(error, PeerError) else 502
            incoming.refuse(Refusal(status, error.message[:1000]))
        except Exception:
            log.exception("%s %s failed", incoming.method, incoming.path)
            incoming.on_gone = None
            incoming.refuse(Refusal(500, "internal error; the log has the details"))

    async def _act(self, incoming: IncomingRequest) -> None:
        body = jsonrpc.decode(incoming.body)
        if not isinstance(body, dict) or body.get("do") not in (*_ACTS, *_WORDS):
            raise PeerError(f"'do' must be one of {', '.join((*_ACTS, *_WORDS))}")
        id = body.get("id")
        if not isinstance(id, str) or not id:
            raise PeerError("'id' must be the id of a call, question or client")
        if body["do"] in _WORDS:
            # Use a new ClientBook, because writing may wait for other processes, and the gateway's
            # own book is used on the loop.
            await asyncio.to_thread(lambda: ClientBook().answer(id, yes=_WORDS[body["do"]]))
            self._respond(incoming, {"done": True})
            return
        instance = self._instance(body.get("instance"), body.get("instance_id"))
        self._respond(incoming, await requests.act(instance, {"do": body["do"], "id": id}))

    async def _picture(self, incoming: IncomingRequest) -> None:
        asked = read_query(incoming.query)
        tool = _TOOLS.get(asked.get("by", ""))
        if tool is None:
            raise PeerError("'by' must be viewport or look")
        instance = self._instance(asked.get("instance"), asked.get("id"))
        made = await requests.picture(instance, tool)
        incoming.on_gone = None
        incoming.respond(200, made.data, made.mime_type, _HEADERS)

    async def _report(self, incoming: IncomingRequest) -> None:
        self._respond(
            incoming, await requests.report(read_query(incoming.query).get("since", "7d"))
        )

    async def _calls(self, incoming: IncomingRequest) -> None:
        self._respond(incoming, await requests.ended_calls())

    async def _trace(self, incoming: IncomingRequest) -> None:
        self._respond(incoming, await requests.trace(read_query(incoming.query).get("call", "")))

    def _instance(self, name: Any, id: Any) -> Instance:
        """Return the instance with that name and id. Raises HostError if it is gone or another
        instance has its name now."""
        entry = self._feed.entry(name)
        if entry is None or entry.instance.id != id:
            raise HostError("that instance is gone; nothing was done")
        return entry.instance

    @staticmethod
    def _respond(incoming: IncomingRequest, value: Json) -> None:
        incoming.on_gone = None
        incoming.respond_json(200, value, _HEADERS)
