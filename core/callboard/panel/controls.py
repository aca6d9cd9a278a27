"""What a user interface may do to a running server, and what it is shown of it.

Every method may be called from any thread and returns at once; what it changes shows in the next
snapshot.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from time import time
from typing import TYPE_CHECKING, Any

from callboard.calls.consent import ConsentPolicy, Decision, Subject
from callboard.errors import CallboardError
from callboard.guest.main_thread import Turn
from callboard.hosting.contract import SCENE_READ, HostEvent
from callboard.panel.snapshot_parts import (
    Served,
    bundle_status,
    root_status,
    said,
    skill_status,
)
from callboard.panel.status import (
    BundleStatus,
    CallStatus,
    ClientStatus,
    PathAnswer,
    PromptsStatus,
    PromptStatus,
    QuestionStatus,
    SkillStatus,
    Snapshot,
    StatusFeed,
)
from callboard.protocol.session import Session
from callboard.skills.catalog import KnownSkill
from callboard.workspace.containment import Root, RootsPolicy, WorkspaceRoots

if TYPE_CHECKING:
    from callboard.app import Callboard

log = logging.getLogger(__name__)

#: Seconds between two snapshots at most often, and between two looks at a stalled main thread.
SNAPSHOT_PAUSE = 0.1
STALL_LOOK = 0.5


class Controls:
    """The buttons and the view of one server."""

    def __init__(self, app: Callboard) -> None:
        self._app = app
        self._loop = app.guest.loop
        self.status = StatusFeed()
        self.status.on_wanted = self._look
        self._pending = False
        self._ended = 0
        self._expiry: asyncio.TimerHandle | None = None
        self._scene = ""
        self._stop_watching: Callable[[], None] | None = None
        self._served = Served()
        self._known: tuple[list[KnownSkill], dict[str, tuple[str, ...]]] = ([], {})
        self._skill_statuses: tuple[SkillStatus, ...] = ()
        app.dispatcher.observers.append(self._call_ended)
        app.dispatcher.on_activity = self.refresh
        app.dispatcher.consent.on_change = self.refresh
        app.roots.on_change = self.refresh
        app.endpoint.stateless.recent.on_change = self.refresh
        app.tools.on_change(self.refresh)
        app.capabilities.on_change(self.refresh)

    # -- commands ---------------------------------------------------------------------------

    def pause(self) -> None:
        """Calls get ``paused`` from now on; lists still work."""
        self._do(self._set_paused, True)

    def resume(self) -> None:
        self._do(self._set_paused, False)

    def withdraw(self, capability: str) -> None:
        """Stops offering a capability until it is restored."""
        self._do(self._app.capabilities.withdraw, capability)

    def restore(self, capability: str) -> None:
        self._do(self._app.capabilities.restore, capability)

    def set_roots(self, roots: Sequence[Root]) -> None:
        """Replaces the artist's own roots; the first is the workspace."""
        self._do(setattr, self._app.roots, "artist", list(roots))

    def set_roots_policy(self, policy: RootsPolicy) -> None:
        self._do(self._app.roots.set_policy, policy)

    def set_consent_policy(self, subject: Subject, policy: ConsentPolicy) -> None:
        self._do(self._app.dispatcher.consent.policies.__setitem__, subject, policy)

    def answer(self, question: str, answer: Decision) -> None:
        """Answers one question of the consent desk."""
        self._do(self._app.dispatcher.consent.answer, question, answer)

    def attend(self) -> Callable[[], None]:
        """Somebody can answer questions from now on; returns the way to leave."""
        desk = self._app.dispatcher.consent
        self._do(desk.attend)
        return lambda: self._do(desk.leave)

    def cancel(self, call: str) -> None:
        """Cancels a call that runs or waits; its client is told."""
        self._do(self._app.dispatcher.cancel, call)

    def undo(self, undo_id: str, answered: Callable[[bool], None] = lambda done: None) -> None:
        """Undoes one call's step, if it is the newest one. ``answered`` hears on the main thread
        whether it was."""
        port = self._app.host.undo
        if port is None:
            return

        def done(value: object, error: BaseException | None) -> None:
            answered(value is True)
            self.refresh()

        job = Turn("undo", lambda: port.undo(undo_id), done)
        self._do(self._app.dispatcher.main.submit, job)

    def load_plug_in(
        self, capability: str, answered: Callable[[str | None], None] = lambda problem: None
    ) -> None:
        """Loads what brings a capability, on the main thread. ``answered`` hears why that failed,
        or None, on that thread or the server's."""
        plug_in = self._app.host.plug_ins.get(capability)
        if plug_in is None or plug_in.load is None:
            answered("there is nothing to load")
            return

        def done(value: object, error: BaseException | None) -> None:
            if error is not None and not isinstance(error, CallboardError):
                log.error("%s could not be loaded", plug_in.name, exc_info=error)
            answered(None if error is None else str(error) or type(error).__name__)
            self.refresh()

        job = Turn(f"load {plug_in.name}", plug_in.load, done)

        def submit() -> None:
            try:
                self._app.dispatcher.main.submit(job)
            except CallboardError as busy:
                answered(busy.message)

        self._do(submit)

    def try_path(
        self,
        path: str,
        answered: Callable[[PathAnswer], None],
        *,
        client: str | None = None,
        write: bool = False,
    ) -> None:
        """What ``path`` would mean to a call of that client's (its status's id), or of one without
        roots. ``answered`` is called on another thread."""

        def ask() -> None:
            named = next((s for s in self._app.endpoint.sessions if s.id[:8] == client), None)
            theirs = self._app.roots.known(named).roots if named is not None else None
            roots = self._app.roots.seen_with(theirs) or WorkspaceRoots()
            self._in_thread(lambda: answered(_meaning(roots, path, write)))

        self._do(ask)

    def list_prompts(self, answered: Callable[[PromptsStatus], None]) -> None:
        """Reads the prompts as they are on disk now. ``answered`` is called on another thread."""

        def read() -> None:
            found = self._app.prompts.all()
            prompts = tuple(
                PromptStatus(
                    name, p.description, p.skill, p.source, tuple(a.name for a in p.arguments)
                )
                for name, p in found.prompts.items()
            )
            failures = tuple((f.skill, said(f)) for f in found.failures)
            answered(PromptsStatus(prompts, failures))

        self._do(self._in_thread, read)

    def reload_skills(self) -> None:
        """Looks at the skills on disk again."""
        self._do(self._refresh_catalog)

    def refresh(self) -> None:
        """Asks for a new snapshot, soon."""
        if self.status.wanted and not self._pending and not self._loop.is_closed():
            self._pending = True
            self._loop.call_soon_threadsafe(self._loop.call_later, SNAPSHOT_PAUSE, self._publish)

    # -- on the server's loop ---------------------------------------------------------------

    def _do(self, function: Callable[..., Any], *args: Any) -> None:
        def act() -> None:
            function(*args)
            self.refresh()

        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(act)

    def _in_thread(self, work: Callable[[], None]) -> None:
        def contained() -> None:
            try:
                work()
            except Exception:
                log.exception("what the panel asked for failed")

        self._loop.run_in_executor(None, contained)

    def _look(self) -> None:
        """Somebody looks for the first time, or one more does."""
        self._do(self._watch)

    def _watch(self) -> None:
        if self._stop_watching is None:
            self._stop_watching = self._app.host.watch(self._host_event)
            self._read_scene()

    def _host_event(self, event: HostEvent) -> None:
        if self._loop.is_closed() and self._stop_watching is not None:
            self._stop_watching()
        elif event == "project":
            self._do(self._read_scene)
        elif event == "ports":
            self.refresh()

    def _read_scene(self) -> None:
        reader: Any = self._app.host.ports.get(SCENE_READ)
        if reader is None:
            return

        def done(value: Any, error: BaseException | None) -> None:
            self._scene = str(value or "") if error is None else ""
            self.refresh()

        try:
            job = Turn("scene name", lambda: reader.info().get("file"), done)
            self._app.dispatcher.main.submit(job)
        except CallboardError:
            log.info("the host is too busy to say which scene is open")

    def _set_paused(self, paused: bool) -> None:
        self._app.dispatcher.paused = paused

    def _refresh_catalog(self) -> None:
        self._loop.run_in_executor(None, self._app.catalog.refresh).add_done_callback(
            lambda done: self.refresh()
        )

    def _call_ended(self, *ended: object) -> None:
        self._ended += 1
        self.refresh()

    def _publish(self) -> None:
        self._pending = False
        snapshot = self._snapshot()
        self.status.publish(snapshot)
        if self.status.wanted and (snapshot.calls or snapshot.stalled_ms):
            # Stalls and queues change without anybody saying so.
            self._pending = True
            self._loop.call_later(STALL_LOOK, self._publish)

    def _snapshot(self) -> Snapshot:
        app = self._app
        identity = app.host.identity
        stall = app.dispatcher.main.stall()
        return Snapshot(
            host_kind=identity.kind,
            host_name=identity.name,
            host_version=identity.version,
            serving=True,
            paused=app.dispatcher.paused,
            url=app.url,
            scene=self._scene,
            stalled_ms=stall["stalled_ms"],
            stalled_by=app.host.blocked_by() or stall.get("call"),
            queued=stall["queued"],
            clients=(*map(self._client, app.endpoint.sessions), *self._recent_clients()),
            roots=tuple(map(root_status, (*app.roots.artist, *app.roots.project))),
            roots_policy=app.roots.policy,
            capabilities=self._serving().capabilities,
            tools=self._serving().tools,
            calls=self._calls(),
            questions=tuple(
                QuestionStatus(q.id, q.tool, q.client, q.subject, q.why, q.arguments, q.deadline)
                for q in app.dispatcher.consent.questions.values()
            ),
            policies=tuple(sorted(app.dispatcher.consent.policies.items())),
            skills=self._skills(),
            bundles=self._bundles(),
            ended_calls=self._ended,
        )

    def _client(self, session: Session) -> ClientStatus:
        known = self._app.roots.known(session)
        roots = known.roots.roots if known.roots is not None else ()
        return ClientStatus(
            session.id[:8],
            session.client.title or session.client.name,
            session.client.version,
            session.features.name,
            tuple(map(root_status, roots)),
            known.problem,
        )

    def _recent_clients(self) -> list[ClientStatus]:
        recent = self._app.endpoint.stateless.recent
        found = [
            ClientStatus(f"recent {client!r}", client.title or client.name, client.version, era)
            for client, era in recent.all()
        ]
        soon = recent.next_goes_in
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        if soon is not None and self.status.wanted:
            self._expiry = self._loop.call_later(soon, self.refresh)
        return found

    def _bundles(self) -> tuple[BundleStatus, ...]:
        bundles = self._app.bundles
        return () if bundles is None else tuple(bundle_status(*each) for each in bundles.in_use())

    def _serving(self) -> Served:
        """Tools and capabilities, counted again only when one of them changed."""
        capabilities, tools = self._app.capabilities, self._app.tools.all()
        state = (capabilities.offered_by_host, capabilities.withdrawn, capabilities.declared)
        if tools is not self._served.source or state != self._served.state:
            self._served = Served(tools, *state, self._app.host.plug_ins)
        return self._served

    def _calls(self) -> tuple[CallStatus, ...]:
        now, since = time(), asyncio.get_running_loop().time()
        return tuple(
            CallStatus(
                call.id,
                call.tool.name,
                call.request.peer.client.name,
                call.state,
                round(now - (since - call.started), 2),
                *call.latest_progress,
                arguments=call.arguments,
            )
            for call in self._app.dispatcher.calls.values()
            if not call.tool.internal
        )

    def _skills(self) -> tuple[SkillStatus, ...]:
        bundles = self._app.bundles
        known, lacking = self._app.catalog.known, {} if bundles is None else bundles.missing()
        if (known, lacking) != self._known:
            self._known = (known, lacking)
            self._skill_statuses = tuple(
                skill_status(one, lacking.get(one.skill.name, ())) for one in known
            )
        return self._skill_statuses


def _meaning(roots: WorkspaceRoots, path: str, write: bool) -> PathAnswer:
    try:
        found = roots.admit(path, write=write)
    except CallboardError as refused:
        return PathAnswer(None, refused.message)
    holding = next((root for root in roots.roots if _holds(root, found)), None)
    if holding is None:
        return PathAnswer(found, "outside every root" if roots.roots else "there are no roots")
    return PathAnswer(found, f"inside {holding.name}")


def _holds(root: Root, path: str) -> bool:
    return root.path is not None and WorkspaceRoots([root]).contains(path)
