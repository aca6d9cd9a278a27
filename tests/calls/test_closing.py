"""A server that stops sends its clients the reason why their calls and streams ended."""

from __future__ import annotations

import threading

import pytest

from callboard.errors import HOST_OFFLINE
from callboard_testing.fake_client import FakeClient
from serving import served
from stateless_client import Stateless
from waiting import until

CLOSING = "the application is closing; connect again once it is open"


@pytest.mark.parametrize(
    ("annotations", "says"),
    [
        ({"readOnlyHint": True}, "so slow was ended; call again once the application is open"),
        ({}, "it may have changed something, so look at the scene before you call"),
    ],
)
def test_a_call_that_runs_when_the_application_closes_is_told(
    annotations: dict[str, bool], says: str
) -> None:
    begun, release = threading.Event(), threading.Event()
    try:
        with served() as server:

            def slow() -> None:
                begun.set()
                release.wait(20)

            server.tool("slow", slow, affinity="any", annotations=annotations)
            client = server.client()
            client.initialize()
            call = client.start("tools/call", {"name": "slow", "arguments": {}})
            until(begun.is_set, "the call")
            server.on_main(server.app.stop)
            error = call.result(20)["error"]
        assert error["code"] == HOST_OFFLINE
        assert error["message"].startswith("the application is closing, ")
        assert says in error["message"]
    finally:
        release.set()


def test_a_stream_says_that_the_application_is_closing_before_it_ends() -> None:
    with served() as server, server.client() as client:
        client.listen()
        with server.client() as quiet:
            quiet.request("logging/setLevel", {"level": "error"})
            quiet.listen()
            server.on_main(server.app.stop)
            told = client.wait_for("notifications/message")
        assert [each["params"]["data"] for each in told] == [CLOSING]
        assert quiet.received == []


def test_a_stream_without_a_session_ends_with_the_reason() -> None:
    with served() as server:
        raw = FakeClient(server.app.url, server.app.token)
        client = Stateless(raw)
        message, headers = client.message("subscriptions/listen", {"notifications": {}})
        stream = raw.in_thread(lambda: raw.post(message, headers))
        raw.wait_for("notifications/subscriptions/acknowledged")
        server.on_main(server.app.stop)
        result = stream.result(20).message["result"]
        assert result["_meta"]["callboard/reason"] == CLOSING
