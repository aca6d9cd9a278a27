"""A client's answers to a server's questions."""

from __future__ import annotations

import asyncio

from callboard.bundles.files.host_resources import READ_METHOD, RETRY_MS, too_busy
from callboard.content import Json
from callboard.errors import HostError, PeerError
from callboard.protocol.conversation import MAX_ASKED, Conversation
from callboard.protocol.handshake import Dialect
from callboard.protocol.stateless import LOG_LEVEL_KEY


def test_an_id_that_is_still_open_is_refused() -> None:
    sent: list[Json] = []

    async def two_of_one_id() -> None:
        answer = asyncio.Event()

        async def asked(method: str, params: Json) -> Json:
            await answer.wait()
            return {"roots": []}

        talk = Conversation(
            sent.append, asked, lambda method, params: None, refused=PeerError, lost=HostError
        )
        for _ in range(2):
            talk.received({"jsonrpc": "2.0", "id": 7, "method": "roots/list"})
            await asyncio.sleep(0)
        answer.set()
        while len(sent) < 2:
            await asyncio.sleep(0)

    asyncio.run(two_of_one_id())
    refused, answered = sent
    assert "still open" in refused["error"]["message"]
    assert answered == {"jsonrpc": "2.0", "id": 7, "result": {"roots": []}}


def test_a_bundle_with_too_many_open_reads_is_told_when_to_try_again() -> None:
    sent: list[Json] = []

    async def many() -> None:
        async def asked(method: str, params: Json) -> Json:
            await asyncio.Event().wait()
            return {}

        talk = Conversation(
            sent.append,
            asked,
            lambda method, params: None,
            refused=PeerError,
            lost=HostError,
            busy=too_busy,
        )
        for id, method in enumerate([READ_METHOD] * (MAX_ASKED + 1) + ["roots/list"]):
            talk.received({"jsonrpc": "2.0", "id": id, "method": method})
        talk.lose("it ended")

    asyncio.run(many())
    read, other = (message["error"] for message in sent)
    assert (read["code"], read["data"]) == (-32004, {"retryAfterMs": RETRY_MS})
    assert other["code"] == -31001


def test_a_request_carries_the_log_level_that_was_asked_for_and_no_other() -> None:
    talk = Dialect({"name": "test", "version": "1"}, True, {})
    carried = talk.meta({}, "debug")
    without = talk.meta({})
    assert {key: carried[key] for key in carried.keys() - without.keys()} == {
        LOG_LEVEL_KEY: "debug"
    }
