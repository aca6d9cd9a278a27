"""The prompts of all instances at ``/mcp``, and each instance's answers."""

from __future__ import annotations

import os
from contextlib import ExitStack
from time import time

from gateway_thread import running_gateway

from callboard.transport import instances
from callboard.transport.instances import Instance
from callboard_testing.fake_client import FakeClient
from serving import served
from stateless_client import Stateless

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def test_healthy_prompts_are_listed_beside_backends_that_fail() -> None:
    gone = Instance("f" * 16, "maya", "Maya", "http://127.0.0.1:1/mcp", None, os.getpid(), time())
    with (
        running_gateway() as gateway,
        served(announce=True) as healthy,
        served(announce=True, enable_prompts=False) as without,
        gateway.client() as client,
    ):
        instances.announce(gone)
        healthy.app.prompts.register_prompt("greet", "Greets.", [{"name": "who"}], "Hi {{who}}")
        result = client.request("prompts/list")["result"]
        (prompt,) = result["prompts"]
        assert prompt["name"] == "fake__greet"
        assert prompt["_instance_id"] == healthy.app.id
        assert prompt["_instance_short"] == healthy.app.id[:8]
        assert prompt["_dcc_type"] == "fake"
        assert prompt["_meta"]["dcc.prompt_source"]
        # Clients that drop unknown keys still read these from _meta.
        assert prompt["_meta"]["_instance_id"] == healthy.app.id
        assert prompt["_meta"]["_instance_short"] == healthy.app.id[:8]
        assert prompt["_meta"]["_dcc_type"] == "fake"
        backends = {
            backend["instance_id"]: backend
            for backend in result["_meta"]["dcc.prompt_diagnostics"]["backends"]
        }
        assert backends[healthy.app.id]["status"] == "ok"
        assert backends[healthy.app.id]["prompt_count"] == 1
        assert "Method not found" in backends[without.app.id]["error"]
        assert backends[gone.id]["status"] == "unreachable"
        assert backends[gone.id]["error"]
        for text in greeted(client):
            assert text == "Hi Ada"
        unknown = client.request("prompts/get", {"name": "fake_9__greet"})
        assert unknown["error"]["code"] == -32602
        instances.withdraw(instances.folder() / f"{gone.id}.json")


def test_clients_of_both_eras_are_told_when_an_instances_prompts_change() -> None:
    changed = "notifications/prompts/list_changed"
    with (
        ExitStack() as afterwards,
        running_gateway() as gateway,
        served(announce=True) as host,
        gateway.client() as in_session,
    ):
        raw = gateway.client()
        afterwards.callback(raw.close)  # its stream ends with the gateway
        in_session.listen()
        stateless = Stateless(raw)
        stateless.listen(promptsListChanged=True)
        for number in range(1, 4):
            heard = [
                sum(each.get("method") == changed for each in list(client.received))
                for client in (in_session, raw)
            ]
            listed = in_session.request("prompts/list")["result"]["prompts"]
            assert len(listed) == number - 1
            host.app.prompts.register_prompt(f"greet_{number}", "Greets.", [], "Hi")
            for client, before in zip((in_session, raw), heard, strict=True):
                client.wait_for(changed, before + 1)


def greeted(client: FakeClient) -> list[str]:
    """Return the prompt's text in both eras."""
    wanted = {"name": "fake__greet", "arguments": {"who": "Ada"}}
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "prompts/get",
        "params": {**wanted, "_meta": META},
    }
    headers = {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "prompts/get",
        "Mcp-Name": "fake__greet",
        "Mcp-Session-Id": None,
    }
    results = [client.request("prompts/get", wanted), client.post(message, headers).message]
    return [each["result"]["messages"][0]["content"]["text"] for each in results]
