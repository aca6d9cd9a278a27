"""The composition root: a host and a configuration become a running server."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from time import time

from callboard import __version__
from callboard.config import McpHttpConfig
from callboard.guest.loop import GuestLoop
from callboard.host import Host
from callboard.protocol.subscriptions import Topic
from callboard.server import output
from callboard.server.capabilities import Capabilities
from callboard.server.dispatcher import Dispatcher
from callboard.server.prompts import PromptRegistry
from callboard.server.resources import ResourceRegistry
from callboard.server.roots import RootsBook
from callboard.server.service import Service
from callboard.server.skill_tools import LoadedSkill, load_tools
from callboard.server.tools import ToolRegistry
from callboard.skills.discovery import scan_and_load
from callboard.transport import instances
from callboard.transport.access import Access, new_token
from callboard.transport.http import Exchange, Listener
from callboard.transport.mcp import McpEndpoint

log = logging.getLogger(__name__)


class Callboard:
    """One server inside one host. Made, started and stopped on the host's main thread."""

    def __init__(
        self, host: Host, config: McpHttpConfig, tools: ToolRegistry | None = None
    ) -> None:
        self.host = host
        self.config = config
        self.id = instances.new_id()
        self.url = ""
        self.token = config.token if config.auth == "token" else None
        self.tools = tools if tools is not None else ToolRegistry()
        self.capabilities = Capabilities(host, config.declared_capabilities, config.deny)
        self.roots = RootsBook(config.roots, config.roots_policy)
        self.skills: list[LoadedSkill] = []
        self.guest = GuestLoop(host)
        self.dispatcher = Dispatcher(host, self.guest, self.tools, self.capabilities, self.roots)
        self.dispatcher.default_timeout = config.call_timeout
        self.prompts = PromptRegistry()
        self.resources = ResourceRegistry()
        self.service = Service(
            host,
            __version__,
            self.tools,
            self.prompts,
            self.resources,
            self.capabilities,
            self.roots,
            self.dispatcher,
        )
        self.service.enable_prompts = config.enable_prompts
        self.endpoint = McpEndpoint(
            self.service,
            lambda: self.service.topics,
            limit=config.max_sessions,
            idle_seconds=config.session_idle_secs,
        )
        self._listener = Listener()
        self._announced: Path | None = None
        self._running = False

    def start(self) -> Callboard:
        """Loads the skills, opens the port and serves. Main thread. Raises OSError when the port
        is taken; then nothing is left running."""
        self._load_skills()
        self.roots.set_project(self.host.project_roots())
        self._listener.bind(self.config.port)
        if self.config.auth == "token" and self.token is None:
            self.token = new_token()
        access = Access(
            self._listener.port,
            self.token,
            hosts=self.config.allowed_hosts,
            origins=self.config.allowed_origins,
        )
        self.url = f"http://127.0.0.1:{self._listener.port}/mcp"
        self._listener.route("/mcp", self.endpoint)
        self._listener.route("/v1/healthz", self._health)
        self._listener.on_sweep.append(self.endpoint.sessions.expire)
        self.tools.on_change(partial(self._tell, "tools"))
        self.capabilities.on_change(partial(self._tell, "tools"))
        self.prompts.on_change(partial(self._tell, "prompts"))
        self.resources.on_change(partial(self._tell, "resources"))
        self.guest.run(self._listener.start(access))
        output.attach()
        self._stop_watching = self.host.watch(self._host_event)
        self.guest.start()
        self._running = True
        if self.config.announce:
            self._announce()
        return self

    def stop(self) -> None:
        """Ends every call and connection and gives everything back. Main thread; idempotent."""
        if not self._running:
            return
        self._running = False
        if self._announced is not None:
            instances.withdraw(self._announced)
        self._stop_watching()
        self.capabilities.close()
        self.dispatcher.close()
        self.guest.run(self._close())
        self.guest.close()
        for skill in self.skills:
            skill.close()
        output.detach()

    async def _close(self) -> None:
        self.endpoint.close()
        await self._listener.stop()

    def _load_skills(self) -> None:
        found, skipped = scan_and_load(
            dcc_name=self.host.identity.kind, extra_paths=self.config.skill_paths
        )
        for problem in skipped:
            log.warning("skill skipped: %s", problem)
        self.skills = [LoadedSkill(metadata) for metadata in found]
        for skill in self.skills:
            for failure in skill.metadata.failures:
                log.warning("%s: %s: %s", failure.skill, failure.reference, failure.message)
        self.tools.add(*load_tools(self.skills))

    def _announce(self) -> None:
        identity = self.host.identity
        instance = instances.Instance(
            self.id, identity.kind, identity.name, self.url, self.token, identity.pid, time()
        )
        try:
            self._announced = instances.announce(instance)
        except OSError as error:
            log.warning("callboard list will not show this instance: %s", error)

    def _tell(self, topic: Topic) -> None:
        self.guest.loop.call_soon_threadsafe(self.endpoint.subscriptions.list_changed, topic)

    def _host_event(self, event: str) -> None:
        if event == "project":
            folders = self.host.project_roots()
            self.guest.loop.call_soon_threadsafe(self.roots.set_project, folders)

    def _health(self, exchange: Exchange) -> None:
        identity = self.host.identity
        exchange.respond_json(
            200, {"instance": self.id, "host": identity.kind, "version": __version__}
        )


def start(host: Host, config: McpHttpConfig | None = None) -> Callboard:
    """Starts a server inside ``host``. Main thread."""
    return Callboard(host, config or McpHttpConfig()).start()
