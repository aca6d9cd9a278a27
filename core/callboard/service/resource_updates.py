"""Tells clients which of the resources that they watch read differently now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from callboard.changes import Changes
from callboard.errors import ResourceNotFound
from callboard.protocol.subscriptions import Subscriptions
from callboard.service.resources import ResourceRegistry, ServedResource

#: Seconds within which several changes of the scene are one update to who watches it.
SCENE_PAUSE = 0.2


class ResourceUpdates:
    """Because the scene changed, a skill was loaded again, or a tool says so. Any thread."""

    def __init__(
        self,
        resources: ResourceRegistry,
        subscriptions: Subscriptions,
        loop: asyncio.AbstractEventLoop,
        by_tools: Changes[[str]],
    ) -> None:
        """``by_tools`` tells on the loop which URI reads differently."""
        self._resources = resources
        self._subscriptions = subscriptions
        self._loop = loop
        self._pending = False
        by_tools.watch(self._updated_by_tool)

    def watch(self) -> Callable[[], None]:
        """Resources that are replaced are told from now on; returns the way to stop."""
        return self._resources.replaced.watch(self._replaced)

    def scene_changed(self) -> None:
        """What follows the scene is told soon."""
        if not self._pending:
            self._pending = True
            self._loop.call_soon_threadsafe(self._loop.call_later, SCENE_PAUSE, self._tell_scene)

    def _updated_by_tool(self, uri: str) -> None:
        """However the tool spells the variables of a template."""
        meant = self._resource_of(uri)
        if meant is not None:
            self._tell(lambda watched: self._resource_of(watched) == meant)

    def _resource_of(self, uri: str) -> tuple[ServedResource, dict[str, str]] | None:
        try:
            return self._resources.find(uri)
        except ResourceNotFound:
            return None

    def _replaced(self, concerned: Callable[[str], bool]) -> None:
        self._loop.call_soon_threadsafe(self._tell, concerned)

    def _tell_scene(self) -> None:
        self._pending = False
        self._tell(self._resources.follows_scene)

    def _tell(self, concerned: Callable[[str], bool]) -> None:
        for uri in filter(concerned, self._subscriptions.watched()):
            self._subscriptions.resource_updated(uri)
