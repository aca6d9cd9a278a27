"""A client's trace reaches the host's records through the gateway, by header and in the request."""

from __future__ import annotations

import pytest
from gateway_thread import RunningGateway

from callboard.records.reader import Reader
from callboard.records.store import default_folder
from serving import served
from stateless_client import Stateless

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize("way", ["header", "meta"])
@pytest.mark.parametrize("era", ["session", "stateless"])
@pytest.mark.parametrize("path", ["fake", ""])
def test_the_trace_is_in_the_hosts_record(
    gateway: RunningGateway, path: str, era: str, way: str
) -> None:
    tool = "tools__call" if path == "" else "say"
    arguments = {"instance": "fake", "tool": "say"} if path == "" else {}
    with served(announce=True, records=True) as host:
        host.tool("say", lambda: {"said": "hello"})
        raw = gateway.client(path)
        meta = {"traceparent": TRACE} if way == "meta" else {}
        if way == "header":
            raw.headers["traceparent"] = TRACE
        if era == "session":
            with raw as client:
                client.call(tool, arguments, _meta=meta)
        else:
            client = Stateless(raw)
            client._meta.update(meta)
            client.call(tool, arguments)
            raw.close()
    (call,) = Reader(default_folder()).recent().calls
    assert (call.tool, call.trace) == ("say", TRACE)
