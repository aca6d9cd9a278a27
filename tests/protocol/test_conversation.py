"""A client's answers to a server's questions."""

from __future__ import annotations

import asyncio

from callboard.content import Json
from callboard.errors import HostError, PeerError
from callboard.protocol.conversation import Conversation


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
