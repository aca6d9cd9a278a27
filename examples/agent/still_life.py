"""A program that makes the calls an agent would make. It builds a small scene, looks at it, checks
it, fixes the faults that the check reports, and renders it. It prints each step, and writes the
pictures into a folder.

    pip install mcp
    python examples/agent/still_life.py URL TOKEN FOLDER

URL and TOKEN are in the ready line of `callboard serve --host blender --root FOLDER`. For a Blender
with a window, `callboard config other --http` prints them.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from pathlib import Path
from typing import Any

from mcp import ClientSession
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

SMALL = {"width": 320, "height": 240}
TABLE = {"kind": "cube", "name": "Table", "dimensions": [1.4, 0.9, 0.05]}
#: The reason, tool and arguments of each step. A ball is placed in the air on purpose.
BUILDS: list[tuple[str, str, dict[str, Any]]] = [
    ("An empty scene.", "structure__new_scene", {"discard_changes": True}),
    ("A table.", "scene__create_primitive", {**TABLE, "translate": [0, 0, 0.025]}),
    (
        "A ball on it.",
        "scene__create_primitive",
        {"kind": "sphere", "name": "Ball", "radius": 0.2, "translate": [0, 0, 0.6]},
    ),
    (
        "Red, a little glossy.",
        "materials__create",
        {"name": "Red", "color": "#b3201a", "roughness": 0.3, "objects": ["Ball"]},
    ),
    ("Light from three sides.", "lights__three_point", {"objects": ["Table", "Ball"]}),
    ("A camera.", "cameras__create", {"name": "View", "lens": 50}),
    (
        "The camera is aimed at both objects.",
        "cameras__frame",
        {"name": "View", "objects": ["Table", "Ball"], "angle": "three_quarter"},
    ),
]


class Agent:
    def __init__(self, session: ClientSession, folder: Path) -> None:
        self._session = session
        self._folder = folder

    async def does(self, why: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """Make one call, print it, and keep its picture. Return its result as a value."""
        print(f"- {why} `{tool} {json.dumps(arguments)}`", flush=True)
        answer = await self._session.call_tool(tool, arguments)
        for block in answer.content:
            if block.type == "text":
                print(f"    {block.text[:200]}")
            elif block.type == "image":
                (self._folder / f"{tool}.png").write_bytes(base64.b64decode(block.data))
        if answer.isError:
            raise SystemExit(f"{tool} failed")
        return dict(answer.structuredContent or {})


async def still_life(agent: Agent) -> None:
    for why, tool, arguments in BUILDS:
        await agent.does(why, tool, **arguments)
    await agent.does("How does it look?", "viewport__look", camera="View", **SMALL)
    for finding in await misplaced(agent, "Is anything wrong?"):
        why = f"The {finding['object']}: {finding['why']}."
        await agent.does(why, "scene__transform", name="Ball", translate=[0, 0, 0.25])
    if await misplaced(agent, "Is anything wrong now?"):
        raise SystemExit("the check still reports objects that float, are sunk or intersect")
    await agent.does("The picture.", "render__still", path="still.png", **SMALL)


async def misplaced(agent: Agent, why: str) -> list[dict[str, Any]]:
    """Return the findings about objects that float, are sunk into the ground, or intersect. Missing
    UVs are expected, so they're ignored."""
    findings = (await agent.does(why, "check__run"))["findings"]
    return [f for f in findings if f["rule"] in ("floating", "sunk", "interpenetrating")]


async def main(url: str, token: str, folder: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        create_mcp_http_client(headers) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        await session.initialize()
        await still_life(Agent(session, Path(folder)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
