"""Notifies clients when a resource that they subscribed to changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from callboard.changes import Changes
from callboard.errors import ResourceNotFound
from callboard.protocol.subscriptions import Subscriptions
from callboard.service.resources import ResourceRegistry, ServedResource

#: Number of seconds within which several changes to the scene are combined into one notification.
SCENE_PAUSE = 0.2


class ResourceUpdates:
    """Notifies subscribers when the scene changes, a skill is loaded again, or a tool reports a
    change. Use it from any thread."""

    def __init__(
        self,
        resources: ResourceRegistry,
        subscriptions: Subscriptions,
        loop: asyncio.AbstractEventLoop,
        by_tools: Changes[[str]],
    ) -> None:
        """``by_tools`` reports, on the loop, the URI of each resource that a tool changed."""
        self._resources = resources
        self._subscriptions = subscriptions
        self._loop = loop
        self._pending = False
        by_tools.watch(self._updated_by_tool)

    def watch(self) -> Callable[[], None]:
        """Notify clients about replaced resources from now on. Return a function that stops the
        notifications."""
        return self._resources.replaced.watch(self._replaced)

    def scene_changed(self) -> None:
        """Notify clients soon about the resources that depend on the scene."""
        if not self._pending:
            self._pending = True
            self._loop.call_soon_threadsafe(self._loop.call_later, SCENE_PAUSE, self._tell_scene)

    def _updated_by_tool(self, uri: str) -> None:
        """Notify clients about this resource. The tool may write a template's variables in the URI
        differently than clients do."""
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
