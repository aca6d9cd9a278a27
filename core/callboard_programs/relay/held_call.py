"""A call by a client without sessions, held open in a session on the host while the host asks
questions and the client answers them in further rounds (2026-07-28, Multi Round-Trip Requests)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Mapping
from time import monotonic
from typing import Any

from callboard.content import Json
from callboard.errors import InvalidParams, PeerError
from callboard.protocol import jsonrpc
from callboard.protocol.errors import MissingClientCapability
from callboard.protocol.jsonrpc import Response
from callboard.protocol.logging_levels import wants
from callboard.protocol.peer import NAME_KEY, NEEDS_KEY, Ask, lacks, undeclared
from callboard.protocol.stateless import StatelessRequest
from callboard_programs.relay.link import HostConnection
from callboard_programs.relay.pages import object_in, objects_in
from callboard_programs.relay.relay import Relay

#: Seconds within which a host's questions are collected, so that the client is asked only once.
TOGETHER = 0.02
#: Seconds allowed for a call to end before its client is asked questions that don't belong to any
#: call, such as the request for the roots, which hosts send to each new session. Most calls don't
#: need the answers.
OWN_ACCOUNT = 1.0
#: Maximum number of notifications that are kept while a call waits for its client.
MISSED_LIMIT = 256
#: Maximum number of characters in a question's name, and in a host's message that is quoted in
#: another error.
_NAME_LIMIT, _SAID_LIMIT = 100, 2000
#: The prefix of the relay's own keys.
_OURS = "callboard"


class CallSession:
    """A session on the host, used for one call after another. The object is also the channel for
    the session's own stream."""

    def __init__(self, connection: HostConnection, capabilities: Mapping[str, Any]) -> None:
        self.connection = connection
        self.capabilities = capabilities
        self.opened = monotonic()
        #: The log level that was set for the session.
        self.level: str | None = None
        self.call: HeldCall | None = None
        #: Unanswered questions that the host asked on the session's own stream.
        self.besides: dict[str, Ask] = {}

    def send(self, message: Json) -> bool:
        if "id" in message:
            self.besides[str(message["id"])] = _question(message)
            if self.call is not None:
                self.call.news.set()
        elif self.call is not None:
            self.call.send(message)
        return True


class HeldCall:
    """One call on the host, across all rounds of the client's request."""

    def __init__(self, session: CallSession, id: jsonrpc.Id, relay: Relay) -> None:
        self.session = session
        self.id = id
        self.expiry: asyncio.TimerHandle | None = None
        self._relay = relay
        self._working: asyncio.Task[Json] | None = None
        #: The call's open questions by name, and the ids of all its questions.
        self._questions: dict[str, Ask] = {}
        self._ids: dict[str, str] = {}
        #: Questions of kinds that the client didn't declare.
        self._refused: list[Ask] = []
        #: True once the client is asked the session's own questions too.
        self._asks_besides = False
        self._request: StatelessRequest | None = None
        self._missed: deque[Json] = deque(maxlen=MISSED_LIMIT)
        #: Set when the call has ended or the host has asked a question.
        self.news = asyncio.Event()
        session.call = self

    def begin(self, send_request: Coroutine[Any, Any, Json]) -> None:
        self._working = asyncio.ensure_future(send_request)
        self._working.add_done_callback(self._ended)

    def _ended(self, working: asyncio.Task[Json]) -> None:
        if not working.cancelled():
            # Mark the error as retrieved, because the client may never return for it.
            working.exception()
        self.news.set()

    def cancel(self) -> None:
        if self._working is not None:
            self._working.cancel()

    def send(self, message: Json) -> bool:
        """Handle the host's questions and notifications."""
        if "id" in message:
            ask, id = _question(message), str(message["id"])
            name = _name(message)
            # A question whose name was used before would get the old answer.
            name = id if not name or name in self._ids else name
            self._ids[name], self._questions[name] = id, ask
            self.news.set()
        elif self._request is None:
            self._missed.append(message)
        else:
            _pass_on(message, self._request)
        return True

    async def go_on(self, request: StatelessRequest) -> Json:
        """Continue the call, and return the host's response. Raises InputRequired when the client
        has to be asked first. Errors of the request itself are raised too."""
        assert self._working is not None
        self._request = request
        try:
            while self._missed:
                _pass_on(self._missed.popleft(), request)
            while not self._working.done():
                if self._open():
                    await asyncio.sleep(TOGETHER)
                    await self._ask(request)
                else:
                    await self._wait_for_news()
            return self._working.result()
        finally:
            self._request = None

    def _open(self) -> dict[str, Ask]:
        """Return the questions that the client has to answer now, by name."""
        return {**self._questions, **(self.session.besides if self._asks_besides else {})}

    async def _wait_for_news(self) -> None:
        self.news.clear()
        patience = OWN_ACCOUNT if self.session.besides else None
        try:
            await asyncio.wait_for(self.news.wait(), patience)
        except asyncio.TimeoutError:
            self._asks_besides = True

    async def _ask(self, request: StatelessRequest) -> None:
        for name, ask in self._open().items():
            if ask.method == "ping":
                await self._answer(name, {})
            elif "/" not in ask.method or lacks(request.peer.capabilities, ask.needs):
                if name in self._questions:
                    self._refused.append(ask)
                await self._answer(name, None)
        if asks := self._open():
            for name, answer in (await request.ask_all(asks)).items():
                if not isinstance(answer, dict):
                    raise InvalidParams(f"the answer to {asks[name].method} must be an object")
                await self._answer(name, answer)

    def check(self, response: Json) -> None:
        """Raise MissingClientCapability if the call failed because the client hasn't declared a
        capability that the host needs for a question. Either the host's error says so, or the host
        asked the question anyway."""
        result, error = object_in(response, "result"), object_in(response, "error")
        if not error and result.get("isError") is not True:
            return
        reported = {**object_in(result, "_meta"), **object_in(error, "data")}
        declared = self.session.capabilities
        needed = {
            name: parts
            for name, parts in object_in(reported, NEEDS_KEY).items()
            if isinstance(parts, dict) and lacks(declared, {name: parts})
        }
        if needed := {**needed, **undeclared(declared, self._refused)}:
            texts = [part.get("text", "") for part in objects_in(result, "content")]
            reason = " ".join(map(str, [*texts, error.get("message", "")])).strip()
            missing = MissingClientCapability(needed)
            missing.message += f". The application said: {reason[:_SAID_LIMIT]}"
            raise missing

    async def _answer(self, name: str, answer: Json | None) -> None:
        """Answer one of the host's questions, or refuse it if ``answer`` is None."""
        id = self._ids.get(name, name)
        self._questions.pop(name, None)
        self.session.besides.pop(name, None)
        if answer is not None:
            await self._relay.answered(Response(id, answer, None))
        else:
            refused = PeerError("the client can't be asked this")
            error = jsonrpc.error_message(id, refused)["error"]
            await self._relay.answered(Response(id, None, error))


def _question(message: Json) -> Ask:
    params = dict(object_in(message, "params"))
    meta = {key: value for key, value in object_in(params, "_meta").items() if key != NAME_KEY}
    params.pop("_meta", None)
    return Ask(str(message["method"]), {**params, "_meta": meta} if meta else params)


def _name(message: Json) -> str:
    """Return the host's name for its question, or an empty string if there is no usable name."""
    name = object_in(object_in(message, "params"), "_meta").get(NAME_KEY)
    if not isinstance(name, str) or len(name) > _NAME_LIMIT or name.startswith(_OURS):
        return ""
    return name


def _pass_on(message: Json, request: StatelessRequest) -> None:
    """Pass on a message that belongs to the client's request. Notifications of changed lists are
    sent on the client's listening streams instead."""
    method, params = message["method"], object_in(message, "params")
    if method == "notifications/progress" and "progressToken" in request.meta:
        # Each round may have a progress token of its own.
        request.notify(method, {**params, "progressToken": request.meta["progressToken"]})
    elif method == "notifications/message" and wants(request.peer, str(params.get("level"))):
        request.notify(method, params)
