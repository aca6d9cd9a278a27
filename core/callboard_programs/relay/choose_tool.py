"""The tool with which an agent chooses one of several hosts for its conversation."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence

from callboard.content import Json
from callboard.errors import CallboardError, PeerError
from callboard.protocol.jsonrpc import Request
from callboard.protocol.peer import PeerRequest
from callboard.transport.instances import Instance

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


def names(instances: Sequence[Instance]) -> str:
    """Return the instances' ids and kinds, for a sentence."""
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
