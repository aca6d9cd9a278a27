"""Builds a small scene and exports it, with the official client 1.x or 2.x.

build_scene.py URL TOKEN FILE
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.client.streamable_http import streamable_http_client

Call = Callable[..., Awaitable[dict[str, Any]]]
DEADLINE = 100.0


@asynccontextmanager
async def client_2(url: str, headers: dict[str, str]) -> AsyncIterator[Call]:
    import httpx2
    from mcp import Client

    async with httpx2.AsyncClient(headers=headers, timeout=DEADLINE) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode="2026-07-28") as client:
            await client.list_tools()

            async def call(name: str, /, **arguments: Any) -> dict[str, Any]:
                result = await client.call_tool(name, arguments)
                if result.is_error:
                    raise RuntimeError(result.content)
                return result.structured_content

            yield call


@asynccontextmanager
async def client_1(url: str, headers: dict[str, str]) -> AsyncIterator[Call]:
    import httpx
    from mcp import ClientSession

    async with (
        httpx.AsyncClient(headers=headers, timeout=DEADLINE) as http,
        streamable_http_client(url, http_client=http) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        await session.list_tools()

        async def call(name: str, /, **arguments: Any) -> dict[str, Any]:
            result = await session.call_tool(name, arguments)
            if result.isError:
                raise RuntimeError(result.content)
            return result.structuredContent

        yield call


async def build(call: Call, file: str) -> None:
    there = await call("scene__list_objects")
    if there["objects"]:
        # Blender opens with a cube, a camera and a light.
        await call("scene__delete", names=[each["path"] for each in there["objects"]])
    await call("scene__create_primitive", kind="cube", name="base", size=4)
    await call("scene__create_primitive", kind="sphere", name="ball", radius=1.5)
    await call("scene__set_parent", name="ball", parent="base", keep_world=False)
    place = {"translate": [1, 2, 3], "rotate": [0, 90, 0], "scale": [1, 2, 1]}
    await call("scene__transform", name="ball", **place)
    await call("scene__set_material_color", name="ball", color=[0.8, 0.1, 0.2])
    await call("usd__export_usd", path=file)


async def main() -> None:
    url, token, file = sys.argv[1:]
    try:
        from mcp import Client  # noqa: F401
    except ImportError:
        connect = client_1
    else:
        connect = client_2
    with anyio.fail_after(DEADLINE):
        async with connect(url, {"Authorization": f"Bearer {token}"}) as call:
            await build(call, file)


anyio.run(main)
