"""Tests sessions without sockets: a list stands in for the connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest

from callboard.clients.holder import LOCAL
from callboard.content import Json
from callboard.errors import INVALID_PARAMS, INVALID_REQUEST, InvalidParams
from callboard.protocol.jsonrpc import Notification, Request, Response
from callboard.protocol.peer import Ask, AskFailed, Peer, PeerRequest
from callboard.protocol.session import (
    INFLIGHT_LIMIT,
    OUTBOX_LIMIT,
    PeerEvent,
    Session,
    SessionEra,
    SessionRequest,
    Sessions,
    TooManySessions,
)


class Wire:
    """A stream to the client: the messages sent, and whether it accepts more."""

    def __init__(self, open: bool = True) -> None:
        self.sent: list[Json] = []
        self.open = open

    def send(self, message: Json) -> bool:
        if self.open:
            self.sent.append(message)
        return self.open

    def end(self) -> None:
        self.open = False


class Backstage:
    """A server that answers ``echo`` at once, and ``wait`` once ``go_on`` is set."""

    def __init__(self) -> None:
        self.events: list[PeerEvent] = []
        self.go_on = asyncio.Event()
        self.cancelled = 0

    def introduce(self, peer: Peer) -> Json:
        return {"capabilities": {}, "serverInfo": {"name": "backstage", "version": "1"}}

    async def handle(self, request: PeerRequest) -> Json:
        if request.method == "wait":
            try:
                await self.go_on.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        if request.method == "wrong":
            raise InvalidParams("no")
        return {"echo": request.params}

    def peer_event(self, peer: Peer, event: PeerEvent) -> None:
        self.events.append(event)


def opened(
    era: SessionEra, version: Any = "2025-11-25", capabilities: Any = None
) -> tuple[Session, Json]:
    params = {"protocolVersion": version, "capabilities": capabilities or {}}
    return era.initialize(Request(1, "initialize", params), LOCAL)


def scene(play: Callable[[SessionEra, Backstage], Any]) -> None:
    """Run ``play`` on a new loop."""

    async def run() -> None:
        backstage = Backstage()
        await play(SessionEra(backstage), backstage)

    asyncio.run(run())


async def settled() -> None:
    """Run everything that is ready to run on the loop."""
    for _ in range(5):
        await asyncio.sleep(0)


# -- negotiation --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("9999-99-99", "2025-11-25"),
        ("", "2025-11-25"),
    ],
)
def test_a_known_revision_is_spoken_else_the_newest_with_sessions(asked: str, given: str) -> None:
    session, response = opened(SessionEra(Backstage()), asked)
    assert response["result"]["protocolVersion"] == given
    assert session.features.name == given


@pytest.mark.parametrize(
    "params",
    [{}, {"protocolVersion": 20251125}, {"protocolVersion": "2025-11-25", "capabilities": []}],
)
def test_initialize_with_wrong_params_opens_nothing(params: Json) -> None:
    with pytest.raises(InvalidParams):
        SessionEra(Backstage()).initialize(Request(1, "initialize", params), LOCAL)


def test_session_ids_cannot_be_guessed() -> None:
    era = SessionEra(Backstage())
    ids = {opened(era)[0].id for _ in range(50)}
    assert len(ids) == 50
    assert all(len(id) >= 32 and id.isascii() for id in ids)


@pytest.mark.parametrize("info", [None, 5, {}, {"name": 5}, {"name": "x" * 10_000}])
def test_whatever_a_client_calls_itself_it_has_a_short_name(info: Any) -> None:
    params = {"protocolVersion": "2025-11-25", "clientInfo": info}
    session, _ = SessionEra(Backstage()).initialize(Request(1, "initialize", params), LOCAL)
    assert 0 < len(session.client.name) <= 200


# -- requests -----------------------------------------------------------------------------------


def test_a_duplicate_id_is_refused_while_the_first_is_under_way() -> None:
    async def play(era: SessionEra, backstage: Backstage) -> None:
        session, _ = opened(era)
        first = asyncio.create_task(era.answer(session, Request(0, "wait"), Wire()))
        await settled()
        refused = await era.answer(session, Request(0, "echo"), Wire())
        assert refused is not None
        assert refused["id"] == 0
        assert refused["error"]["code"] == INVALID_REQUEST
        other = await era.answer(session, Request("0", "echo"), Wire())
        assert other is not None
        assert "result" in other
        backstage.go_on.set()
        answered = await first
        assert answered is not None
        assert answered["result"] == {"echo": {}}
        again = await era.answer(session, Request(0, "echo"), Wire())
        assert again is not None
        assert "result" in again

    scene(play)


def test_requests_under_way_are_bounded_and_ping_passes() -> None:
    async def play(era: SessionEra, backstage: Backstage) -> None:
        session, _ = opened(era)
        waiting = [
            asyncio.create_task(era.answer(session, Request(n, "wait"), Wire()))
            for n in range(INFLIGHT_LIMIT)
        ]
        await settled()
        refused = await era.answer(session, Request("one more", "echo"), Wire())
        assert refused is not None
        assert refused["error"]["code"] == INVALID_REQUEST
        ping = await era.answer(session, Request("p", "ping"), Wire())
        assert ping == {"jsonrpc": "2.0", "id": "p", "result": {}}
        backstage.go_on.set()
        answers = await asyncio.gather(*waiting)
        assert {answer["id"] for answer in answers if answer} == set(range(INFLIGHT_LIMIT))
        assert not session.inflight

    scene(play)


@pytest.mark.parametrize(
    ("cancelled", "hits"), [(1, True), ("1", False), (True, False), (None, False), ([1], False)]
)
def test_only_the_very_id_cancels_and_gets_no_answer(cancelled: Any, hits: bool) -> None:
    async def play(era: SessionEra, backstage: Backstage) -> None:
        session, _ = opened(era)
        under_way = asyncio.create_task(era.answer(session, Request(1, "wait"), Wire()))
        await settled()
        params = {"requestId": cancelled}
        era.receive(session, Notification("notifications/cancelled", params))
        era.receive(session, Notification("notifications/cancelled", {}))
        await settled()
        assert (backstage.cancelled == 1) is hits
        backstage.go_on.set()
        assert (await under_way is None) is hits
        assert not session.inflight

    scene(play)


def test_a_second_initialize_in_a_session_is_refused() -> None:
    async def play(era: SessionEra, backstage: Backstage) -> None:
        session, _ = opened(era)
        answer = await era.answer(session, Request(1, "initialize"), Wire())
        assert answer is not None
        assert answer["error"]["code"] == INVALID_REQUEST
        wrong = await era.answer(session, Request(2, "wrong"), Wire())
        assert wrong is not None
        assert wrong["error"]["code"] == INVALID_PARAMS

    scene(play)


def test_events_come_once_for_initialized_and_every_time_for_roots() -> None:
    async def play(era: SessionEra, backstage: Backstage) -> None:
        session, _ = opened(era)
        for _ in range(3):
            era.receive(session, Notification("notifications/initialized"))
        for _ in range(2):
            era.receive(session, Notification("notifications/roots/list_changed"))
        era.receive(session, Notification("notifications/no/such/thing"))
        assert backstage.events == ["ready", "roots_changed", "roots_changed"]

    scene(play)


# -- messages from the server -------------------------------------------------------------------


def test_messages_wait_for_a_stream_and_keep_their_order() -> None:
    session, _ = opened(SessionEra(Backstage()))
    for number in range(3):
        session.notify("notifications/message", {"n": number})
    wire = Wire()
    session.listen(wire)
    session.notify("notifications/message", {"n": 3})
    assert [m["params"]["n"] for m in wire.sent] == [0, 1, 2, 3]


def test_what_waits_goes_round_no_loop_once_the_request_that_carries_it_is_over() -> None:
    session, _ = opened(SessionEra(Backstage()))
    session.notify("notifications/message", {"n": 0})
    wire = Wire(open=False)
    outer = SessionRequest(session, Request(2, "tools/call", {}), wire)
    inner = SessionRequest(session, Request(3, "tools/call", {}), outer)
    inner.flush_waiting()
    wire.open = True
    inner.flush_waiting()
    assert [message["params"]["n"] for message in wire.sent] == [0]


def test_what_waits_is_bounded_and_the_oldest_goes_first() -> None:
    session, _ = opened(SessionEra(Backstage()))
    for number in range(OUTBOX_LIMIT + 10):
        session.notify("notifications/message", {"n": number})
    wire = Wire()
    session.listen(wire)
    assert [m["params"]["n"] for m in wire.sent] == list(range(10, OUTBOX_LIMIT + 10))


def test_a_changed_list_is_told_once_however_often_it_changed() -> None:
    session, _ = opened(SessionEra(Backstage()))
    for _ in range(5):
        session.notify("notifications/tools/list_changed")
    wire = Wire()
    session.listen(wire)
    assert wire.sent == [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}]


def test_a_newer_stream_ends_the_older_one() -> None:
    session, _ = opened(SessionEra(Backstage()))
    old, new = Wire(), Wire()
    session.listen(old)
    session.listen(new)
    session.unlisten(old)
    session.notify("notifications/tools/list_changed")
    assert not old.open
    assert old.sent == []
    assert len(new.sent) == 1


def test_an_answer_goes_to_the_question_of_its_id() -> None:
    async def play(era: SessionEra, backstage: Backstage) -> None:
        session, _ = opened(era)
        wire = Wire()
        session.listen(wire)
        asks = [asyncio.create_task(session.ask(Ask("roots/list", {"n": n}))) for n in range(3)]
        await settled()
        for message in reversed(wire.sent):
            result = {"n": message["params"]["n"]}
            era.receive(session, Response(message["id"], result, None))
            era.receive(session, Response(message["id"], {"n": "twice"}, None))
        era.receive(session, Response("never asked", {}, None))
        assert await asyncio.gather(*asks) == [{"n": 0}, {"n": 1}, {"n": 2}]
        assert not session.asked

    scene(play)


def test_a_question_fails_with_the_clients_words_or_when_time_is_up_or_the_session_ends() -> None:
    async def play(era: SessionEra, backstage: Backstage) -> None:
        session, _ = opened(era)
        wire = Wire()
        session.listen(wire)
        refused = asyncio.create_task(session.ask(Ask("roots/list")))
        late = asyncio.create_task(session.ask(Ask("roots/list"), 0.01))
        left = asyncio.create_task(session.ask(Ask("roots/list")))
        await settled()
        error = {"code": -32601, "message": "no roots here"}
        era.receive(session, Response(wire.sent[0]["id"], None, error))
        with pytest.raises(AskFailed, match="no roots here"):
            await refused
        with pytest.raises(AskFailed, match="did not answer"):
            await late
        session.close()
        with pytest.raises(AskFailed, match="session ended"):
            await left
        with pytest.raises(AskFailed, match="session ended"):
            await session.ask(Ask("roots/list"))
        assert not session.asked

    scene(play)


def test_a_question_that_is_pushed_out_of_a_full_outbox_fails() -> None:
    async def play(era: SessionEra, backstage: Backstage) -> None:
        session, _ = opened(era)
        asked = asyncio.create_task(session.ask(Ask("roots/list")))
        await settled()
        for number in range(OUTBOX_LIMIT):
            session.notify("notifications/message", {"n": number})
        with pytest.raises(AskFailed, match="no stream"):
            await asked

    scene(play)


# -- the set of sessions ------------------------------------------------------------------------


def test_the_set_is_bounded_and_an_ended_session_makes_room() -> None:
    era = SessionEra(Backstage())
    ended: list[Session] = []
    sessions = Sessions(ended.append, limit=2)
    first, second = opened(era)[0], opened(era)[0]
    for session in (first, second):
        sessions.room(LOCAL)
        sessions.add(session)
    with pytest.raises(TooManySessions):
        sessions.room(LOCAL)
    sessions.end(first)
    sessions.end(first)
    sessions.room(LOCAL)
    assert ended == [first]
    assert first.closed
    assert sessions.open.get(first.id) is None
    assert sessions.open.get(second.id) is second


def test_idle_sessions_expire_but_not_those_that_listen_or_wait() -> None:
    async def play(era: SessionEra, backstage: Backstage) -> None:
        sessions = Sessions(lambda session: None, idle_seconds=10)
        idle, fresh, listening, busy = (opened(era)[0] for _ in range(4))
        wire = Wire()
        listening.listen(wire)
        under_way = asyncio.create_task(era.answer(busy, Request(1, "wait"), Wire()))
        await settled()
        for session in (idle, fresh, listening, busy):
            sessions.add(session)
            session.last_seen = monotonic() - (1 if session is fresh else 60)
        sessions.expire()
        assert list(sessions) == [fresh, listening, busy]
        assert idle.closed
        backstage.go_on.set()
        await under_way
        sessions.expire()
        assert busy in list(sessions)  # The session was used a moment ago.

    scene(play)


def test_closing_cancels_what_is_under_way_and_ends_the_stream() -> None:
    async def play(era: SessionEra, backstage: Backstage) -> None:
        session, _ = opened(era)
        wire = Wire()
        session.listen(wire)
        under_way = asyncio.create_task(era.answer(session, Request(1, "wait"), Wire()))
        await settled()
        session.close()
        assert await under_way is None
        assert backstage.cancelled == 1
        assert not wire.open
        session.notify("notifications/tools/list_changed")
        assert wire.sent == []

    scene(play)
