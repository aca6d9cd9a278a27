"""Lets an agent choose one of several hosts for its conversation, with a tool for that purpose, or
with an argument of the tools that all the hosts have.

Some frameworks list the tools once. With several hosts and none chosen, they get the tools that are
the same everywhere, each with the argument ``host``."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Awaitable, Callable, Sequence

from callboard.content import Json
from callboard.errors import CallboardError, PeerError
from callboard.protocol.jsonrpc import Request
from callboard.protocol.peer import PeerRequest
from callboard.transport.instances import Instance, answer_of

#: Maximum number of bytes in one host's tools.
_MOST = 16 * 1024 * 1024
_HOST: Json = {
    "type": "string",
    "description": "The application to work in from this call on: an id from hosts__choose, or the "
    "application if it runs only once. Needed until one is chosen.",
}
CHOOSE = "hosts__choose"
TOOL: Json = {
    "name": CHOOSE,
    "title": "Choose the application",
    "description": (
        "Several applications are running on this machine. Without arguments: lists them. With the "
        "id of one: works in that one from now on, until another is chosen; its tools, prompts and "
        "resources are then listed. Ask the user if it isn't clear which one to choose."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {
            "host": {
                "type": "string",
                "description": "An id from the list, or the application if it runs only once.",
            }
        },
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False},
}


class HostChoice:
    """The choice of a host. Use it on the bridge's loop. ``running`` finds the hosts to choose
    from. ``connected`` returns the id of the host that calls go to, or None. ``connect`` connects
    to the chosen host, or raises HostError."""

    def __init__(
        self,
        running: Callable[[], Awaitable[Sequence[Instance]]],
        connected: Callable[[], str | None],
        connect: Callable[[Instance], Awaitable[None]],
    ) -> None:
        self._running = running
        self._connected = connected
        self._connect = connect
        #: True once there have been several hosts in this conversation. The tool is listed from
        #: then on.
        self.offered = False
        #: The names of the tools that have the argument ``host``. Empty until the tools are listed
        #: or one is called. Some clients start a bridge for each call, and never list the tools.
        self._common: set[str] = set()

    def takes(self, request: Request | PeerRequest) -> bool:
        """Return whether the request calls this tool. While the tool is offered, such requests must
        not be passed on to a host."""
        return request.method == "tools/call" and request.params.get("name") == CHOOSE

    def add_to(self, request: Request | PeerRequest, response: Json) -> None:
        """Add the tool to the response if the response is the last page of a host's tools. Call
        this only while the tool is offered."""
        if request.method == "tools/list":
            result = response.get("result")
            if isinstance(result, dict) and "nextCursor" not in result:
                result["tools"] = [*result.get("tools", []), TOOL]

    async def common_tools(self) -> list[Json]:
        """Return the tools that all running hosts have with the same arguments, each with the
        argument ``host``. Takes up to two seconds if a host is silent."""
        running = await self._running()
        if not running:
            return []
        first, *others = await asyncio.gather(
            *(asyncio.to_thread(_tools_by_name, instance) for instance in running)
        )
        common = []
        for name, tool in first.items():
            schema = tool.get("inputSchema")
            if not isinstance(schema, dict) or "host" in (given := schema.get("properties", {})):
                continue
            if all(other.get(name, {}).get("inputSchema") == schema for other in others):
                common.append(copy.deepcopy(tool))
                common[-1]["inputSchema"]["properties"] = {**given, "host": _HOST}
        self._common.update(tool["name"] for tool in common)
        return common

    async def directed(self, params: Json) -> Json:
        """Return the params of a tool call for the host, without the argument ``host``. If the
        call has that argument, the host is chosen first. Raises CallboardError."""
        arguments = params.get("arguments")
        if not isinstance(arguments, dict) or arguments.get("host") is None:
            return params
        if not await self._is_common(params.get("name")) or (wanted := _wanted(arguments)) is None:
            return params
        await self._connect(_only(wanted, await self._running()))
        own = {key: value for key, value in arguments.items() if key != "host"}
        return {**params, "arguments": own}

    async def undirected(self, name: object) -> str | None:
        """Return instructions for repeating a call to a tool whose host isn't chosen, or None for a
        tool that doesn't have the argument ``host``."""
        if not await self._is_common(name):
            return None
        there = names(await self._running())
        return f"no application is chosen: call this again with 'host', one of: {there}"

    async def _is_common(self, name: object) -> bool:
        if not self._common:
            await self.common_tools()
        return name in self._common

    async def call(self, arguments: object) -> Json:
        """Return the result of a call to the tool."""
        try:
            wanted = _wanted(arguments)
            if wanted is None:
                rows = [self._row(instance) for instance in await self._running()]
                text = "Call this again with the id of the intended one."
                return _result({"hosts": rows}, text)
            chosen = _only(wanted, await self._running())
            await self._connect(chosen)
        except CallboardError as error:
            return {"content": [{"type": "text", "text": error.message}], "isError": True}
        text = f"Calls now go to {chosen.name}. List the tools again: the list has changed."
        return _result({"host": self._row(chosen)}, text)

    def _row(self, instance: Instance) -> Json:
        return {
            "id": instance.id,
            "application": instance.kind,
            "name": instance.name,
            "scene": instance.scene,
            "chosen": instance.id == self._connected(),
        }


def _wanted(arguments: object) -> str | None:
    host = arguments.get("host") if isinstance(arguments, dict) else arguments
    if host is not None and not (isinstance(host, str) and host):
        raise PeerError(
            "'host' must be an id from the list; call this without arguments to see the list"
        )
    return host


def _only(wanted: str, running: Sequence[Instance]) -> Instance:
    """Return the one instance whose kind is ``wanted`` or whose id begins with it. Raises
    PeerError, with the ids to choose from, if there isn't exactly one."""
    chosen = [i for i in running if i.id.startswith(wanted) or i.kind == wanted]
    if len(chosen) != 1:
        many = "several hosts are" if chosen else "no host is"
        raise PeerError(f"{many} called '{wanted[:80]}'; give one of the ids: {names(running)}")
    return chosen[0]


def _tools_by_name(instance: Instance) -> dict[str, Json]:
    """Return a host's tools by name, or nothing if it doesn't answer. Call it on a worker
    thread."""
    answer = answer_of(instance, "GET", "/v1/tools", most=_MOST) or {}
    tools = answer.get("tools")
    listed = tools if isinstance(tools, list) else []
    return {
        tool["name"]: tool
        for tool in listed
        if isinstance(tool, dict) and isinstance(tool.get("name"), str)
    }


def names(instances: Sequence[Instance]) -> str:
    """Return the instances' ids and kinds as text."""
    return (
        ", ".join(f"{instance.id} ({instance.kind})" for instance in instances) or "none is running"
    )


def _result(structured: Json, text: str) -> Json:
    blocks = [json.dumps(structured, ensure_ascii=False), text]
    return {
        "content": [{"type": "text", "text": block} for block in blocks],
        "structuredContent": structured,
        "isError": False,
    }
