"""Runs one third-party client in its own environment, for ``client_table.py``. Prints its cells as
JSON.

table_clients.py CLIENT TARGET      TARGET: JSON with url and token, or command and env; and host
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

NAME, TARGET = sys.argv[1], json.loads(sys.argv[2])
URL, TOKEN, COMMAND = (TARGET.get(key) for key in ("url", "token", "command"))
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
DEADLINE = 40.0
steps: list[float] = []
cells: dict[str, str] = {}
Call = Callable[[str, dict[str, Any]], Awaitable[Any]]


async def progressed(done: float, *rest: Any) -> None:
    steps.append(done)


async def use(names: list[str], call: Call, *, progress: bool = True, asks: bool = True) -> None:
    """Fill the cells. ``call`` returns anything whose text shows the answer, or raises."""

    async def cell(name: str, tool: str, wanted: str, **arguments: Any) -> None:
        try:
            answer = str(
                await asyncio.wait_for(call(f"probe__{tool}", {**arguments, **TARGET["host"]}), 20)
            )
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        # The answer may be written as JSON or as Python writes it.
        answer = re.sub(r"[\"'\\]", "", answer).replace(": ", ":")
        cells[name] = "ok" if wanted in answer else answer[:200]

    cells["list"] = "ok" if "probe__add" in names else str(names)[:200]
    await cell("call", "add", "sum:80", a=30, b=50)
    await cell("error", "fail", "as asked")
    await cell("progress", "count", "3", to=3)
    if cells["progress"] == "ok" and steps != [1, 2, 3]:
        cells["progress"] = str(steps) if progress else "–"
    if asks:
        await cell("question", "introduce", "Ada")
    else:
        cells["question"] = "–"


async def mcp1(stack: AsyncExitStack) -> None:
    from mcp import ClientSession, StdioServerParameters, stdio_client, types
    from mcp.client.streamable_http import streamablehttp_client

    async def elicited(context: Any, params: Any) -> Any:
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    if URL:
        transport: Any = streamablehttp_client(URL, HEADERS)
    else:
        command, *arguments = COMMAND
        transport = stdio_client(
            StdioServerParameters(command=command, args=arguments, env=TARGET["env"])
        )
    read, write, *_ = await stack.enter_async_context(transport)
    session = ClientSession(read, write, timedelta(seconds=20), elicitation_callback=elicited)
    await stack.enter_async_context(session)
    await session.initialize()
    names = [tool.name for tool in (await session.list_tools()).tools]
    await use(names, lambda *call: session.call_tool(*call, progress_callback=progressed))


async def mcp2(stack: AsyncExitStack) -> None:
    import httpx2
    import mcp_types as types
    from mcp import Client, StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client

    async def elicited(context: Any, params: Any) -> Any:
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    if URL:
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=HEADERS, timeout=30))
        transport: Any = streamable_http_client(URL, http_client=http)
    else:
        command, *arguments = COMMAND
        transport = StdioServerParameters(command=command, args=arguments, env=TARGET["env"])
    client = Client(transport, mode="auto", elicitation_callback=elicited)
    await stack.enter_async_context(client)
    names = [tool.name for tool in (await client.list_tools()).tools]
    await use(names, lambda *call: client.call_tool(*call, progress_callback=progressed))


async def fastmcp(stack: AsyncExitStack) -> None:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    async def elicited(message: str, response_type: Any, params: Any, context: Any) -> Any:
        return {"name": "Ada"}

    if URL:
        transport: Any = StreamableHttpTransport(URL, auth=TOKEN)
    else:
        transport = StdioTransport(COMMAND[0], COMMAND[1:], env=TARGET["env"])
    client = Client(transport, mode="auto", elicitation_handler=elicited)
    await stack.enter_async_context(client)
    names = [tool.name for tool in await client.list_tools()]
    await use(names, lambda *call: client.call_tool(*call, progress_handler=progressed))


async def pydantic_ai(stack: AsyncExitStack) -> None:
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
    from pydantic_ai.mcp import MCPToolset

    async def elicited(message: str, response_type: Any, params: Any, context: Any) -> Any:
        return {"name": "Ada"}

    if URL:
        transport: Any = StreamableHttpTransport(URL, headers=HEADERS)
    else:
        transport = StdioTransport(COMMAND[0], COMMAND[1:], env=TARGET["env"])
    server = MCPToolset(transport, elicitation_handler=elicited, progress_handler=progressed)
    await stack.enter_async_context(server)
    await use([tool.name for tool in await server.list_tools()], server.direct_call_tool)


async def elicited1(context: Any, params: Any) -> Any:
    from mcp import types

    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def langchain(stack: AsyncExitStack) -> None:
    from langchain_mcp_adapters.callbacks import Callbacks
    from langchain_mcp_adapters.client import MultiServerMCPClient

    async def progress(done: float, total: Any, message: Any, context: Any) -> None:
        steps.append(done)

    async def elicited(context: Any, params: Any, callback: Any) -> Any:
        return await elicited1(context, params)

    if URL:
        where: Any = {"transport": "streamable_http", "url": URL, "headers": HEADERS}
    else:
        where = {"transport": "stdio", "command": COMMAND[0], "args": COMMAND[1:]}
        where["env"] = TARGET["env"]
    callbacks = Callbacks(on_progress=progress, on_elicitation=elicited)
    client = MultiServerMCPClient({"callboard": where}, callbacks=callbacks)
    tools = {tool.name: tool for tool in await client.get_tools()}
    await use(list(tools), lambda name, given: tools[name].ainvoke(given))


async def openai_agents(stack: AsyncExitStack) -> None:
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

    if URL:
        server: Any = MCPServerStreamableHttp({"url": URL, "headers": HEADERS})
    else:
        where = {"command": COMMAND[0], "args": COMMAND[1:], "env": TARGET["env"]}
        server = MCPServerStdio(where, client_session_timeout_seconds=30)  # type: ignore[arg-type]
    await stack.enter_async_context(server)
    names = [tool.name for tool in await server.list_tools()]
    await use(names, server.call_tool, progress=False, asks=False)


async def smolagents(stack: AsyncExitStack) -> None:
    from mcp import StdioServerParameters
    from smolagents import MCPClient

    where: Any = {"url": URL, "transport": "streamable-http", "headers": HEADERS}
    if not URL:
        command, *arguments = COMMAND
        where = StdioServerParameters(command=command, args=arguments, env=TARGET["env"])
    with MCPClient(where, structured_output=False) as made:
        tools = {tool.name: tool for tool in made}

        async def call(name: str, given: dict[str, Any]) -> Any:
            return await asyncio.to_thread(lambda: tools[name](**given))

        await use(list(tools), call, progress=False, asks=False)


async def main() -> None:
    async with AsyncExitStack() as stack:
        await globals()[NAME](stack)
        print(json.dumps(cells), flush=True)


asyncio.run(asyncio.wait_for(main(), DEADLINE * 3))
