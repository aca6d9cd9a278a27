"""The resources of all instances at ``/mcp``, and completion of their arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest
from gateway_thread import RunningGateway, running_gateway

from callboard_testing.fake_client import FakeClient
from serving import served

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SCENE = "scene://current"


def in_both_eras(client: FakeClient, method: str, params: dict[str, Any]) -> list[Any]:
    headers = {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        "Mcp-Session-Id": None,
        "Mcp-Name": params.get("uri"),
    }
    stateless = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
    return [client.request(method, params), client.post(stateless, headers).message]


def test_each_instances_resources_are_listed_and_read_as_its_own() -> None:
    with (
        running_gateway() as gateway,
        served(announce=True) as first,
        served(announce=True) as second,
        gateway.client() as client,
    ):
        first.on_main(lambda: first.host.scene.create("cube", "one", {}))
        for answer in in_both_eras(client, "resources/list", {}):
            listed = answer["result"]["resources"]
            own = {each["_instance_id"]: each["uri"] for each in listed if SCENE in each["uri"]}
            assert own == {
                first.app.id: f"instance://fake/{SCENE}",
                second.app.id: f"instance://fake_2/{SCENE}",
            }
        for name, objects in (("fake", ["one"]), ("fake_2", [])):
            uri = f"instance://{name}/{SCENE}"
            for answer in in_both_eras(client, "resources/read", {"uri": uri}):
                (content,) = answer["result"]["contents"]
                assert [each["name"] for each in json.loads(content["text"])["objects"]] == objects
        for template in client.request("resources/templates/list")["result"]["resourceTemplates"]:
            assert template["uriTemplate"].startswith(("instance://fake/", "instance://fake_2/"))


@pytest.mark.parametrize(
    "uri", [SCENE, "instance://", "instance://fake", "instance://maya/x", "x://instance://fake/x"]
)
def test_what_names_no_instance_is_no_resource(uri: str) -> None:
    with running_gateway() as gateway, served(announce=True), gateway.client() as client:
        for answer in in_both_eras(client, "resources/read", {"uri": uri}):
            assert answer["error"]["code"] == -32602


def test_an_argument_is_completed_by_the_instance_that_takes_it() -> None:
    def completed(gateway: RunningGateway, ref: dict[str, str]) -> list[Any]:
        params = {"ref": ref, "argument": {"name": "who", "value": "A"}}
        with gateway.client() as client:
            return in_both_eras(client, "completion/complete", params)

    with running_gateway() as gateway, served(announce=True) as host:
        host.app.prompts.register_prompt("greet", "Greets.", [{"name": "who"}], "Hi {{who}}")
        for answer in completed(gateway, {"type": "ref/prompt", "name": "fake__greet"}):
            assert answer["result"]["completion"]["values"] == []
        for answer in completed(gateway, {"type": "ref/prompt", "name": "fake_2__greet"}):
            assert answer["error"]["code"] == -32602
        for answer in completed(gateway, {"type": "ref/resource", "uri": "scene://object/{name}"}):
            assert answer["error"]["code"] == -32602
