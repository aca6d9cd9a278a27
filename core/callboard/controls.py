"""What a user interface may do to a running server, and what it is shown of it.

Every method may be called from any thread and returns at once; what it changes shows in the next
snapshot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import time
from typing import TYPE_CHECKING, Any

from callboard.guest.main_thread import Job
from callboard.protocol.session import Session
from callboard.server.consent import Answer, Subject
from callboard.server.consent import Policy as ConsentPolicy
from callboard.server.workspace import Policy, Root
from callboard.status import (
    CallStatus,
    CapabilityStatus,
    ClientStatus,
    QuestionStatus,
    RootStatus,
    SkillStatus,
    Snapshot,
    Status,
)

if TYPE_CHECKING:
    from callboard.app import Callboard

#: Seconds between two snapshots at most often, and between two looks at a stalled main thread.
SNAPSHOT_PAUSE = 0.05
STALL_LOOK = 0.5


class Controls:
    """The buttons and the view of one server."""

    def __init__(self, app: Callboard) -> None:
        self._app = app
        self._loop = app.guest.loop
        self.status = Status()
        self.status.on_wanted = self.refresh
        self._pending = False
        self._ended = 0
        app.dispatcher.observers.append(self._call_ended)
        app.dispatcher.on_activity = self.refresh
        app.dispatcher.consent.on_change = self.refresh

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

    def set_roots_policy(self, policy: Policy) -> None:
        self._do(self._app.roots.set_policy, policy)

    def set_consent_policy(self, subject: Subject, policy: ConsentPolicy) -> None:
        self._do(self._app.dispatcher.consent.policies.__setitem__, subject, policy)

    def answer(self, question: str, answer: Answer) -> None:
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

    def undo(self, undo_id: str) -> None:
        """Undoes one call's step, if it is the newest one."""
        port = self._app.host.undo
        if port is not None:
            job = Job("undo", lambda: port.undo(undo_id), lambda value, error: self.refresh())
            self._do(self._app.dispatcher.main.submit, job)

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
            stalled_ms=stall["stalled_ms"],
            stalled_by=app.host.blocked_by() or stall.get("call"),
            queued=stall["queued"],
            clients=tuple(self._client(session) for session in app.endpoint.sessions),
            roots=tuple(map(_root, (*app.roots.artist, *app.roots.project))),
            roots_policy=app.roots.policy,
            capabilities=self._capabilities(),
            calls=self._calls(),
            questions=tuple(
                QuestionStatus(q.id, q.tool, q.client, q.subject, q.why, q.arguments, q.deadline)
                for q in app.dispatcher.consent.questions.values()
            ),
            policies=tuple(sorted(app.dispatcher.consent.policies.items())),
            skills=self._skills(),
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
            tuple(map(_root, roots)),
            known.problem,
        )

    def _capabilities(self) -> tuple[CapabilityStatus, ...]:
        capabilities = self._app.capabilities
        tools = self._app.tools.all()
        wanted = {c for tool in tools for c in tool.required_capabilities}
        offered = capabilities.offered_by_host
        names = [*offered, *sorted(wanted.difference(offered))]
        return tuple(
            CapabilityStatus(
                name,
                name in offered,
                name in capabilities.withdrawn,
                sum(name in tool.required_capabilities for tool in tools),
            )
            for name in names
        )

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
        return tuple(
            SkillStatus(
                known.skill.name,
                known.skill.description,
                str(known.skill.path),
                known.scope,
                known.loaded,
                len(known.skill.tools),
                tuple(
                    f"{f.reference}{f':{f.line}' if f.line else ''}: {f.message}"
                    for f in known.skill.failures
                ),
            )
            for known in self._app.catalog.known
        )


def _root(root: Root) -> RootStatus:
    return RootStatus(root.uri, root.name, root.path, root.source, root.read_only)
