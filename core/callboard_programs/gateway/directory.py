"""The tools and lists of the running instances. They are requested once, kept up to date, and
searched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from callboard.content import Json
from callboard.errors import InvalidParams
from callboard.protocol.subscriptions import Topic
from callboard.protocol.tool_names import is_tool_name
from callboard.skills.model import SkillMetadata, ToolDeclaration
from callboard.skills.search import SearchIndex
from callboard.transport.instances import ListedInstance
from callboard_programs.gateway.names import HostNames, NameFinder
from callboard_programs.relay.last_known import KnownHost
from callboard_programs.relay.link import Link
from callboard_programs.relay.reconnect import Reconnector

#: The lists that cover all instances.
LISTED_OF_ALL: tuple[Topic, ...] = ("prompts", "resources")
#: Maximum number of characters that clients accept in a tool's name.
LONGEST_NAME = 63
#: Seconds after which the directory checks again which instances are serving.
STALE_AFTER = 2.0
#: Seconds that a list across all instances waits for each instance.
LIST_PATIENCE = 5.0


class Directory:
    """The tools and lists of all instances. Use it on the gateway's loop. An instance's tools and
    lists are requested in the gateway's own name when they are first needed."""

    def __init__(self, names: HostNames, list_changed: Callable[[Topic], None]) -> None:
        """``list_changed`` is called when an instance's prompts or resources have changed."""
        self._names = names
        self._list_changed = list_changed
        self._following: asyncio.Task[object] | None = None
        self._keepers: dict[str, tuple[Reconnector, asyncio.Task[None]]] = {}
        self._indexed: dict[str, KnownHost] = {}
        self._index = SearchIndex()
        self._looked = 0.0

    async def running(self) -> dict[str, ListedInstance]:
        """Return the running instances by name. The answer may be up to STALE_AFTER seconds old.
        Takes up to two seconds if an instance is silent."""
        if monotonic() - self._looked < STALE_AFTER and not self._names.changed():
            return self._names.current()
        running = await asyncio.to_thread(self._names.refresh)
        self._looked = monotonic()
        return running

    async def resolve(self, wanted: object) -> str:
        """Return the name of the instance with a given name or id. Raises InvalidParams."""
        # The conversation finds out later whether the instance is still running and has its scene
        # open.
        name = self._known_as(wanted)
        if name is not None:
            return name
        running = await self.running()
        name = self._known_as(wanted)
        if name is not None:
            return name
        there = ", ".join(running) or "none; start an application with callboard"
        raise InvalidParams(f"no instance is called {str(wanted)[:80]!r}; running: {there}")

    def _known_as(self, wanted: object) -> str | None:
        if isinstance(wanted, str) and self._names.standing(wanted) is not None:
            return wanted
        running = self._names.current()
        return next((n for n, entry in running.items() if wanted == entry.instance.id), None)

    async def known(self, name: str) -> KnownHost | None:
        """Return an instance's introduction and lists, or None if it doesn't answer."""
        keeper = self.keeper(name)
        return None if await keeper.current() is None else keeper.offline.known

    def keeper(self, name: str) -> Reconnector:
        """Return the gateway's own connection to an instance."""
        if name in self._keepers and self._is_stale(name):
            self._forget(name)
        if name not in self._keepers:
            finder = NameFinder(name, self._names, remembers=False)
            keeper = Reconnector(finder, _nothing_to_prepare, lambda: None, reported=self._notified)
            keeper.client_info = {"name": "callboard-gateway"}
            keeper.begin()
            self._keepers[name] = keeper, asyncio.ensure_future(keeper.run())
        return self._keepers[name][0]

    def follow(self) -> None:
        """Connect to every serving instance, so that changes to its lists are noticed from now
        on."""
        if self._following is None or self._following.done():
            self._following = asyncio.ensure_future(self.offers())

    def _notified(self, link: Link, method: str, params: Json) -> None:
        for topic in LISTED_OF_ALL:
            if method == f"notifications/{topic}/list_changed":
                self._list_changed(topic)

    def _is_stale(self, name: str) -> bool:
        """Return whether the name now belongs to an instance other than the connected one."""
        link, entry = self._keepers[name][0].link, self._names.current().get(name)
        return link is not None and entry is not None and link.instance.id != entry.instance.id

    async def offers(self) -> dict[str, KnownHost | None]:
        """Return each serving instance's introduction and lists, or None for an instance that
        doesn't answer."""
        running = await self.running()
        for name in [name for name in self._keepers if name not in running]:
            self._forget(name)
        # Skip the other instances, because a silent one would delay the answer.
        serving = [name for name, entry in running.items() if entry.state == "serving"]
        offered = await asyncio.gather(*map(self.known, serving))
        return dict(zip(serving, offered, strict=True))

    async def search(self, query: str, limit: int, only: str | None) -> list[Json]:
        """Return the best matching tools of all instances, or of one."""
        for name, known in (await self.offers()).items():
            if known is not None and self._indexed.get(name) is not known:
                self._indexed[name] = known
                self._index.add(_as_skill(name, known))
        hits = self._index.search(query, limit if only is None else len(self._index), "tool")
        return [
            {
                "instance": hit.skill,
                "tool": hit.name.partition("__")[2],
                "description": hit.description,
            }
            for hit in hits
            if only in (None, hit.skill)
        ][:limit]

    def close(self) -> None:
        if self._following is not None:
            self._following.cancel()
        for name in list(self._keepers):
            self._forget(name)

    def _forget(self, name: str) -> None:
        keeper, task = self._keepers.pop(name)
        task.cancel()
        if keeper.link is not None:
            keeper.link.close()
        self._indexed.pop(name, None)
        self._index.remove(name)


async def _nothing_to_prepare(link: Link) -> None:
    """Do nothing, because the directory doesn't open a session."""


def _as_skill(name: str, known: KnownHost) -> SkillMetadata:
    """Return an instance's tools as a skill, because the search works on skills."""
    tools = tuple(
        ToolDeclaration(
            tool["name"],
            _text(tool.get("description")),
            schema if isinstance(schema := tool.get("inputSchema"), dict) else {},
            title=_text(tool.get("title")),
        )
        for tool in known.lists["tools"]
        if is_tool_name(tool.get("name"))
    )
    return SkillMetadata(name, "", Path(name), tools=tools)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
