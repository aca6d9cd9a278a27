"""The instances that one session has attached, their tools under unique names, and the session's
connections, including the connections to instances that aren't attached."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from hashlib import sha256
from itertools import count

from callboard.calls.invisible import shown
from callboard.content import Json
from callboard.demand import request_capability
from callboard.errors import CallboardError, HostOffline
from callboard.protocol.jsonrpc import Request
from callboard.protocol.session import Session, SessionRequest
from callboard.protocol.subscriptions import Topic
from callboard.protocol.tool_names import is_tool_name
from callboard_programs.gateway.conversations import HostConversation, converse, end_conversation
from callboard_programs.gateway.directory import LIST_PATIENCE, LONGEST_NAME
from callboard_programs.gateway.names import HostNames
from callboard_programs.relay.host_side import HostSide
from callboard_programs.relay.pages import objects_in, pages

log = logging.getLogger(__name__)

_CHANGED: tuple[Topic, ...] = ("tools", "prompts")


class Attachments:
    """The attached instances and the connections of one session. Use it on the gateway's loop."""

    def __init__(self, session: Session, names: HostNames) -> None:
        self.session = session
        self._names = names
        self._conversations: dict[str, HostConversation] = {}
        #: The token that the session's client presented last.
        self.token = ""
        #: The instances whose tools are listed, in the order in which they were attached.
        self.listed: list[str] = []
        self._numbers = count(1)

    def sides(self) -> Iterator[HostSide]:
        for conversation in self._conversations.values():
            yield conversation.side

    def side(self, name: str) -> HostSide:
        """Return the session's connection to an instance. The first call for an instance opens the
        connection."""
        if name not in self._conversations:
            conversation = converse(name, self._names, self.session.holder, self.token)
            conversation.side.adopt(self.session)
            self._conversations[name] = conversation
        return self._conversations[name].side

    async def attach(self, name: str) -> None:
        """Attach an instance. Raises HostOffline."""
        side = self.side(name)
        if await side.keeper.current() is None:
            side.keeper.offline.check()
            raise HostOffline(f"{name} can't be attached: {side.keeper.offline.reason}")
        if name not in self.listed:
            self.listed.append(name)
            self._tell()

    async def detach(self, name: str) -> bool:
        """Detach an instance. Return whether it was attached."""
        if name not in self.listed:
            return False
        self.listed.remove(name)
        self._tell()
        await end_conversation(self._conversations.pop(name))
        return True

    async def end(self) -> None:
        conversations = list(self._conversations.values())
        self._conversations.clear()
        await asyncio.gather(*(end_conversation(each) for each in conversations))

    # -- tools ----------------------------------------------------------------------------------

    async def tools(self, request: SessionRequest) -> list[Json]:
        """Return the tools of the attached instances, as each host lists its tools for this client.
        The reserved tool comes last."""
        lists = await asyncio.gather(*(self._tools(name, request) for name in self.listed))
        tools = [tool for listed in lists for tool in listed]
        # Each host has the reserved tool, but an agent needs only one of them.
        asks = [tool for tool in tools if tool["name"].endswith(_ASK)]
        rest = [tool for tool in tools if not tool["name"].endswith(_ASK)]
        ask = {**asks[0], "name": request_capability.TOOL_NAME} if asks else None
        return [*rest, ask or request_capability.descriptor()]

    async def _tools(self, name: str, request: SessionRequest) -> list[Json]:
        side = self.side(name)
        try:
            listed = await asyncio.wait_for(self._listed_by(side, request), LIST_PATIENCE)
        except (CallboardError, asyncio.TimeoutError) as error:
            # The other instances' tools, and the gateway's own, must not wait for this instance.
            log.warning("%s doesn't list its tools: %s", name, error or "it took too long")
            listed = side.keeper.offline.known.lists["tools"]
        return [
            shown({**tool, "name": prefixed(name, tool["name"])})
            for tool in listed
            if is_tool_name(tool.get("name"))
        ]

    async def _listed_by(self, side: HostSide, request: SessionRequest) -> list[Json]:
        async def ask(params: Json) -> Json:
            # The client chooses the ids of its own requests, and no two requests in a session may
            # share an id.
            asked = Request(f"callboard-list-{next(self._numbers)}", "tools/list", params)
            return await side.handle(SessionRequest(self.session, asked, request))

        return [tool async for page in pages(ask) for tool in objects_in(page, "tools")]

    def target(self, tool: str) -> tuple[str, str] | None:
        """Return the attached instance and the tool's own name for a prefixed name, or None if the
        instance isn't attached."""
        if tool == request_capability.TOOL_NAME and self.listed:
            return self.listed[0], tool
        name, _, own = tool.partition("__")
        if name not in self.listed or not own:
            return None
        for listed in self.side(name).keeper.offline.known.lists["tools"]:
            if prefixed(name, str(listed.get("name"))) == tool:
                return name, str(listed["name"])
        return name, own

    def _tell(self) -> None:
        for topic in _CHANGED:
            self.session.notify(f"notifications/{topic}/list_changed")


_ASK = f"__{request_capability.TOOL_NAME}"


def prefixed(name: str, tool: str) -> str:
    """Return the name of a tool in a list that covers several instances: the name of the instance,
    followed by the name of the tool. A name that is too long for clients is truncated and ends with
    a digest."""
    whole = f"{name}__{tool}"
    if len(whole) <= LONGEST_NAME:
        return whole
    digest = sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{whole[: LONGEST_NAME - 9]}_{digest}"
