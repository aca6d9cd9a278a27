"""One call of a client without sessions, in a session on its host: what the host asks during it,
and what the client answers with its next rounds (2026-07-28, Multi Round-Trip Requests)."""

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

#: Seconds in which a host asks what it asks at once: the client is asked once, too.
TOGETHER = 0.02
#: Seconds that a call has to end before its client is asked what the host asked on no call's
#: account, as hosts ask each new session for its roots. Most calls don't need it.
OWN_ACCOUNT = 1.0
#: Notifications kept while a call waits for its client.
MISSED_LIMIT = 256
#: Characters of a question's name, and of what a host says of a failure that has another code here.
_NAME_LIMIT, _SAID_LIMIT = 100, 2000
#: How the keys begin that are the relay's own.
_OURS = "callboard"


class CallSession:
    """A session on the host, for one call after the other; the channel of its own stream."""

    def __init__(self, connection: HostConnection, capabilities: Mapping[str, Any]) -> None:
        self.connection = connection
        self.capabilities = capabilities
        self.opened = monotonic()
        #: The level of logs that it was set to.
        self.level: str | None = None
        self.call: HeldCall | None = None
        #: What the host asked on the session's own stream, and isn't answered.
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
    """One call on the host, over all the rounds of its client's requests."""

    def __init__(self, session: CallSession, id: jsonrpc.Id, relay: Relay) -> None:
        self.session = session
        self.id = id
        self.expiry: asyncio.TimerHandle | None = None
        self._relay = relay
        self._working: asyncio.Task[Json] | None = None
        #: Its open questions by their names, and the ids of all that it asked.
        self._questions: dict[str, Ask] = {}
        self._ids: dict[str, str] = {}
        #: What it asked although its client didn't declare it.
        self._refused: list[Ask] = []
        #: Whether the client is asked what its session was, too.
        self._asks_besides = False
        self._request: StatelessRequest | None = None
        self._missed: deque[Json] = deque(maxlen=MISSED_LIMIT)
        #: It has ended, or the host asks.
        self.news = asyncio.Event()
        session.call = self

    def begin(self, send_request: Coroutine[Any, Any, Json]) -> None:
        self._working = asyncio.ensure_future(send_request)
        self._working.add_done_callback(self._ended)

    def _ended(self, working: asyncio.Task[Json]) -> None:
        if not working.cancelled():
            working.exception()  # nobody may come back to be told
        self.news.set()

    def cancel(self) -> None:
        if self._working is not None:
            self._working.cancel()

    def send(self, message: Json) -> bool:
        """Takes what the host asks and tells."""
        if "id" in message:
            ask, id = _question(message), str(message["id"])
            name = _name(message)
            # A name that came before would find the answer of then.
            name = id if not name or name in self._ids else name
            self._ids[name], self._questions[name] = id, ask
            self.news.set()
        elif self._request is None:
            self._missed.append(message)
        else:
            _pass_on(message, self._request)
        return True

    async def go_on(self, request: StatelessRequest) -> Json:
        """The host's response. Raises InputRequired where the client has to be asked before, and
        what the request raises."""
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
        """What the client has to be asked now, by name."""
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
        """Raises MissingClientCapability where the call failed because its client didn't declare
        what it had to be asked: the host says so, or had asked all the same."""
        result, error = object_in(response, "result"), object_in(response, "error")
        if not error and result.get("isError") is not True:
            return
        told = {**object_in(result, "_meta"), **object_in(error, "data")}
        declared = self.session.capabilities
        needed = {
            name: parts
            for name, parts in object_in(told, NEEDS_KEY).items()
            if isinstance(parts, dict) and lacks(declared, {name: parts})
        }
        if needed := {**needed, **undeclared(declared, self._refused)}:
            texts = [part.get("text", "") for part in objects_in(result, "content")]
            reason = " ".join(map(str, [*texts, error.get("message", "")])).strip()
            missing = MissingClientCapability(needed)
            missing.message += f". The application said: {reason[:_SAID_LIMIT]}"
            raise missing

    async def _answer(self, name: str, answer: Json | None) -> None:
        """None refuses."""
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
    """What the host calls its question; empty where it has no name that could be used."""
    name = object_in(object_in(message, "params"), "_meta").get(NAME_KEY)
    if not isinstance(name, str) or len(name) > _NAME_LIMIT or name.startswith(_OURS):
        return ""
    return name


def _pass_on(message: Json, request: StatelessRequest) -> None:
    """Tells the client what belongs to its request; lists' changes go to who listens to them."""
    method, params = message["method"], object_in(message, "params")
    if method == "notifications/progress" and "progressToken" in request.meta:
        # Each round may have a token of its own.
        request.notify(method, {**params, "progressToken": request.meta["progressToken"]})
    elif method == "notifications/message" and wants(request, str(params.get("level"))):
        request.notify(method, params)
