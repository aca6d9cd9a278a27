"""Uses everything that the official client 2.x offers, and prints its observations as JSON.

mcp_2.py URL TOKEN MODE      MODE: legacy (sessions), auto or 2026-07-28 (stateless)
mcp_2.py stdio HOME MODE COMMAND…
"""

from __future__ import annotations

import json
import logging
import os
import sys
from contextlib import AsyncExitStack
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

DEADLINE = 60.0
seen: dict[str, Any] = {"logs": [], "steps": []}
updated = anyio.Event()


async def elicited(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def sampled(context: Any, params: Any) -> types.CreateMessageResult:
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(type="text", text="Paris"), model="test"
    )


async def roots(context: Any) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[types.Root(uri="file:///projects/ada", name="ada")])


async def logged(params: Any) -> None:
    if "step" in str(params.data):
        seen["logs"].append(params.data)


async def heard(message: Any) -> None:
    if isinstance(message, types.ResourceUpdatedNotification):
        updated.set()


async def progressed(done: float, total: float | None, message: str | None) -> None:
    seen["steps"].append(done)


async def watch_the_scene(client: Client) -> None:
    async with AsyncExitStack() as stack:
        if seen["revision"] == "2026-07-28":
            changes = client.listen(
                tools_list_changed=True, resource_subscriptions=["scene://current"]
            )
            subscription = await stack.enter_async_context(changes)
        else:
            await client.session.subscribe_resource("scene://current")
        await client.call_tool("scene__create_primitive", {"kind": "cube", "name": "watched"})
        if seen["revision"] == "2026-07-28":
            async for event in subscription:
                seen["updated"] = getattr(event, "uri", None)
                return
        await updated.wait()
        await client.session.unsubscribe_resource("scene://current")
        seen["updated"] = "scene://current"


async def cancel(client: Client) -> None:
    waiting = anyio.Event()

    async def begun(done: float, total: float | None, message: str | None) -> None:
        waiting.set()

    async with anyio.create_task_group() as group:

        async def wait() -> None:
            await client.call_tool("probe__wait", progress_callback=begun)

        group.start_soon(wait)
        await waiting.wait()
        group.cancel_scope.cancel()
    seen["cancelled"] = (await client.call_tool("probe__waits")).structured_content["cancelled"]


async def use_everything(client: Client) -> None:
    seen["revision"] = client.session.protocol_version
    if seen["revision"] != "2026-07-28":
        await client.session.set_logging_level("info")
        await client.session.send_ping()
    seen["tools"] = sorted(tool.name for tool in (await client.list_tools()).tools)
    added = await client.call_tool("probe__add", {"a": 1, "b": 2})
    seen["sum"] = added.structured_content["sum"]
    counted = await client.call_tool("probe__count", {"to": 3}, progress_callback=progressed)
    seen["counted"] = counted.structured_content["counted"]
    seen["picture"] = (await client.call_tool("probe__picture")).content[0].mime_type
    seen["failed"] = (await client.call_tool("probe__fail")).is_error
    seen["invalid"] = (await client.call_tool("probe__add", {"a": "one"})).is_error
    seen["introduced"] = (await client.call_tool("probe__introduce")).structured_content
    seen["thought"] = (await client.call_tool("probe__think")).content[0].text
    routed = await client.call_tool("probe__route", {"region": "Übersee "})
    seen["routed"] = routed.structured_content["region"]

    seen["resources"] = sorted(r.uri for r in (await client.list_resources()).resources)
    templates = (await client.list_resource_templates()).resource_templates
    seen["templates"] = sorted(template.uri_template for template in templates)
    await watch_the_scene(client)
    scene = await client.read_resource("scene://current")
    seen["scene"] = [each["name"] for each in json.loads(scene.contents[0].text)["objects"]]
    try:
        await client.read_resource("scene://nowhere")
    except MCPError as error:
        seen["not_found"] = error.error.code
    seen["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
    prompt = await client.get_prompt("probe.greeting", {"name": "Ada"})
    seen["prompt"] = prompt.messages[0].content.text
    reference = types.ResourceTemplateReference(type="ref/resource", uri="skill://{name}/SKILL.md")
    completed = await client.complete(reference, {"name": "name", "value": "pro"})
    seen["completed"] = completed.completion.values
    await cancel(client)


async def main() -> None:
    where, *rest = sys.argv[1:]
    with anyio.fail_after(DEADLINE):
        await connect(where, rest)
    print(json.dumps(seen))


async def connect(where: str, rest: list[str]) -> None:
    async with AsyncExitStack() as stack:
        if where == "stdio":
            home, mode, command, *arguments = rest
            # The client passes on little of its own environment.
            env = {"CALLBOARD_HOME": home, "PYTHONPATH": os.environ["PYTHONPATH"]}
            transport: Any = StdioServerParameters(command=command, args=arguments, env=env)
        else:
            token, mode = rest
            headers = {"Authorization": f"Bearer {token}"}
            http = httpx2.AsyncClient(headers=headers, timeout=DEADLINE)
            await stack.enter_async_context(http)
            transport = streamable_http_client(where, http_client=http)
        client = Client(
            transport,
            mode=mode,
            elicitation_callback=elicited,
            sampling_callback=sampled,
            list_roots_callback=roots,
            logging_callback=logged,
            log_level="info",
            message_handler=heard,
        )
        await use_everything(await stack.enter_async_context(client))


logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
anyio.run(main)
