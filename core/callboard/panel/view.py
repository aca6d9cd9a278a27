"""A panel's view of a running server, composed again for every snapshot."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, perf_counter, time

from callboard.bundles.running.host_bundles import HostBundles
from callboard.calls.capabilities import Capabilities
from callboard.calls.dispatcher import Dispatcher
from callboard.calls.tools import ToolRegistry
from callboard.clients.book import ClientBook
from callboard.panel.snapshot_parts import (
    Served,
    bundle_status,
    grant_status,
    newcomer,
    root_status,
    skill_status,
)
from callboard.panel.status import (
    CallStatus,
    ClientStatus,
    QuestionStatus,
    SkillStatus,
    Snapshot,
    TokenStatus,
)
from callboard.ports.host import Host
from callboard.protocol.session import Session
from callboard.skills.catalog import SkillCatalog
from callboard.transport.http.mcp import McpEndpoint
from callboard.workspace.roots import RootsBook


class ServedView:
    """Reads the parts of one server without changing any. Use it on the server's loop."""

    def __init__(
        self,
        host: Host,
        dispatcher: Dispatcher,
        endpoint: McpEndpoint,
        tools: ToolRegistry,
        capabilities: Capabilities,
        roots: RootsBook,
        catalog: SkillCatalog,
        bundles: HostBundles,
        clients: ClientBook,
        url: Callable[[], str],
        not_kept: Callable[[], list[str]],
    ) -> None:
        """``url`` returns the server's address, or an empty string before the server starts.
        ``not_kept`` returns a sentence about each kind of data that isn't kept."""
        self._host = host
        self._dispatcher = dispatcher
        self._endpoint = endpoint
        self._tools = tools
        self._capabilities = capabilities
        self._roots = roots
        self._catalog = catalog
        self._bundles = bundles
        self._clients = clients
        self._url = url
        self._not_kept = not_kept
        self._ended = 0
        self._served = Served()
        self._known: tuple[object, ...] = ()
        self._skill_statuses: tuple[SkillStatus, ...] = ()
        dispatcher.ended.watch(self._count)

    def watch(self, changed: Callable[[], None]) -> None:
        """Call ``changed`` whenever a snapshot may differ, on the thread of the change, for as long
        as the server lives."""
        self._dispatcher.ended.watch(lambda *ended: changed())
        self._dispatcher.activity.watch(changed)
        self._dispatcher.changed.changed.watch(changed)
        self._clients.changed.watch(changed)
        for part in (
            self._dispatcher.consent,
            self._roots,
            self._endpoint.stateless.recent,
            self._endpoint.presence,
            self._tools,
            self._capabilities,
        ):
            part.watch(changed)

    def snapshot(self, scene: str) -> Snapshot:
        """Return the current state. ``scene`` is the open scene's file."""
        identity, dispatcher, roots = self._host.identity, self._dispatcher, self._roots
        stall, served = dispatcher.main.stall(), self._serving()
        # A client whose connection broke counts again once it reconnects.
        here = (one for one in self._endpoint.sessions if not one.lost)
        return Snapshot(
            host_kind=identity.kind,
            host_name=identity.name,
            host_version=identity.version,
            serving=True,
            paused=dispatcher.paused,
            switched_off=dispatcher.switched_off,
            stopped=dispatcher.stopped,
            url=self._url(),
            scene=scene,
            stalled_ms=stall["stalled_ms"],
            stalled_by=self._host.blocked_by() or stall.get("call"),
            queued=stall["queued"],
            clients=(*map(self._client, here), *self._recent_clients()),
            roots=tuple(map(root_status, (*roots.artist, *roots.project))),
            roots_policy=roots.policy,
            capabilities=served.capabilities,
            tools=served.tools,
            calls=self._calls(),
            questions=(*self._questions(), *map(newcomer, self._clients.newcomers())),
            policies=tuple(sorted(dispatcher.consent.policies.items())),
            grants=tuple(map(grant_status, dispatcher.consent.grants.all())),
            tokens=self._tokens(),
            skills=self._skills(),
            bundles=tuple(bundle_status(*each) for each in self._bundles.in_use()),
            changes=dispatcher.changed.all(),
            not_kept="; ".join(self._not_kept()),
            ended_calls=self._ended,
        )

    @property
    def next_client_goes_in(self) -> float | None:
        """Seconds until the next client disappears from the panel, or None when there is none."""
        return self._endpoint.stateless.recent.next_goes_in

    def session_of(self, client: str | None) -> Session | None:
        """Return the session of the client whose status has this id, or None when it has no
        session."""
        return next((s for s in self._endpoint.sessions if s.id[:8] == client), None)

    # -- the parts --------------------------------------------------------------------------

    def _count(self, *ended: object) -> None:
        self._ended += 1

    def _client(self, session: Session) -> ClientStatus:
        known = self._roots.known(session)
        roots = known.roots.roots if known.roots is not None else ()
        return ClientStatus(
            session.id[:8],
            session.client.title or session.client.name,
            session.client.version,
            session.features.name,
            tuple(map(root_status, roots)),
            "; ".join(self._roots.left_out(session)) or None,
            session.holder.name,
        )

    def _questions(self) -> tuple[QuestionStatus, ...]:
        return tuple(
            QuestionStatus(
                q.id,
                q.tool,
                q.client,
                q.subject,
                q.why,
                q.arguments,
                q.deadline,
                q.owner.holder.name,
                q.suggests,
            )
            for q in self._dispatcher.consent.questions.values()
        )

    def _tokens(self) -> tuple[TokenStatus, ...]:
        sessions, now = list(self._endpoint.sessions), time() - monotonic()
        tokens = []
        for known in self._clients.all():
            theirs = [session for session in sessions if session.holder == known.holder]
            seen = [round(now + one.last_seen) for one in theirs]
            heard = self._clients.heard.get(known.id)
            last = max([*seen, *([] if heard is None else [round(heard)])], default=None)
            tokens.append(TokenStatus(known.name, bool(theirs), last, known.made))
        return tuple(tokens)

    def _recent_clients(self) -> list[ClientStatus]:
        # In addition to the client's session, the stdio bridge makes requests without a session,
        # under the client's name.
        there = {session.client for session in self._endpoint.sessions}
        return [
            ClientStatus(f"recent {client!r}", client.title or client.name, client.version, era)
            for client, era in self._endpoint.stateless.recent.all()
            if client not in there
        ]

    def _serving(self) -> Served:
        """Return tools and capabilities, computed again only when one of them has changed."""
        capabilities, tools = self._capabilities, self._tools.all()
        state = (capabilities.offered_by_host, capabilities.withdrawn, capabilities.offer)
        if tools is not self._served.source or state != self._served.state:
            unloaded = [known.skill for known in self._catalog.known if not known.loaded]
            later = [tool for skill in unloaded if skill.when_called for tool in skill.tools]
            self._served = Served(tools, *state, self._host.plug_ins, later)
        return self._served

    def _calls(self) -> tuple[CallStatus, ...]:
        now, since = time(), perf_counter()
        return tuple(
            CallStatus(
                call.id,
                call.tool.name,
                call.request.peer.client.name,
                call.state,
                round(now - (since - call.started), 2),
                *call.latest_progress,
                arguments=call.arguments,
                held_by=call.held_by,
            )
            for call in self._dispatcher.calls.values()
            if not call.tool.internal
        )

    def _skills(self) -> tuple[SkillStatus, ...]:
        known, missing_capabilities = self._catalog.known, self._bundles.missing()
        failures = self._catalog.failures
        if (known, missing_capabilities, failures) != self._known:
            self._known = (known, missing_capabilities, failures)
            self._skill_statuses = tuple(
                skill_status(one, missing_capabilities.get(one.skill.name, ()), failures)
                for one in known
            )
        return self._skill_statuses
