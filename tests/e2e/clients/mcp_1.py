"""Uses everything that the official client 1.x offers, and prints its observations as JSON.

mcp_1.py URL TOKEN
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
import httpx
from mcp import ClientSession, McpError, types
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
    if isinstance(getattr(message, "root", None), types.ResourceUpdatedNotification):
        updated.set()


async def progressed(done: float, total: float | None, message: str | None) -> None:
    seen["steps"].append(done)


async def cancel(session: ClientSession) -> None:
    waiting = anyio.Event()

    async def begun(done: float, total: float | None, message: str | None) -> None:
        waiting.set()

    number = session._request_id
    async with anyio.create_task_group() as group:

        async def wait() -> None:
            await session.call_tool("probe__wait", progress_callback=begun)

        group.start_soon(wait)
        await waiting.wait()
        params = types.CancelledNotificationParams(requestId=number)
        notification = types.CancelledNotification(params=params)
        await session.send_notification(types.ClientNotification(notification))
        group.cancel_scope.cancel()
    seen["cancelled"] = (await session.call_tool("probe__waits")).structuredContent["cancelled"]


async def use_everything(session: ClientSession) -> None:
    seen["revision"] = (await session.initialize()).protocolVersion
    await session.set_logging_level("info")
    await session.send_ping()
    seen["tools"] = sorted(tool.name for tool in (await session.list_tools()).tools)
    added = await session.call_tool("probe__add", {"a": 1, "b": 2})
    seen["sum"] = added.structuredContent["sum"]
    counted = await session.call_tool("probe__count", {"to": 3}, progress_callback=progressed)
    seen["counted"] = counted.structuredContent["counted"]
    seen["picture"] = (await session.call_tool("probe__picture")).content[0].mimeType
    seen["failed"] = (await session.call_tool("probe__fail")).isError
    seen["invalid"] = (await session.call_tool("probe__add", {"a": "one"})).isError
    seen["introduced"] = (await session.call_tool("probe__introduce")).structuredContent
    seen["thought"] = (await session.call_tool("probe__think")).content[0].text
    routed = await session.call_tool("probe__route", {"region": "Übersee "})
    seen["routed"] = routed.structuredContent["region"]

    seen["resources"] = sorted(str(r.uri) for r in (await session.list_resources()).resources)
    templates = (await session.list_resource_templates()).resourceTemplates
    seen["templates"] = sorted(template.uriTemplate for template in templates)
    await session.subscribe_resource("scene://current")
    await session.call_tool("scene__create_primitive", {"kind": "cube", "name": "watched"})
    await updated.wait()
    await session.unsubscribe_resource("scene://current")
    seen["updated"] = "scene://current"
    scene = await session.read_resource("scene://current")
    seen["scene"] = [each["name"] for each in json.loads(scene.contents[0].text)["objects"]]
    try:
        await session.read_resource("scene://nowhere")
    except McpError as error:
        seen["not_found"] = error.error.code
    seen["prompts"] = [prompt.name for prompt in (await session.list_prompts()).prompts]
    prompt = await session.get_prompt("probe.greeting", {"name": "Ada"})
    seen["prompt"] = prompt.messages[0].content.text
    reference = types.ResourceTemplateReference(type="ref/resource", uri="skill://{name}/SKILL.md")
    completed = await session.complete(reference, {"name": "name", "value": "pro"})
    seen["completed"] = completed.completion.values
    await cancel(session)


async def main() -> None:
    url, token = sys.argv[1:]
    headers = {"Authorization": f"Bearer {token}"}
    with anyio.fail_after(DEADLINE):
        async with (
            httpx.AsyncClient(headers=headers, timeout=DEADLINE) as http,
            streamable_http_client(url, http_client=http) as (read, write, _),
            ClientSession(
                read,
                write,
                elicitation_callback=elicited,
                sampling_callback=sampled,
                list_roots_callback=roots,
                logging_callback=logged,
                message_handler=heard,
            ) as session,
        ):
            await use_everything(session)
    print(json.dumps(seen))


anyio.run(main)
