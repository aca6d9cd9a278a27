"""Uses everything that fastmcp's client offers, and prints its observations as JSON.

fastmcp_client.py URL TOKEN MODE      MODE: legacy (sessions) or auto (stateless)
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import mcp_types as types
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from mcp import MCPError

DEADLINE = 60.0
seen: dict[str, Any] = {"logs": [], "steps": []}


async def elicited(message: str, response_type: Any, params: Any, context: Any) -> Any:
    return {"name": "Ada"}


async def sampled(messages: Any, params: Any, context: Any) -> str:
    return "Paris"


async def logged(message: Any) -> None:
    if "step" in str(message.data):
        seen["logs"].append(message.data)


async def progressed(done: float, total: float | None, message: str | None) -> None:
    seen["steps"].append(done)


async def cancel(client: Client[Any]) -> None:
    waiting = asyncio.Event()

    async def begun(done: float, total: float | None, message: str | None) -> None:
        waiting.set()

    call = asyncio.create_task(client.call_tool("probe__wait", progress_handler=begun))
    await waiting.wait()
    call.cancel()
    await asyncio.wait([call])
    waits = await client.call_tool("probe__waits")
    seen["cancelled"] = waits.structured_content["cancelled"]


async def use_everything(client: Client[Any]) -> None:
    seen["revision"] = client.protocol_version
    if seen["revision"] != "2026-07-28":
        await client.set_logging_level("info")
        await client.ping()
    seen["tools"] = sorted(tool.name for tool in await client.list_tools())
    added = await client.call_tool("probe__add", {"a": 1, "b": 2})
    seen["sum"] = added.structured_content["sum"]
    counted = await client.call_tool("probe__count", {"to": 3}, progress_handler=progressed)
    seen["counted"] = counted.structured_content["counted"]
    seen["picture"] = (await client.call_tool("probe__picture")).content[0].mime_type
    seen["failed"] = (await client.call_tool("probe__fail", raise_on_error=False)).is_error
    invalid = await client.call_tool("probe__add", {"a": "one"}, raise_on_error=False)
    seen["invalid"] = invalid.is_error
    seen["introduced"] = (await client.call_tool("probe__introduce")).structured_content
    seen["thought"] = (await client.call_tool("probe__think")).content[0].text
    routed = await client.call_tool("probe__route", {"region": "Übersee "})
    seen["routed"] = routed.structured_content["region"]

    seen["resources"] = sorted(str(r.uri) for r in await client.list_resources())
    templates = await client.list_resource_templates()
    seen["templates"] = sorted(template.uri_template for template in templates)
    await client.call_tool("scene__create_primitive", {"kind": "cube", "name": "watched"})
    scene = await client.read_resource("scene://current")
    seen["scene"] = [each["name"] for each in json.loads(scene[0].text)["objects"]]
    try:
        await client.read_resource("scene://nowhere")
    except MCPError as error:
        seen["not_found"] = error.error.code
    seen["prompts"] = [prompt.name for prompt in await client.list_prompts()]
    prompt = await client.get_prompt("probe.greeting", {"name": "Ada"})
    seen["prompt"] = prompt.messages[0].content.text
    reference = types.ResourceTemplateReference(type="ref/resource", uri="skill://{name}/SKILL.md")
    completed = await client.complete(reference, {"name": "name", "value": "pro"})
    seen["completed"] = completed.values
    await cancel(client)


async def main() -> None:
    url, token, mode = sys.argv[1:]
    client = Client(
        StreamableHttpTransport(url, auth=token),
        mode=mode,
        roots=["file:///projects/ada"],
        elicitation_handler=elicited,
        sampling_handler=sampled,
        log_handler=logged,
        timeout=DEADLINE,
    )
    async with client:
        await use_everything(client)
    print(json.dumps(seen))


asyncio.run(asyncio.wait_for(main(), DEADLINE))
