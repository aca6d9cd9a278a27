"""Sessions, calls and failures leave nothing behind, however many there are."""

from __future__ import annotations

import gc
from collections import Counter

from callboard.clients.owner import Owner
from serving import Served, served
from waiting import until

#: The packages whose objects a server makes for each session, call and failure.
MAKERS = ("callboard", "tornado", "asyncio", "_asyncio", "socket")
SOME = 25


def one_after_the_other(server: Served, sessions: int) -> None:
    for _ in range(sessions):
        with server.client() as client:
            assert client.call("there")["isError"] is False
            assert client.call("fails")["isError"] is True
            assert "error" in client.request("tools/call", {"name": "not_there"})
    until(lambda: not server.app.endpoint.sessions, "the sessions to end")


def held() -> Counter[str]:
    gc.collect()
    kinds = (type(each) for each in gc.get_objects())
    return Counter(
        f"{kind.__module__}.{kind.__name__}"
        for kind in kinds
        # The log's last few records refer to their owners.
        if str(kind.__module__).partition(".")[0] in MAKERS and kind is not Owner
    )


def test_sessions_calls_and_failures_leave_no_object() -> None:
    def fail() -> None:
        raise ValueError("as asked")

    with served() as server:
        server.tool("there", lambda: "there", annotations={"readOnlyHint": True})
        server.tool("fails", fail, annotations={"readOnlyHint": True})
        one_after_the_other(server, SOME)
        before = held()
        one_after_the_other(server, SOME)

        def grown() -> dict[str, int]:
            return {kind: n for kind, n in (held() - before).items() if n >= SOME // 2}

        # The last connections close a moment after their answers.
        until(lambda: not grown(), "what the sessions made to be gone")
