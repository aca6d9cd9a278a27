"""When a server stops, its clients are told why their calls ended."""

from __future__ import annotations

import threading

from callboard.errors import HOST_OFFLINE
from serving import served
from waiting import until


def test_a_call_that_runs_when_the_application_closes_hears_it() -> None:
    begun, release = threading.Event(), threading.Event()
    try:
        with served() as server:

            def slow() -> None:
                begun.set()
                release.wait(20)

            server.tool("slow", slow, affinity="any")
            client = server.client()
            client.initialize()
            call = client.start("tools/call", {"name": "slow", "arguments": {}})
            until(begun.is_set, "the call")
            server.on_main(server.app.stop)
            error = call.result(20)["error"]
        assert error["code"] == HOST_OFFLINE
        assert "the application is closing, so slow was ended" in error["message"]
    finally:
        release.set()
